//! One class and its offers as they stand: quotes, prices and explanations are made of them.

use super::desk::Answer;
use super::price::seconds;
use crate::backend::failure::not_found;
use gridbay_ledger::{Lease, State};
use gridbay_protocol::class::Class;
use gridbay_protocol::genesis::Policy;
use gridbay_protocol::ids::{AccountId, ClassId, OfferId};
use gridbay_protocol::offer::{Primary, Reclaim};
use gridbay_protocol::units::{Credits, Price};
use std::collections::BTreeMap;

/// Between the names of several classes; no name has a space.
pub(crate) const BETWEEN: &str = " + ";

/// An offer that is for sale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    /// Units for sale.
    pub(crate) supply: u32,
    /// Units of those that nobody holds.
    pub(crate) free: u32,
    /// Units that are held by bids which give way to a buy.
    pub(crate) yielding: u32,
    /// Least price per unit-slot.
    pub(crate) reserve: Price,
    /// Buy-it-now price per unit-slot, if its units can be bought firmly.
    pub(crate) buy: Option<Price>,
    /// Mechanism it sells under first.
    pub(crate) mechanism: Primary,
}

/// A class with what is offered of it.
#[derive(Clone, Debug)]
pub(crate) struct Market {
    pub(crate) id: ClassId,
    pub(crate) name: String,
    /// Reference price per unit-slot, which measures deposits.
    pub(crate) reference: Price,
    pub(crate) policy: Policy,
    /// Height of the ledger.
    pub(crate) height: u64,
    pub(crate) lines: Vec<Line>,
}

impl Market {
    /// The market of a class. `held` is [`held`] of the same state.
    pub(crate) fn of(state: &State, class: &Class, held: &BTreeMap<OfferId, Held>) -> Market {
        let id = class.key.id();
        let of_class = state
            .offers()
            .filter(|(_, o)| o.terms.class == id && o.active);
        let held = |offer: &OfferId| held.get(offer).copied().unwrap_or_default();
        let line = |(offer, o): (&OfferId, &gridbay_ledger::Offer)| Line {
            supply: o.supply(),
            free: o.supply().saturating_sub(held(offer).units),
            yielding: held(offer).yielding,
            reserve: o.terms.reserve,
            buy: o
                .terms
                .buy_price
                .filter(|_| o.terms.reclaim == Reclaim::None)
                .filter(|_| o.terms.mechanism == Primary::Ausubel),
            mechanism: o.terms.mechanism,
        };
        Market {
            id,
            name: class.name.clone(),
            reference: class.reference_price,
            policy: state.policy().clone(),
            height: state.height(),
            lines: of_class.map(line).collect(),
        }
    }
    /// Seconds that so many slots last, rounded up.
    pub(crate) fn seconds(&self, slots: u32) -> u32 {
        seconds(slots, self.policy.slot_ms())
    }
    /// Units that can be auctioned if nobody takes them first.
    fn auctioned(&self) -> impl Iterator<Item = &Line> {
        self.lines.iter().filter(|line| line.mechanism.spills())
    }
    /// Units for sale, but for those that are sold at posted prices only.
    pub(crate) fn supply(&self) -> u32 {
        self.auctioned().map(|l| l.supply).sum()
    }
    /// Units that sell under reservation.
    pub(crate) fn reservable(&self) -> u32 {
        let lines = self.lines.iter();
        let ahead = lines.filter(|l| l.mechanism == Primary::Reservation);
        ahead.map(|l| l.supply).sum()
    }
    /// Units of those that nobody holds.
    pub(crate) fn free(&self) -> u32 {
        self.auctioned().map(|l| l.free).sum()
    }
    /// Units that nobody holds and that can be bought firmly.
    pub(crate) fn can_be_bought(&self) -> u32 {
        let lines = self.lines.iter().filter(|l| l.buy.is_some());
        lines.map(|l| l.free).sum()
    }
    /// Units that a buy can have now: those, and the ones of bids that give way to it.
    pub(crate) fn in_reach(&self) -> u32 {
        let lines = self.lines.iter().filter(|l| l.buy.is_some());
        lines.map(|l| l.free.saturating_add(l.yielding)).sum()
    }
    /// The lowest reserve.
    pub(crate) fn lowest_reserve(&self) -> Option<Price> {
        self.auctioned().map(|l| l.reserve).min()
    }
    /// The lowest buy-it-now price.
    pub(crate) fn lowest_buy(&self) -> Option<Price> {
        self.lines.iter().filter_map(|l| l.buy).min()
    }
    /// The lowest price whose offers together have `units` units; `None` if there are fewer.
    pub(crate) fn reserve_of(&self, units: u32) -> Option<Price> {
        let mut lines: Vec<_> = self.auctioned().map(|l| (l.reserve, l.supply)).collect();
        lines.sort_unstable();
        let mut missing = units;
        for (reserve, supply) in lines {
            missing = missing.saturating_sub(supply);
            if missing == 0 {
                return Some(reserve);
            }
        }
        None
    }
    /// What `units` units cost per slot at the asked buy prices: of the cheapest free ones, or of
    /// the cheapest of all if too few are free. `None` if too few can be bought at all.
    pub(crate) fn asked(&self, units: u32) -> Option<Credits> {
        self.cheapest(units, |l| l.free)
            .or_else(|| self.cheapest(units, |l| l.supply))
    }

    fn cheapest(&self, units: u32, room: impl Fn(&Line) -> u32) -> Option<Credits> {
        let shelf = self.lines.iter().filter_map(|l| Some((l.buy?, room(l))));
        Some(cheapest_of(shelf.collect(), units)?.0)
    }
}

/// The cheapest `units` units of a shelf of prices and units: what they cost a slot, and the price
/// of the dearest of them; `None` if there are fewer.
pub(crate) fn cheapest_of(mut shelf: Vec<(Price, u32)>, units: u32) -> Option<(Credits, Price)> {
    shelf.sort_unstable();
    let (mut missing, mut sum, mut dearest) = (units, Credits::ZERO, Price::default());
    for (price, room) in shelf {
        let taken = room.min(missing);
        if taken > 0 {
            sum = sum.checked_add(price.times(u64::from(taken))?)?;
            (missing, dearest) = (missing - taken, price);
        }
    }
    (missing == 0).then_some((sum, dearest))
}

/// Every class with its offers, and the orders that wait for it.
pub(crate) type Markets = Vec<(Class, Market, u32)>;

/// All classes of a ledger, in its order.
pub(crate) fn markets(state: &State) -> Markets {
    let (held, waiting) = (held(state), waiting(state));
    let classes = state.classes().iter().map(|class| {
        let market = Market::of(state, class, &held);
        let waiting = waiting.get(&market.id).copied().unwrap_or(0);
        (class.clone(), market, waiting)
    });
    classes.collect()
}

/// Units held of an offer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Held {
    /// All of them.
    pub(crate) units: u32,
    /// Those of bids which give way to a buy.
    pub(crate) yielding: u32,
}

/// Units held of every offer; offers of which nothing is held are missing.
pub(crate) fn held(state: &State) -> BTreeMap<OfferId, Held> {
    let mut held: BTreeMap<OfferId, Held> = BTreeMap::new();
    for (_, lease) in state.leases() {
        let yields = gives_way(state, lease);
        for share in &lease.shares {
            let of_offer = held.entry(share.offer).or_default();
            of_offer.units += share.units;
            of_offer.yielding += if yields { share.units } else { 0 };
        }
    }
    held
}

/// Whether a lease gives way to a buy: a bid's does whose units can all be bought.
fn gives_way(state: &State, lease: &Lease) -> bool {
    let is_bid = || state.order(&lease.order).is_some_and(|o| o.bid().is_some());
    let can_be_bought = |offer| state.offer(offer).is_some_and(|o| o.sells_firmly());
    let mut offers = lease.shares.iter().map(|share| &share.offer);
    !lease.is_firm() && is_bid() && offers.all(can_be_bought)
}

/// Orders that stand and hold nothing, by class.
fn waiting(state: &State) -> BTreeMap<ClassId, u32> {
    let mut waiting = BTreeMap::new();
    let stands = |o: &gridbay_ledger::Order| o.bid().is_some() && o.lease.is_none();
    for (_, order) in state.orders().filter(|(_, o)| stands(o)) {
        *waiting.entry(order.class).or_insert(0) += 1;
    }
    waiting
}

/// The class with a name.
pub(crate) fn class_named<'s>(state: &'s State, name: &str) -> Answer<&'s Class> {
    let mut classes = state.classes().iter();
    let found = classes.find(|class| class.name == name);
    found.ok_or_else(|| {
        not_found(
            format!("no class `{name}`"),
            "`gridbay market prices` lists the classes",
        )
    })
}

/// Name of a class, or its id if it has none here.
pub(crate) fn class_name(state: &State, id: &ClassId) -> String {
    let class = state.classes().iter().find(|class| class.key.id() == *id);
    class.map_or_else(|| id.to_string(), |class| class.name.clone())
}

/// The money that an account can spend: balance and credit line.
pub(crate) fn spendable(state: &State, account: &AccountId) -> Credits {
    let balance = state.balance(account);
    let sum = i128::from(balance.free) + i128::from(balance.credit_line.micros());
    Credits::from_wide(u128::try_from(sum).unwrap_or(0)).unwrap_or(Credits::MAX)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Offers as (supply, free, reserve, buy price); slots of 2 s, a reference price of 100.
    pub(crate) fn market(lines: &[(u32, u32, u64, Option<u64>)]) -> Market {
        let line = |&(supply, free, reserve, buy): &(u32, u32, u64, Option<u64>)| Line {
            supply,
            free,
            yielding: 0,
            reserve: Price(reserve),
            buy: buy.map(Price),
            mechanism: Primary::Ausubel,
        };
        Market {
            id: ClassId([1; 32]),
            name: "small".into(),
            reference: Price(100),
            policy: Policy::local(),
            height: 17,
            lines: lines.iter().map(line).collect(),
        }
    }

    #[test]
    fn asked_prices_take_free_units_first() {
        let market = market(&[(4, 0, 10, Some(20)), (4, 2, 10, Some(30)), (9, 9, 5, None)]);
        assert_eq!((market.supply(), market.free()), (17, 11));
        assert_eq!(
            market.asked(2).unwrap().micros(),
            60,
            "the cheap ones are taken"
        );
        assert_eq!(market.asked(3).unwrap().micros(), 60, "too few are free");
        assert_eq!(market.asked(8).unwrap().micros(), 200);
        assert_eq!(market.asked(9), None, "the rest is not for sale firmly");
        assert_eq!(market.lowest_buy(), Some(Price(20)));
    }

    #[test]
    fn a_buy_reaches_free_units_and_those_of_bids() {
        let mut market = market(&[(4, 1, 10, Some(20)), (4, 2, 10, None)]);
        assert_eq!(market.in_reach(), 1);
        market.lines[0].yielding = 2;
        market.lines[1].yielding = 2;
        assert_eq!(market.in_reach(), 3, "the others cannot be bought");
    }

    #[test]
    fn the_reserve_that_covers_an_order() {
        let market = market(&[(4, 4, 10, None), (2, 2, 5, None)]);
        let covers: Vec<_> = [1, 2, 3, 6, 7]
            .map(|n| market.reserve_of(n).map(|p| p.0))
            .to_vec();
        assert_eq!(covers, [Some(5), Some(5), Some(10), Some(10), None]);
    }
}
