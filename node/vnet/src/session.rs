//! Which session a datagram belongs to.
//!
//! 1. A session's number is 24 bits, drawn for one pair of members in one lease; the low 8 bits of
//!    a receiver index are the handshake's, so an index names one pair whatever its handshake.
//! 2. Numbers come from one space for all leases, so two leases never share one; a number that is
//!    given back is not given out again before all others were.
//! 3. Handshakes and probes carry tags, which are hashes with the lease's secrets: only a member
//!    can say which lease it means, and a tag of a closed lease is unknown.

use std::collections::HashMap;

/// Bytes of a tag.
pub const TAG: usize = 8;
/// A tag, see the module.
pub type Tag = [u8; TAG];

/// Numbers and tags with what they lead to.
#[derive(Debug)]
pub struct Sessions<L, P> {
    numbers: HashMap<u32, P>,
    probes: HashMap<Tag, P>,
    leases: HashMap<Tag, L>,
    last: u32,
}

/// Numbers have 24 bits.
const NUMBERS: u32 = 1 << 24;

impl<L: Clone, P: Clone> Sessions<L, P> {
    /// No sessions; the first number follows `seed`.
    pub fn new(seed: u32) -> Sessions<L, P> {
        Sessions {
            numbers: HashMap::new(),
            probes: HashMap::new(),
            leases: HashMap::new(),
            last: seed % NUMBERS,
        }
    }

    /// A free number; none if all are taken.
    pub fn number(&mut self) -> Option<u32> {
        let candidates = (1..=NUMBERS).map(|step| self.last.wrapping_add(step) % NUMBERS);
        let free = candidates
            .into_iter()
            .find(|n| !self.numbers.contains_key(n))?;
        self.last = free;
        Some(free)
    }

    /// Enters a pair under its number and the tag of its probes.
    pub fn add_pair(&mut self, number: u32, probe: Tag, pair: P) {
        self.numbers.insert(number, pair.clone());
        self.probes.insert(probe, pair);
    }

    /// Forgets a pair.
    pub fn remove_pair(&mut self, number: u32, probe: &Tag) {
        self.numbers.remove(&number);
        self.probes.remove(probe);
    }

    /// Enters a lease under the tag of its handshakes.
    pub fn add_lease(&mut self, tag: Tag, lease: L) {
        self.leases.insert(tag, lease);
    }

    /// Forgets a lease.
    pub fn remove_lease(&mut self, tag: &Tag) {
        self.leases.remove(tag);
    }

    /// The pair that a receiver index names.
    pub fn by_index(&self, index: u32) -> Option<P> {
        self.numbers.get(&(index >> 8)).cloned()
    }

    /// The pair that a probe is for.
    pub fn by_probe(&self, tag: &Tag) -> Option<P> {
        self.probes.get(tag).cloned()
    }

    /// The lease that a handshake is for.
    pub fn by_lease_tag(&self, tag: &Tag) -> Option<L> {
        self.leases.get(tag).cloned()
    }

    /// Pairs that are entered.
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Whether nothing at all is entered.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty() && self.probes.is_empty() && self.leases.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_not_given_out_again_soon() {
        let mut sessions: Sessions<(), u8> = Sessions::new(NUMBERS - 2);
        let first = sessions.number().expect("a number");
        sessions.add_pair(first, [1; TAG], 7);
        assert_eq!(sessions.by_index(first << 8 | 0x5a), Some(7));
        sessions.remove_pair(first, &[1; TAG]);
        assert_eq!(sessions.by_index(first << 8), None);
        assert_eq!(sessions.by_probe(&[1; TAG]), None);
        assert!(sessions.is_empty());
        let next: Vec<_> = (0..3).filter_map(|_| sessions.number()).collect();
        assert_eq!(next, [0, 1, 2]);
    }

    #[test]
    fn taken_numbers_are_passed_over() {
        let mut sessions: Sessions<(), u8> = Sessions::new(0);
        for number in [1, 2, 4] {
            sessions.add_pair(number, [number as u8; TAG], 0);
        }
        assert_eq!(sessions.number(), Some(3));
        assert_eq!(sessions.number(), Some(5));
    }
}
