//! What the echo program prints: a line for each question, with the time when it was sent, the
//! microseconds to the answer, or `-`, and the rank that was asked.

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

/// A question of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Question {
    /// When it was sent, in milliseconds since 1970.
    pub(super) at: u64,
    /// Microseconds to its answer.
    pub(super) took: Option<u64>,
    /// The rank that was asked.
    pub(super) to: u32,
}

/// The questions. A line that is not whole yet, or makes no sense, is left out.
pub(super) fn read(text: &str) -> Vec<Question> {
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let line = |line: &str| {
        let mut words = line.split(' ');
        let (at, took) = (words.next()?.parse().ok()?, words.next()?.parse().ok());
        let to = words.next()?.parse().ok()?;
        Some(Question { at, took, to })
    };
    whole.lines().filter_map(line).collect()
}

impl Echoes {
    /// Those sent from a time on and before another.
    pub(super) fn between<'a>(
        all: impl IntoIterator<Item = &'a Question, IntoIter: Clone>,
        (from, to): (u64, u64),
    ) -> Echoes {
        let some = all
            .into_iter()
            .filter(|asked| (from..to).contains(&asked.at));
        let answered = some
            .clone()
            .filter_map(|asked| Some((asked.at, asked.took?)));
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
        let text = "1000 500 1\n1100 - 1\n1200 - 2\n1900 700 1\nnonsense\n2000 600 1\n2100 5";
        let all = read(text);
        assert_eq!(all.len(), 5, "the last one is not whole");
        let some = Echoes::between(&all, (1_000, 2_000));
        let expected = Echoes {
            sent: 4,
            lost: 2,
            gap_ms: 900,
            median_us: Some(700),
        };
        assert_eq!(some, expected);
        let none = Echoes::between(&all, (1_050, 1_850));
        assert_eq!((none.sent, none.lost, none.gap_ms), (2, 2, 800));
        assert_eq!(none.median_us, None);
        let of_two = all.iter().filter(|asked| asked.to == 2);
        assert_eq!(Echoes::between(of_two, (0, 3_000)).sent, 1);
    }
}
