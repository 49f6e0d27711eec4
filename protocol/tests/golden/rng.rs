//! A seeded generator (SplitMix64): the same numbers on every machine and for ever.

use gridbay_protocol::splitmix::splitmix64;

pub(crate) struct Rng(pub(crate) u64);

impl Rng {
    pub(crate) fn next(&mut self) -> u64 {
        splitmix64(&mut self.0)
    }
    /// A number below `n`, which is at least 1.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
    /// A number of any width: each width of the wire form comes up, and so do both its edges.
    pub(crate) fn wide(&mut self) -> u64 {
        const EDGES: [u64; 10] = [
            0,
            23,
            24,
            0xff,
            0x100,
            0xffff,
            0x1_0000,
            0xffff_ffff,
            0x1_0000_0000,
            u64::MAX,
        ];
        match self.below(4) {
            0 => EDGES[self.below(EDGES.len())],
            _ => self.next() >> self.below(64),
        }
    }
    pub(crate) fn narrow(&mut self) -> u32 {
        self.wide() as u32
    }
    pub(crate) fn bytes<const N: usize>(&mut self) -> [u8; N] {
        std::array::from_fn(|_| self.next() as u8)
    }
}
