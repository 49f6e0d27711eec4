//! The stock of each class, looked up once for all buys that a block decides, and the number of
//! searches for bids to displace.
//!
//! 1. A class is gone through when its first buy is decided: its offers, and all leases. Free units
//!    that a buy takes are taken off; after a buy that displaced others the class is gone through
//!    again.
//! 2. A buy that is short of free units is at least as dear as the cheapest units for which others
//!    could give way, and as the least values among as many units of bids as it lacks: whichever
//!    bids give way lose at least those. So a buy that cannot pay ends without a search for leases
//!    to displace.
//! 3. A search goes over all leases and clears the class, so [`limits::NEW_BUYS_DISPLACE`] new buys
//!    may cause one in a block and class, beside those that waited (see `queue`). Later buys take
//!    free units.

use super::deal::Shelf;
use crate::market;
use crate::work::Work;
use gridbay_protocol::ids::{ClassId, OfferId};
use gridbay_protocol::limits;
use gridbay_protocol::order::{BuyPart, unit_prices};
use gridbay_protocol::record::ausubel::ClearingOffer;
use gridbay_protocol::units::Price;
use std::borrow::Cow;
use std::collections::BTreeMap;

use super::sums::Sums;

/// Stocks of a block, by class. See the module.
#[derive(Default)]
pub(crate) struct Stocks {
    classes: BTreeMap<ClassId, Stock>,
    /// New buys that searched for leases to displace.
    searches: BTreeMap<ClassId, u32>,
}

impl Stocks {
    /// The stock of a class.
    pub(super) fn of(&mut self, work: &Work<'_>, class: &ClassId) -> &Stock {
        let stock = self.classes.entry(*class);
        stock.or_insert_with(|| Stock::new(work, class))
    }
    /// Step 3: whether a new buy may displace in all these classes. If so it counts.
    pub(super) fn may_search(&mut self, classes: &[ClassId]) -> bool {
        let before = |class| self.searches.get(class).copied().unwrap_or(0);
        let may = classes
            .iter()
            .all(|class| before(class) < limits::NEW_BUYS_DISPLACE);
        if may {
            for class in classes {
                *self.searches.entry(*class).or_default() += 1;
            }
        }
        may
    }
    /// Free units of a class are sold.
    pub(super) fn sold(&mut self, class: &ClassId, taken: &[ClearingOffer]) {
        let Some(stock) = self.classes.get_mut(class) else {
            return;
        };
        for sold in taken {
            if let Some(at) = stock.lots.places.get(&sold.offer) {
                stock.lots.free.take(*at, sold.units);
                stock.lots.within.take(*at, sold.units);
            }
        }
    }
    /// Others lost units of a class.
    pub(super) fn forget(&mut self, class: &ClassId) {
        self.classes.remove(class);
    }
}

/// The stock of a class.
pub(super) struct Stock {
    lots: Lots,
    /// The least that the first, the first two, ... units are worth of bids that run wholly on its
    /// lots; 0 in front.
    values: Vec<u128>,
}

/// Offers from which can be bought, by (buy price, offer).
#[derive(Clone)]
pub(super) struct Lots {
    rows: Vec<(Price, OfferId)>,
    places: BTreeMap<OfferId, usize>,
    free: Sums,
    /// Free units, and those in leases that are not firm.
    within: Sums,
}

impl Lots {
    /// Ascending, each with its free units and those in leases that are not firm.
    fn new(rows: &BTreeMap<(Price, OfferId), (u32, u32)>) -> Lots {
        let places = rows.keys().enumerate();
        Lots {
            rows: rows.keys().copied().collect(),
            places: places.map(|(at, (_, offer))| (*offer, at)).collect(),
            free: Sums::new(rows.iter().map(|(key, units)| (key.0.0, units.0))),
            within: Sums::new(rows.iter().map(|(key, units)| (key.0.0, units.0 + units.1))),
        }
    }
    fn named(&self, offers: &[OfferId]) -> Lots {
        let places = offers.iter().filter_map(|offer| self.places.get(offer));
        let rows = places.map(|at| {
            let free = self.free.of(*at);
            (self.rows[*at], (free, self.within.of(*at) - free))
        });
        Lots::new(&rows.collect())
    }
    /// Whether an offer is among them.
    pub(super) fn has(&self, offer: &OfferId) -> bool {
        self.places.contains_key(offer)
    }
    /// Free units.
    pub(super) fn free(&self) -> u64 {
        self.free.units()
    }
    /// The cost of the cheapest free units; `None` if there are not so many.
    pub(super) fn cost(&self, units: u32) -> Option<u128> {
        self.free.cost(units)
    }
    /// The cheapest free units.
    pub(super) fn cheapest(&self, units: u32) -> Shelf {
        let found = self.free.cheapest(units).into_iter();
        found.map(|(at, units)| (self.rows[at], units)).collect()
    }
    /// All of them with their free units, also those with none.
    pub(super) fn shelf(&self) -> Shelf {
        let rows = self.rows.iter().enumerate();
        rows.map(|(at, row)| (*row, self.free.of(at))).collect()
    }
}

impl Stock {
    fn new(work: &Work<'_>, class: &ClassId) -> Stock {
        let held = market::held(work);
        let mut rows = BTreeMap::new();
        for (id, offer) in market::offers(work, class) {
            let held = held.get(&id).copied().unwrap_or_default();
            let free = offer.terms.units.checked_sub(held.all());
            let price = offer.terms.buy_price.filter(|_| offer.sells_firmly());
            if let (Some(free), Some(price)) = (free, price) {
                rows.insert((price, id), (free, held.preemptible));
            }
        }
        let lots = Lots::new(&rows);
        let values = values(work, class, &lots);
        Stock { lots, values }
    }
    /// Those of which a part may take units.
    pub(super) fn lots(&self, part: &BuyPart) -> Cow<'_, Lots> {
        match part.offers.is_empty() {
            true => Cow::Borrowed(&self.lots),
            false => Cow::Owned(self.lots.named(&part.offers)),
        }
    }
    /// Step 2: the least that a part costs which lacks free units; `None` if even all bids that
    /// give way do not suffice.
    pub(super) fn least(&self, part: &BuyPart, lots: &Lots) -> Option<u128> {
        let asked = lots.within.cost(part.units)?;
        let lacks = u64::from(part.units).saturating_sub(lots.free());
        let lost = self.values.get(usize::try_from(lacks).ok()?)?;
        Some(asked.max(*lost))
    }
}

fn values(work: &Work<'_>, class: &ClassId, lots: &Lots) -> Vec<u128> {
    let mut prices = Vec::new();
    for (_, lease) in work.tables.leases.iter() {
        if lease.class != *class || !lease.shares.iter().all(|s| lots.has(&s.offer)) {
            continue;
        }
        if let Some(bid) = work.tables.orders.get(&lease.order).and_then(|o| o.bid()) {
            prices.extend(unit_prices(&bid.bid.steps, lease.units()));
        }
    }
    prices.sort_unstable();
    let mut sum = 0;
    let sums = prices.into_iter().map(|price| {
        sum += u128::from(price);
        sum
    });
    std::iter::once(0).chain(sums).collect()
}
