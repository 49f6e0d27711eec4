//! Chance with a seed: the only source of it in the world.

use gridbay_protocol::splitmix::splitmix64;

/// A stream of numbers (SplitMix64).
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// The stream of a seed that belongs to `purpose`: streams of other purposes do not move it.
    pub fn new(seed: u64, purpose: &str) -> Rng {
        let mut hasher = blake3::Hasher::new_derive_key("gridbay sim stream v1");
        hasher
            .update(&seed.to_le_bytes())
            .update(purpose.as_bytes());
        let mut state = [0; 8];
        state.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
        Rng(u64::from_le_bytes(state))
    }
    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        splitmix64(&mut self.0)
    }
    /// A number below `n`; 0 if `n` is 0.
    pub fn below(&mut self, n: u64) -> u64 {
        self.bits() % n.max(1)
    }
    /// An index below `n`; 0 if `n` is 0.
    pub fn index(&mut self, n: usize) -> usize {
        self.below(n as u64) as usize
    }
    /// A number from `low` to `high`, both included.
    pub fn range(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high.saturating_sub(low).saturating_add(1))
    }
    /// True in `ppm` of a million cases.
    pub fn chance(&mut self, ppm: u64) -> bool {
        self.below(1_000_000) < ppm
    }
    /// One of the items.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.index(items.len()))
    }
    /// 32 bytes.
    pub fn bytes32(&mut self) -> [u8; 32] {
        let mut out = [0; 32];
        for chunk in out.chunks_mut(8) {
            chunk.copy_from_slice(&self.bits().to_le_bytes());
        }
        out
    }
}
