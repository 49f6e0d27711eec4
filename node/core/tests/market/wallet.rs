//! The wallet refuses the entries that the ledger would refuse, with the same word, before anything
//! is kept or sent; and every word stands in the documents.

use crate::genesis::credits;
use crate::world::World;
use crate::{order, sealed};
use gridbay_core::buy::{BidTerms, BuyTerms, NewOrder, Terms};
use gridbay_core::input::Command;
use gridbay_core::key::OrderKey;
use gridbay_core::reply::Reply;
use gridbay_core::told;
use gridbay_protocol::ids::{ClassId, OfferId};
use gridbay_protocol::order::{BuyPart, Step};
use gridbay_protocol::units::Price;
use std::collections::BTreeMap;

fn bid(steps: &[(u32, u64)], min: u32) -> Terms {
    let step = |&(units, price): &(u32, u64)| Step {
        units,
        price: Price(price),
    };
    Terms::Sealed(BidTerms {
        steps: steps.iter().map(step).collect(),
        min,
        budget: credits(1),
        patience: 1_000,
    })
}

fn buy(class: ClassId, units: u32, offers: &[u8]) -> Terms {
    Terms::Buy(BuyTerms {
        parts: vec![BuyPart {
            class,
            units,
            offers: offers.iter().map(|n| OfferId([*n; 32])).collect(),
        }],
        limit: credits(1),
        patience: 0,
        surcharge: Default::default(),
    })
}

#[test]
fn bad_orders_are_refused_by_the_wallet_in_the_ledgers_words() {
    let mut world = World::new(2, 1);
    let known = |w: &World| w.nodes.iter().all(|n| n.core.account().is_some());
    assert!(world.run_until(20_000, known));
    let class = world.class();
    let mut strange = order(&world, 1, sealed(1, 5), 1, 1);
    strange.class = ClassId([9; 32]);
    let mut endless = order(&world, 1, buy(class, 1, &[]), 1, 1);
    endless.slots = 0;
    let parts = |parts| {
        Terms::Buy(BuyTerms {
            parts,
            limit: credits(1),
            patience: 0,
            surcharge: Default::default(),
        })
    };
    let no_part = parts(vec![]);
    let elsewhere = parts(vec![BuyPart::anywhere(ClassId([9; 32]), 1)]);
    let make = |terms, tasks| order(&world, 1, terms, tasks, 1);
    let cases: Vec<(NewOrder, &str)> = vec![
        (make(bid(&[(1, 5), (1, 6)], 1), 2), "not_falling"),
        (make(bid(&[], 1), 1), "steps"),
        (make(bid(&[(0, 5)], 1), 0), "units"),
        (make(bid(&[(1, u64::MAX)], 1), 1), "price"),
        (make(bid(&[(2, 5)], 3), 2), "minimum"),
        (make(bid(&[(2, 900_000)], 1), 2), "budget"),
        (make(buy(class, 0, &[]), 0), "units"),
        (make(no_part, 0), "parts"),
        (make(elsewhere, 1), "no_class"),
        (make(buy(class, 1, &[2, 1]), 1), "offers"),
        (make(buy(class, 1, &[1, 1]), 1), "offers"),
        (endless, "slots"),
        (strange, "no_class"),
    ];
    let words: Vec<&str> = cases.iter().map(|(_, word)| *word).collect();
    for (order, _) in cases {
        world.command(2, Command::Order(Box::new(order)));
    }
    world.run(100);
    let replies = world.nodes[2].replies.iter();
    let said: Vec<&str> = replies
        .map(|reply| match reply {
            Reply::Refused(refused) => refused.word,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(said, words);
    assert_eq!(world.nodes[2].core.buyer().orders().count(), 0);
}

#[test]
fn an_account_is_not_closed_in_favour_of_itself() {
    let mut world = crate::market();
    let own = world.nodes[2].core.account().expect("it has one");
    world.command(2, Command::CloseAccount(own));
    world.run(100);
    let reply = world.nodes[2].replies.last();
    let said = |reason: &str| reason == "an account cannot be closed in favour of itself";
    assert!(
        matches!(reply, Some(Reply::Refused(why)) if said(&why.reason)),
        "{reply:?}"
    );
}

#[test]
fn every_word_stands_in_the_documents_as_programs_tell_it() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/refusals.md");
    let page = std::fs::read_to_string(page).expect("the page is there");
    let rows: Vec<&str> = page.lines().filter(|l| l.starts_with("| `")).collect();
    let mut told: Vec<String> = told::all()
        .map(|told| format!("| `{}` | {} | {} |", told.word, told.wrong(), told.hint))
        .collect();
    let missing = told.iter().filter(|row| !rows.contains(&row.as_str()));
    let missing: Vec<&str> = missing.map(String::as_str).collect();
    assert!(
        missing.is_empty(),
        "missing in docs/refusals.md:\n{}",
        missing.join("\n")
    );
    assert_eq!(
        rows.len(),
        told.len(),
        "a row of a word that no program says"
    );
    told.sort();
    told.dedup();
    assert_eq!(rows.len(), told.len(), "a word with two meanings");
}

#[test]
fn what_is_told_is_one_phrase_with_a_way_out() {
    let mut hints = BTreeMap::new();
    for told in told::all() {
        let (word, wrong) = (told.word, told.wrong());
        // One that helps with two faults helps with neither; units are looked for alike.
        let before = hints
            .insert(told.hint, word)
            .filter(|_| !word.starts_with("x."));
        assert_eq!(before, None, "{word} has the same hint");
        assert!(wrong.starts_with(char::is_uppercase), "{word}: {wrong}");
        assert!(!wrong.contains(['\n', '|', '[']), "{word}: {wrong}");
        assert!(
            told.hint.len() > 5 && !told.hint.ends_with('.'),
            "{word}: {}",
            told.hint
        );
        assert_eq!(told::told(word), Some(told));
    }
    assert_eq!(told::told("no such word"), None);
}

#[test]
fn the_first_order_under_a_key_stays() {
    let mut world = crate::market();
    let name = |w: &World| {
        let orders = w.nodes[5].core.buyer();
        let order = orders.order(&OrderKey(1));
        order.map(|agent| agent.order().name.clone())
    };
    for named in ["first", "second"] {
        let mut order = order(&world, 1, sealed(1, 60), 1, 1);
        order.name = named.to_owned();
        world.order(5, order);
        world.run(100);
        assert_eq!(name(&world).as_deref(), Some("first"));
    }
}
