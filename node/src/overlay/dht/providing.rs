//! The times of the node's announcements as a provider. Pure: the time comes in.
//!
//! A provider announces itself to the peers closest to the key that it can find: few if the
//! network, or the provider in it, is young, and none if its lookup met silent peers alone. So it
//! announces itself again after [`FIRST`], and after pauses that grow fourfold up to [`AGAIN`]. It
//! never stops, since peers that heard it forget it, or leave.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// First pause.
const FIRST: Duration = Duration::from_secs(10);
/// The longest.
const AGAIN: Duration = Duration::from_secs(600);

/// The announcements to make, by key.
#[derive(Debug, Default)]
pub(super) struct Providing {
    /// When, and the pause after that.
    due: BTreeMap<[u8; 32], (Instant, Duration)>,
}

impl Providing {
    /// Announces the key from now on.
    pub(super) fn begin(&mut self, key: [u8; 32], now: Instant) {
        self.due.entry(key).or_insert((now, FIRST));
    }

    /// Announces the key no more.
    pub(super) fn end(&mut self, key: &[u8; 32]) {
        self.due.remove(key);
    }

    /// The announcement to make now, the one that waits longest. Only one at a time, because each
    /// costs a lookup.
    pub(super) fn due(&self, now: Instant) -> Option<[u8; 32]> {
        let due = self.due.iter().filter(|(_, (at, _))| *at <= now);
        due.min_by_key(|(_, (at, _))| *at).map(|(key, _)| *key)
    }

    /// The key was announced.
    pub(super) fn said(&mut self, key: &[u8; 32], now: Instant) {
        if let Some((at, pause)) = self.due.get_mut(key) {
            *at = now + *pause;
            *pause = (*pause * 4).min(AGAIN);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_said_ever_more_seldom_and_one_at_a_time() {
        let (mut providing, start) = (Providing::default(), Instant::now());
        for key in [1, 2, 3] {
            providing.begin([key; 32], start);
        }
        providing.end(&[3; 32]);
        let mut said = Vec::new();
        for second in 0..1500 {
            let now = start + Duration::from_secs(second);
            if let Some(key) = providing.due(now) {
                providing.said(&key, now);
                said.push((second, key[0]));
            }
        }
        let times = [0, 10, 50, 210, 810, 1410];
        let both = times.into_iter().flat_map(|s| [(s, 1), (s + 1, 2)]);
        assert_eq!(said, both.collect::<Vec<(u64, u8)>>());
        // A key that is announced already changes nothing.
        providing.begin([1; 32], start);
        assert_eq!(providing.due(start + Duration::from_secs(1500)), None);
    }
}
