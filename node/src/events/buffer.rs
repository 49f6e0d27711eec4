//! The last events, each with a number, so that a reader who was away goes on where it was.
//!
//! 1. There are [`KEPT`] events at the most, and [`KEPT_BYTES`] of them; the oldest go first.
//! 2. An id is the buffer's name and the event's number, as in `5f0c1b2a-17`. A buffer has a fresh
//!    name, so that a reader who comes with the id of another one is told to begin anew.

use std::collections::VecDeque;
use std::sync::Arc;

/// Events kept at the most.
pub(super) const KEPT: usize = 1_024;
/// Bytes of all events kept, at the most.
pub(super) const KEPT_BYTES: usize = 4 << 20;

/// One event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Happened {
    /// Its number: 1, 2, ...
    pub(super) number: u64,
    /// Its kind.
    pub(super) kind: &'static str,
    /// JSON in one line.
    pub(super) data: Arc<str>,
}

/// The last events.
#[derive(Debug)]
pub(super) struct Buffer {
    name: String,
    /// Number of the last event; 0 before the first.
    last: u64,
    bytes: usize,
    events: VecDeque<Happened>,
}

impl Buffer {
    /// An empty one with a fresh name.
    pub(super) fn new(name: String) -> Buffer {
        Buffer {
            name,
            last: 0,
            bytes: 0,
            events: VecDeque::new(),
        }
    }
    /// Number of the last event.
    pub(super) fn last(&self) -> u64 {
        self.last
    }
    /// Id of an event.
    pub(super) fn id(&self, number: u64) -> String {
        format!("{}-{number}", self.name)
    }
    /// Takes in an event.
    pub(super) fn push(&mut self, kind: &'static str, data: &str) {
        self.last += 1;
        self.bytes += data.len();
        self.events.push_back(Happened {
            number: self.last,
            kind,
            data: data.into(),
        });
        while self.events.len() > KEPT || self.bytes > KEPT_BYTES {
            let Some(gone) = self.events.pop_front() else {
                break;
            };
            self.bytes -= gone.data.len();
        }
    }
    /// The number that an id names, if all later events are here.
    pub(super) fn place(&self, id: &str) -> Option<u64> {
        let (name, number) = id.rsplit_once('-')?;
        let number = number.parse().ok().filter(|n| *n <= self.last)?;
        (name == self.name && self.reaches(number)).then_some(number)
    }
    /// Whether all events after a number are here.
    pub(super) fn reaches(&self, number: u64) -> bool {
        let first = self.events.front().map_or(self.last + 1, |e| e.number);
        number + 1 >= first
    }
    /// The events after a number.
    pub(super) fn after(&self, number: u64) -> Vec<Happened> {
        let later = self.events.iter().filter(|e| e.number > number);
        later.cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_goes_on_where_it_was() {
        let mut buffer = Buffer::new("ab".to_owned());
        assert_eq!(buffer.place("ab-0"), Some(0));
        buffer.push("job", "1");
        buffer.push("lease", "2");
        assert_eq!(buffer.id(2), "ab-2");
        assert_eq!(buffer.place("ab-1"), Some(1));
        let later = buffer.after(1);
        assert_eq!(
            (later.len(), later[0].kind, &*later[0].data),
            (1, "lease", "2")
        );
        assert!(buffer.after(2).is_empty());
        for other in ["ab-3", "cd-1", "ab", "1", "", "ab--1", "ab-x"] {
            assert_eq!(buffer.place(other), None, "{other}");
        }
    }

    #[test]
    fn what_is_kept_is_bounded_and_a_reader_is_told_what_it_missed() {
        let mut buffer = Buffer::new("ab".to_owned());
        for n in 0..KEPT + 10 {
            buffer.push("job", &n.to_string());
        }
        assert_eq!(buffer.events.len(), KEPT);
        assert_eq!(buffer.place("ab-9"), None);
        assert_eq!(buffer.place("ab-10"), Some(10));
        let large = "x".repeat(KEPT_BYTES / 2);
        buffer.push("job", &large);
        buffer.push("job", &large);
        assert_eq!(buffer.events.len(), 2);
        buffer.push("job", &"x".repeat(KEPT_BYTES + 1));
        assert_eq!((buffer.events.len(), buffer.bytes), (0, 0));
        assert!(buffer.reaches(buffer.last()) && !buffer.reaches(buffer.last() - 1));
    }
}
