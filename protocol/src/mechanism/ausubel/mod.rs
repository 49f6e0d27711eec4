//! The sealed-bid form of CloudBay's two-stage Ausubel auction (Zhao et al., III.C and III.D, eqs.
//! 1 to 3; reference A).
//!
//! `supply` alike units of one class are sold to bidders that each state the worth of the first,
//! second, third... unit to them, and the number that they need at least. Step by step:
//!
//! 1. `prepare` refuses bad input and brings bids into canonical form.
//! 2. A [`Rule`] decides the units of each bidder and the payment of each winner.
//!
//! | rule | allocation | payment |
//! |---|---|---|
//! | [`Rule::Exact`] | the most valuable one | VCG: the cost of the winner's presence to the others; raised by [`sponsor`] |
//! | [`Rule::Floor`] | the same | at least the clinching price, against false names |
//! | [`Rule::Paper`] | longest prefix of blocks by average price | clinching, as printed |
//!
//! `work` bounds the steps of a clearing: the units, and all-or-none bids times units.
//!
//! Without all-or-none bids the three give equal results.

mod curve;
mod divisible;
mod exact;
mod externality;
mod floor;
mod maxplus;
mod paper;
pub(crate) mod prepare;
mod ranking;
pub mod sellers;
mod specimen;
pub mod sponsor;
mod types;
mod work;

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::marker::PhantomData;

use super::Mechanism;
use super::dice::shuffle;
pub use types::{Award, Bidder, Error, Input, Outcome, Rule};

use prepare::Prepared;
pub(crate) use types::Share;

/// Shares parallel to the lots, and the price if the rule has one.
pub(crate) fn solve(prepared: &Prepared<'_>, rule: Rule) -> (Vec<Share>, Option<u64>) {
    match rule {
        Rule::Exact => (exact::solve(prepared), None),
        Rule::Floor => (floor::solve(prepared), None),
        Rule::Paper => {
            let (shares, price) = paper::solve(prepared);
            (shares, Some(price))
        }
    }
}

/// Clears one market with one seller side; [`sellers`] adds many sellers.
///
/// # Errors
/// Two bidders with one id, or prices that rise.
pub fn clear<K: Ord + Clone + Debug>(input: &Input<K>) -> Result<Outcome<K>, Error<K>> {
    let prepared = prepare::prepare(&input.bidders, input.supply, input.reserve)?;
    let (shares, price) = solve(&prepared, input.rule);
    Ok(outcome(&input.bidders, &prepared, &shares, price))
}

/// Names the winners among the shares. Lots without a bidder are the sellers' own and no award.
pub(crate) fn outcome<K: Clone>(
    bidders: &[Bidder<K>],
    prepared: &Prepared<'_>,
    shares: &[Share],
    price: Option<u64>,
) -> Outcome<K> {
    let mut outcome = Outcome {
        awards: Vec::new(),
        welfare: 0,
        revenue: 0,
        price,
    };
    for (lot, share) in prepared.lots.iter().zip(shares) {
        let Some(bidder) = lot.bidder else { continue };
        if share.units == 0 {
            continue;
        }
        outcome.welfare += lot.value(share.units);
        outcome.revenue += share.pay;
        let id = bidders[bidder as usize].id.clone();
        outcome.awards.push(Award {
            id,
            units: share.units,
            pay: share.pay,
        });
    }
    outcome
}

/// The auction as a [`Mechanism`], for bidders with ids of type `K`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ausubel<K>(PhantomData<fn() -> K>);

impl<K> Ausubel<K> {
    /// The marker, usable in statics.
    pub const NEW: Self = Ausubel(PhantomData);
}

impl<K: Ord + Clone + Debug + From<u8> + From<u16>> Mechanism for Ausubel<K> {
    type Input = Input<K>;
    type Outcome = Outcome<K>;
    type Error = Error<K>;

    const NAME: &'static str = "ausubel";
    const SUMMARY: &'static str =
        "run it when it is cheap: sealed bids, partial fills, preemptible";

    fn clear(input: &Input<K>) -> Result<Outcome<K>, Error<K>> {
        clear(input)
    }

    fn bound(input: &Input<K>) -> u64 {
        work::bound(input)
    }

    fn audit(input: &Input<K>, outcome: &Outcome<K>) -> Result<(), &'static str> {
        audit(input, outcome)
    }

    fn specimen(seed: u64) -> Input<K> {
        specimen::draw(seed)
    }

    fn extreme(seed: u64) -> Input<K> {
        specimen::extreme(seed)
    }

    fn shuffle(input: &mut Input<K>, draw: &mut dyn FnMut(u64) -> u64) {
        shuffle(&mut input.bidders, draw);
    }
}

/// See [`Mechanism::audit`].
fn audit<K: Ord>(input: &Input<K>, outcome: &Outcome<K>) -> Result<(), &'static str> {
    let bids: BTreeMap<&K, &Bidder<K>> = input.bidders.iter().map(|b| (&b.id, b)).collect();
    let (mut units, mut welfare, mut revenue) = (0u64, 0u128, 0u128);
    let mut last = None;
    for award in &outcome.awards {
        let bid = bids.get(&award.id).ok_or("a winner did not bid")?;
        if last
            .replace((bid.time, &bid.id))
            .is_some_and(|before| before >= (bid.time, &bid.id))
        {
            return Err("winners are not in (time, id) order");
        }
        let stated = bid
            .prices
            .get(..award.units as usize)
            .ok_or("more units than asked for")?;
        let value = stated.iter().map(|&p| u128::from(p)).sum();
        if award.units < bid.min.max(1) {
            return Err("a winner got less than its minimum");
        }
        if award.pay > value {
            return Err("a winner pays more than its bid");
        }
        if award.pay < u128::from(input.reserve) * u128::from(award.units) {
            return Err("a winner pays less than the reserve");
        }
        units += u64::from(award.units);
        welfare += value;
        revenue += award.pay;
    }
    if units > u64::from(input.supply) {
        return Err("more units sold than supplied");
    }
    if (welfare, revenue) != (outcome.welfare, outcome.revenue) {
        return Err("the sums do not add up");
    }
    Ok(())
}
