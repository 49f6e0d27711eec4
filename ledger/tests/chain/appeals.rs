//! Unopened bids: waived, excused on appeal, forfeited. Commitments are of height 10, so they can
//! be opened in 13 to 15, leave the book at 16, and can be appealed for until 22; receipts are in
//! time up to tip 12.

use crate::trade::{START, bid, money, order, order_ends, two_units};
use crate::world::{World, all_roles, credits, genesis, key, policy};
use gridbay_ledger::Refusal;
use gridbay_protocol::appeal::Appeal;
use gridbay_protocol::calendar::Calendar;
use gridbay_protocol::effect::OrderEnd;
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::genesis::Policy;
use gridbay_protocol::ids::{EntryId, OrderId};
use gridbay_protocol::order::Bid;
use gridbay_protocol::payment::{Purse, Reason};
use gridbay_protocol::receipt::{Receipt, ReceiptError, SignedReceipt};
use gridbay_protocol::stage::Authentic;
use gridbay_protocol::validator::validator_id;
use std::sync::Arc;

/// Receipts of an entry at a tip by the validators with the keys of these seeds.
pub(crate) fn receipts(
    world: &World,
    entry: EntryId,
    height: u64,
    seeds: &[u8],
) -> Vec<SignedReceipt> {
    let receipt = |seed: &u8| {
        let receipt = Receipt {
            entry,
            height,
            validator: validator_id(&key(*seed).public()),
        };
        SignedReceipt::new(receipt, &world.network, &key(*seed))
    };
    let mut receipts: Vec<_> = seeds.iter().map(receipt).collect();
    receipts.sort_by_key(|r| r.receipt.validator);
    receipts
}

/// The appeal of member `n` for an opening.
pub(crate) fn appeal(
    world: &World,
    n: u8,
    opening: &Authentic,
    receipts: Vec<SignedReceipt>,
) -> Arc<Authentic> {
    let entry = opening.entry();
    let EntryBody::Open(open) = &entry.body else {
        panic!("only openings are appealed for");
    };
    let appeal = Appeal {
        key: entry.key,
        valid_until: entry.valid_until,
        open: open.clone(),
        receipts,
    };
    world.by(n, EntryBody::Appeal(Box::new(appeal)))
}

struct Case {
    world: World,
    commit: Arc<Authentic>,
    id: OrderId,
    bid: Bid,
    /// The opening, in no block.
    opening: Arc<Authentic>,
}

/// A bid of member 2 with a deposit of 40; the next block is the first that could open it.
fn committed(change: impl FnOnce(&mut Bid)) -> Case {
    let mut world = two_units();
    let mut bid = bid(&world, &[(1, 50)], 1);
    change(&mut bid);
    let commit = world.commit(2, &bid, 2);
    world.all(vec![commit.clone()]);
    world.until(12);
    Case {
        opening: world.open(2, &commit, &bid),
        id: order(&commit.id()),
        commit,
        bid,
        world,
    }
}

impl Case {
    /// An appeal with receipts of half the power, in time.
    fn appeal(&self) -> Arc<Authentic> {
        self.appeal_with(12, &[101, 103])
    }
    fn appeal_with(&self, tip: u64, seeds: &[u8]) -> Arc<Authentic> {
        let receipts = receipts(&self.world, self.opening.id(), tip, seeds);
        appeal(&self.world, 2, &self.opening, receipts)
    }
    fn refusal(&self, entry: &Arc<Authentic>) -> Refusal {
        self.world.state.admit(entry).unwrap_err()
    }
}

#[test]
fn an_acknowledged_opening_saves_the_deposit() {
    let mut case = committed(|_| ());
    let early = case.refusal(&case.appeal());
    assert_eq!(early, Refusal::NothingToAppeal(case.id));
    assert!(early.may_pass_later());
    assert_eq!(money(&case.world.until(16)), []);
    assert!(case.world.state.order(&case.id).is_none());
    let balance = case.world.state.balance(&case.world.member(2));
    assert_eq!(balance.escrow, credits(40), "still the owner's");
    // Another bid of the same class is no problem meanwhile.
    let other = bid(&case.world, &[(1, 51)], 1);
    let other = case.world.commit(2, &other, 0);
    case.world.all(vec![other]);
    case.world.until(21);
    let appeal = case.appeal();
    let effects = case.world.all(vec![appeal]);
    assert_eq!(case.world.state.height(), 22, "the last height for it");
    assert!(money(&effects).contains(&(Reason::Release, 40)));
    assert!(order_ends(&effects).contains(&(case.id, OrderEnd::Excused)));
    assert_eq!(case.world.balance(Purse::Bank), 0);
    // A second appeal for the same deposit finds none.
    let again = case.appeal_with(12, &[101, 102, 103]);
    assert_eq!(case.refusal(&again), Refusal::NothingToAppeal(case.id));
}

#[test]
fn an_appeal_after_its_time_finds_the_deposit_forfeited() {
    let mut case = committed(|_| ());
    let effects = case.world.until(22);
    assert_eq!(money(&effects), [(Reason::Forfeit, 40)]);
    assert_eq!(order_ends(&effects), [(case.id, OrderEnd::NotOpened)]);
    let late = case.appeal();
    assert_eq!(case.refusal(&late), Refusal::NothingToAppeal(case.id));
    assert_eq!(case.world.account(2), START - 40);
}

#[test]
fn receipts_that_do_not_bear_an_appeal_are_refused() {
    let mut case = committed(|_| ());
    case.world.until(16);
    let (id, opening) = (case.id, case.opening.id());
    let power = case.refusal(&case.appeal_with(12, &[101]));
    let third = Refusal::ReceiptPower {
        order: id,
        power: 1,
        total: 4,
    };
    assert_eq!(power, third);
    let late = case.refusal(&case.appeal_with(13, &[101, 102]));
    let after = Refusal::ReceiptLate {
        order: id,
        height: 13,
        latest: 12,
    };
    assert_eq!(late, after);
    let stranger = case.refusal(&case.appeal_with(12, &[101, 2]));
    let nobody = validator_id(&key(2).public());
    assert_eq!(stranger, ReceiptError::Stranger(nobody).into());
    let mut forged = receipts(&case.world, opening, 13, &[101, 102]);
    forged[1].receipt.height = 12;
    forged[0].receipt.height = 12;
    let first = forged[0].receipt.validator;
    let forged = appeal(&case.world, 2, &case.opening, forged);
    assert_eq!(case.refusal(&forged), ReceiptError::Signature(first).into());
    // Receipts of another entry, also if it opens the same order.
    let other = case.world.open(2, &case.commit, &case.bid);
    assert_ne!(other.id(), opening);
    let replayed = receipts(&case.world, other.id(), 12, &[101, 102]);
    let replayed = appeal(&case.world, 2, &case.opening, replayed);
    assert_eq!(
        case.refusal(&replayed),
        ReceiptError::Entry(other.id()).into()
    );
    let thief = receipts(&case.world, opening, 12, &[101, 102]);
    let thief = appeal(&case.world, 3, &case.opening, thief);
    assert_eq!(case.refusal(&thief), Refusal::NothingToAppeal(id));
    // The right one is taken all the same.
    let right = case.appeal();
    case.world.all(vec![right]);
}

#[test]
fn receipts_of_one_order_do_not_free_another() {
    let mut case = committed(|_| ());
    let second = bid(&case.world, &[(1, 60)], 1);
    // Of the same round no second one is taken; member 3 has one of its own.
    case.world.until(16);
    let commit = case.world.commit(2, &second, 2);
    case.world.all(vec![commit.clone()]);
    case.world.until(24);
    let opening = case.world.open(2, &commit, &second);
    let before = receipts(&case.world, case.opening.id(), 12, &[101, 102]);
    let replayed = appeal(&case.world, 2, &opening, before);
    assert_eq!(
        case.refusal(&replayed),
        ReceiptError::Entry(case.opening.id()).into()
    );
}

#[test]
fn an_opening_that_its_owner_spoilt_excuses_nothing() {
    // Another bid than was sealed.
    let mut case = committed(|_| ());
    let mut other = case.bid.clone();
    other.slots += 1;
    case.opening = case.world.open(2, &case.commit, &other);
    case.world.until(16);
    assert_eq!(case.refusal(&case.appeal()), Refusal::Seal(case.id));
    // A budget below one slot.
    let mut case = committed(|bid| bid.budget = credits(49));
    case.world.until(16);
    let refusal = case.refusal(&case.appeal());
    assert!(matches!(refusal, Refusal::Budget { .. }));
    // A bid, or an entry, that was over before the last block.
    let mut case = committed(|bid| bid.stands_until = 14);
    case.world.until(16);
    let lapsed = Refusal::OpeningLapsed {
        order: case.id,
        last: 15,
    };
    assert_eq!(case.refusal(&case.appeal()), lapsed);
    let mut case = committed(|_| ());
    let body = case.opening.entry().body.clone();
    let member = case.world.member(2);
    case.opening = case.world.sign_until(member, &key(2), body, 14);
    case.world.until(16);
    let refusal = case.refusal(&case.appeal());
    assert!(matches!(refusal, Refusal::OpeningLapsed { last: 15, .. }));
}

#[test]
fn money_sent_away_while_the_bid_could_be_opened_excuses_nothing() {
    let mut case = committed(|_| ());
    let give = |world: &World, from: u8, to: u8, amount: u64| {
        let to = world.member(to);
        let (amount, memo) = (credits(amount), Default::default());
        world.by(from, EntryBody::Transfer { to, amount, memo })
    };
    // Of the 999,960 beside the deposit 9 stay; 10 are lacking.
    let away = give(&case.world, 2, 3, 999_951);
    case.world.all(vec![away]);
    let back = give(&case.world, 3, 2, 999_951);
    case.world.all(vec![back]);
    case.world.until(16);
    let refusal = case.refusal(&case.appeal());
    assert_eq!(refusal, Refusal::OpeningUnfunded(case.id));
    // With 10 it could have been opened.
    let mut case = committed(|_| ());
    let away = give(&case.world, 2, 3, 999_950);
    case.world.all(vec![away]);
    case.world.until(16);
    let right = case.appeal();
    case.world.all(vec![right]);
}

#[test]
fn keys_replaced_while_the_bid_could_be_opened_excuse_nothing() {
    let mut case = committed(|_| ());
    let member = case.world.member(2);
    let set = |world: &World, by: u8, to: u8| {
        let keys = all_roles(&key(to));
        world.sign(member, &key(by), EntryBody::SetKeys { keys })
    };
    let (away, back) = (set(&case.world, 2, 55), set(&case.world, 55, 2));
    case.world.all(vec![away]);
    case.world.all(vec![back]);
    case.world.until(16);
    let refusal = case.refusal(&case.appeal());
    assert_eq!(refusal, Refusal::OpeningUnfunded(case.id));
}

#[test]
fn openings_of_one_auctioneer_only_forfeit_nothing() {
    let mut case = committed(|_| ());
    case.world.sole = Some(2);
    case.world.until(15);
    // The proposer of the closing block does not matter: that block takes no openings.
    case.world.sole = Some(3);
    let effects = case.world.until(16);
    assert_eq!(money(&effects), [(Reason::Release, 40)]);
    assert_eq!(order_ends(&effects), [(case.id, OrderEnd::Waived)]);
    // A second auctioneer in the last block of the window is enough.
    let mut case = committed(|_| ());
    case.world.sole = Some(2);
    case.world.until(14);
    case.world.sole = Some(3);
    case.world.until(16);
    assert_eq!(money(&case.world.until(22)), [(Reason::Forfeit, 40)]);
}

#[test]
fn a_single_validator_is_asked_for_one_auctioneer() {
    let mut genesis = genesis(policy());
    for member in &mut genesis.members[1..] {
        member.validator = None;
    }
    let mut world = World::founded(genesis);
    world.sole = Some(0);
    let sealed = bid(&world, &[(1, 50)], 1);
    let commit = world.commit(2, &sealed, 2);
    world.all(vec![commit]);
    assert_eq!(money(&world.until(14)), [(Reason::Forfeit, 40)]);
}

#[test]
fn rounds_too_short_for_inclusion_count_receipts_from_before_them() {
    let short = Policy {
        calendar: Calendar {
            round_heights: 2,
            slot_rounds: 2,
        },
        ..policy()
    };
    let mut world = World::with(short);
    let sealed = bid(&world, &[(1, 50)], 1);
    let commit = world.commit(2, &sealed, 2);
    world.all(vec![commit.clone()]);
    world.until(2);
    let opening = world.open(2, &commit, &sealed);
    // Height 3 alone could open it; the deposit then waits for six heights, longer than a round.
    world.until(4);
    let late = receipts(&world, opening.id(), 3, &[101, 102]);
    let late = appeal(&world, 2, &opening, late);
    let refusal = world.state.admit(&late).unwrap_err();
    assert!(matches!(refusal, Refusal::ReceiptLate { latest: 2, .. }));
    world.until(9);
    let right = receipts(&world, opening.id(), 2, &[101, 102]);
    let right = appeal(&world, 2, &opening, right);
    let effects = world.all(vec![right]);
    assert_eq!(money(&effects), [(Reason::Release, 40)]);
}
