//! The beacon reveals of this node's validator, over as many chains as its life takes.
//!
//! 1. The chain in use is the generation that contains the tip which the ledger has for the
//!    validator.
//! 2. A block of this node reveals the preimage of that tip.
//! 3. When few reveals are left, the tip of the next generation is due for registration. From the
//!    epoch after the next on, the next generation is in use.
//!
//! Generations come from one secret, so nothing about them needs a place on disk.

use crate::limits;
use gridbay_protocol::beacon::Chain;
use gridbay_protocol::ids::Hash32;

/// The chains of one validator.
#[derive(Debug)]
pub(crate) struct Reveals {
    chain: Chain,
    /// The next generation, once it is needed.
    next: Option<Chain>,
    /// A tip that lies in no generation: searching again would be in vain.
    stranger: Option<[u8; 32]>,
}

impl Reveals {
    /// The chains of the secret of `chain`.
    pub(crate) fn new(chain: Chain) -> Reveals {
        Reveals {
            chain,
            next: None,
            stranger: None,
        }
    }
    /// The reveal of this node's next block after `tip`; `None` if the chain is used up or
    /// another's.
    pub(crate) fn reveal(&mut self, tip: &[u8; 32]) -> Option<[u8; 32]> {
        self.turn_to(tip)?;
        self.chain.preimage(tip)
    }
    /// The tip to register now that the ledger has `tip`, if it is time for that.
    pub(crate) fn renewal(&mut self, tip: &[u8; 32]) -> Option<Hash32> {
        let left = self.turn_to(tip)?;
        let early = (self.chain.steps() / 4 * 3).min(limits::BEACON_RESERVE);
        if left >= early {
            return None;
        }
        let next = self.next.get_or_insert_with(|| self.chain.renewed());
        Some(Hash32(next.tip()))
    }
    /// Makes the generation that contains `tip` the one in use. Returns the reveals left in it.
    pub(crate) fn turn_to(&mut self, tip: &[u8; 32]) -> Option<u32> {
        if self.stranger.as_ref() == Some(tip) {
            return None;
        }
        if let Some(next) = self.next.take_if(|next| next.tip() == *tip) {
            self.chain = next;
        }
        if let Some(left) = self.chain.remaining(tip) {
            return Some(left);
        }
        for generation in 0..limits::BEACON_GENERATIONS {
            let mut chain = self.chain.generation(generation);
            if let Some(left) = chain.remaining(tip) {
                self.chain = chain;
                self.next = None;
                return Some(left);
            }
        }
        self.stranger = Some(*tip);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::beacon::step;

    const STEPS: u32 = 40;

    fn reveals() -> Reveals {
        Reveals::new(Chain::new(&[1; 32], STEPS))
    }

    #[test]
    fn the_next_chain_is_due_before_the_last_runs_out_and_reveals_go_on() {
        let mut reveals = reveals();
        let mut tip = reveals.chain.tip();
        let (mut renewed, mut waiting) = (0, None);
        for turn in 0..3 * STEPS {
            // A registered tip counts twenty turns later.
            if let Some((from, next)) = waiting
                && turn == from
            {
                (tip, waiting) = (next, None);
                renewed += 1;
                assert_eq!(reveals.renewal(&tip), None, "in use");
            } else if waiting.is_none()
                && let Some(next) = reveals.renewal(&tip)
            {
                assert_eq!(reveals.chain.remaining(&tip), Some(3 * STEPS / 4 - 1));
                waiting = Some((turn + 20, next.0));
            }
            let reveal = reveals.reveal(&tip).expect("a reveal");
            assert_eq!(step(&reveal), tip);
            tip = reveal;
        }
        // Each generation serves for 10 reveals and the 20 of the wait, in 120; the last is still
        // in use.
        assert_eq!(renewed, 3);
    }

    #[test]
    fn a_chain_that_nobody_renews_ends_without_its_secret() {
        let mut reveals = reveals();
        let mut tip = reveals.chain.tip();
        let mut count = 0;
        while let Some(reveal) = reveals.reveal(&tip) {
            tip = reveal;
            count += 1;
        }
        assert_eq!(count, STEPS - 1);
        assert_eq!(tip, step(&[1; 32]));
    }

    #[test]
    fn after_a_restart_the_generation_is_found_by_the_tip() {
        let mut reveals = reveals();
        for generation in [5, 0, limits::BEACON_GENERATIONS - 1] {
            let tip = reveals.chain.generation(generation).tip();
            assert_eq!(reveals.turn_to(&tip), Some(STEPS - 1), "{generation}");
            let next = reveals.chain.generation(generation + 1).tip();
            assert_eq!(reveals.chain.renewed().tip(), next);
        }
        assert_eq!(reveals.turn_to(&[9; 32]), None);
        assert_eq!(reveals.reveal(&[9; 32]), None);
    }
}
