//! Deterministic mutations, by which the replay changes seeds and corpora in the same way on every
//! machine.
//!
//! Most of them know nothing of the format (flip, set, insert, remove, cut, repeat, splice). The
//! others know CBOR and keep it well formed, so that damage gets past the parser. A mutant has one
//! to four of them in a row.

use crate::cbor::{self, Rewrite};
use gridbay_protocol::splitmix::splitmix64;

/// No mutant grows beyond this.
const BYTES_MAX: usize = 64 * 1024;

/// A seeded generator (SplitMix64).
#[derive(Clone, Debug)]
pub struct Rng(pub u64);

impl Rng {
    /// Seeded by bytes: choices that depend on an input and on nothing else.
    pub fn of(bytes: &[u8]) -> Rng {
        let mix = |state: u64, byte: &u8| (state ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        Rng(bytes.iter().fold(0xcbf2_9ce4_8422_2325, mix))
    }
    /// Any number.
    pub fn number(&mut self) -> u64 {
        splitmix64(&mut self.0)
    }
    /// A number below `n`, which is at least 1.
    pub fn below(&mut self, n: usize) -> usize {
        (self.number() % n as u64) as usize
    }
    /// A number of any width, often at an edge of one.
    pub fn wide(&mut self) -> u64 {
        let shift = self.below(64);
        match self.below(3) {
            0 => (1u64 << shift).wrapping_sub(self.number() & 1),
            1 => u64::MAX >> shift,
            _ => self.number() >> shift,
        }
    }
}

/// `count` inputs of `len` random bytes: seeds of targets that read choices.
pub fn tapes(count: u64, len: usize) -> Vec<Vec<u8>> {
    let tape = |n| {
        let mut rng = Rng(n);
        (0..len).map(|_| rng.number() as u8).collect()
    };
    (1..=count).map(tape).collect()
}

/// A mutant of `input`; `donor` lends parts.
pub fn mutate(input: &[u8], donor: &[u8], rng: &mut Rng) -> Vec<u8> {
    let mut bytes = input.to_vec();
    for _ in 0..=rng.below(4) {
        let changed = match rng.below(4) {
            0 => cbor::edit(&bytes, donor, rng),
            1 if rng.below(4) == 0 => {
                Rewrite::ALL[rng.below(Rewrite::ALL.len())].apply(&bytes, rng)
            }
            _ => None,
        };
        match changed {
            Some(changed) => bytes = changed,
            None => blind(&mut bytes, donor, rng),
        }
    }
    bytes.truncate(BYTES_MAX);
    bytes
}

/// A change that knows nothing of the format.
fn blind(bytes: &mut Vec<u8>, donor: &[u8], rng: &mut Rng) {
    let len = bytes.len();
    if len == 0 {
        bytes.extend_from_slice(donor);
        return;
    }
    let at = rng.below(len);
    let until = at + 1 + rng.below((len - at).min(32));
    match rng.below(8) {
        0 => bytes[at] ^= 1 << rng.below(8),
        1 => bytes[at] = rng.number() as u8,
        2 => bytes.insert(at, rng.number() as u8),
        3 => drop(bytes.drain(at..until)),
        4 => bytes.truncate(at),
        5 => {
            let again = bytes[at..until].to_vec();
            bytes.splice(at..at, again);
        }
        6 => {
            let from = rng.below(donor.len() + 1);
            bytes.truncate(at);
            bytes.extend_from_slice(&donor[from..]);
        }
        _ => {
            let edge = rng.wide().to_be_bytes();
            for (byte, new) in bytes[at..].iter_mut().zip(&edge[8 - (1 << rng.below(4))..]) {
                *byte = *new;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mutants_repeat_and_differ() {
        let seed = b"\x82\x01\x61a".as_slice();
        let run = |n| {
            let mut rng = Rng(n);
            (0..100)
                .map(|_| mutate(seed, b"\x19\x01\x00", &mut rng))
                .collect::<Vec<_>>()
        };
        assert_eq!(run(1), run(1));
        assert_ne!(run(1), run(2));
        assert!(run(3).iter().filter(|bytes| *bytes != seed).count() > 80);
        assert_eq!(mutate(b"", b"", &mut Rng(5)), b"");
    }
}
