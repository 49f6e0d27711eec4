//! How it went, for people and for programs.

use super::echoes::Echoes;
use super::relayed::Relayed;
use super::strict::Strict;
use super::ways::{Way, Ways};
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
    /// Behind two that let nothing out but TCP to port 443.
    pub(crate) strict: Option<Strict>,
}

impl Report {
    /// Whether there was something, and all of it went as well as it can.
    pub(crate) fn ok(&self) -> bool {
        let ran = !self.programs.is_empty();
        let something = ran || self.relayed.is_some() || self.strict.is_some();
        let reached = !ran || self.ways.passed();
        let programs = self.programs.iter().all(Ran::passed);
        let relayed = self.relayed.as_ref().is_none_or(Relayed::passed);
        let strict = self.strict.as_ref().is_none_or(Strict::passed);
        something && reached && programs && relayed && strict
    }

    /// Tables, then the verdict.
    pub(crate) fn lines(&self) -> String {
        let mut text = String::new();
        if !self.ways.all.is_empty() {
            text += &of_ways(&self.ways.all);
            let setup = self.ways.setup_ms;
            let setup = setup.map_or("-".to_owned(), |ms| ms.to_string());
            text += &format!("all pairs after {setup} ms\n");
        }
        if !self.programs.is_empty() {
            text += &parallel::table::lines(&self.programs);
        }
        text += &self.relayed.as_ref().map(of_relayed).unwrap_or_default();
        text += &self.strict.as_ref().map(of_strict).unwrap_or_default();
        text + if self.ok() { "passed" } else { "FAILED" }
    }
}

fn of_ways(ways: &[Way]) -> String {
    let mut table = Table::new(&["FROM", "TO", "PATH", ">RTT MS"]);
    for way in ways {
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
    table.render()
}

fn of_echoes<'a>(
    what: &'static str,
    rows: impl IntoIterator<Item = (String, &'a Echoes)>,
) -> String {
    let mut table = Table::new(&[
        what,
        ">SENT",
        ">LOST",
        ">LONGEST PAUSE MS",
        ">MEDIAN RTT MS",
    ]);
    for (what, echoes) in rows {
        let ms = |us: u64| format!("{:.2}", us as f64 / 1_000.0);
        table.row([
            what,
            echoes.sent.to_string(),
            echoes.lost.to_string(),
            echoes.gap_ms.to_string(),
            echoes.median_us.map_or("-".to_owned(), ms),
        ]);
    }
    table.render()
}

fn of_strict(strict: &Strict) -> String {
    let asked = strict.echoes.iter();
    let asked = asked.map(|a| (format!("rank{} rank{}", a.from, a.to), &a.echoes));
    let mut text = of_ways(&strict.ways) + &of_echoes("ECHOES", asked);
    for (rank, kind) in &strict.kinds {
        text += &format!("rank{rank} is behind {kind}\n");
    }
    text += &format!("all ways after {} ms\n", strict.ways_ms);
    text
}

fn of_relayed(relayed: &Relayed) -> String {
    let rows: [(String, &Echoes); 3] = [
        (format!("{} s", relayed.seconds), &relayed.calm),
        ("the relay killed".to_owned(), &relayed.relay_killed),
        ("a member moved".to_owned(), &relayed.moved),
    ];
    let ways = relayed
        .ways
        .iter()
        .map(|way| way.as_deref().unwrap_or("none"));
    let ways: Vec<&str> = ways.collect();
    let mut text = of_echoes("RELAYED", rows);
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
