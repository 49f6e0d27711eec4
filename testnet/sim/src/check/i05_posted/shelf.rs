//! Units for hire and their buyers, restated from the rules in `docs/mechanisms/posted.md`.

use gridbay_ledger::State;
use gridbay_protocol::effect::{Effect, OrderEnd};
use gridbay_protocol::ids::{ClassId, LeaseId, OfferId};
use gridbay_protocol::lease::{LeaseEnd, LeaseEvent, LeaseTerms, Share};
use gridbay_protocol::offer::Primary;
use gridbay_protocol::record::ausubel::ClearingOffer;
use gridbay_protocol::record::posted::{PostedBid, PostedRecord};
use gridbay_protocol::units::Price;
use std::collections::{BTreeMap, BTreeSet};

/// Units at a posted price.
#[derive(Clone, Debug)]
pub(super) struct Stall {
    pub(super) class: ClassId,
    pub(super) units: u32,
    pub(super) price: Price,
}

/// Units for hire as a state holds them, then as the effects of the next block leave them.
#[derive(Clone, Debug, Default)]
pub(super) struct Shelf {
    pub(super) height: u64,
    pub(super) stalls: BTreeMap<OfferId, Stall>,
    pub(super) leases: BTreeMap<LeaseId, Vec<Share>>,
    /// Offers of leases that ended undelivered in this block: perhaps not for hire any more.
    pub(super) doubtful: BTreeSet<OfferId>,
}

impl Shelf {
    pub(super) fn of(state: &State) -> Shelf {
        let posted = |o: &gridbay_ledger::Offer| o.active && o.terms.mechanism == Primary::Posted;
        let stalls = state.offers().filter(|(_, offer)| posted(offer));
        let stalls = stalls.map(|(id, offer)| {
            let stall = Stall {
                class: offer.terms.class,
                units: offer.terms.units,
                price: offer.terms.reserve,
            };
            (*id, stall)
        });
        let leases = state.leases();
        Shelf {
            height: state.height(),
            stalls: stalls.collect(),
            leases: leases.map(|(id, l)| (*id, l.shares.clone())).collect(),
            doubtful: BTreeSet::new(),
        }
    }

    pub(super) fn apply(&mut self, effect: &Effect) {
        match effect {
            Effect::Lease(LeaseEvent::Started(terms) | LeaseEvent::Renewed(terms)) => {
                let before = self.leases.insert(terms.lease, terms.shares.clone());
                // A reservation goes on without units that were not delivered.
                let before = before.unwrap_or_default().into_iter();
                let gone = before.filter(|b| terms.shares.iter().all(|s| s.offer != b.offer));
                self.doubtful.extend(gone.map(|share| share.offer));
            }
            Effect::Lease(LeaseEvent::Ended { lease, end, .. }) => {
                let gone = self.leases.remove(lease).unwrap_or_default();
                if *end == LeaseEnd::Undelivered {
                    self.doubtful.extend(gone.iter().map(|share| share.offer));
                }
            }
            Effect::Lease(LeaseEvent::Disputed { offer, .. }) => {
                self.doubtful.insert(*offer);
            }
            _ => {}
        }
    }

    /// Whether a lease lies on any unit that was for hire.
    pub(super) fn has(&self, terms: &LeaseTerms) -> bool {
        let mut shares = terms.shares.iter();
        shares.any(|share| self.stalls.contains_key(&share.offer))
    }

    /// Whether a record has the units for hire that matter, at their prices, and counts the others.
    /// Offers that are doubtful may be among these or not.
    pub(super) fn compare(&self, record: &PostedRecord) -> Result<(), String> {
        let stalls = self.stalls.iter().filter(|(_, s)| s.class == record.class);
        let free = stalls.map(|(id, stall)| {
            let shares = self.leases.values().flatten().filter(|s| s.offer == *id);
            let held = shares.map(|share| share.units).sum();
            ClearingOffer {
                offer: *id,
                units: stall.units.saturating_sub(held),
                reserve: stall.price,
            }
        });
        let certain =
            |o: &ClearingOffer| !self.doubtful.contains(&o.offer) || record.offers.contains(o);
        let (mut free, perhaps): (Vec<_>, Vec<_>) = free.filter(|o| o.units > 0).partition(certain);
        free.sort_unstable_by_key(|o| (o.reserve, o.offer));
        let listed = listed(&free, &record.bids);
        let count = |offers: &[ClearingOffer]| offers.iter().map(|o| o.units).sum::<u32>();
        let beyond = count(&free[listed..]);
        let most = beyond + count(&perhaps);
        if record.offers != free[..listed] || !(beyond..=most).contains(&record.left_out) {
            return Err(format!("{free:?} were for hire: {record:?}"));
        }
        let whole = PostedRecord {
            offers: free,
            left_out: record.left_out - beyond,
            ..record.clone()
        };
        match serve(&whole) == serve(record) {
            true => Ok(()),
            false => Err(format!("{:?} decide otherwise: {record:?}", whole.offers)),
        }
    }
}

/// The number of offers that a record lists of all free ones, which are in order: hires that take
/// one unit after the other within their limits, the lowest limit first, come no further.
fn listed(free: &[ClearingOffer], bids: &[PostedBid]) -> usize {
    let units = free.iter().zip(1..);
    let mut units = units.flat_map(|(o, n)| (0..o.units).map(move |_| (o.reserve, n)));
    let wishes = bids.iter().flat_map(|b| (0..b.units).map(|_| b.limit));
    let mut wishes: Vec<Price> = wishes.collect();
    wishes.sort_unstable();
    let (mut next, mut listed) = (units.next(), 0);
    for limit in wishes {
        if let Some((price, n)) = next
            && price <= limit
        {
            listed = n;
            next = units.next();
        }
    }
    listed
}

/// The outcome of a hire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Units by offer, ascending, and their price per slot, micro-credits.
    Served(Vec<ClearingOffer>, u128),
    /// No unit.
    Refused(OrderEnd),
}

/// The outcomes of a record's bids, in their order.
pub(super) fn serve(record: &PostedRecord) -> Vec<Outcome> {
    let mut units: Vec<(Price, OfferId)> = Vec::new();
    for offer in &record.offers {
        units.extend((0..offer.units).map(|_| (offer.reserve, offer.offer)));
    }
    units.sort_unstable();
    let bids = record.bids.iter();
    let beyond = record.left_out as usize;
    bids.map(|bid| serve_one(bid, &mut units, beyond)).collect()
}

/// Step 3: the record serves the bids that can be served, with these units at these prices.
pub(in crate::check) fn follows(record: &PostedRecord) -> Result<(), String> {
    let mut served = record.served.iter();
    for (bid, outcome) in record.bids.iter().zip(serve(record)) {
        let Outcome::Served(taken, price) = outcome else {
            continue;
        };
        let hired = served.next().filter(|hired| {
            let right = hired.taken == taken && u128::from(hired.price.micros()) == price;
            right && hired.order == bid.order
        });
        if hired.is_none() {
            return Err(format!(
                "{taken:?} for {price} were due to {bid:?}: {record:?}"
            ));
        }
    }
    match served.next() {
        Some(hired) => Err(format!("{hired:?} was served and could not be: {record:?}")),
        None => Ok(()),
    }
}

/// Takes one unit after the other from the front, where the cheapest are. Others are beyond.
fn serve_one(bid: &PostedBid, units: &mut Vec<(Price, OfferId)>, beyond: usize) -> Outcome {
    let wanted = bid.units as usize;
    if units.len() + beyond < wanted {
        return Outcome::Refused(OrderEnd::NoUnits);
    }
    let due = units.get(..wanted);
    if due.is_none_or(|due| due.iter().any(|(price, _)| *price > bid.limit)) {
        return Outcome::Refused(OrderEnd::TooDear);
    }
    let mut taken: BTreeMap<OfferId, ClearingOffer> = BTreeMap::new();
    let mut sum = 0;
    for (price, offer) in units.drain(..wanted) {
        let none = ClearingOffer {
            offer,
            units: 0,
            reserve: price,
        };
        taken.entry(offer).or_insert(none).units += 1;
        sum += u128::from(price.0);
    }
    Outcome::Served(taken.into_values().collect(), sum)
}
