//! The figures of four regions, beside what is asked of them.

use super::cut::Cut;
use crate::bench::ledger::load::Step;
use crate::bench::orders;
use gridbay_node::ui::Table;
use serde::Serialize;

/// Milliseconds that a machine may add to round trips, until a block is decided.
const WORK_MS: u64 = 50;
/// Milliseconds in which a buy's job runs.
const BUY_MS: u64 = 3_000;
/// Milliseconds for which the others may pause when a region is cut off.
const PAUSE_MS: u64 = 3_000;
/// Milliseconds in which the region has caught up.
const BACK_MS: u64 = 10_000;

/// The figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Report {
    /// Median round trip between two regions.
    pub(crate) trip_ms: u64,
    /// Length of a round.
    pub(crate) round_ms: u64,
    /// Between blocks, as founded.
    pub(crate) block_ms: u64,
    /// Some payments a second.
    pub(crate) unloaded: Step,
    /// Many clients.
    pub(crate) loaded: Step,
    /// Sealed orders and buys.
    pub(crate) orders: orders::Figures,
    /// One region cut off.
    pub(crate) cut: Cut,
}

impl Report {
    /// Name, figure and bar of each, in milliseconds.
    fn figures(&self) -> [(&'static str, u64, u64); 6] {
        let (sealed, buy) = (self.orders.sealed, self.orders.buy);
        let (median, late) = (2 * self.round_ms + 1_000, 3 * self.round_ms);
        let decided = 2 * self.trip_ms + WORK_MS;
        [
            ("a block is decided, p50", self.unloaded.decided_ms, decided),
            ("sealed order to running, p50", sealed.p50_ms, median),
            ("sealed order to running, p95", sealed.p95_ms, late),
            ("buy to running, p95", buy.p95_ms, BUY_MS),
            (
                "pause when a region is cut off",
                self.cut.pause_ms,
                PAUSE_MS,
            ),
            ("until it has caught up", self.cut.back_ms, BACK_MS),
        ]
    }

    /// For people.
    pub(crate) fn table(&self) -> String {
        let mut bars = Table::new(&["WHAT", ">MS", ">BAR MS"]);
        for (name, figure, bar) in self.figures() {
            bars.row([name.to_owned(), figure.to_string(), bar.to_string()]);
        }
        let mut load = Table::new(&["LOAD", ">PAYMENTS/S", ">P50 MS", ">P95 MS", ">BLOCK MS"]);
        for step in [&self.unloaded, &self.loaded] {
            let figures = [step.per_second, step.p50_ms, step.p95_ms, step.block_ms];
            let figures = figures.map(|figure| figure.to_string());
            load.row([step.load.clone()].into_iter().chain(figures));
        }
        let failure = self
            .cut
            .failure
            .as_ref()
            .map(|why| format!(", first: {why}"));
        format!(
            "median round trip {} ms, blocks {} ms apart, rounds of {} ms\n\n{}\n{}\n\
             cut off for {} blocks; {} payments of the others failed{}",
            self.trip_ms,
            self.block_ms,
            self.round_ms,
            bars.render(),
            load.render(),
            self.cut.blocks,
            self.cut.failed,
            failure.unwrap_or_default()
        )
    }

    /// Figures beyond their bars, and failures.
    pub(crate) fn problems(&self) -> Vec<String> {
        let missed = self.figures().into_iter();
        let missed = missed.filter(|(_, figure, bar)| *figure == 0 || figure > bar);
        let missed = missed.map(|(name, figure, bar)| format!("{name}: {figure} ms, bar {bar} ms"));
        let mut problems: Vec<String> = missed.chain(self.orders.problems()).collect();
        if self.cut.alone > 1 {
            let alone = self.cut.alone;
            problems.push(format!("{alone} blocks came through to a region cut off"));
        }
        let lost = self.unloaded.unknown + self.loaded.unknown;
        if lost > 0 {
            problems.push(format!("{lost} payments without an answer"));
        }
        problems
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::spread::Spread;

    #[test]
    fn each_figure_beyond_its_bar_is_a_problem() {
        let ms = |ms| Spread::of(vec![ms]);
        let mut report = Report {
            trip_ms: 200,
            round_ms: 5_000,
            block_ms: 1_000,
            unloaded: Step {
                decided_ms: 450,
                ..Step::default()
            },
            loaded: Step::default(),
            orders: orders::Figures {
                sealed: ms(11_000),
                buy: ms(3_000),
                dead_validator: false,
                sealed_not_first: 0,
                failed: Vec::new(),
            },
            cut: Cut {
                pause_ms: 3_000,
                back_ms: 10_000,
                alone: 1,
                ..Cut::default()
            },
        };
        assert_eq!(report.problems(), Vec::<String>::new());
        assert!(report.table().contains("median round trip 200 ms"));
        report.unloaded.decided_ms = 451;
        report.orders.sealed = ms(16_001);
        report.orders.buy = ms(0);
        (report.cut.pause_ms, report.cut.back_ms) = (3_001, 10_001);
        assert_eq!(report.problems().len(), 6, "{:?}", report.problems());
        (report.cut.alone, report.loaded.unknown) = (2, 1);
        assert_eq!(report.problems().len(), 8);
    }
}
