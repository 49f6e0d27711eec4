//! Decisions on reservations, for I5 and I16: every winner gets what it asked for, at its bid and
//! not below the posted price, and no unit or channel is given twice. Units are counted slot by
//! slot, without the mechanism. The winners are those that the mechanism finds, or those of a hint
//! that is worth more; nothing else is believed of a hint.

use gridbay_protocol::ids::{OfferId, OrderId};
use gridbay_protocol::lease::Share;
use gridbay_protocol::mechanism::reservation;
use gridbay_protocol::mechanism::reservation::window::WindowPolicy;
use gridbay_protocol::order::Group;
use gridbay_protocol::record::reservation::{Booked, ReservationBid, ReservationRecord};
use std::collections::{BTreeMap, BTreeSet};

/// The units and channels left in the window.
struct Room {
    units: BTreeMap<(OfferId, u64), i64>,
    channels: BTreeSet<(u32, u64)>,
}

/// Checks one record.
pub(crate) fn check(record: &ReservationRecord, policy: &WindowPolicy) -> Result<(), String> {
    let outcome = reservation::clear(&record.input(policy));
    let outcome = outcome.map_err(|error| format!("{error}: {record:?}"))?;
    let right = match record.beaten {
        None => record.winners(&outcome) == record.booked,
        Some(worth) => outcome.total == u128::from(worth.micros()) && outcome.total < total(record),
    };
    if !right {
        return Err(format!("not what the reservations lead to: {record:?}"));
    }
    let winners: BTreeSet<OrderId> = record.booked.iter().map(|won| won.order).collect();
    if winners.len() < record.booked.len() {
        return Err(format!("somebody won twice: {record:?}"));
    }
    let mut room = room(record, policy);
    for won in &record.booked {
        let bid = record.bids.iter().find(|bid| bid.order == won.order);
        let bid = bid.ok_or(format!("{} won and did not ask", won.order))?;
        fits(record, bid, won)?;
        let last = won.start + u64::from(bid.slots);
        if last > record.slot + u64::from(policy.slots) {
            return Err(format!("{won:?} reaches beyond the window"));
        }
        for slot in won.start..last {
            room.take(won, slot)?;
        }
    }
    Ok(())
}

/// The payments of the winners.
fn total(record: &ReservationRecord) -> u128 {
    let booked = record.booked.iter();
    booked.map(|won| u128::from(won.pay.micros())).sum()
}

fn room(record: &ReservationRecord, policy: &WindowPolicy) -> Room {
    let window = record.slot..record.slot + u64::from(policy.slots);
    let mut units = BTreeMap::new();
    for share in &record.units {
        for slot in window.clone() {
            units.insert((share.offer, slot), i64::from(share.units));
        }
    }
    for run in &record.busy {
        for slot in window
            .clone()
            .filter(|s| (run.first..=run.last).contains(s))
        {
            *units.entry((run.offer, slot)).or_default() -= 1;
        }
    }
    let taken = record.channels.iter().flat_map(|run| {
        let slots = window.clone();
        let slots = slots.filter(|s| (run.first..=run.last).contains(s));
        slots.map(|slot| (run.channel, slot))
    });
    Room {
        units,
        channels: taken.collect(),
    }
}

impl Room {
    fn take(&mut self, won: &Booked, slot: u64) -> Result<(), String> {
        for share in &won.shares {
            let left = self.units.entry((share.offer, slot)).or_default();
            *left -= i64::from(share.units);
            if *left < 0 {
                return Err(format!("{won:?} takes what is taken in slot {slot}"));
            }
        }
        match won.channel {
            Some(channel) if !self.channels.insert((channel, slot)) => {
                Err(format!("{won:?} takes a channel of others in slot {slot}"))
            }
            _ => Ok(()),
        }
    }
}

/// Whether the units can be dealt to the groups: whichever groups are taken together, no fewer
/// units suit one of them than they want (Hall).
fn serve(shares: &[Share], groups: &[Group]) -> bool {
    (1u32..1 << groups.len()).all(|set| {
        let set: Vec<&Group> = (0..groups.len())
            .filter(|n| set & (1 << n) != 0)
            .map(|n| &groups[n])
            .collect();
        let suits = |share: &&Share| {
            let mut groups = set.iter();
            groups.any(|g| g.offers.is_empty() || g.offers.contains(&share.offer))
        };
        let wanted: u64 = set.iter().map(|g| u64::from(g.units)).sum();
        let there = shares.iter().filter(suits);
        wanted <= there.map(|share| u64::from(share.units)).sum()
    })
}

/// Whether a winner gets what it asked for.
fn fits(record: &ReservationRecord, bid: &ReservationBid, won: &Booked) -> Result<(), String> {
    let size: u64 = bid.groups.iter().map(|g| u64::from(g.units)).sum();
    let least = u128::from(record.posted.0) * u128::from(size) * u128::from(bid.slots);
    let units: u64 = won.shares.iter().map(|s| u64::from(s.units)).sum();
    let served = units == size && serve(&won.shares, &bid.groups);
    let suits = match (won.channel, bid.channels) {
        (None, None) => true,
        (Some(channel), Some(range)) => (range.low..=range.high).contains(&channel),
        _ => false,
    };
    let in_time = (bid.earliest.max(record.slot)..=bid.latest).contains(&won.start);
    let paid = won.pay == bid.value && u128::from(won.pay.micros()) >= least;
    if served && suits && in_time && paid {
        return Ok(());
    }
    Err(format!("{won:?} is not what {bid:?} asked for"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::ids::{ClassId, Hash32};
    use gridbay_protocol::record::reservation::BusyUnit;
    use gridbay_protocol::units::{Credits, Price};

    const POLICY: WindowPolicy = WindowPolicy::MIRAGE;

    fn record() -> ReservationRecord {
        let offer = OfferId([1; 32]);
        let bid = |n: u8, units, value| ReservationBid {
            order: OrderId([n; 32]),
            round: 1,
            rank: Hash32([n; 32]),
            groups: vec![Group {
                units,
                offers: vec![],
            }],
            slots: 2,
            earliest: 5,
            latest: 9,
            value: Credits::from_micros(value).unwrap(),
            channels: None,
        };
        let mut record = ReservationRecord {
            class: ClassId([3; 32]),
            height: 40,
            slot: 5,
            posted: Price(10),
            units: vec![Share { offer, units: 2 }],
            busy: vec![BusyUnit {
                offer,
                unit: 0,
                first: 5,
                last: 5,
            }],
            channels: vec![],
            bids: vec![bid(1, 2, 90), bid(2, 1, 30)],
            booked: vec![],
            beaten: None,
        };
        let outcome = reservation::clear(&record.input(&POLICY)).unwrap();
        record.booked = record.winners(&outcome);
        record
    }

    #[test]
    fn what_the_reservations_lead_to_is_right() {
        assert_eq!(record().booked.len(), 2);
        assert_eq!(check(&record(), &POLICY), Ok(()));
    }

    #[test]
    fn anything_else_is_reported() {
        let changes: [fn(&mut ReservationRecord); 5] = [
            |r| r.booked[0].start -= 1,
            |r| r.booked[0].pay = r.booked[1].pay,
            |r| r.booked[0].shares[0].units -= 1,
            |r| r.booked[1].channel = Some(1),
            |r| drop(r.booked.pop()),
        ];
        for change in changes {
            let mut bad = record();
            change(&mut bad);
            assert!(check(&bad, &POLICY).is_err(), "{bad:?}");
        }
    }

    /// Two units in one slot: the rule tries one of the two small ones first, a hint takes the
    /// large one.
    fn hinted() -> ReservationRecord {
        let mut record = record();
        record.busy = vec![];
        let policy = WindowPolicy {
            fronts: 1,
            ..POLICY
        };
        for bid in &mut record.bids {
            (bid.slots, bid.latest) = (1, 5);
        }
        record.bids[1].value = Credits::from_micros(60).unwrap();
        let found = reservation::clear(&record.input(&policy)).unwrap();
        record.booked = record.winners(&found);
        assert_eq!((record.booked.len(), total(&record)), (1, 60));
        let large = &record.bids[0];
        record.beaten = Some(record.bids[1].value);
        record.booked = vec![Booked {
            order: large.order,
            start: 5,
            shares: record.units.clone(),
            channel: None,
            pay: large.value,
        }];
        assert_eq!(check(&record, &policy), Ok(()));
        record
    }

    #[test]
    fn a_hint_is_believed_only_if_it_is_right_and_better() {
        let policy = WindowPolicy {
            fronts: 1,
            ..POLICY
        };
        let changes: [fn(&mut ReservationRecord); 7] = [
            |r| r.beaten = None,
            |r| r.beaten = Some(r.bids[0].value),
            |r| r.booked[0].start = 6,
            |r| r.booked[0].shares[0].units = 3,
            |r| r.booked.push(r.booked[0].clone()),
            |r| r.booked[0].order = r.bids[1].order,
            |r| r.units[0].units = 1,
        ];
        for change in changes {
            let mut bad = hinted();
            change(&mut bad);
            assert!(check(&bad, &policy).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn groups_cannot_share_a_unit() {
        let offer = |n| OfferId([n; 32]);
        let share = |n, units| Share {
            offer: offer(n),
            units,
        };
        let group = |units, offers: &[u8]| Group {
            units,
            offers: offers.iter().map(|n| offer(*n)).collect(),
        };
        let groups = [group(2, &[1, 2]), group(2, &[1]), group(2, &[])];
        assert!(serve(&[share(1, 3), share(2, 1), share(3, 2)], &groups));
        assert!(!serve(&[share(1, 2), share(3, 4)], &groups));
    }

    #[test]
    fn units_are_counted_without_the_mechanism() {
        let mut room = room(&record(), &POLICY);
        let won = Booked {
            start: 5,
            ..record().booked[0].clone()
        };
        assert!(room.take(&won, 5).is_err(), "one of two is taken");
        let mut early = record();
        let (bid, won) = (early.bids[0].clone(), &mut early.booked[0]);
        won.start = 4;
        let won = won.clone();
        assert!(fits(&early, &bid, &won).is_err());
    }
}
