//! The beacon: randomness that no bidder and no single auctioneer chooses.
//!
//! 1. Every validator registers the tip of a hash chain: `tip = H^n(secret)`.
//! 2. Its next block reveals the preimage of the tip; the preimage becomes the new tip.
//! 3. `beacon(h) = H(beacon(h-1), reveal)`.
//!
//! A proposer can only reveal or forgo its turn: one bit of influence per turn.

use crate::hash::{Domain, hash};

/// The step of a chain: hash of a preimage.
pub fn step(preimage: &[u8; 32]) -> [u8; 32] {
    hash(Domain::BeaconChain, &[preimage])
}

/// The next beacon.
pub fn mix(beacon: &[u8; 32], reveal: &[u8; 32]) -> [u8; 32] {
    hash(Domain::Beacon, &[beacon, reveal])
}

/// Rank of an entry or a bid under a beacon: the order that nobody chose.
pub fn rank(beacon: &[u8; 32], id: &[u8; 32]) -> [u8; 32] {
    hash(Domain::Rank, &[beacon, id])
}

/// Steps of a chain: with four validators and a block a second about seven weeks of turns.
pub const CHAIN_STEPS: u32 = 1 << 20;
/// Every how many steps a [`Chain`] keeps a mark.
const MARK_EVERY: u32 = 2_048;

/// A validator's own chain. Computing it takes a fraction of a second, a reveal at most 2,048 hashes.
#[derive(Clone)]
pub struct Chain {
    /// `marks[i]` lies `i * MARK_EVERY` steps from the secret.
    marks: Vec<[u8; 32]>,
    tip: [u8; 32],
    steps: u32,
}

impl Chain {
    /// The chain of `steps` steps from a secret.
    pub fn new(secret: &[u8; 32], steps: u32) -> Chain {
        let mut marks = Vec::with_capacity((steps / MARK_EVERY) as usize + 1);
        let mut at = *secret;
        for i in 0..steps {
            if i % MARK_EVERY == 0 {
                marks.push(at);
            }
            at = step(&at);
        }
        Chain {
            marks,
            tip: at,
            steps,
        }
    }
    /// The tip to register.
    pub fn tip(&self) -> [u8; 32] {
        self.tip
    }
    /// The preimage of `image`, if `image` is in the chain and not its secret.
    /// Searches from the tip backwards, so a fresh chain answers at once.
    pub fn preimage(&self, image: &[u8; 32]) -> Option<[u8; 32]> {
        for (i, mark) in self.marks.iter().enumerate().rev() {
            let first = i as u32 * MARK_EVERY;
            let mut at = *mark;
            for _ in first..self.steps.min(first + MARK_EVERY) {
                let next = step(&at);
                if next == *image {
                    return Some(at);
                }
                at = next;
            }
        }
        None
    }
}

impl std::fmt::Debug for Chain {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Chain")
            .field("steps", &self.steps)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reveals_walk_back_to_the_secret() {
        let chain = Chain::new(&[3; 32], 5_000);
        let mut image = chain.tip();
        let mut reveals = 0;
        while let Some(preimage) = if reveals < 20 {
            chain.preimage(&image)
        } else {
            None
        } {
            assert_eq!(step(&preimage), image);
            image = preimage;
            reveals += 1;
        }
        assert_eq!(reveals, 20);
        assert_eq!(chain.preimage(&[3; 32]), None, "the secret has no preimage");
        assert_eq!(chain.preimage(&step(&[3; 32])), Some([3; 32]));
        assert_eq!(chain.preimage(&[0; 32]), None);
    }
}
