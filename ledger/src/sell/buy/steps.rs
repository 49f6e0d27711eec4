//! Buys that cannot be served cost no more than looking them up: the stock of a class is gone
//! through once, and few buys search for leases to displace.

use super::queue;
use crate::record::{BidOrder, BuyOrder, Offer, Order, Stage};
use crate::sample::{account, class, run, state};
use crate::state::State;
use crate::table::steps;
use crate::work::Work;
use crate::{book, catalogue};
use gridbay_protocol::effect::{Effect, OrderEnd};
use gridbay_protocol::ids::{ClassId, Hash32, LeaseId, OrderId};
use gridbay_protocol::keys::SecretKey;
use gridbay_protocol::lease::Share;
use gridbay_protocol::offer::{OfferTerms, Primary, Reclaim, offer_id};
use gridbay_protocol::order::{Bid, Buy, BuyPart, Step};
use gridbay_protocol::units::{Credits, Price};

/// Offers that bids hold, of two units each: the first few all or none at 50 each, the others at
/// 90.
const HELD: u32 = 500;
const LUMPY: u32 = 10;
/// Units that are free, at 500 each.
const FREE: u32 = 4;
const BUYS: u32 = 300;

fn id(kind: u8, n: u32) -> [u8; 32] {
    let mut id = [kind; 32];
    id[..4].copy_from_slice(&n.wrapping_mul(2_654_435_761).to_be_bytes());
    id[4..8].copy_from_slice(&n.to_be_bytes());
    id
}

fn micros(n: u64) -> Credits {
    Credits::from_micros(n).expect("a small amount")
}

fn sells(state: &State, work: &mut Work<'_>, label: u32, units: u32, price: u64) {
    let seller = account(state, 0);
    let terms = OfferTerms {
        label,
        class: class(state),
        node: SecretKey::from_seed(&[9; 32]).public(),
        units,
        reserve: Price(1),
        buy_price: Some(Price(price)),
        reclaim: Reclaim::None,
        mechanism: Primary::Ausubel,
    };
    let offer = Offer {
        seller,
        terms,
        active: true,
        bound: units,
        pending: None,
        disputed_by: vec![],
        disputed_in: 0,
    };
    catalogue::put(&mut work.shelf(), offer_id(&seller, label), Some(offer));
}

/// Its bid for both units, some of them all or none.
fn bid(class: ClassId, n: u32) -> Stage {
    let (min, price) = if n < LUMPY { (2, 50) } else { (1, 90) };
    let bid = Bid {
        class,
        steps: vec![Step {
            units: 2,
            price: Price(price),
        }],
        min,
        slots: 9,
        budget: Credits::ZERO,
        stands_until: 900,
        work: Hash32([4; 32]),
    };
    Stage::Bid(Box::new(BidOrder {
        bid,
        rank: None,
        paid: Credits::ZERO,
        slots_used: 0,
        next: None,
    }))
}

/// A bid that runs on both units of an offer.
fn runs(state: &State, work: &mut Work<'_>, n: u32) {
    let (owner, class, sold) = (
        account(state, 0),
        class(state),
        offer_id(&account(state, 0), n),
    );
    let (order, lease) = (OrderId(id(1, n)), LeaseId(id(2, n)));
    let record = Order {
        lease: Some(lease),
        ..Order::new(owner, class, 0, bid(class, n))
    };
    book::enter(&mut work.book(), order, record);
    let share = Share {
        offer: sold,
        units: 2,
    };
    let runs = (lease, Hash32(id(3, n)));
    run(&mut work.floor(), (order, owner, class), runs, share);
}

/// A class whose units bids hold, but for a few that are dear.
fn crowded() -> State {
    let mut state = state();
    let empty = state.clone();
    let mut work = Work::begin(&empty, 2_000, &[1; 32]);
    for n in 0..HELD {
        sells(&empty, &mut work, n, 2, 5);
        runs(&empty, &mut work, n);
    }
    sells(&empty, &mut work, HELD, FREE, 500);
    let changes = work.tables.into_changes();
    state.records.apply(changes);
    state
}

/// Units, limit, whether an offer is named, and how such a buy ends.
type Kind = (u32, u64, bool, OrderEnd);

/// Free units are too dear; those of bids are worth more than the limit, known beforehand or not;
/// and too many.
const KINDS: [Kind; 5] = [
    (1, 1, false, OrderEnd::TooDear),
    (FREE + 1, 10, false, OrderEnd::TooDear),
    (1, 60, true, OrderEnd::TooDear),
    (FREE + 1, 60, false, OrderEnd::TooDear),
    (4_096, 1_000_000, false, OrderEnd::NoUnits),
];

/// Steps that deciding so many buys of a kind takes, and how they end.
fn decide(state: &State, kind: Kind, decides: fn(&mut Work<'_>)) -> (u64, Vec<OrderEnd>) {
    let (units, limit, named, _) = kind;
    let mut work = Work::begin(state, 2_000, &[1; 32]);
    let mut part = BuyPart::anywhere(class(state), units);
    // Its units are worth 90 each, so a displacement is searched for.
    part.offers
        .extend(named.then(|| offer_id(&account(state, 0), HELD - 1)));
    for n in 0..BUYS {
        let buy = Buy {
            parts: vec![part.clone()],
            slots: 1,
            limit: micros(limit),
            stands_until: 0,
            surcharge: Credits::ZERO,
            work: Hash32([4; 32]),
        };
        let stage = Stage::Buy(Box::new(BuyOrder::new(buy)));
        let order = OrderId(id(5, n));
        let record = Order::new(account(state, 1), class(state), 0, stage);
        book::enter(&mut work.book(), order, record);
        work.fresh.push(order);
    }
    let (steps, ()) = steps::of(|| decides(&mut work));
    let ends = work.effects.iter().filter_map(|effect| match effect {
        Effect::Order { end, .. } => Some(*end),
        _ => None,
    });
    (steps, ends.collect())
}

fn jump(work: &mut Work<'_>) {
    let fresh = std::mem::take(&mut work.fresh);
    queue::jump(&mut work.floor(), &fresh);
}

fn close(work: &mut Work<'_>) {
    queue::close(&mut work.floor());
}

#[test]
fn buys_that_cannot_be_served_do_not_each_search_the_class() {
    let state = crowded();
    let records = u64::from(3 * HELD + BUYS);
    for (name, decides) in [
        ("at once", jump as fn(&mut Work<'_>)),
        ("at the close", close),
    ] {
        for kind in KINDS {
            let (steps, ends) = decide(&state, kind, decides);
            assert_eq!(ends.len(), BUYS as usize, "{name}, {kind:?}: all end");
            assert_eq!(ends[0], kind.3, "{name}, {kind:?}");
            let bound = 5 * records + 16 * u64::from(BUYS);
            assert!(steps <= bound, "{name}, {kind:?}: {steps} steps of {bound}");
        }
    }
}

#[test]
fn few_new_buys_of_a_block_search_for_whom_to_displace() {
    let state = crowded();
    // Nothing tells beforehand that 50 each is not enough: the cheapest bid gives both units or
    // none.
    let (_, ends) = decide(&state, KINDS[3], jump);
    let searched = ends.iter().filter(|end| **end == OrderEnd::TooDear);
    let searched = searched.count() as u32;
    assert_eq!(searched, gridbay_protocol::limits::NEW_BUYS_DISPLACE);
    // A buy that cannot pay the least displaces nobody.
    let (_, ends) = decide(&state, KINDS[1], jump);
    assert!(ends.iter().all(|end| *end == OrderEnd::TooDear));
}
