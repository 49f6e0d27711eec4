//! The input of a clearing: bids, units and leases as a state holds them and the effects of the
//! next block leave them.

use super::{Fact, pools};
use gridbay_ledger::State;
use gridbay_protocol::effect::Effect;
use gridbay_protocol::genesis::Policy;
use gridbay_protocol::ids::{AccountId, ClassId, Hash32, LeaseId, OfferId, OrderId};
use gridbay_protocol::lease::{LeaseEnd, LeaseEvent, Share};
use gridbay_protocol::limits::RESERVATIONS_DECIDED;
use gridbay_protocol::offer::Primary;
use gridbay_protocol::order::{Reservation, Step};
use gridbay_protocol::policy::ausubel::AuctionPolicy;
use gridbay_protocol::record::ausubel::{ClearingBid, ClearingKind, ClearingOffer, ClearingRecord};
use gridbay_protocol::record::reservation::{ReservationBid, ReservationRecord};
use gridbay_protocol::record::share::Sharing;
use gridbay_protocol::units::Price;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug)]
pub(super) struct Bid {
    pub(super) class: ClassId,
    pub(super) sponsor: AccountId,
    pub(super) round: u64,
    pub(super) rank: Option<Hash32>,
    pub(super) min: u32,
    pub(super) steps: Vec<Step>,
    /// Round and steps of an amendment that was opened and has not taken effect.
    pub(super) next: Option<(u64, Vec<Step>)>,
}

#[derive(Clone, Debug)]
pub(super) struct Lease {
    pub(super) order: OrderId,
    pub(super) shares: Vec<Share>,
    pub(super) firm: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Offer {
    pub(super) class: ClassId,
    pub(super) units: u32,
    pub(super) reserve: u64,
}

/// The market as a state holds it, then as the effects of the next block leave it.
#[derive(Clone, Debug, Default)]
pub(super) struct Market {
    pub(super) height: u64,
    pub(super) bids: BTreeMap<OrderId, Bid>,
    pub(super) leases: BTreeMap<LeaseId, Lease>,
    pub(super) offers: BTreeMap<OfferId, Offer>,
    pub(super) pools: pools::Pools,
    /// Reservations that are not booked.
    pub(super) wishes: BTreeMap<OrderId, Reservation>,
    /// Offers of leases that ended undelivered in this block: perhaps not for sale any more.
    pub(super) doubtful: BTreeSet<OfferId>,
}

impl Market {
    pub(super) fn of(state: &State) -> Market {
        let bid = |(id, order): (&OrderId, &gridbay_ledger::Order)| {
            let bid = order.bid()?;
            let next = bid.next.as_ref();
            let next = next.map(|n| (n.round, n.bid.steps.clone()));
            let (min, steps) = (bid.bid.min, bid.bid.steps.clone());
            let (class, round, rank) = (order.class, order.round, bid.rank);
            let account = state.account(&order.account);
            let bid = Bid {
                class,
                sponsor: account.map_or(order.account, |a| a.sponsor),
                round,
                rank,
                min,
                steps,
                next,
            };
            Some((*id, bid))
        };
        let lease = |(id, lease): (&LeaseId, &gridbay_ledger::Lease)| {
            let copy = Lease {
                order: lease.order,
                shares: lease.shares.clone(),
                firm: lease.firm_through.is_some(),
            };
            (*id, copy)
        };
        let offer = |(id, offer): (&OfferId, &gridbay_ledger::Offer)| {
            // Units at a posted price are sold in no other way.
            let sells = offer.active && offer.terms.mechanism != Primary::Posted;
            let copy = Offer {
                class: offer.terms.class,
                units: if sells { offer.terms.units } else { 0 },
                reserve: offer.terms.reserve.0,
            };
            (*id, copy)
        };
        let wish = |(id, order): (&OrderId, &gridbay_ledger::Order)| {
            let reservation = order.reservation()?;
            let stands = reservation.booking.is_none();
            stands.then(|| (*id, reservation.wish.clone()))
        };
        Market {
            height: state.height(),
            bids: state.orders().filter_map(bid).collect(),
            leases: state.leases().map(lease).collect(),
            offers: state.offers().map(offer).collect(),
            pools: pools::Pools::of(state),
            wishes: state.orders().filter_map(wish).collect(),
            doubtful: BTreeSet::new(),
        }
    }
    pub(super) fn apply(&mut self, effect: &Effect) {
        self.pools.apply(effect);
        match effect {
            Effect::Order { order, .. } => {
                self.bids.remove(order);
                self.wishes.remove(order);
            }
            Effect::Reservation(record) => {
                self.wishes
                    .retain(|id, _| record.booked.iter().all(|won| won.order != *id));
            }
            Effect::Lease(LeaseEvent::Started(terms) | LeaseEvent::Renewed(terms)) => {
                let lease = Lease {
                    order: terms.order,
                    shares: terms.shares.clone(),
                    firm: terms.firm_through.is_some(),
                };
                let before = self.leases.insert(terms.lease, lease);
                // A reservation goes on without units that were not delivered.
                let before = before.filter(|l| l.firm).into_iter().flat_map(|l| l.shares);
                let gone = before.filter(|b| terms.shares.iter().all(|s| s.offer != b.offer));
                self.doubtful.extend(gone.map(|share| share.offer));
            }
            Effect::Lease(LeaseEvent::Ended { lease, end, .. }) => {
                let gone = self.leases.remove(lease);
                if *end == LeaseEnd::Undelivered {
                    let shares = gone.into_iter().flat_map(|l| l.shares);
                    self.doubtful.extend(shares.map(|s| s.offer));
                }
            }
            Effect::Lease(LeaseEvent::Disputed { offer, .. }) => {
                self.doubtful.insert(*offer);
            }
            _ => {}
        }
    }
    /// Whether a decision is on every reservation that stands, as it was opened: on as many as
    /// there may be, if there are more.
    pub(super) fn compare_wishes(&self, record: &ReservationRecord) -> Result<(), String> {
        let of_class = self.wishes.values().filter(|w| w.class == record.class);
        let expected = of_class.count().min(RESERVATIONS_DECIDED);
        let as_opened = |bid: &&ReservationBid| {
            let wish = self.wishes.get(&bid.order);
            wish.is_some_and(|w| {
                let opened = ReservationBid::new(bid.order, bid.round, bid.rank, w);
                w.class == record.class && opened == **bid
            })
        };
        let entered = record.bids.iter().filter(as_opened).count();
        if entered != record.bids.len() || entered != expected {
            return Err(format!(
                "{entered} of {expected} reservations entered: {record:?}"
            ));
        }
        Ok(())
    }
    /// Whether a pool was shared among the claims that there are, and only what others do not hold
    /// of it.
    pub(super) fn compare_pool(&self, record: &Sharing) -> Result<(), String> {
        let firm = |offer: &OfferId| self.held(offer, true);
        self.pools.compare(record, firm)
    }
    /// Units of an offer in leases, all of them or the firm ones.
    fn held(&self, offer: &OfferId, firm_only: bool) -> u32 {
        let leases = self.leases.values().filter(|l| l.firm || !firm_only);
        let shares = leases.flat_map(|l| &l.shares);
        shares.filter(|s| s.offer == *offer).map(|s| s.units).sum()
    }
    /// The input that a clearing of a class in the block of `height` must cover.
    pub(super) fn sale(&self, class: &ClassId, height: u64, policy: &Policy) -> Sale {
        let calendar = &policy.calendar;
        let whole = u64::from(calendar.round_heights) * u64::from(calendar.slot_rounds);
        let into = height % whole;
        let boundary = into == 0;
        let heights = if boundary { whole } else { whole - into };
        let share = |price: u64, up: bool| {
            let wide = u128::from(price) * u128::from(heights);
            let whole = u128::from(whole);
            let cut = if up {
                wide.div_ceil(whole)
            } else {
                wide / whole
            };
            Price(u64::try_from(cut).unwrap_or(u64::MAX))
        };
        let mut terms = policy.auction;
        terms.switch_cost.0 *= u64::from(boundary);
        // An amendment takes effect when its order competes.
        let of = |bid: &Bid| match &bid.next {
            Some((round, steps)) => (*round, Hash32::default(), steps.clone()),
            None => (bid.round, bid.rank.unwrap_or_default(), bid.steps.clone()),
        };
        let running: BTreeSet<OrderId> = self.leases.values().map(|l| l.order).collect();
        let competes =
            |id: &OrderId, bid: &Bid| bid.class == *class && (boundary || !running.contains(id));
        let bids = self.bids.iter().filter(|(id, bid)| competes(id, bid));
        let bids = bids.map(|(id, bid)| {
            let (round, rank, steps) = of(bid);
            let steps = steps.iter().map(|step| Step {
                units: step.units,
                price: share(step.price.0, false),
            });
            ClearingBid {
                order: *id,
                sponsor: bid.sponsor,
                round,
                rank,
                min: bid.min,
                steps: steps.collect(),
            }
        });
        let offers = self.offers.iter().filter(|(_, o)| o.class == *class);
        let offers = offers.map(|(id, offer)| ClearingOffer {
            offer: *id,
            units: offer.units.saturating_sub(self.held(id, boundary)),
            reserve: share(offer.reserve, true),
        });
        let offers: Vec<ClearingOffer> = offers.filter(|o| o.units > 0).collect();
        let held = offers.iter().map(|o| Share {
            offer: o.offer,
            units: o
                .units
                .min(self.held(&o.offer, false) - self.held(&o.offer, true)),
        });
        let held = held.filter(|h| h.units > 0 && boundary);
        Sale {
            kind: if boundary {
                ClearingKind::Boundary
            } else {
                ClearingKind::Free
            },
            slot: (height / whole),
            heights,
            terms,
            bids: bids.collect(),
            held: held.collect(),
            offers,
        }
    }
    /// Step 2.
    pub(super) fn compare(&self, record: &ClearingRecord, policy: &Policy) -> Result<(), String> {
        let sale = self.sale(&record.class, record.height, policy);
        let frame = (sale.kind, sale.slot, sale.heights, sale.terms);
        if frame != (record.kind, record.slot, record.heights, record.policy) {
            return Err(format!(
                "a clearing of {frame:?} is on record as {record:?}"
            ));
        }
        let mut bids = record.bids.clone();
        for bid in &mut bids {
            // A rank is drawn when a bid competes for the first time, or is amended.
            let fresh = |b: &Bid| b.rank.is_none() || b.next.is_some();
            if self.bids.get(&bid.order).is_some_and(fresh) {
                bid.rank = Hash32::default();
            }
        }
        if bids != sale.bids {
            return Err(format!("bids {bids:?} competed instead of {:?}", sale.bids));
        }
        let certain =
            |o: &&ClearingOffer| !self.doubtful.contains(&o.offer) || record.offers.contains(o);
        let offers: Vec<ClearingOffer> = sale.offers.iter().filter(certain).copied().collect();
        let entered = |share: &&Share| offers.iter().any(|o| o.offer == share.offer);
        if !record.held.iter().eq(sale.held.iter().filter(entered)) {
            return Err(format!("not what running bids held: {record:?}"));
        }
        if record.offers != offers {
            return Err(format!(
                "units {:?} were for sale instead of {offers:?}",
                record.offers
            ));
        }
        Ok(())
    }
}

pub(super) struct Sale {
    pub(super) kind: ClearingKind,
    pub(super) slot: u64,
    pub(super) heights: u64,
    pub(super) terms: AuctionPolicy,
    pub(super) bids: Vec<ClearingBid>,
    pub(super) held: Vec<Share>,
    pub(super) offers: Vec<ClearingOffer>,
}

impl Market {
    /// Step 5, where buys behind the clearings cannot have changed what there was to clear.
    pub(super) fn complete(
        &self,
        fact: &Fact,
        policy: &Policy,
        cleared: &BTreeSet<ClassId>,
    ) -> Result<(), String> {
        let buys = fact.effects.iter().any(|e| matches!(e, Effect::Buy(_)));
        let classes: BTreeSet<ClassId> = self.offers.values().map(|o| o.class).collect();
        for class in classes.difference(cleared).filter(|_| !buys) {
            let sale = self.sale(class, fact.height, policy);
            let certain = |o: &ClearingOffer| !self.doubtful.contains(&o.offer);
            if !sale.bids.is_empty() && sale.offers.iter().any(certain) {
                return Err(format!("class {class} has bids and units, and no clearing"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::order::Group;
    use gridbay_protocol::units::Credits;

    const CLASS: ClassId = ClassId([7; 32]);

    fn wish(value: u64) -> Reservation {
        let group = Group {
            units: 1,
            offers: vec![],
        };
        Reservation {
            class: CLASS,
            groups: vec![group],
            slots: 2,
            earliest: 3,
            latest: 5,
            value: Credits::from_micros(value).unwrap(),
            channels: None,
            work: Hash32::default(),
        }
    }
    fn entered(n: u8, wish: &Reservation) -> ReservationBid {
        ReservationBid::new(OrderId([n; 32]), 1, Hash32([n; 32]), wish)
    }

    #[test]
    fn a_decision_without_a_standing_reservation_is_reported() {
        let mut market = Market::default();
        for n in 1..=2 {
            market.wishes.insert(OrderId([n; 32]), wish(10));
        }
        let elsewhere = Reservation {
            class: ClassId([8; 32]),
            ..wish(10)
        };
        market.wishes.insert(OrderId([3; 32]), elsewhere.clone());
        let record = |bids| ReservationRecord {
            class: CLASS,
            height: 16,
            slot: 2,
            posted: Price(1),
            units: vec![],
            busy: vec![],
            channels: vec![],
            bids,
            booked: vec![],
            beaten: None,
        };
        let (one, two) = (entered(1, &wish(10)), entered(2, &wish(10)));
        let compare = |bids| market.compare_wishes(&record(bids));
        assert_eq!(compare(vec![one.clone(), two.clone()]), Ok(()));
        let wrong = [
            vec![one.clone()],
            vec![one.clone(), entered(2, &wish(11))],
            vec![one.clone(), two.clone(), entered(3, &elsewhere)],
            vec![one.clone(), two, entered(4, &wish(10))],
        ];
        for bids in wrong {
            assert!(compare(bids).is_err());
        }
    }
}
