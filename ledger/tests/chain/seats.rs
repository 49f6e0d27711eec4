//! The seats of members and inviters, and the closing of accounts.

use crate::trade::bid;
use crate::world::{World, all_roles, credits, key, policy};
use gridbay_ledger::{Refusal, SeatRefusal};
use gridbay_protocol::account::opened_by;
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::genesis::Policy;
use gridbay_protocol::ids::AccountId;
use gridbay_protocol::invitation::{Grant, SignedGrant};
use gridbay_protocol::limits::EPOCH_HEIGHTS;
use gridbay_protocol::order::{ContractEntry, ContractTerms, order_of};
use gridbay_protocol::payment::Purse;
use gridbay_protocol::seats::InvitationPolicy;
use gridbay_protocol::stage::Authentic;
use std::sync::Arc;

/// A member has seats for 10 accounts of each depth, 4 of them in an epoch; users invite 2.
fn narrow() -> World {
    World::with(Policy {
        accounts_per_member: 10,
        invitations: InvitationPolicy {
            depth: 2,
            per_epoch: 4,
            per_user: 2,
        },
        ..policy()
    })
}

/// The entry that opens an account for key n by an invitation of an account with key `by`, without
/// money.
pub(crate) fn invited(world: &World, inviter: AccountId, by: u8, n: u8) -> Arc<Authentic> {
    let grant = Grant {
        inviter,
        key: key(by).public(),
        token: key(n).public(),
        endowment: credits(0),
        valid_until: 5_000,
    };
    let body = EntryBody::OpenAccount {
        grant: Some(Box::new(SignedGrant::new(&world.network, grant, &key(by)))),
        keys: all_roles(&key(n)),
        endowment: credits(0),
    };
    world.sign(inviter, &key(n), body)
}

fn open(world: &mut World, inviter: AccountId, by: u8, n: u8) -> AccountId {
    let entry = invited(world, inviter, by, n);
    world.all(vec![entry.clone()]);
    opened_by(&entry.id())
}

fn close(world: &World, account: AccountId, by: u8, to: AccountId) -> Arc<Authentic> {
    world.sign(account, &key(by), EntryBody::CloseAccount { to })
}

#[test]
fn a_user_who_invites_without_end_does_not_lock_the_member_out() {
    let mut world = narrow();
    let member = world.member(2);
    let user = open(&mut world, member, 2, 20);
    let first = open(&mut world, user, 20, 30);
    open(&mut world, user, 20, 31);
    let more = invited(&world, user, 20, 32);
    let refusal = world.refused(more);
    assert_eq!(
        refusal,
        Refusal::Seat(SeatRefusal::Quota {
            inviter: user,
            limit: 2
        })
    );
    assert!(refusal.may_pass_later());
    // Whom a user invited invites nobody.
    let deeper = invited(&world, first, 30, 40);
    let refusal = world.refused(deeper);
    assert!(
        matches!(refusal, Refusal::Seat(SeatRefusal::Depth { depth: 3, .. })),
        "{refusal}"
    );
    // With all other users doing the same, the depth is full for the epoch; the member's own seats
    // are not.
    let other = open(&mut world, member, 2, 21);
    open(&mut world, other, 21, 33);
    open(&mut world, other, 21, 34);
    let third = open(&mut world, member, 2, 22);
    let late = invited(&world, third, 22, 35);
    let refusal = world.refused(late);
    let next = EPOCH_HEIGHTS + 1;
    assert_eq!(
        refusal,
        Refusal::Seat(SeatRefusal::Epoch {
            sponsor: member,
            limit: 4,
            next
        })
    );
    open(&mut world, member, 2, 23);
    let seats = world.state.account(&member).expect("a member");
    assert_eq!((seats.seats(1).open, seats.seats(2).open), (4, 4));
    world.until(EPOCH_HEIGHTS);
    open(&mut world, third, 22, 35);
}

#[test]
fn seats_come_back_when_accounts_are_closed() {
    let mut world = narrow();
    let member = world.member(2);
    let user = open(&mut world, member, 2, 20);
    let guests = [30, 31].map(|n| open(&mut world, user, 20, n));
    let give = EntryBody::Transfer {
        to: guests[0],
        amount: credits(700),
        memo: Default::default(),
    };
    let give = world.by(2, give);
    world.all(vec![give]);
    let before = world.balance(Purse::Account(user));
    let entry = close(&world, guests[0], 30, user);
    world.all(vec![entry.clone()]);
    assert_eq!(world.balance(Purse::Account(user)), before + 700);
    assert_eq!(world.balance(Purse::Account(guests[0])), 0);
    assert!(world.state.account(&guests[0]).is_none());
    assert_eq!(world.refused(entry.clone()), Refusal::Used(entry.id()));
    let again = close(&world, guests[0], 30, member);
    assert_eq!(world.refused(again), Refusal::NoAccount(guests[0]));
    // Nobody sends money after it, its key can be used anew, and there is a seat.
    let late = EntryBody::Transfer {
        to: guests[0],
        amount: credits(1),
        memo: Default::default(),
    };
    let late = world.by(2, late);
    assert_eq!(world.refused(late), Refusal::NoAccount(guests[0]));
    let mut once_more = invited(&world, user, 20, 32);
    if let EntryBody::OpenAccount { grant, .. } = once_more.entry().body.clone() {
        let body = EntryBody::OpenAccount {
            grant,
            keys: all_roles(&key(30)),
            endowment: credits(0),
        };
        once_more = world.sign(user, &key(32), body);
    }
    // The seat is back when the epoch ends: each account has a budget of entries in each.
    let refusal = world.refused(once_more.clone());
    assert!(
        matches!(refusal, Refusal::Seat(SeatRefusal::Quota { limit: 2, .. })),
        "{refusal}"
    );
    world.until(EPOCH_HEIGHTS);
    let body = once_more.entry().body.clone();
    once_more = world.sign(user, &key(32), body);
    world.all(vec![once_more]);
    // An inviter may be gone before those that it invited.
    let entry = close(&world, user, 20, member);
    world.all(vec![entry]);
    let entry = close(&world, guests[1], 31, member);
    world.all(vec![entry]);
    let seats = world.state.account(&member).expect("a member");
    assert_eq!((seats.seats(1).open, seats.seats(2).open), (0, 1));
}

#[test]
fn what_is_open_is_ended_first_and_members_stay() {
    let mut world = crate::trade::two_units();
    let user = world.tenant(2, 10_000);
    let (account, to) = (world.member(user), world.member(2));
    let bought = bid(&world, &[(1, 20)], 1);
    let order = world.bids(&[(user, bought)])[0];
    let refusal = world.refused(close(&world, account, user, to));
    assert!(matches!(refusal, Refusal::StillOpen { .. }), "{refusal}");
    while world.state.order(&order).is_some() || world.state.pots().count() > 0 {
        let refusal = world.refused(close(&world, account, user, to));
        assert!(matches!(refusal, Refusal::StillOpen { .. }), "{refusal}");
    }
    let offer = world.offer(user, 1, 1, 5, None);
    world.all(vec![offer]);
    let refusal = world.refused(close(&world, account, user, to));
    assert!(
        matches!(
            refusal,
            Refusal::StillOpen {
                what: "an offer",
                ..
            }
        ),
        "{refusal}"
    );
    let withdraw = world.by(user, EntryBody::WithdrawOffer { label: 1 });
    world.all(vec![withdraw]);
    let next = world.state.height() + 8;
    world.until(next);
    let left = world.account(user);
    let before = world.account(2);
    let entry = close(&world, account, user, to);
    world.all(vec![entry]);
    assert_eq!(world.account(2), before + left);
    let refusal = world.refused(close(&world, to, 2, world.member(3)));
    assert_eq!(refusal, Refusal::Founder(to));
}

#[test]
fn a_contract_that_was_only_proposed_to_an_account_does_not_keep_it_open() {
    let mut world = World::new();
    let [user, signer] = [0, 1].map(|_| world.tenant(3, 10_000));
    let mut proposed = Vec::new();
    for n in [user, signer] {
        let terms = ContractTerms {
            provider: world.member(n),
            ..crate::contracts::terms(&world)
        };
        let proposal = world.says(2, ContractEntry::Propose(Box::new(terms)));
        world.all(vec![proposal.clone()]);
        proposed.push(order_of(&proposal.id()));
    }
    let sign = ContractEntry::Sign {
        contract: proposed[1],
    };
    world.all(vec![world.says(signer, sign)]);
    let to = world.member(3);
    let (account, what) = (world.member(signer), "a contract");
    assert_eq!(
        world.refused(close(&world, account, signer, to)),
        Refusal::StillOpen { account, what }
    );
    let entry = close(&world, world.member(user), user, to);
    world.all(vec![entry]);
    // The proposal ends as any that nobody signs: its client has the money back.
    let locked = world.balance(Purse::Escrow(proposed[0]));
    let (client, last) = (
        world.account(2),
        crate::contracts::terms(&world).stands_until,
    );
    world.until(last + 8);
    assert!(locked > 0 && world.balance(Purse::Escrow(proposed[0])) == 0);
    assert_eq!(world.account(2), client + locked);
}

#[test]
fn earnings_that_are_held_are_waited_for() {
    let mut world = World::with(Policy {
        dispute_slots: 1,
        ..policy()
    });
    let user = world.tenant(3, 0);
    let offer = world.offer(user, 1, 2, 10, None);
    world.all(vec![offer]);
    world.until(9);
    let two = bid(&world, &[(2, 50)], 1);
    let order = world.bids(&[(2, two)])[0];
    world.until(16);
    let lease = world.lease_of(&order);
    world.deliver(user, lease);
    let withdraw = world.by(user, EntryBody::WithdrawOffer { label: 1 });
    world.all(vec![withdraw]);
    world.until(24);
    assert!(world.state.offer(&world.offer_of(user, 1)).is_none());
    // Nothing is open but earnings that its buyer may still dispute: they would reach an account
    // that never returns.
    let (account, to) = (world.member(user), world.member(3));
    let refusal = world.refused(close(&world, account, user, to));
    assert!(
        matches!(
            refusal,
            Refusal::StillOpen {
                what: "earnings that are held",
                ..
            }
        ),
        "{refusal}"
    );
    world.until(32);
    let before = world.account(3);
    let entry = close(&world, account, user, to);
    world.all(vec![entry]);
    assert_eq!(world.account(3), before + 20);
}
