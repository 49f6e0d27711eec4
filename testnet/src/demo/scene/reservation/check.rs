//! Reservations: the decision, made again from its public record by the plainest way there is; the
//! winners' leases, which began in the slots that they won; and the money: winners paid what they
//! bid for the slots that they had, the loser nothing.
//!
//! The rule, for nodes of which all suit all: bids below the posted price are passed over, the
//! others ranked by value per node-slot. In each attempt one of the first ten goes first, and each
//! in turn takes the first start at which enough nodes, and its channel, are free. The attempt of
//! the largest sum wins.

use super::{AHEAD, MOVED, RIVAL};
use crate::demo::check::Verdict;
use crate::demo::evidence::Evidence;
use crate::demo::order::Order;
use gridbay_protocol::effect::Effect;
use gridbay_protocol::ids::{OfferId, OrderId};
use gridbay_protocol::lease::{LeaseEvent, Share};
use gridbay_protocol::mechanism::reservation::Orders;
use gridbay_protocol::mechanism::reservation::window::WindowPolicy;
use gridbay_protocol::record::reservation::{Booked, ReservationBid, ReservationRecord};
use std::collections::{BTreeMap, BTreeSet};

pub(crate) fn judge(evidence: &Evidence) -> Verdict {
    let mut won: BTreeMap<OrderId, (u64, Booked)> = BTreeMap::new();
    let mut bids: BTreeMap<OrderId, ReservationBid> = BTreeMap::new();
    let mut decisions = 0;
    for record in &evidence.records {
        let Effect::Reservation(decision) = &record.effect else {
            continue;
        };
        let again = decide(decision, &evidence.policy.reservation)?;
        if again != decision.booked {
            return Err(format!("the decision at {} is another one", record.height));
        }
        decisions += 1;
        bids.extend(decision.bids.iter().map(|bid| (bid.order, bid.clone())));
        let booked = decision.booked.iter().cloned();
        won.extend(booked.map(|b| (b.order, (decision.slot, b))));
    }
    let of = |name: &str| {
        let order = evidence.orders.iter().find(|o| o.wish.name == name);
        let order = order.ok_or(format!("no order {name}"))?;
        let id = order.record.order.ok_or(format!("{name} has no id"))?;
        Ok::<_, String>((order, id))
    };
    let mut told = Vec::new();
    for name in [AHEAD, MOVED] {
        let (order, id) = of(name)?;
        let (decided, booked) = won.get(&id).ok_or(format!("{name} won nothing"))?;
        ran(evidence, name, booked)?;
        let bid = bids.get(&id).ok_or(format!("{name} bid nothing"))?;
        paid(evidence, order, bid)?;
        let (ahead, pay) = (booked.start - decided, booked.pay);
        told.push(format!("{name} {ahead} slots ahead for {pay}"));
    }
    let start = |name: &str| Ok::<_, String>(won.get(&of(name)?.1).map(|(_, b)| b.start));
    let wished = bids.get(&of(MOVED)?.1).map(|bid| bid.earliest);
    if start(AHEAD)? != wished || start(MOVED)? <= wished {
        return Err(format!("{MOVED} was not moved"));
    }
    let (rival, id) = of(RIVAL)?;
    if won.contains_key(&id) || !bids.contains_key(&id) || rival.record.paid.micros() != 0 {
        return Err(format!("{RIVAL} did not lose"));
    }
    match evidence.spent(rival, id) {
        0 => told.push(format!("{RIVAL} lost")),
        kept => return Err(format!("{RIVAL} did not get {kept} back")),
    }
    Ok(format!("{decisions} decisions, {}", told.join(", ")))
}

/// The lease began with the first slot that was won, on the nodes that were won.
fn ran(evidence: &Evidence, name: &str, booked: &Booked) -> Result<(), String> {
    let calendar = &evidence.policy.calendar;
    let started = evidence
        .records
        .iter()
        .find_map(|record| match &record.effect {
            Effect::Lease(LeaseEvent::Started(terms)) if terms.order == booked.order => {
                Some((calendar.slot(record.height + 1), terms.shares.clone()))
            }
            _ => None,
        });
    let (slot, shares) = started.ok_or(format!("{name} was never leased"))?;
    if slot != booked.start || shares != booked.shares {
        let start = booked.start;
        return Err(format!(
            "{name} ran in slot {slot}, or elsewhere, not {start}"
        ));
    }
    Ok(())
}

/// The winner paid what he bid for each slot that he had the nodes: all of it, unless his job was
/// done sooner.
fn paid(evidence: &Evidence, order: &Order, bid: &ReservationBid) -> Result<(), String> {
    let name = order.wish.name;
    let calendar = &evidence.policy.calendar;
    let leased: BTreeSet<u64> = evidence
        .records
        .iter()
        .filter(|record| {
            matches!(&record.effect, Effect::Lease(LeaseEvent::Started(terms) | LeaseEvent::Renewed(terms))
                if terms.order == bid.order)
        })
        .map(|record| calendar.slot(record.height + 1))
        .collect();
    let slots = u64::from(bid.slots.max(1));
    let (value, left) = (
        bid.value.micros(),
        slots.saturating_sub(leased.len() as u64),
    );
    let due = value - value / slots * left;
    let spent = evidence.spent(order, bid.order);
    if order.record.paid.micros() != due || i64::try_from(due) != Ok(spent) {
        let said = order.record.paid;
        return Err(format!(
            "{name} paid {said}, or {spent} micro-credits, for {due}"
        ));
    }
    Ok(())
}

/// What is taken: nodes and channels, by slot.
#[derive(Clone, Default)]
struct Taken {
    nodes: BTreeSet<(OfferId, u32, u64)>,
    channels: BTreeSet<(u32, u64)>,
}

fn decide(record: &ReservationRecord, policy: &WindowPolicy) -> Result<Vec<Booked>, String> {
    if policy.orders != Orders::Density || record.bids.iter().any(|b| b.groups.len() != 1) {
        return Err("more than the plain rule can decide".to_owned());
    }
    let end = record.slot + u64::from(policy.slots);
    let mut busy = Taken::default();
    for run in &record.busy {
        let slots = run.first..=run.last.min(end);
        busy.nodes
            .extend(slots.map(|slot| (run.offer, run.unit, slot)));
    }
    for run in &record.channels {
        let slots = run.first..=run.last.min(end);
        busy.channels.extend(slots.map(|slot| (run.channel, slot)));
    }
    let size = |bid: &ReservationBid| u128::from(bid.groups[0].units) * u128::from(bid.slots);
    let pays = |bid: &&ReservationBid| {
        u128::from(bid.value.micros()) >= u128::from(record.posted.0) * size(bid)
    };
    let mut ranked: Vec<&ReservationBid> = record.bids.iter().filter(pays).collect();
    ranked.sort_by(|a, b| {
        let (left, right) = (u128::from(a.value.micros()), u128::from(b.value.micros()));
        let denser = (right * size(a)).cmp(&(left * size(b)));
        denser.then((a.round, a.rank, a.order).cmp(&(b.round, b.rank, b.order)))
    });
    let mut best: (u128, Vec<Booked>) = (0, Vec::new());
    for first in 0..ranked.len().min(policy.fronts as usize) {
        let mut turns = ranked.clone();
        turns[..=first].rotate_right(1);
        let mut taken = busy.clone();
        let placed = turns
            .iter()
            .filter_map(|bid| place(record, policy, &mut taken, bid));
        let placed: Vec<Booked> = placed.collect();
        let total = placed.iter().map(|b| u128::from(b.pay.micros())).sum();
        if total > best.0 || first == 0 {
            best = (total, placed);
        }
    }
    best.1.sort_by_key(|booked| booked.order);
    Ok(best.1)
}

/// The first start at which there is room.
fn place(
    record: &ReservationRecord,
    policy: &WindowPolicy,
    taken: &mut Taken,
    bid: &ReservationBid,
) -> Option<Booked> {
    let length = u64::from(bid.slots);
    let sold = record.slot + u64::from(policy.slots);
    let last = (record.slot + u64::from(policy.starts) - 1).min(sold.checked_sub(length)?);
    for start in bid.earliest.max(record.slot)..=bid.latest.min(last) {
        let slots = start..start + length;
        let mut channel = None;
        if let Some(range) = bid.channels {
            let free = |c: &u32| {
                slots
                    .clone()
                    .all(|slot| !taken.channels.contains(&(*c, slot)))
            };
            channel = (range.low..=range.high).find(free);
            if channel.is_none() {
                continue;
            }
        }
        let named = &bid.groups[0].offers;
        let suits = |share: &&Share| named.is_empty() || named.contains(&share.offer);
        let nodes = record.units.iter().filter(suits);
        let nodes = nodes.flat_map(|share| (0..share.units).map(|unit| (share.offer, unit)));
        let free = nodes.filter(|(offer, unit)| {
            slots
                .clone()
                .all(|slot| !taken.nodes.contains(&(*offer, *unit, slot)))
        });
        let wanted = bid.groups[0].units as usize;
        let found: Vec<(OfferId, u32)> = free.take(wanted).collect();
        if found.len() < wanted {
            continue;
        }
        let mut shares: BTreeMap<OfferId, u32> = BTreeMap::new();
        for (offer, unit) in found {
            *shares.entry(offer).or_default() += 1;
            taken
                .nodes
                .extend(slots.clone().map(|slot| (offer, unit, slot)));
        }
        taken.channels.extend(
            channel
                .iter()
                .flat_map(|c| slots.clone().map(|slot| (*c, slot))),
        );
        return Some(Booked {
            order: bid.order,
            start,
            shares: shares
                .into_iter()
                .map(|(offer, units)| Share { offer, units })
                .collect(),
            channel,
            pay: bid.value,
        });
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::evidence::Record;
    use crate::demo::sample;

    fn bad(change: impl Fn(&mut Record)) -> Verdict {
        let mut bad = sample::good();
        bad.records.iter_mut().for_each(change);
        judge(&bad)
    }

    fn decision(change: impl Fn(&mut ReservationRecord)) -> Verdict {
        bad(|record| {
            if let Effect::Reservation(decision) = &mut record.effect {
                change(decision);
            }
        })
    }

    #[test]
    fn another_decision_is_found() {
        assert!(decision(|_| ()).is_ok());
        assert!(decision(|d| d.booked[1].start += 1).is_err());
        assert!(decision(|d| d.booked[0].channel = Some(3)).is_err());
        assert!(decision(|d| d.booked.truncate(1)).is_err());
        // Without whoever was first there is room for the others.
        assert!(decision(|d| drop(d.bids.remove(0))).is_err());
        assert!(decision(|d| d.busy[0].last += 1).is_err());
        assert!(
            decision(|d| d.bids[0].groups.clear())
                .unwrap_err()
                .contains("plain")
        );
    }

    #[test]
    fn a_lease_at_another_time_is_found() {
        assert!(
            bad(|record| record.height += 8)
                .unwrap_err()
                .contains("ran in slot")
        );
        let mut never = sample::good();
        never
            .records
            .retain(|r| matches!(r.effect, Effect::Reservation(_)));
        assert!(judge(&never).unwrap_err().contains("never leased"));
    }

    #[test]
    fn money_that_went_elsewhere_is_found() {
        for name in [AHEAD, MOVED, RIVAL] {
            let mut bad = sample::good();
            let id = sample::order(&mut bad, name).record.order;
            let buyer = bad.accounts.iter_mut().find(|a| a.name == "b1").unwrap();
            let mut own = buyer.movements.iter_mut().filter(|m| m.order == id);
            own.next().unwrap().amount.0 += 1;
            assert!(judge(&bad).is_err(), "{name}");
        }
    }
}
