//! Bodies of entries at the edges of each range, which are inside.

use super::cases::{
    Case, appeal, buy, commit, keys, offer, offers, open, opening, parts, reserve, share, stairs,
    steps, transfer,
};
use crate::samples::micros;
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::ids::{AccountId, Hash32, LeaseId, OrderId};
use gridbay_protocol::limits;
use gridbay_protocol::mechanism::reservation::{CHANNELS, Channels};
use gridbay_protocol::mechanism::share::BUDGET_END;
use gridbay_protocol::offer::OfferTerms;
use gridbay_protocol::order::{Bid, Buy, Claim, Reservation, Step};
use gridbay_protocol::units::{Credits, Price};

pub(super) fn accepted() -> Vec<Case> {
    let most_claimed = |c: &mut Claim| {
        (c.rate, c.budget) = (micros(BUDGET_END - 1), Credits::MAX);
        (c.tasks, c.slots) = (limits::ORDER_UNITS, limits::ORDER_SLOTS);
        (c.weights, c.stands_until) = (vec![u32::MAX; 4], u64::MAX);
    };
    let most_offered = |o: &mut OfferTerms| {
        (o.units, o.reserve) = (limits::OFFER_UNITS, Price::MAX);
        (o.buy_price, o.label) = (Some(Price::MAX), u32::MAX);
    };
    let most_bid = |b: &mut Bid| {
        b.steps = stairs(limits::BID_STEPS);
        b.steps[0] = Step {
            units: limits::ORDER_UNITS - 63,
            price: Price::MAX,
        };
        (b.min, b.slots) = (limits::ORDER_UNITS, limits::ORDER_SLOTS);
        (b.budget, b.stands_until) = (Credits::MAX, u64::MAX);
    };
    let most_bought = |b: &mut Buy| {
        b.parts = parts(limits::BUY_PARTS);
        b.parts[0].units = limits::ORDER_UNITS - (limits::BUY_PARTS as u32 - 1);
        b.parts[0].offers = offers(limits::OFFERS_PER_ACCOUNT);
        (b.slots, b.limit) = (limits::ORDER_SLOTS, Credits::MAX);
    };
    let least_bid = |b: &mut Bid| {
        b.steps = steps(&[(1, 0)]);
        (b.min, b.slots, b.budget, b.stands_until) = (1, 1, Credits::ZERO, 0);
    };
    let (lease, order) = (LeaseId::default(), OrderId::default());
    let tip = Hash32::default();
    vec![
        ("sixteen keys", EntryBody::SetKeys { keys: keys(16) }),
        ("an account for nothing", opening(keys(1), 0)),
        (
            "the dearest account",
            opening(keys(16), Credits::MAX.micros()),
        ),
        (
            "all money there is",
            transfer(AccountId([9; 32]), Credits::MAX),
        ),
        ("the largest offer", offer(most_offered)),
        (
            "a free offer",
            offer(|o| (o.units, o.reserve) = (1, Price(0))),
        ),
        ("the smallest bracket", commit(0)),
        ("the largest bracket", commit(limits::BRACKET)),
        ("the largest bid", open(most_bid)),
        ("the smallest bid", open(least_bid)),
        ("the largest buy", buy(most_bought)),
        ("the largest claim", share(most_claimed)),
        // More than a third of the most validators there can be.
        (
            "the largest appeal",
            appeal(open(most_bid), limits::VALIDATORS as u8 / 3 + 1),
        ),
        ("any tip", EntryBody::RegisterBeacon { tip }),
        ("any label", EntryBody::WithdrawOffer { label: u32::MAX }),
        ("any delivery", EntryBody::Deliver { lease }),
        ("any failure", EntryBody::Fail { lease }),
        ("any cancellation", EntryBody::Cancel { order }),
        ("any heartbeat", EntryBody::Heartbeat { label: u32::MAX }),
    ]
}

pub(super) fn accepted_reservations() -> Vec<Case> {
    let most_reserved = |r: &mut Reservation| {
        r.groups
            .resize(limits::RESERVATION_GROUPS, r.groups[1].clone());
        r.groups[0].offers = offers(limits::RESERVATION_OFFERS);
        r.groups[0].units += limits::RESERVATION_UNITS - r.units();
        (r.slots, r.value) = (limits::RESERVATION_SLOTS, Credits::MAX);
        (r.earliest, r.latest) = (u64::MAX, u64::MAX);
        r.channels = Some(Channels {
            low: u32::MAX - CHANNELS + 1,
            high: u32::MAX,
        });
    };
    vec![
        ("the largest reservation", reserve(most_reserved)),
        (
            "the largest appeal for a reservation",
            appeal(reserve(most_reserved), limits::VALIDATORS as u8 / 3 + 1),
        ),
    ]
}
