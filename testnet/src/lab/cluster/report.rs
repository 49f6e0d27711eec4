//! How it went, for people and for programs.

use super::echoes::Echoes;
use super::relayed::Relayed;
use super::ways::Ways;
use crate::parallel::{self, Ran};
use gridbay_node::ui::Table;
use serde::Serialize;

/// All that was measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Report {
    /// Between the sellers behind two routers that let themselves be punched through.
    pub(crate) ways: Ways,
    /// What ran on them.
    pub(crate) programs: Vec<Ran>,
    /// Behind two that do not.
    pub(crate) relayed: Option<Relayed>,
}

impl Report {
    /// Whether there was something, and all of it went as well as it can.
    pub(crate) fn ok(&self) -> bool {
        let something = !self.programs.is_empty() || self.relayed.is_some();
        let relayed = self.relayed.as_ref().is_none_or(Relayed::passed);
        something && self.ways.passed() && self.programs.iter().all(Ran::passed) && relayed
    }

    /// Tables, then the verdict.
    pub(crate) fn lines(&self) -> String {
        let mut text = String::new();
        if !self.ways.all.is_empty() {
            text += &of_ways(&self.ways);
        }
        if !self.programs.is_empty() {
            text += &parallel::table::lines(&self.programs);
        }
        text += &self.relayed.as_ref().map(of_relayed).unwrap_or_default();
        text + if self.ok() { "passed" } else { "FAILED" }
    }
}

fn of_ways(ways: &Ways) -> String {
    let mut table = Table::new(&["FROM", "TO", "PATH", ">RTT MS"]);
    for way in &ways.all {
        let path = way.path.clone().unwrap_or("none".to_owned());
        let ms = way
            .round_trip_ms
            .map_or("-".to_owned(), |ms| format!("{ms:.2}"));
        table.row([
            format!("rank{}", way.from),
            format!("rank{}", way.to),
            path,
            ms,
        ]);
    }
    let setup = ways.setup_ms.map_or("-".to_owned(), |ms| ms.to_string());
    format!("{}all pairs after {setup} ms\n", table.render())
}

fn of_relayed(relayed: &Relayed) -> String {
    let mut table = Table::new(&[
        "RELAYED",
        ">SENT",
        ">LOST",
        ">LONGEST PAUSE MS",
        ">MEDIAN RTT MS",
    ]);
    let calm = format!("{} s", relayed.seconds);
    let rows: [(&str, &Echoes); 3] = [
        (&calm, &relayed.calm),
        ("the relay killed", &relayed.relay_killed),
        ("a member moved", &relayed.moved),
    ];
    for (what, echoes) in rows {
        let ms = |us: u64| format!("{:.2}", us as f64 / 1_000.0);
        table.row([
            what.to_owned(),
            echoes.sent.to_string(),
            echoes.lost.to_string(),
            echoes.gap_ms.to_string(),
            echoes.median_us.map_or("-".to_owned(), ms),
        ]);
    }
    let ways = relayed
        .ways
        .iter()
        .map(|way| way.as_deref().unwrap_or("none"));
    let ways: Vec<&str> = ways.collect();
    let mut text = table.render();
    text += &format!(
        "ways {}, first echo after {} ms\n",
        ways.join(" "),
        relayed.first_ms
    );
    for (state, paid) in &relayed.orders {
        text += &format!("order `relay`: {state}, paid {paid}\n");
    }
    text
}
