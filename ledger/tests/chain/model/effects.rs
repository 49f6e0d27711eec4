//! The effects of a block, held against the state.

use super::Memory;
use super::group::bought;
use super::share::check_sharing;
use crate::bank::{check_arrears, posted};
use crate::record::{check_decision, check_record};
use crate::world::{World, credits};
use crate::{contracts, deadline};
use gridbay_protocol::effect::{Effect, OrderEnd};
use gridbay_protocol::ids::OfferId;
use gridbay_protocol::lease::{LeaseEnd, LeaseEvent};
use gridbay_protocol::payment::{Purse, Reason};
use std::collections::BTreeMap;

/// The cost of the units of every lease covers their reserves, also after some were lost.
pub(crate) fn check_pots(world: &World) {
    for pot in world.state.pots() {
        let mut left = 0;
        for stake in &pot.stakes {
            let running = stake.parts.iter().filter(|p| p.stopped.is_none());
            let reserve = |offer| pot.sold.iter().find(|s| s.offer == offer).unwrap().reserve;
            let owed: u64 = running.map(|p| reserve(p.offer) * u64::from(p.units)).sum();
            assert!(stake.running.micros() >= owed, "{stake:?} of {pot:?}");
            left += stake.running.micros();
        }
        assert!(pot.left.micros() >= left);
    }
}

/// Name of the kind of an effect, which is checked by itself on the way.
fn kind(world: &World, memory: &mut Memory, effect: &Effect) -> &'static str {
    match effect {
        Effect::Posting(p) => {
            assert!(p.amount > credits(0) && p.from != p.to);
            let shared = world.state.policy().bank.shares_revenue();
            let units = p.reason == Reason::Earning && matches!(p.from, Purse::Class(_));
            assert!(!(shared && units), "units earn for all");
            posted(p.reason)
        }
        Effect::Clearing(record) => {
            check_record(record);
            "clearing"
        }
        Effect::Reservation(record) => {
            check_decision(record);
            match (record.booked.is_empty(), record.beaten) {
                (true, _) => "decision",
                (false, None) => "booking",
                (false, Some(_)) => "hinted",
            }
        }
        Effect::Buy(buy) => bought(world, buy),
        Effect::Planning(planning) => {
            deadline::check_planning(planning);
            "planning"
        }
        Effect::Contract(event) => contracts::kind(event),
        Effect::Order { end, .. } => match end {
            OrderEnd::Excused => "excused",
            OrderEnd::Waived => "waived",
            OrderEnd::NotOpened => "forfeited",
            OrderEnd::Missed => "missed",
            OrderEnd::Amended => "amended",
            OrderEnd::Short(_) => "short",
            _ => "order",
        },
        Effect::Sharing(record) => {
            check_sharing(record);
            "sharing"
        }
        Effect::Posted(_) => "posted",
        Effect::Lease(LeaseEvent::Ended { lease, end, .. }) => {
            assert!(memory.leases.remove(lease).is_some());
            match end {
                LeaseEnd::Unserved => "unserved",
                _ => "end",
            }
        }
        Effect::Lease(LeaseEvent::Disputed { .. }) => "disputed",
        Effect::Lease(LeaseEvent::Started(terms)) => {
            assert!(
                memory
                    .leases
                    .insert(terms.lease, terms.shares.clone())
                    .is_none()
            );
            "start"
        }
        Effect::Lease(LeaseEvent::Renewed(terms)) => {
            assert!(
                memory
                    .leases
                    .insert(terms.lease, terms.shares.clone())
                    .is_some()
            );
            "renewal"
        }
    }
}

pub(super) fn check(world: &World, memory: &mut Memory, effects: &[Effect]) {
    check_pots(world);
    for effect in effects {
        let kind = kind(world, memory, effect);
        *memory.served.entry(kind).or_default() += 1;
    }
    let mut held: BTreeMap<OfferId, u32> = BTreeMap::new();
    for share in memory.leases.values().flatten() {
        assert!(share.units > 0);
        *held.entry(share.offer).or_default() += share.units;
    }
    for (offer, units) in held {
        assert!(units <= world.state.offer(&offer).unwrap().bound);
    }
    assert_eq!(memory.leases.len(), world.state.leases().count());
    check_arrears(world);
    assert_eq!(world.model.values().sum::<i128>(), 4_000_000);
    for (purse, balance) in &world.model {
        assert_eq!(i128::from(world.state.purse(purse)), *balance, "{purse:?}");
        let in_debt = *purse == Purse::Account(world.member(1));
        let line = if in_debt { 500 } else { 0 };
        let line = line.min(i128::from(world.state.policy().bank.credit_limit.micros()));
        assert!(*balance >= -line);
    }
}
