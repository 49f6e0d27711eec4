//! Shared by the four behaviours seen in Mirage (AuYoung 3.5.2): its auction, and the rule `exact`
//! beside it.

use gridbay_protocol::mechanism::ausubel::{self, Bidder, Rule};
use gridbay_protocol::mechanism::reservation::{self, Bid, Input, Orders, Policy, Want};

/// A bid for any `quantity` of the nodes 0 .. `nodes`, for `slots` slots from slot 0 on.
pub(crate) fn bid(id: u64, value: u64, quantity: u32, nodes: u64, slots: u32) -> Bid<u64, u64> {
    Bid {
        id,
        time: 0,
        value,
        earliest: 0,
        latest: 0,
        slots,
        classes: vec![Want {
            quantity,
            nodes: (0..nodes).collect(),
        }],
        channels: None,
    }
}

/// A market of so many nodes and slots with `fronts` attempts; every slot may be a start.
pub(crate) fn market(
    nodes: u64,
    slots: u32,
    fronts: u32,
    bids: Vec<Bid<u64, u64>>,
) -> Input<u64, u64> {
    Input {
        policy: Policy {
            fronts,
            orders: Orders::Density,
        },
        reserve: 0,
        slots,
        starts: slots,
        nodes: (0..nodes).collect(),
        busy: vec![],
        busy_channels: vec![],
        bids,
    }
}

/// The winners and their payments under first prices.
pub(crate) fn greedy(input: &Input<u64, u64>) -> Vec<(u64, u64)> {
    let outcome = reservation::clear(input).unwrap();
    let award = |a: &reservation::Award<u64, u64>| (a.placement.id, a.pay);
    outcome.awards.iter().map(award).collect()
}

/// A bid for `prices.len()` units in the other auction.
pub(crate) fn sealed(id: u64, min: u32, prices: Vec<u64>) -> Bidder<u64> {
    Bidder {
        id,
        time: 0,
        min,
        prices,
        sponsor: None,
    }
}

/// Who wins, how many units, and what each pays, under the rule `exact`.
pub(crate) fn exact(supply: u32, reserve: u64, bidders: &[Bidder<u64>]) -> Vec<(u64, u32, u64)> {
    let outcome = ausubel::clear(&ausubel::Input {
        rule: Rule::Exact,
        supply,
        reserve,
        bidders: bidders.to_vec(),
    });
    let awards = outcome.unwrap().awards;
    let award = |a: &ausubel::Award<u64>| (a.id, a.units, u64::try_from(a.pay).unwrap());
    awards.iter().map(award).collect()
}
