//! A bad order gets one answer, in one word, at admission and inside a block.

use crate::reserving::wish;
use crate::trade::bid;
use crate::world::{World, credits, key};
use gridbay_ledger::BlockRefusal;
use gridbay_ledger::log::merkle_root;
use gridbay_protocol::entry::{Entry, EntryBody, SignedEntry};
use gridbay_protocol::ids::{ClassId, EntryId, Hash32, OfferId};
use gridbay_protocol::mechanism::reservation::Channels;
use gridbay_protocol::order::{Bid, Buy, BuyPart, Commit, Open, Reservation};
use gridbay_protocol::stage::WellFormed;
use gridbay_protocol::units::Price;
use std::sync::Arc;

fn signed(world: &World, body: EntryBody) -> SignedEntry {
    let key = key(1);
    let entry = Entry {
        network: world.network,
        account: world.member(1),
        key: key.public(),
        valid_until: world.state.height() + 50,
        body,
    };
    SignedEntry::new(entry, &key)
}

fn at_admission(world: &World, signed: SignedEntry) -> &'static str {
    match WellFormed::check(&world.network, signed) {
        Err(malformed) => malformed.word(),
        Ok(formed) => {
            let entry = Arc::new(formed.authenticate().unwrap());
            world.state.admit(&entry).unwrap_err().word()
        }
    }
}

fn in_a_block(world: &World, signed: SignedEntry) -> &'static str {
    let refused = world.tampered(vec![], |block| {
        block.header.entries_root = Hash32(merkle_root(&[signed.id().0]));
        block.entries = vec![signed];
    });
    match refused.unwrap_err() {
        BlockRefusal::Malformed { source, .. } => source.word(),
        BlockRefusal::Entry { refusal, .. } => refusal.word(),
        other => panic!("{other}"),
    }
}

/// Each is refused with its word at admission and in a block.
fn agree(world: &World, cases: impl IntoIterator<Item = (EntryBody, &'static str)>) {
    for (body, word) in cases {
        let signed = signed(world, body);
        assert_eq!(at_admission(world, signed.clone()), word);
        assert_eq!(in_a_block(world, signed), word);
    }
}

#[test]
fn bad_orders_are_refused_for_one_reason_everywhere() {
    let world = World::new();
    let opens = |change: &dyn Fn(&mut Bid)| {
        let mut bid = bid(&world, &[(2, 50), (1, 40)], 1);
        change(&mut bid);
        EntryBody::Open(Open {
            commit: EntryId([1; 32]),
            wish: bid.into(),
            salt: [2; 32],
        })
    };
    let buys = |change: &dyn Fn(&mut Buy)| {
        let mut buy = Buy {
            parts: vec![BuyPart {
                class: world.class,
                units: 1,
                offers: vec![OfferId([1; 32]), OfferId([2; 32])],
            }],
            slots: 1,
            limit: credits(10),
            stands_until: 0,
            surcharge: credits(0),
            work: Hash32([3; 32]),
        };
        change(&mut buy);
        EntryBody::Buy(buy)
    };
    let strange = ClassId([9; 32]);
    let commit = EntryBody::Commit(Commit {
        class: strange,
        seal: Hash32([1; 32]),
        bracket: 0,
    });
    let cases = [
        (opens(&|b| b.steps.reverse()), "not_falling"),
        (opens(&|b| b.steps.clear()), "steps"),
        (opens(&|b| b.steps[0].units = 0), "units"),
        (opens(&|b| b.steps[0].units = u32::MAX), "units"),
        (opens(&|b| b.steps[0].price = Price(u64::MAX)), "price"),
        (opens(&|b| b.min = 4), "minimum"),
        (opens(&|b| b.slots = 0), "slots"),
        (opens(&|_| ()), "no_order"),
        (buys(&|b| b.parts[0].units = 0), "units"),
        (buys(&|b| b.parts.clear()), "parts"),
        (buys(&|b| b.parts[0].offers.reverse()), "offers"),
        (
            buys(&|b| b.parts[0].offers[1] = b.parts[0].offers[0]),
            "offers",
        ),
        (buys(&|b| b.slots = 101), "firm_slots"),
        (buys(&|b| b.limit = credits(1_000_000)), "funds"),
        (buys(&|b| b.parts[0].class = strange), "no_class"),
        (commit, "no_class"),
    ];
    agree(&world, cases);
}

#[test]
fn bad_reservations_are_refused_for_one_reason_everywhere() {
    let world = World::new();
    let reserves = |change: &dyn Fn(&mut Reservation)| {
        let mut wish = wish(&world, 2, 1, (3, 9), 100);
        change(&mut wish);
        EntryBody::Open(Open {
            commit: EntryId([1; 32]),
            wish: wish.into(),
            salt: [2; 32],
        })
    };
    let cases = [
        (reserves(&|r| r.groups.clear()), "groups"),
        (
            reserves(&|r| r.groups[0].offers = vec![OfferId([1; 32]); 2]),
            "group_offers",
        ),
        (reserves(&|r| r.slots = 0), "run"),
        (reserves(&|r| r.latest = 2), "starts"),
        (
            reserves(&|r| r.channels = Some(Channels { low: 2, high: 1 })),
            "channels",
        ),
        (reserves(&|_| ()), "no_order"),
    ];
    agree(&world, cases);
}
