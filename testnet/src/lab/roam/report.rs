//! The moves, and the time until the two sides spoke again.

use super::super::matrix::{Pair, Path, Side};
use super::{BAR, Move, What};
use gridbay_node::ui::Table;
use std::fmt;

/// A move and how it went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// The sides that spoke with each other.
    pub pair: Pair,
    /// What changed.
    pub change: Move,
    /// The path before it.
    pub before: Path,
    /// The path when they had spoken again for a while.
    pub after: Path,
    /// Milliseconds from the change until they spoke again; `None` if they did not.
    pub again_ms: Option<u64>,
}

impl Moved {
    /// Whether they spoke again in time.
    pub fn passed(&self) -> bool {
        let bar = u64::try_from(BAR.as_millis()).unwrap_or(u64::MAX);
        self.before > Path::None && self.again_ms.is_some_and(|ms| ms <= bar)
    }
}

impl fmt::Display for Moved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ((waiting, _), (asking, _)) = (&self.pair.waiting, &self.pair.dialing);
        let machine = &self.change.machine;
        write!(f, "{asking} and {waiting}, {machine} moved: ")?;
        match (self.before, self.again_ms) {
            (Path::None, _) => write!(f, "they had not met"),
            (_, Some(ms)) => write!(f, "again after {ms} ms, {}", self.after),
            (_, None) => write!(f, "never again"),
        }
    }
}

/// All moves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// In their order.
    pub moved: Vec<Moved>,
}

impl Report {
    /// Whether there was a move, and all went well.
    pub fn ok(&self) -> bool {
        !self.moved.is_empty() && self.moved.iter().all(Moved::passed)
    }
    /// A row for each move, then the verdict.
    pub fn lines(&self) -> String {
        let mut table = Table::new(&[
            "ASKING",
            "ANSWERING",
            "WHO MOVES",
            "WHAT CHANGES",
            "BEFORE",
            "AFTER",
            ">AGAIN MS",
        ]);
        for moved in &self.moved {
            let who = match moved.change.who {
                Side::Dialing => "asking",
                Side::Waiting => "answering",
            };
            let what = match moved.change.what {
                What::Host => "host",
                What::Gateway => "gateway",
            };
            table.row([
                moved.pair.dialing.0.clone(),
                moved.pair.waiting.0.clone(),
                who.to_owned(),
                what.to_owned(),
                moved.before.to_string(),
                moved.after.to_string(),
                moved.again_ms.map_or("-".to_owned(), |ms| ms.to_string()),
            ]);
        }
        let passed = self.moved.iter().filter(|moved| moved.passed()).count();
        let failed = self.moved.len() - passed;
        format!("{}{passed} passed, {failed} failed", table.render())
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::Kind;
    use super::*;

    fn moved(before: Path, again_ms: Option<u64>) -> Moved {
        Moved {
            pair: Pair {
                waiting: ("w".into(), Kind::Cone),
                dialing: ("d".into(), Kind::Cone),
                neighbours: false,
            },
            change: Move {
                who: Side::Dialing,
                what: What::Host,
                machine: "d".into(),
            },
            before,
            after: before,
            again_ms,
        }
    }

    #[test]
    fn late_never_and_never_met_fail() {
        assert!(moved(Path::Relayed, Some(10_000)).passed());
        let bad = [
            moved(Path::Relayed, Some(10_001)),
            moved(Path::Direct, None),
            moved(Path::None, Some(5)),
        ];
        assert!(bad.iter().all(|moved| !moved.passed()));
        let good = vec![moved(Path::Direct, Some(5))];
        assert!(Report { moved: good }.ok());
        assert!(!Report::default().ok());
        let report = Report { moved: bad.into() };
        assert!(!report.ok() && report.lines().ends_with("0 passed, 3 failed"));
    }
}
