//! Claims in random blocks, and the conditions for every sharing.

use crate::model::Dice;
use crate::share::claim;
use crate::world::{World, credits};
use gridbay_protocol::ids::{Hash32, OfferId};
use gridbay_protocol::mechanism::share::Utility;
use gridbay_protocol::order::Claim;
use gridbay_protocol::record::share::Sharing;

/// A claim on one of the pools there are, mostly one that the ledger takes.
pub(crate) fn random_claim(world: &mut World, dice: &mut Dice) -> Claim {
    let pools = world.state.offers().filter(|(_, o)| o.pool().is_some());
    let pools: Vec<OfferId> = pools.map(|(id, _)| *id).collect();
    let rate = 1 + dice.below(400);
    let fresh = world.fresh();
    Claim {
        utility: [Utility::Linear, Utility::Log][dice.below(2) as usize],
        weights: (0..3)
            .map(|n| u32::from(n == 0) + dice.below(4) as u32)
            .collect(),
        tasks: 1 + dice.below(3) as u32,
        slots: 1 + dice.below(4) as u32,
        budget: credits(rate + dice.below(1_000)),
        stands_until: world.state.height() + dice.below(40),
        work: Hash32([fresh as u8; 32]),
        ..claim(dice.pick(&pools).unwrap_or(OfferId([5; 32])), rate)
    }
}

/// Shares are within supply and rates, and anybody can compute them.
pub(crate) fn check_sharing(record: &Sharing) {
    assert_eq!(record.awards, record.divide());
    let units: u32 = record.awards.iter().map(|a| a.portion.units).sum();
    assert!(units <= record.units);
    for award in &record.awards {
        let claim = record
            .claims
            .iter()
            .find(|c| c.order == award.order)
            .unwrap();
        assert!(award.pay <= claim.rate && award.portion.units <= claim.tasks);
        assert!(award.portion.units >= 1);
    }
}
