//! The stock from which buys are served, restated from the rules in `docs/mechanisms/buy.md`.

use super::super::naive;
use gridbay_ledger::State;
use gridbay_protocol::effect::Effect;
use gridbay_protocol::entry::{EntryBody, SignedEntry};
use gridbay_protocol::genesis::Policy;
use gridbay_protocol::ids::{AccountId, ClassId, ClearingId, Hash32, LeaseId, OfferId, OrderId};
use gridbay_protocol::lease::{LeaseEnd, LeaseEvent, Share};
use gridbay_protocol::limits;
use gridbay_protocol::offer::{Primary, Reclaim};
use gridbay_protocol::order::{Buy, BuyPart, Step, order_of};
use gridbay_protocol::policy::ausubel::AuctionPolicy;
use gridbay_protocol::record::ausubel::{ClearingBid, ClearingKind, ClearingOffer, ClearingRecord};
use gridbay_protocol::record::buy::BoughtPart;
use gridbay_protocol::units::Price;
use std::collections::{BTreeMap, BTreeSet};

/// A buy without a lease.
#[derive(Clone, Debug)]
pub(super) struct Wish {
    pub(super) round: u64,
    pub(super) waits: bool,
    pub(super) buy: Buy,
}

/// A bid as it competes: values are those of a whole slot.
#[derive(Clone, Debug)]
pub(super) struct Bid {
    pub(super) round: u64,
    pub(super) rank: Hash32,
    pub(super) min: u32,
    pub(super) steps: Vec<Step>,
    /// Steps of an amendment that has not taken effect.
    pub(super) next: Option<Vec<Step>>,
}

/// Units for sale; without a price if they cannot be bought firmly.
#[derive(Clone, Debug)]
pub(super) struct Stall {
    pub(super) class: ClassId,
    pub(super) units: u32,
    pub(super) price: Option<u64>,
}

/// A running lease.
#[derive(Clone, Debug)]
pub(super) struct Held {
    pub(super) order: OrderId,
    pub(super) shares: Vec<Share>,
    pub(super) firm: bool,
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct Shop {
    pub(super) height: u64,
    pub(super) wishes: BTreeMap<OrderId, Wish>,
    pub(super) bids: BTreeMap<OrderId, Bid>,
    pub(super) stalls: BTreeMap<OfferId, Stall>,
    pub(super) leases: BTreeMap<LeaseId, Held>,
    /// Reference prices.
    pub(super) references: BTreeMap<ClassId, u64>,
    /// Classes in which a lease ended undelivered.
    pub(super) doubtful: BTreeSet<ClassId>,
}

/// The units that a part takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// Units by offer, with the price of each.
    taken: BTreeMap<OfferId, (u32, u64)>,
    displaced: BTreeSet<LeaseId>,
    displaced_value: i128,
    price: i128,
}

/// The findings for a buy.
#[derive(Clone, Debug)]
pub(super) enum Found {
    /// Enough for every part.
    All(Vec<Part>),
    /// Too few units of this class, the first of which there are too few.
    Short(ClassId),
    /// It cannot be told.
    Unknown,
}

impl Part {
    /// Whether somebody gives way for it.
    pub(super) fn displaces(&self) -> bool {
        !self.displaced.is_empty()
    }
    /// Whether a record says the same.
    pub(super) fn is(&self, record: &BoughtPart) -> bool {
        let taken = record.taken.iter();
        let taken = taken.map(|t| (t.offer, (t.units, t.reserve.0)));
        let displaced: BTreeSet<LeaseId> = record.displaced.iter().copied().collect();
        self.taken == taken.collect()
            && self.displaced == displaced
            && self.displaced_value == i128::from(record.displaced_value.micros())
            && self.price == i128::from(record.price.micros())
    }
}

impl Found {
    /// Whether its price, or compensations on top of it, can be more than the limit. Without
    /// anybody displaced the first payment is no more than the price.
    pub(super) fn may_be_too_dear(&self, buy: &Buy) -> bool {
        let Found::All(parts) = self else {
            return false;
        };
        let price: i128 = parts.iter().map(|part| part.price).sum();
        price > i128::from(buy.limit.micros()) || parts.iter().any(|p| !p.displaced.is_empty())
    }
}

impl Shop {
    pub(super) fn of(state: &State) -> Shop {
        let wishes = state.orders().filter_map(|(id, order)| {
            let (buy, free) = (order.buy()?, order.lease.is_none());
            let wish = Wish {
                round: order.round,
                waits: buy.waits,
                buy: buy.buy.clone(),
            };
            free.then_some((*id, wish))
        });
        let bids = state.orders().filter_map(|(id, order)| {
            let bid = order.bid()?;
            let copy = Bid {
                round: order.round,
                rank: bid.rank.unwrap_or_default(),
                min: bid.bid.min,
                steps: bid.bid.steps.clone(),
                next: bid.next.as_ref().map(|next| next.bid.steps.clone()),
            };
            Some((*id, copy))
        });
        let stalls = state.offers().map(|(id, offer)| {
            let terms = &offer.terms;
            let firm = offer.active
                && terms.reclaim == Reclaim::None
                && terms.mechanism == Primary::Ausubel;
            let stall = Stall {
                class: terms.class,
                units: terms.units,
                price: terms.buy_price.filter(|_| firm).map(|price| price.0),
            };
            (*id, stall)
        });
        let leases = state.leases().map(|(id, lease)| {
            let held = Held {
                order: lease.order,
                shares: lease.shares.clone(),
                firm: lease.firm_through.is_some(),
            };
            (*id, held)
        });
        let classes = state.classes().iter();
        Shop {
            height: state.height(),
            wishes: wishes.collect(),
            bids: bids.collect(),
            stalls: stalls.collect(),
            leases: leases.collect(),
            references: classes.map(|c| (c.key.id(), c.reference_price.0)).collect(),
            doubtful: BTreeSet::new(),
        }
    }

    /// The buys among a block's entries.
    pub(super) fn enter(&mut self, entries: &[SignedEntry], height: u64, policy: &Policy) {
        for signed in entries {
            if let EntryBody::Buy(buy) = &signed.entry.body {
                let wish = Wish {
                    round: (height - 1) / u64::from(policy.calendar.round_heights),
                    waits: false,
                    buy: buy.clone(),
                };
                self.wishes.insert(order_of(&signed.id()), wish);
            }
        }
    }

    pub(super) fn apply(&mut self, effect: &Effect) {
        match effect {
            Effect::Order { order, .. } => {
                self.bids.remove(order);
                self.wishes.remove(order);
            }
            Effect::Clearing(record) => {
                for entered in &record.bids {
                    if let Some(bid) = self.bids.get_mut(&entered.order) {
                        (bid.round, bid.rank) = (entered.round, entered.rank);
                        bid.steps = bid.next.take().unwrap_or(std::mem::take(&mut bid.steps));
                    }
                }
            }
            Effect::Lease(LeaseEvent::Started(terms) | LeaseEvent::Renewed(terms)) => {
                let held = Held {
                    order: terms.order,
                    shares: terms.shares.clone(),
                    firm: terms.firm_through.is_some(),
                };
                let before = self.leases.insert(terms.lease, held);
                // A reservation goes on without units that were not delivered.
                let before = before.filter(|l| l.firm).into_iter().flat_map(|l| l.shares);
                let gone = before.filter(|b| terms.shares.iter().all(|s| s.offer != b.offer));
                self.doubt(gone.collect());
            }
            Effect::Lease(LeaseEvent::Ended { lease, end, .. }) => {
                let gone = self.leases.remove(lease);
                if *end == LeaseEnd::Undelivered {
                    self.doubt(gone.into_iter().flat_map(|l| l.shares).collect());
                }
            }
            Effect::Lease(LeaseEvent::Disputed { offer, .. }) => {
                let (offer, units) = (*offer, 1);
                self.doubt(vec![Share { offer, units }]);
            }
            _ => {}
        }
    }

    fn doubt(&mut self, shares: Vec<Share>) {
        for share in shares {
            let stall = self.stalls.get(&share.offer);
            self.doubtful.extend(stall.map(|stall| stall.class));
        }
    }

    /// Whether a buy that is not served now may wait for the next close.
    pub(super) fn may_wait(&self, wish: &Wish, policy: &Policy) -> bool {
        let next = self.height + 1 + u64::from(policy.calendar.round_heights);
        let parts = wish.buy.parts.iter();
        let reference = |part: &BuyPart| {
            let price = self.references.get(&part.class).copied().unwrap_or(0);
            u128::from(price) * u128::from(part.units)
        };
        let earnest: u128 = parts.map(reference).sum();
        let queue = |class: ClassId| {
            let waiting = self.wishes.values().filter(|w| w.waits);
            waiting
                .filter(|w| w.buy.classes().any(|c| c == class))
                .count() as u64
        };
        let place = wish.waits || wish.buy.classes().all(|c| queue(c) < limits::WAITING_BUYS);
        wish.buy.stands_until >= next && u128::from(wish.buy.limit.micros()) >= earnest && place
    }

    /// The present findings for a buy.
    pub(super) fn find(&self, buy: &Buy, displaces: bool, policy: &Policy) -> Found {
        if buy.classes().any(|class| self.doubtful.contains(&class)) {
            return Found::Unknown;
        }
        let mut parts = Vec::new();
        for part in &buy.parts {
            match self.part(part, displaces, policy) {
                Some(part) => parts.push(part),
                None => return Found::Short(part.class),
            }
        }
        Found::All(parts)
    }

    /// Units of an offer in leases.
    fn held(&self, offer: &OfferId) -> u32 {
        let shares = self.leases.values().flat_map(|l| &l.shares);
        shares.filter(|s| s.offer == *offer).map(|s| s.units).sum()
    }

    fn part(&self, part: &BuyPart, displaces: bool, policy: &Policy) -> Option<Part> {
        let mut shelf: Vec<(u64, OfferId, u32)> = Vec::new();
        for (id, stall) in self.stalls.iter().filter(|(_, s)| s.class == part.class) {
            let named = part.offers.is_empty() || part.offers.contains(id);
            let held = self.held(id);
            if let (true, Some(price)) = (named && held <= stall.units, stall.price) {
                shelf.push((price, *id, stall.units - held));
            }
        }
        shelf.sort_unstable();
        let mut free: u32 = shelf.iter().map(|(_, _, units)| units).sum();
        let (mut displaced, mut displaced_value) = (BTreeSet::new(), 0);
        if free < part.units && displaces {
            let losses = self.losses(part, &shelf, free, policy)?;
            displaced_value = losses.value;
            for (lease, mut lost) in losses.units {
                displaced.insert(lease);
                for (_, offer, room) in &mut shelf {
                    let shares = self.leases[&lease].shares.iter();
                    let has = shares.filter(|s| s.offer == *offer).map(|s| s.units).sum();
                    let here = lost.min(has);
                    (*room, lost, free) = (*room + here, lost - here, free + here);
                }
            }
        }
        let mut missing = part.units;
        let mut taken = BTreeMap::new();
        for (price, offer, room) in shelf {
            let units = room.min(missing);
            missing -= units;
            if units > 0 {
                taken.insert(offer, (units, price));
            }
        }
        let asked = taken
            .values()
            .map(|(n, price)| i128::from(*n) * i128::from(*price));
        let price = asked.sum::<i128>().max(displaced_value);
        (missing == 0 && free >= part.units).then_some(Part {
            taken,
            displaced,
            displaced_value,
            price,
        })
    }

    /// The bids that give way: those that run wholly on the shelf compete for the units that the
    /// part leaves of it.
    fn losses(
        &self,
        part: &BuyPart,
        shelf: &[(u64, OfferId, u32)],
        free: u32,
        policy: &Policy,
    ) -> Option<Losses> {
        let on_shelf = |s: &Share| shelf.iter().any(|(_, id, _)| *id == s.offer);
        let runs = |l: &Held| !l.firm && l.shares.iter().all(on_shelf);
        let runners = self.leases.iter().filter(|(_, lease)| runs(lease));
        let runners = runners.filter_map(|(id, lease)| {
            let units: u32 = lease.shares.iter().map(|s| s.units).sum();
            Some((*id, units, lease.order, self.bids.get(&lease.order)?))
        });
        let runners: Vec<_> = runners.collect();
        let all: u32 = free + runners.iter().map(|(_, units, _, _)| units).sum::<u32>();
        let supply = all.checked_sub(part.units)?;
        let bids = runners.iter().map(|(_, units, order, bid)| ClearingBid {
            order: *order,
            sponsor: AccountId(order.0),
            round: bid.round,
            rank: bid.rank,
            min: bid.min,
            steps: cut(&bid.steps, *units),
        });
        let kept = keep(bids.collect(), supply, policy.auction);
        let mut losses = Losses::default();
        // In the order of orders, as they are placed.
        let mut by_order = runners;
        by_order.sort_unstable_by_key(|(_, _, order, _)| *order);
        for (lease, units, order, bid) in by_order {
            let kept = kept.get(&order).copied().unwrap_or(0);
            losses.value += value(&bid.steps, units) - value(&bid.steps, kept);
            if kept < units {
                losses.units.push((lease, units - kept));
            }
        }
        Some(losses)
    }
}

/// Units that leases lose, and their worth.
#[derive(Default)]
struct Losses {
    units: Vec<(LeaseId, u32)>,
    value: i128,
}

/// The first so many units of a bid.
fn cut(steps: &[Step], most: u32) -> Vec<Step> {
    let mut left = most;
    let mut steps = steps.to_vec();
    for step in &mut steps {
        step.units = step.units.min(left);
        left -= step.units;
    }
    steps.retain(|step| step.units > 0);
    steps
}

/// The worth of the first so many units of a bid.
fn value(steps: &[Step], units: u32) -> i128 {
    let steps = cut(steps, units);
    let worth = |step: &Step| i128::from(step.units) * i128::from(step.price.0);
    steps.iter().map(worth).sum()
}

/// Units that bids win of a supply that nobody asks anything for.
fn keep(bids: Vec<ClearingBid>, supply: u32, policy: AuctionPolicy) -> BTreeMap<OrderId, u32> {
    if supply == 0 || bids.is_empty() {
        return BTreeMap::new();
    }
    let record = ClearingRecord {
        id: ClearingId::default(),
        class: ClassId::default(),
        kind: ClearingKind::Boundary,
        height: 1,
        slot: 1,
        heights: 1,
        policy: AuctionPolicy {
            switch_cost: Price(0),
            ..policy
        },
        offers: vec![ClearingOffer {
            offer: OfferId::default(),
            units: supply,
            reserve: Price(0),
        }],
        held: vec![],
        bids,
        awards: vec![],
        sold: vec![],
    };
    let (awards, _) = naive::clear(&record);
    awards.into_iter().map(|a| (a.order, a.units)).collect()
}
