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

/// A validator's own chain. Computing it takes a fraction of a second. A reveal costs at most `2 *
/// 2,048` hashes if the images are asked for in the order of the turns; any other image is searched
/// for in the whole chain.
///
/// The start of a chain is never revealed: the next [generation](Chain::generation) comes from the
/// same secret.
#[derive(Clone)]
pub struct Chain {
    secret: [u8; 32],
    generation: u32,
    /// `marks[i]` lies `i * MARK_EVERY` steps from the start.
    marks: Vec<[u8; 32]>,
    tip: [u8; 32],
    steps: u32,
    /// The value found last.
    last: Option<Found>,
}

/// An image of the chain.
#[derive(Clone, Copy)]
struct Found {
    image: [u8; 32],
    preimage: [u8; 32],
    /// Steps from the start to the image, at least 1.
    position: u32,
}

impl Chain {
    /// The first chain, of `steps` steps, from a secret.
    pub fn new(secret: &[u8; 32], steps: u32) -> Chain {
        Chain::build(secret, 0, steps)
    }
    /// The chain of the same secret and length that is `generation` renewals old; 0 is the first.
    pub fn generation(&self, generation: u32) -> Chain {
        Chain::build(&self.secret, generation, self.steps)
    }
    /// The chain to register when this one runs out.
    pub fn renewed(&self) -> Chain {
        self.generation(self.generation.saturating_add(1))
    }
    fn build(secret: &[u8; 32], generation: u32, steps: u32) -> Chain {
        let mut at = match generation {
            0 => *secret,
            // Two parts: no step of any chain hashes the same.
            _ => hash(Domain::BeaconChain, &[secret, &generation.to_be_bytes()]),
        };
        let mut marks = Vec::with_capacity((steps / MARK_EVERY) as usize + 1);
        for i in 0..steps {
            if i % MARK_EVERY == 0 {
                marks.push(at);
            }
            at = step(&at);
        }
        Chain {
            secret: *secret,
            generation,
            marks,
            tip: at,
            steps,
            last: None,
        }
    }
    /// The tip to register.
    pub fn tip(&self) -> [u8; 32] {
        self.tip
    }
    /// Steps from the start to the tip; one less can be revealed.
    pub fn steps(&self) -> u32 {
        self.steps
    }
    /// The preimage of `image`, if `image` is in the chain and its preimage may be revealed.
    pub fn preimage(&mut self, image: &[u8; 32]) -> Option<[u8; 32]> {
        let found = self.find(image)?;
        (found.position > 1).then_some(found.preimage)
    }
    /// How many reveals are left after `image`; `None` if it is not in the chain.
    pub fn remaining(&mut self, image: &[u8; 32]) -> Option<u32> {
        self.find(image).map(|found| found.position - 1)
    }
    /// Looks at what was found last, then into the segments: from the one found last (at first the
    /// tip's) backwards, at last those nearer to the tip.
    fn find(&mut self, image: &[u8; 32]) -> Option<Found> {
        if let Some(last) = self.last.filter(|last| last.image == *image) {
            return Some(last);
        }
        let from = self.last.map_or(self.steps, |last| last.position);
        let below = self.marks.len().min(from.div_ceil(MARK_EVERY) as usize);
        let mut order = (0..below).rev().chain((below..self.marks.len()).rev());
        let found = order.find_map(|segment| self.search(segment, image))?;
        self.last = Some(found);
        Some(found)
    }
    /// Looks for `image` among the images that follow a mark up to the next.
    fn search(&self, segment: usize, image: &[u8; 32]) -> Option<Found> {
        let first = segment as u32 * MARK_EVERY;
        let mut at = self.marks[segment];
        for position in first + 1..=self.steps.min(first + MARK_EVERY) {
            let next = step(&at);
            if next == *image {
                return Some(Found {
                    image: next,
                    preimage: at,
                    position,
                });
            }
            at = next;
        }
        None
    }
}

impl std::fmt::Debug for Chain {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Chain")
            .field("generation", &self.generation)
            .field("steps", &self.steps)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reveals_walk_back_to_the_start_and_stop_before_it() {
        let steps = MARK_EVERY + 100;
        let mut chain = Chain::new(&[3; 32], steps);
        let mut image = chain.tip();
        for left in (1..steps).rev() {
            assert_eq!(chain.remaining(&image), Some(left));
            let preimage = chain.preimage(&image).unwrap();
            assert_eq!(step(&preimage), image);
            image = preimage;
        }
        assert_eq!(image, step(&[3; 32]));
        assert_eq!(chain.remaining(&image), Some(0));
        assert_eq!(chain.preimage(&image), None, "the secret stays secret");
    }

    fn walk(from: &[u8; 32], steps: u32) -> [u8; 32] {
        (0..steps).fold(*from, |at, _| step(&at))
    }

    #[test]
    fn images_are_found_in_any_order_and_strangers_are_not() {
        let mut chain = Chain::new(&[3; 32], 5_000);
        for position in [5_000, 2, 4_096, 4_097, 2_048, 2_049, 5_000, 1] {
            let image = walk(&[3; 32], position);
            assert_eq!(chain.remaining(&image), Some(position - 1), "{position}");
        }
        for stranger in [[3; 32], [0; 32]] {
            assert_eq!(chain.preimage(&stranger), None);
            assert_eq!(chain.remaining(&stranger), None);
        }
    }

    #[test]
    fn generations_are_chains_of_their_own_from_one_secret() {
        let mut first = Chain::new(&[3; 32], 100);
        let mut second = first.renewed();
        assert_eq!(second.tip(), first.generation(1).tip());
        assert_eq!(second.renewed().tip(), first.generation(2).tip());
        assert_eq!(second.generation(0).tip(), first.tip());
        assert_eq!(first.remaining(&second.tip()), None);
        assert_eq!(second.remaining(&first.tip()), None);
        assert_eq!(second.remaining(&second.tip()), Some(99));
    }
}
