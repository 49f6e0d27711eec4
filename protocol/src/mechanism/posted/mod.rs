//! Posted price, first come first served, as users of Golem and Akash know it.
//!
//! Every seller posts a price. Buyers do not compete; each names the most that a unit may cost:
//!
//! 1. Orders are served by `(time, id)`, one after the other.
//! 2. Units are taken cheapest first, of equal prices those of the smaller offer id.
//! 3. An order gets all its units, each for no more than its limit, or none.
//! 4. It pays for each unit the price that its seller posted.
//!
//! Nobody gains by naming a limit below the worth of a unit; but orders are served as they arrive,
//! whatever later ones would pay. That is the reason for the other mechanisms.
//!
//! A clearing takes orders times offers steps at the most: an order looks at each offer once.

mod reach;
mod specimen;

use super::Mechanism;
use super::dice::shuffle;
use super::meter::{self, product, wide};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::marker::PhantomData;

/// Offers in one clearing: one for each unit that a class may have.
pub const OFFERS_MAX: usize = 16_384;
/// Orders in one clearing: as many as a block has entries.
pub const ORDERS_MAX: usize = 2_000;
/// Units of one offer or order.
pub const UNITS_MAX: u32 = 65_536;

/// Units that one seller has left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer<O> {
    /// Unique among the offers of a clearing.
    pub id: O,
    /// Units, 0 to [`UNITS_MAX`].
    pub units: u32,
    /// Price of each per slot, micro-credits.
    pub price: u64,
}

/// The units that one buyer wants, and its limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order<B> {
    /// Unique among the orders of a clearing.
    pub id: B,
    /// When it came: the earliest is served first.
    pub time: u64,
    /// Units, all or none, 1 to [`UNITS_MAX`].
    pub units: u32,
    /// The most that each may cost per slot, micro-credits.
    pub limit: u64,
}

/// The input of a clearing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input<O, B> {
    /// The sellers' side, in any order.
    pub offers: Vec<Offer<O>>,
    /// Units of further offers, which no order gets, see [`Input::shorten`]. An order that asks for
    /// more than there are with these is refused as [`Missing::Units`].
    pub left_out: u32,
    /// The buyers' side, in any order.
    pub orders: Vec<Order<B>>,
}

/// The units that one order got, and their price.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Award<O, B> {
    /// The order.
    pub id: B,
    /// Units by offer, ascending, each at least 1.
    pub taken: Vec<(O, u32)>,
    /// Price of all of them per slot, micro-credits.
    pub pay: u128,
}

/// Why an order got nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// There were too few units when its turn came, at any price.
    Units,
    /// There were enough, but too few within its limit.
    Price,
}

/// The result of a clearing. Every order is in one of the lists; both are by `(time, id)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome<O, B> {
    /// Orders that were served.
    pub awards: Vec<Award<O, B>>,
    /// Orders that were not.
    pub refused: Vec<(B, Missing)>,
}

/// Why a clearing is refused. Numbers are checked first, then ids.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error<O: Debug, B: Debug> {
    /// Too many offers.
    #[error("{0} offers, more than {OFFERS_MAX}")]
    Offers(usize),
    /// Too many orders.
    #[error("{0} orders, more than {ORDERS_MAX}")]
    Orders(usize),
    /// An offer of more units than one may have.
    #[error("offer {0:?} has more than {UNITS_MAX} units")]
    OfferUnits(O),
    /// An order for no unit, or for more than one may ask for.
    #[error("order {0:?} is not for 1 to {UNITS_MAX} units")]
    OrderUnits(B),
    /// Two offers have one id.
    #[error("two offers have the id {0:?}")]
    DuplicateOffer(O),
    /// Two orders have one id.
    #[error("two orders have the id {0:?}")]
    DuplicateOrder(B),
}

fn check<O, B>(input: &Input<O, B>) -> Result<(), Error<O, B>>
where
    O: Ord + Clone + Debug,
    B: Ord + Clone + Debug,
{
    let Input { offers, orders, .. } = input;
    if offers.len() > OFFERS_MAX {
        return Err(Error::Offers(offers.len()));
    }
    if orders.len() > ORDERS_MAX {
        return Err(Error::Orders(orders.len()));
    }
    let large = offers.iter().filter(|offer| offer.units > UNITS_MAX);
    if let Some(id) = large.map(|offer| &offer.id).min() {
        return Err(Error::OfferUnits(id.clone()));
    }
    let bad = orders.iter();
    let bad = bad.filter(|order| !(1..=UNITS_MAX).contains(&order.units));
    if let Some(id) = bad.map(|order| &order.id).min() {
        return Err(Error::OrderUnits(id.clone()));
    }
    if let Some(id) = twice(offers.iter().map(|offer| &offer.id)) {
        return Err(Error::DuplicateOffer(id.clone()));
    }
    if let Some(id) = twice(orders.iter().map(|order| &order.id)) {
        return Err(Error::DuplicateOrder(id.clone()));
    }
    Ok(())
}

/// The smallest id that is there twice.
fn twice<'i, T: Ord>(ids: impl Iterator<Item = &'i T>) -> Option<&'i T> {
    let mut ids: Vec<&T> = ids.collect();
    ids.sort_unstable();
    let pair = ids.windows(2).find(|pair| pair[0] == pair[1]);
    pair.map(|pair| pair[0])
}

/// Serves the orders one after the other.
///
/// # Errors
/// The first rule that the input breaks, see [`Error`].
pub fn clear<O, B>(input: &Input<O, B>) -> Result<Outcome<O, B>, Error<O, B>>
where
    O: Ord + Clone + Debug,
    B: Ord + Clone + Debug,
{
    check(input)?;
    let mut shelf = Shelf::new(input);
    let mut orders: Vec<&Order<B>> = input.orders.iter().collect();
    orders.sort_unstable_by_key(|order| (order.time, &order.id));
    let mut outcome = Outcome {
        awards: Vec::new(),
        refused: Vec::new(),
    };
    for order in orders {
        match shelf.serve(order) {
            Ok(award) => outcome.awards.push(award),
            Err(missing) => outcome.refused.push((order.id.clone(), missing)),
        }
    }
    Ok(outcome)
}

/// Offers that have units left, by (price, id).
struct Shelf<'i, O> {
    rows: Vec<(&'i Offer<O>, u32)>,
    /// Rows in front of this one are empty.
    first: usize,
    /// Units, with those that are left out.
    left: u64,
}

impl<'i, O: Ord + Clone> Shelf<'i, O> {
    fn new<B>(input: &'i Input<O, B>) -> Self {
        let offers = input.offers.iter();
        let mut rows: Vec<_> = offers.map(|offer| (offer, offer.units)).collect();
        rows.sort_unstable_by_key(|(offer, _)| (offer.price, &offer.id));
        let units = rows.iter().map(|(_, units)| u64::from(*units));
        Shelf {
            left: units.sum::<u64>() + u64::from(input.left_out),
            rows,
            first: 0,
        }
    }

    /// Steps 2 to 4 for one order.
    fn serve<B: Clone>(&mut self, order: &Order<B>) -> Result<Award<O, B>, Missing> {
        if u64::from(order.units) > self.left {
            return Err(Missing::Units);
        }
        let rows = self.rows[self.first..].iter();
        let within = rows.take_while(|(offer, _)| offer.price <= order.limit);
        let (mut found, mut last) = (0u64, self.first);
        for (_, units) in within {
            found += u64::from(*units);
            last += 1;
            if found >= u64::from(order.units) {
                break;
            }
        }
        meter::steps(last - self.first);
        match found >= u64::from(order.units) {
            true => Ok(self.take(order, last)),
            false => Err(Missing::Price),
        }
    }

    /// Takes an order's units from the rows in front of `end`, which have enough.
    fn take<B: Clone>(&mut self, order: &Order<B>, end: usize) -> Award<O, B> {
        let (mut missing, mut pay) = (order.units, 0);
        let mut taken = BTreeMap::new();
        for (offer, left) in &mut self.rows[self.first..end] {
            let units = missing.min(*left);
            missing -= units;
            *left -= units;
            pay += u128::from(offer.price) * u128::from(units);
            if units > 0 {
                taken.insert(offer.id.clone(), units);
            }
        }
        self.left -= u64::from(order.units);
        // The last row may have units left.
        self.first = end.saturating_sub(1);
        Award {
            id: order.id.clone(),
            taken: taken.into_iter().collect(),
            pay,
        }
    }
}

/// The mechanism as a [`Mechanism`], for offers and orders with ids of type `K`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Posted<K>(PhantomData<fn() -> K>);

impl<K> Posted<K> {
    /// The marker, usable in statics.
    pub const NEW: Self = Posted(PhantomData);
}

impl<K: Ord + Clone + Debug + From<u16>> Mechanism for Posted<K> {
    type Input = Input<K, K>;
    type Outcome = Outcome<K, K>;
    type Error = Error<K, K>;

    const NAME: &'static str = "posted";
    const SUMMARY: &'static str =
        "units at the price that their seller posted: first come, first served";

    fn clear(input: &Self::Input) -> Result<Self::Outcome, Self::Error> {
        clear(input)
    }

    fn bound(input: &Self::Input) -> u64 {
        product(&[wide(input.orders.len()), wide(input.offers.len())])
    }

    fn audit(input: &Self::Input, outcome: &Self::Outcome) -> Result<(), &'static str> {
        audit(input, outcome)
    }

    fn specimen(seed: u64) -> Self::Input {
        specimen::draw(seed)
    }

    fn extreme(seed: u64) -> Self::Input {
        specimen::extreme(seed)
    }

    fn shuffle(input: &mut Self::Input, draw: &mut dyn FnMut(u64) -> u64) {
        shuffle(&mut input.offers, draw);
        shuffle(&mut input.orders, draw);
    }
}

/// See [`Mechanism::audit`]. The units left at the end were there at every turn, so they must be
/// dearer than all those taken, and too few for each order that got nothing.
fn audit<K: Ord + Clone + Debug>(
    input: &Input<K, K>,
    outcome: &Outcome<K, K>,
) -> Result<(), &'static str> {
    check(input).map_err(|_| "the input is none")?;
    let mut offers: BTreeMap<&K, (u64, u32)> = BTreeMap::new();
    offers.extend(input.offers.iter().map(|o| (&o.id, (o.price, o.units))));
    let mut orders: BTreeMap<&K, &Order<K>> = BTreeMap::new();
    orders.extend(input.orders.iter().map(|order| (&order.id, order)));
    let mut dearest = Vec::new();
    for award in &outcome.awards {
        let order = orders.remove(&award.id);
        let order = order.ok_or("an award of no order, or two of one")?;
        let (mut units, mut pay, mut most) = (0, 0, (0, None));
        for (id, count) in &award.taken {
            let offer = offers.get_mut(id).ok_or("units of no offer")?;
            let left = offer.1.checked_sub(*count);
            offer.1 = left.ok_or("more units than an offer has")?;
            units += u64::from(*count);
            pay += u128::from(offer.0) * u128::from(*count);
            most = most.max((offer.0, Some(id)));
        }
        if units != u64::from(order.units) {
            return Err("an order is not served as a whole");
        }
        if pay != award.pay || most.0 > order.limit {
            return Err("an order pays another price than the sellers', or above its limit");
        }
        dearest.push(most);
    }
    let left = offers.iter().filter(|(_, offer)| offer.1 > 0);
    let cheapest = left.clone().map(|(id, offer)| (offer.0, Some(*id))).min();
    if dearest
        .iter()
        .any(|most| cheapest.is_some_and(|least| least < *most))
    {
        return Err("cheaper units were left");
    }
    for (id, missing) in &outcome.refused {
        let order = orders
            .remove(id)
            .ok_or("a refusal of no order, or two of one")?;
        let (most, beyond) = match missing {
            Missing::Units => (u64::MAX, input.left_out),
            Missing::Price => (order.limit, 0),
        };
        let fits = left.clone().filter(|(_, offer)| offer.0 <= most);
        let fits = fits.map(|(_, offer)| u64::from(offer.1)).sum::<u64>();
        if fits + u64::from(beyond) >= u64::from(order.units) {
            return Err("an order was refused that could be served");
        }
    }
    match orders.is_empty() {
        true => Ok(()),
        false => Err("an order is neither served nor refused"),
    }
}
