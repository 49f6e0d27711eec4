//! Bidders who do not open, bidders whose openings are kept out, and the fate of their deposits.
//!
//! Rounds are four heights; a bid committed in round r can be opened in three blocks of round r+1.

use crate::genesis::{consensus_key, validator};
use crate::inclusion::censor;
use crate::world::World;
use gridbay_host::{HostInput, MempoolRefusal};
use gridbay_ledger::Refusal;
use gridbay_protocol::appeal::{Appeal, latest_tip};
use gridbay_protocol::calendar::Calendar;
use gridbay_protocol::effect::{Effect, OrderEnd};
use gridbay_protocol::entry::{EntryBody, SignedEntry};
use gridbay_protocol::ids::{EntryId, Hash32, OrderId};
use gridbay_protocol::order::{Bid, Commit, Open, Step, order_of};
use gridbay_protocol::payment::Reason;
use gridbay_protocol::receipt::{Receipt, ReceiptError, SignedReceipt};
use gridbay_protocol::stage::Authentic;
use gridbay_protocol::units::{Credits, Price};
use std::sync::Arc;

const ROUND: u64 = 4;
const VICTIM: usize = 1;
/// Two units at 10.
const DEPOSIT: u64 = 20;

fn bid(world: &World, round: u64) -> Bid {
    Bid {
        class: world.genesis.classes[0].key.id(),
        steps: vec![Step {
            units: 2,
            price: Price(20),
        }],
        min: 1,
        slots: 1,
        budget: Credits::from_micros(1_000_000).unwrap(),
        stands_until: (round + 2) * ROUND,
        work: Hash32([round as u8; 32]),
    }
}

/// The victim commits in a round; returns the commitment's entry.
fn commit(world: &mut World, round: u64) -> EntryId {
    let bid = bid(world, round);
    let seal = bid.seal(&world.genesis.network(), &world.account(VICTIM), &[8; 32]);
    let body = EntryBody::Commit(Commit {
        class: bid.class,
        seal,
        bracket: 1,
    });
    let entry = world.sign(VICTIM, body, (round + 1) * ROUND);
    world.input(VICTIM, HostInput::Submit(vec![entry.clone()]));
    entry.id()
}

/// The opening of what was committed in a round.
fn opening(world: &mut World, round: u64, commit: EntryId) -> Arc<Authentic> {
    let body = EntryBody::Open(Open {
        commit,
        wish: bid(world, round).into(),
        salt: [8; 32],
    });
    world.sign(VICTIM, body, (round + 2) * ROUND - 1)
}

/// An appeal with receipts of another entry than the opening, if need be.
fn appeal(
    world: &mut World,
    opening: &Authentic,
    mut receipts: Vec<SignedReceipt>,
) -> Arc<Authentic> {
    receipts.sort_by_key(|r| r.receipt.validator);
    let entry = opening.entry();
    let EntryBody::Open(open) = &entry.body else {
        panic!("only openings are appealed for");
    };
    let body = EntryBody::Appeal(Box::new(Appeal {
        key: entry.key,
        valid_until: entry.valid_until,
        open: open.clone(),
        receipts,
    }));
    let tip = world.tip(VICTIM);
    world.sign(VICTIM, body, tip + 20)
}

fn ends(world: &World, id: &OrderId) -> Option<OrderEnd> {
    world.effects.iter().find_map(|effect| match effect {
        Effect::Order { order, end } if order == id => Some(*end),
        _ => None,
    })
}

fn paid(world: &World, reason: Reason) -> Vec<u64> {
    let amount = |effect: &Effect| match effect {
        Effect::Posting(p) if p.reason == reason => Some(p.amount.micros()),
        _ => None,
    };
    world.effects.iter().filter_map(amount).collect()
}

fn reach(world: &mut World, height: u64) {
    let done = world.run(world.now + 60_000, |w| w.all_at(height));
    assert!(done, "{:?}", world.hosts);
}

/// A world with some proposers that leave the victim's openings out.
fn censored(seed: u64, censors: Vec<usize>) -> World {
    let mut world = World::new(4, 0, seed);
    let victim = world.account(VICTIM);
    let unwanted = move |signed: &SignedEntry| {
        signed.entry.account == victim && matches!(signed.entry.body, EntryBody::Open(_))
    };
    world.lie = Some((censors, Box::new(censor(unwanted))));
    world.lies_may_pass = true;
    world.boot_all();
    world
}

#[test]
fn who_never_opens_loses_the_deposit_and_cannot_appeal() {
    let mut world = World::new(4, 0, 50);
    world.boot_all();
    reach(&mut world, ROUND);
    let committed = commit(&mut world, 1);
    let id = order_of(&committed);
    reach(&mut world, 3 * ROUND);
    // It never sent the opening; as a validator it can receipt it all the same, and forge what it
    // lacks.
    let opening = opening(&mut world, 1, committed);
    let network = world.genesis.network();
    let receipt = |i: usize, key: usize| {
        let receipt = Receipt {
            entry: opening.id(),
            height: 2 * ROUND,
            validator: validator(i),
        };
        SignedReceipt::new(receipt, &network, &consensus_key(key))
    };
    let alone = appeal(&mut world, &opening, vec![receipt(VICTIM, VICTIM)]);
    let forged = appeal(
        &mut world,
        &opening,
        vec![receipt(VICTIM, VICTIM), receipt(2, VICTIM)],
    );
    for entry in [&alone, &forged] {
        world.input(VICTIM, HostInput::Submit(vec![Arc::clone(entry)]));
    }
    let refusal = |world: &World, entry: &Authentic| match &world.refused[&entry.id()] {
        MempoolRefusal::Ledger(refusal) => (**refusal).clone(),
        other => panic!("{other:?}"),
    };
    assert!(matches!(
        refusal(&world, &alone),
        Refusal::ReceiptPower {
            power: 1,
            total: 4,
            ..
        }
    ));
    let wrong = ReceiptError::Signature(validator(2));
    assert_eq!(refusal(&world, &forged), Refusal::Receipts(wrong));
    reach(&mut world, 5 * ROUND);
    assert_eq!(ends(&world, &id), Some(OrderEnd::NotOpened));
    assert_eq!(paid(&world, Reason::Forfeit), [DEPOSIT]);
}

#[test]
fn who_opens_too_late_loses_the_deposit_too() {
    let mut world = World::new(4, 0, 51);
    world.boot_all();
    reach(&mut world, ROUND);
    let committed = commit(&mut world, 1);
    reach(&mut world, 3 * ROUND - 1);
    let late = opening(&mut world, 1, committed);
    world.input(VICTIM, HostInput::Submit(vec![late.clone()]));
    reach(&mut world, 3 * ROUND);
    // Nobody acknowledges what cannot be included any more.
    let host = world.hosts[VICTIM].as_ref().unwrap();
    assert_eq!(host.receipts(&late.id()), []);
    reach(&mut world, 5 * ROUND);
    assert_eq!(
        ends(&world, &order_of(&committed)),
        Some(OrderEnd::NotOpened)
    );
}

#[test]
fn one_censor_of_four_keeps_no_opening_out() {
    let mut world = censored(52, vec![3]);
    reach(&mut world, ROUND);
    let mut committed = vec![commit(&mut world, 1)];
    for round in 2..24 {
        reach(&mut world, round * ROUND);
        let entry = opening(&mut world, round - 1, committed[committed.len() - 1]);
        world.input(VICTIM, HostInput::Submit(vec![entry]));
        committed.push(commit(&mut world, round));
    }
    committed.pop();
    reach(&mut world, 28 * ROUND);
    assert!(world.lies.len() >= 3, "only {} omissions", world.lies.len());
    for entry in &committed {
        let end = ends(&world, &order_of(entry));
        assert_eq!(end, Some(OrderEnd::TimedOut), "opened, and stood");
    }
    assert_eq!(paid(&world, Reason::Forfeit), Vec::<u64>::new());
}

#[test]
fn receipts_save_the_deposit_if_all_proposers_keep_the_opening_out() {
    let calendar = Calendar {
        round_heights: ROUND as u32,
        slot_rounds: 2,
    };
    let mut world = censored(53, vec![0, 1, 2, 3]);
    reach(&mut world, ROUND);
    let first = commit(&mut world, 1);
    reach(&mut world, 2 * ROUND);
    let first_opening = opening(&mut world, 1, first);
    world.input(VICTIM, HostInput::Submit(vec![first_opening.clone()]));
    let second = commit(&mut world, 2);
    reach(&mut world, 3 * ROUND);
    let host = world.hosts[VICTIM].as_ref().unwrap();
    let receipts = host.receipts(&first_opening.id());
    let in_time = receipts.iter().map(|r| r.receipt.height);
    assert!(in_time.filter(|h| *h <= latest_tip(&calendar, 1)).count() >= 3);
    let excuse = appeal(&mut world, &first_opening, receipts.clone());
    world.input(VICTIM, HostInput::Submit(vec![excuse]));
    // The second bid is not opened by its owner's own fault: the receipts of the first do not help
    // it.
    reach(&mut world, 4 * ROUND);
    let second_opening = opening(&mut world, 2, second);
    let replayed = appeal(&mut world, &second_opening, receipts);
    world.input(VICTIM, HostInput::Submit(vec![replayed.clone()]));
    let other = ReceiptError::Entry(first_opening.id());
    let expected = MempoolRefusal::Ledger(Box::new(Refusal::Receipts(other)));
    assert_eq!(world.refused[&replayed.id()], expected);
    reach(&mut world, 6 * ROUND);
    assert_eq!(ends(&world, &order_of(&first)), Some(OrderEnd::Excused));
    assert_eq!(ends(&world, &order_of(&second)), Some(OrderEnd::NotOpened));
    assert_eq!(paid(&world, Reason::Forfeit), [DEPOSIT]);
}
