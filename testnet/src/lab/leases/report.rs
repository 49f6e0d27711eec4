//! How all pairs fared, for people and for programs.

use super::held::Held;
use super::{Met, Pings};
use gridbay_node::ui::Table;
use serde::Serialize;

/// All pairs, and the one that was held.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Report {
    /// In the order in which they met.
    pub(crate) met: Vec<Met>,
    /// See [`Held`].
    pub(crate) held: Option<Held>,
}

impl Report {
    /// Whether there was something, and all of it went as well as it can.
    pub(crate) fn ok(&self) -> bool {
        let held = self.held.as_ref().is_none_or(Held::passed);
        !self.met.is_empty() && self.met.iter().all(Met::passed) && held
    }

    /// A row for each pair, then the verdict.
    pub(crate) fn lines(&self) -> String {
        let mut table = Table::new(&[
            "LEFT",
            "RIGHT",
            "WAYS",
            "POSSIBLE",
            ">FIRST MS",
            ">DIRECT MS",
            ">LOST",
        ]);
        let ms = |ms: Option<u64>| ms.map_or("-".to_owned(), |ms| ms.to_string());
        for met in &self.met {
            let ways = met.ways.each_ref();
            let ways = ways.map(|way| way.as_deref().unwrap_or("none"));
            table.row([
                met.left.clone(),
                met.right.clone(),
                ways.join(" "),
                if met.direct { "direct" } else { "relay" }.to_owned(),
                ms(met.first_ms),
                ms(met.direct_ms),
                format!("{} of {}", met.pings.lost, met.pings.sent),
            ]);
        }
        let passed = self.met.iter().filter(|met| met.passed()).count();
        let failed = self.met.len() - passed;
        let held = self.held.as_ref().map(lines_of).unwrap_or_default();
        format!("{}{held}{passed} passed, {failed} failed", table.render())
    }
}

fn lines_of(held: &Held) -> String {
    let line = |what: &str, pings: &Pings| {
        let Pings { sent, lost, gap_ms } = pings;
        format!("{what}: {lost} of {sent} echoes lost, longest pause {gap_ms} ms\n")
    };
    let calm = format!("symmetric to symmetric over a relay for {} s", held.seconds);
    let verdict = if held.passed() { "held" } else { "NOT held" };
    line(&calm, &held.pings)
        + &line("its relay killed", &held.relay_killed)
        + &line("one of them moved", &held.moved)
        + &format!("{verdict}\n")
}
