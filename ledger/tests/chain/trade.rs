//! Trading in scenarios: offers, sealed bids, buys, and their results.

use crate::world::{World, credits, key};
use gridbay_protocol::effect::{Effect, OrderEnd};
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::ids::{EntryId, Hash32, LeaseId, OfferId, OrderId};
use gridbay_protocol::lease::{LeaseEnd, LeaseEvent};
use gridbay_protocol::offer::{OfferTerms, Primary, Reclaim, offer_id};
use gridbay_protocol::order::{Bid, Buy, BuyPart, Commit, Open, Step, Wish};
use gridbay_protocol::payment::{Purse, Reason};
use gridbay_protocol::record::ausubel::ClearingRecord;
use gridbay_protocol::stage::Authentic;
use gridbay_protocol::units::Price;
use std::sync::Arc;

/// Balance of a member at the start, in micro-credits.
pub(crate) const START: i128 = 1_000_000;
pub(crate) const SALT: [u8; 32] = [8; 32];

/// Terms of an offer at the node of the seller.
pub(crate) fn terms(
    world: &World,
    label: u32,
    units: u32,
    reserve: u64,
    buy: Option<u64>,
) -> OfferTerms {
    OfferTerms {
        label,
        class: world.class,
        units,
        reserve: Price(reserve),
        buy_price: buy.map(Price),
        reclaim: Reclaim::None,
        mechanism: Primary::Ausubel,
        node: key(150).public(),
    }
}

/// A bid that takes any number of units, with a budget of 100,000.
pub(crate) fn bid(world: &World, steps: &[(u32, u64)], slots: u32) -> Bid {
    Bid {
        class: world.class,
        steps: steps
            .iter()
            .map(|&(units, price)| Step {
                units,
                price: Price(price),
            })
            .collect(),
        min: 1,
        slots,
        budget: credits(100_000),
        stands_until: 10_000,
        work: Hash32([3; 32]),
    }
}

impl World {
    pub(crate) fn offer(
        &self,
        n: u8,
        label: u32,
        units: u32,
        reserve: u64,
        buy: Option<u64>,
    ) -> Arc<Authentic> {
        let terms = terms(self, label, units, reserve, buy);
        self.by(n, EntryBody::SetOffer(terms))
    }

    pub(crate) fn offer_of(&self, n: u8, label: u32) -> OfferId {
        offer_id(&self.member(n), label)
    }

    pub(crate) fn commit<W: Clone + Into<Wish>>(
        &self,
        n: u8,
        wish: &W,
        bracket: u8,
    ) -> Arc<Authentic> {
        let wish: Wish = wish.clone().into();
        let seal = wish.seal(&self.network, &self.member(n), &SALT);
        let class = wish.class();
        self.by(
            n,
            EntryBody::Commit(Commit {
                class,
                seal,
                bracket,
            }),
        )
    }

    pub(crate) fn open<W: Clone + Into<Wish>>(
        &self,
        n: u8,
        commit: &Arc<Authentic>,
        wish: &W,
    ) -> Arc<Authentic> {
        let open = Open {
            commit: commit.id(),
            wish: wish.clone().into(),
            salt: SALT,
        };
        self.by(n, EntryBody::Open(open))
    }

    pub(crate) fn buy(&self, n: u8, units: u32, slots: u32, limit: u64) -> Arc<Authentic> {
        let buy = Buy {
            parts: vec![BuyPart::anywhere(self.class, units)],
            ..self.one(slots, limit)
        };
        self.by(n, EntryBody::Buy(buy))
    }

    /// A buy of a unit that does not wait.
    pub(crate) fn one(&self, slots: u32, limit: u64) -> Buy {
        Buy {
            parts: vec![BuyPart::anywhere(self.class, 1)],
            slots,
            limit: credits(limit),
            stands_until: 0,
            surcharge: credits(0),
            work: Hash32([4; 32]),
        }
    }

    /// Commits all bids in the next block and opens them in the first of the next round; the
    /// orders.
    pub(crate) fn bids<W: Clone + Into<Wish>>(&mut self, bids: &[(u8, W)]) -> Vec<OrderId> {
        let commits: Vec<_> = bids
            .iter()
            .map(|(n, bid)| self.commit(*n, bid, 4))
            .collect();
        self.all(commits.clone());
        let calendar = self.state.calendar();
        let last = calendar.last_of_round(calendar.round(self.state.height()));
        if last > self.state.height() {
            self.until(last);
        }
        let pairs = bids.iter().zip(&commits);
        let opens = pairs
            .map(|((n, bid), commit)| self.open(*n, commit, bid))
            .collect();
        self.all(opens);
        commits.iter().map(|c| order(&c.id())).collect()
    }

    /// The seller acknowledges.
    pub(crate) fn deliver(&mut self, n: u8, lease: LeaseId) {
        let entry = self.by(n, EntryBody::Deliver { lease });
        self.all(vec![entry]);
    }

    pub(crate) fn lease_of(&self, order: &OrderId) -> LeaseId {
        let order = self.state.order(order).expect("the order is live");
        order.lease.expect("the order runs")
    }

    pub(crate) fn account(&self, n: u8) -> i128 {
        self.balance(Purse::Account(self.member(n)))
    }
}

pub(crate) fn order(entry: &EntryId) -> OrderId {
    gridbay_protocol::order::order_of(entry)
}

/// (reason, amount) of all postings, in order.
pub(crate) fn money(effects: &[Effect]) -> Vec<(Reason, u64)> {
    let posting = |effect: &Effect| match effect {
        Effect::Posting(p) => Some((p.reason, p.amount.micros())),
        _ => None,
    };
    effects.iter().filter_map(posting).collect()
}

/// How orders ended.
pub(crate) fn order_ends(effects: &[Effect]) -> Vec<(OrderId, OrderEnd)> {
    let end = |effect: &Effect| match effect {
        Effect::Order { order, end } => Some((*order, *end)),
        _ => None,
    };
    effects.iter().filter_map(end).collect()
}

/// How leases ended.
pub(crate) fn lease_ends(effects: &[Effect]) -> Vec<(OrderId, LeaseEnd)> {
    let end = |effect: &Effect| match effect {
        Effect::Lease(LeaseEvent::Ended { order, end, .. }) => Some((*order, *end)),
        _ => None,
    };
    effects.iter().filter_map(end).collect()
}

/// Member 1 offers two units at a reserve of 10 and a buy price of 30; the next height is 10.
pub(crate) fn two_units() -> World {
    let mut world = World::new();
    let offer = world.offer(1, 1, 2, 10, Some(30));
    world.all(vec![offer]);
    world.until(9);
    world
}

/// The same where earnings are held for a slot, and heartbeats are asked for.
pub(crate) fn two_disputable_units() -> World {
    units_disputable_for(1)
}

/// The same where earnings are held for so many slots, and a member answers for five more accounts.
pub(crate) fn units_disputable_for(slots: u32) -> World {
    let mut policy = crate::world::policy();
    (policy.dispute_slots, policy.accounts_per_member) = (slots, 5);
    let mut world = World::with(policy);
    let offer = world.offer(1, 1, 2, 10, Some(30));
    world.all(vec![offer]);
    world.until(9);
    world
}

/// Member 2 runs two of these units for so many slots from height 17 on at 20 a slot, acknowledged
/// at 17.
pub(crate) fn disputable_lease(slots: u32) -> (World, OrderId, LeaseId) {
    lease_in(two_disputable_units(), slots)
}

/// The same in such a world.
pub(crate) fn lease_in(mut world: World, slots: u32) -> (World, OrderId, LeaseId) {
    let two = bid(&world, &[(2, 50)], slots);
    let orders = world.bids(&[(2, two)]);
    world.until(16);
    let lease = world.lease_of(&orders[0]);
    world.deliver(1, lease);
    (world, orders[0], lease)
}

/// Amounts moved for a reason, in order.
pub(crate) fn moved(effects: &[Effect], why: Reason) -> Vec<u64> {
    let of = |(reason, amount)| (reason == why).then_some(amount);
    money(effects).into_iter().filter_map(of).collect()
}

impl World {
    /// The seller's node is there.
    pub(crate) fn beat(&mut self, n: u8) {
        let entry = self.by(n, EntryBody::Heartbeat { label: 1 });
        self.all(vec![entry]);
    }

    /// Member n says that the first offer of member 1 did not serve a lease in a slot.
    pub(crate) fn complaint(&self, n: u8, lease: LeaseId, slot: u64) -> Arc<Authentic> {
        let offer = self.offer_of(1, 1);
        self.by(n, EntryBody::Complain { lease, offer, slot })
    }
}

/// Member 2 runs two units from height 17 on, alone, at 20 a slot, acknowledged at 17.
pub(crate) fn one_lease() -> (World, OrderId) {
    let mut world = two_units();
    let two = bid(&world, &[(2, 50)], 5);
    let orders = world.bids(&[(2, two)]);
    world.until(16);
    let lease = world.lease_of(&orders[0]);
    world.deliver(1, lease);
    (world, orders[0])
}

pub(crate) fn clearings(effects: &[Effect]) -> Vec<ClearingRecord> {
    let record = |effect: &Effect| match effect {
        Effect::Clearing(record) => Some(record.clone()),
        _ => None,
    };
    effects.iter().filter_map(record).collect()
}
