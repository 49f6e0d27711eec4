//! What the echo program prints: a line for each question, with the time when it was sent and the
//! microseconds to the answer, or `-`.

use serde::Serialize;

/// Questions of some time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Echoes {
    /// Sent.
    pub(crate) sent: u64,
    /// Not answered within two seconds.
    pub(crate) lost: u64,
    /// The longest time between two that were answered, in milliseconds; from the beginning to the
    /// end if none was.
    pub(crate) gap_ms: u64,
    /// The median time to the answer, in microseconds.
    pub(crate) median_us: Option<u64>,
}

/// When each question was sent, in milliseconds since 1970, and the microseconds to its answer. A
/// line that is not whole yet, or makes no sense, is left out.
pub(super) fn read(text: &str) -> Vec<(u64, Option<u64>)> {
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let line = |line: &str| {
        let (at, took) = line.split_once(' ')?;
        Some((at.parse().ok()?, took.parse().ok()))
    };
    whole.lines().filter_map(line).collect()
}

impl Echoes {
    /// Those sent from a time on and before another.
    pub(super) fn between(all: &[(u64, Option<u64>)], from: u64, to: u64) -> Echoes {
        let some = all.iter().filter(|(at, _)| (from..to).contains(at));
        let answered = some
            .clone()
            .filter_map(|(at, took)| took.map(|took| (*at, took)));
        let times = answered.clone().map(|(at, _)| at).chain([to]);
        let mut echoes = Echoes {
            sent: some.count() as u64,
            ..Echoes::default()
        };
        let mut last = from;
        for at in times {
            echoes.gap_ms = echoes.gap_ms.max(at.saturating_sub(last));
            last = at;
        }
        let mut took: Vec<u64> = answered.map(|(_, took)| took).collect();
        echoes.lost = echoes.sent - took.len() as u64;
        took.sort_unstable();
        echoes.median_us = took.get(took.len() / 2).copied();
        echoes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn echoes_are_counted_within_their_time() {
        let text = "1000 500\n1100 -\n1200 -\n1900 700\nnonsense\n2000 600\n2100 5";
        let all = read(text);
        assert_eq!(all.len(), 5, "the last one is not whole");
        let some = Echoes::between(&all, 1_000, 2_000);
        let expected = Echoes {
            sent: 4,
            lost: 2,
            gap_ms: 900,
            median_us: Some(700),
        };
        assert_eq!(some, expected);
        let none = Echoes::between(&all, 1_050, 1_850);
        assert_eq!((none.sent, none.lost, none.gap_ms), (2, 2, 800));
        assert_eq!(none.median_us, None);
    }
}
