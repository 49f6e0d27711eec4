//! Finds, from the answers, the moment at which two peers speak again. Pure.
//!
//! 1. Questions are numbered and asked at a steady pace, whatever becomes of them. One is answered
//!    well if its answer took [`PROMPT_MS`] at the most.
//! 2. Two peers speak again once [`ROW`] questions in a row are answered well, all asked after the
//!    change. The moment is that of the first of these answers: a single one may have come over a
//!    path that carries every other question only.

use std::collections::BTreeMap;

/// Questions in a row that are answered well.
const ROW: u64 = 15;
/// Milliseconds that an answer may take.
const PROMPT_MS: u64 = 1_000;

/// Answers so far; all times are milliseconds on one clock.
#[derive(Clone, Debug, Default)]
pub struct Answers {
    /// By question: when it was asked and when the answer was heard.
    prompt: BTreeMap<u64, (u64, u64)>,
}

impl Answers {
    /// Question `n` has been answered.
    pub fn hear(&mut self, n: u64, took_ms: u64, now_ms: u64) {
        if took_ms <= PROMPT_MS {
            let asked = now_ms.saturating_sub(took_ms);
            self.prompt.insert(n, (asked, now_ms));
        }
    }
    /// When they spoke again, if they do: step 2 with a change at `change_ms`.
    pub fn again(&self, change_ms: u64) -> Option<u64> {
        let mut row: Option<(u64, u64, u64)> = None;
        for (n, (asked, heard)) in &self.prompt {
            if *asked < change_ms {
                continue;
            }
            let (first, moment, length) = match row {
                Some((first, moment, length)) if first + length == *n => {
                    (first, moment, length + 1)
                }
                _ => (*n, *heard, 1),
            };
            if length == ROW {
                return Some(moment);
            }
            row = Some((first, moment, length));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Question n is asked at 200 n; those in `missed` get no answer.
    fn answers(count: u64, missed: impl Fn(u64) -> bool) -> Answers {
        let mut answers = Answers::default();
        for n in (0..count).filter(|n| !missed(*n)) {
            answers.hear(n, 5, 200 * n + 5);
        }
        answers
    }

    #[test]
    fn the_first_of_a_row_counts() {
        assert_eq!(answers(14, |_| false).again(0), None, "no whole row yet");
        assert_eq!(answers(15, |_| false).again(0), Some(5));
        let gap = answers(60, |n| (10..30).contains(&n));
        assert_eq!(gap.again(0), Some(6_005), "ten before the gap are no row");
        let every_other = answers(60, |n| n < 40 && n % 2 == 0);
        assert_eq!(every_other.again(2_000), Some(39 * 200 + 5));
    }

    #[test]
    fn what_was_asked_before_the_change_or_answered_late_does_not_count() {
        assert_eq!(answers(40, |_| false).again(1_001), Some(1_205));
        let mut late = answers(60, |n| n == 20);
        late.hear(20, 3_000, 7_000);
        assert_eq!(late.again(2_000), Some(21 * 200 + 5));
    }

    #[test]
    fn answers_may_be_heard_out_of_order() {
        let mut answers = Answers::default();
        for n in (0..15).rev() {
            answers.hear(n, 5, 200 * n + 5);
        }
        assert_eq!(answers.again(0), Some(5));
    }
}
