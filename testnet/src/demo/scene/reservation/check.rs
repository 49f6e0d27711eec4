//! Reservations: each decision, by the simulator's judge; the winners' leases, which began in the
//! slots that they won; and the money: winners paid their bids for the slots that they had, the
//! loser nothing.

use super::{AHEAD, MOVED, RIVAL};
use crate::demo::check::Verdict;
use crate::demo::evidence::Evidence;
use crate::demo::order::Order;
use gridbay_protocol::effect::Effect;
use gridbay_protocol::ids::OrderId;
use gridbay_protocol::lease::LeaseEvent;
use gridbay_protocol::record::reservation::{Booked, ReservationBid};
use gridbay_sim::check::judge;
use std::collections::{BTreeMap, BTreeSet};

pub(crate) fn judge(evidence: &Evidence) -> Verdict {
    let mut won: BTreeMap<OrderId, (u64, Booked)> = BTreeMap::new();
    let mut bids: BTreeMap<OrderId, ReservationBid> = BTreeMap::new();
    let mut decisions = 0;
    for record in &evidence.records {
        let Effect::Reservation(decision) = &record.effect else {
            continue;
        };
        let judged = judge::reservations(decision, &evidence.policy.reservation);
        judged.map_err(|wrong| format!("the decision at {}: {wrong}", record.height))?;
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

/// The winner paid its bid for each slot in which it had the nodes: all of it, unless its job was
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::evidence::Record;
    use crate::demo::sample;
    use gridbay_protocol::record::reservation::ReservationRecord;

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
        // Without the first winner there is room for the others.
        assert!(decision(|d| drop(d.bids.remove(0))).is_err());
        assert!(decision(|d| d.busy[0].last += 1).is_err());
        assert!(decision(|d| d.bids[0].groups.clear()).is_err());
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
