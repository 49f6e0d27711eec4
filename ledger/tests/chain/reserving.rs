//! Reserving in scenarios: offers under reservation, wishes, and decisions.

use crate::model::Dice;
use crate::trade::terms;
use crate::world::{World, credits};
use gridbay_ledger::Booking;
use gridbay_protocol::effect::Effect;
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::ids::{Hash32, OfferId, OrderId};
use gridbay_protocol::mechanism::reservation::{self, Channels};
use gridbay_protocol::offer::Primary;
use gridbay_protocol::order::{Group, Reservation};
use gridbay_protocol::record::reservation::ReservationRecord;
use gridbay_protocol::record::reservation::hint::Hint;
use gridbay_protocol::stage::Authentic;
use std::sync::Arc;

/// Groups of units: how many, of which offers.
pub(crate) fn groups(groups: &[(u32, &[OfferId])]) -> Vec<Group> {
    let group = |(units, offers): &(u32, &[OfferId])| {
        let mut offers = offers.to_vec();
        offers.sort_unstable();
        Group {
            units: *units,
            offers,
        }
    };
    groups.iter().map(group).collect()
}

/// A reservation of units of any offer, that may start in slots `from` to `to`.
pub(crate) fn wish(
    world: &World,
    units: u32,
    slots: u32,
    window: (u64, u64),
    value: u64,
) -> Reservation {
    Reservation {
        class: world.class,
        groups: groups(&[(units, &[])]),
        slots,
        earliest: window.0,
        latest: window.1,
        value: credits(value),
        channels: None,
        work: Hash32([6; 32]),
    }
}

/// The same with one of some channels.
pub(crate) fn on_channel(wish: Reservation, low: u32, high: u32) -> Reservation {
    Reservation {
        channels: Some(Channels { low, high }),
        ..wish
    }
}

impl World {
    /// An offer under reservation.
    pub(crate) fn reservable(&self, n: u8, label: u32, units: u32, reserve: u64) -> Arc<Authentic> {
        let mut terms = terms(self, label, units, reserve, None);
        terms.mechanism = Primary::Reservation;
        self.by(n, EntryBody::SetOffer(terms))
    }

    pub(crate) fn booking(&self, order: &OrderId) -> Option<Booking> {
        let order = self.state.order(order)?;
        order.reservation()?.booking.clone()
    }
}

/// Decisions on reservations, each recomputed from its record.
pub(crate) fn decisions(world: &World, effects: &[Effect]) -> Vec<ReservationRecord> {
    let record = |effect: &Effect| match effect {
        Effect::Reservation(record) => Some(record.clone()),
        _ => None,
    };
    let records: Vec<ReservationRecord> = effects.iter().filter_map(record).collect();
    for record in &records {
        let input = record.input(&world.state.policy().reservation);
        let again = reservation::clear(&input).unwrap();
        match record.beaten {
            None => assert_eq!(record.winners(&again), record.booked),
            Some(worth) => {
                assert_eq!(again.total, u128::from(worth.micros()));
                let booked = record.booked.iter().map(|won| u128::from(won.pay.micros()));
                assert!(again.total < booked.sum(), "a hint is worth more");
            }
        }
    }
    records
}

/// The rule's outcome of the next decision without a part of the reservations: seldom better than
/// with all of them, and sometimes of the wrong height.
pub(crate) fn random_hints(world: &World, dice: &mut Dice) -> Vec<Hint> {
    let policy = &world.state.policy().reservation;
    let mut without = |record: &ReservationRecord| {
        let mut input = record.input(policy);
        input.bids.retain(|_| dice.below(3) > 0);
        let found = reservation::clear(&input).unwrap();
        let placements: Vec<_> = found.awards.into_iter().map(|a| a.placement).collect();
        (found.total, Hint::new(record, &placements))
    };
    let coming = world.state.reservations_to_come().into_iter();
    let best = |record: ReservationRecord| {
        let tries = (0..8).map(|_| without(&record));
        tries.max_by_key(|(total, _)| *total).map(|(_, hint)| hint)
    };
    coming.filter_map(best).collect()
}

/// Any reservation, mostly one that can be booked.
pub(crate) fn random_reservation(world: &mut World, dice: &mut Dice) -> Reservation {
    let offers: Vec<OfferId> = world.state.offers().map(|(id, _)| *id).collect();
    let next = world.state.calendar().slot(world.state.height() + 4) + 1;
    let (units, slots) = (dice.below(3) as u32 + 1, dice.below(4) as u32 + 1);
    let from = (next + dice.below(4)).saturating_sub(dice.below(3));
    let window = (from, from + dice.below(5));
    let value = u64::from(units * slots) * (8 + dice.below(30));
    let mut wish = wish(world, units, slots, window, value);
    if dice.below(3) == 0 {
        let named: Vec<OfferId> = dice.pick(&offers).into_iter().collect();
        wish.groups = match units {
            1 => groups(&[(1, &named)]),
            _ => groups(&[(1, &named), (units - 1, &[])]),
        };
    }
    if dice.below(4) == 0 {
        let low = dice.below(2) as u32;
        let high = low + dice.below(2) as u32;
        wish = on_channel(wish, low, high);
    }
    let fresh = world.fresh();
    wish.work = Hash32([fresh as u8; 32]);
    wish
}
