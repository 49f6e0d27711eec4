//! Accounts, keys, invitations, transfers, and blocks that must be refused.

use crate::world::{World, all_roles, credits, key};
use gridbay_ledger::{BlockRefusal, Refusal};
use gridbay_protocol::account::{AccountKey, Roles, opened_by};
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::ids::{AccountId, Hash32};
use gridbay_protocol::invitation::{Grant, SignedGrant};
use gridbay_protocol::limits;
use gridbay_protocol::payment::Purse;

fn transfer(to: AccountId, micros: u64) -> EntryBody {
    EntryBody::Transfer {
        to,
        amount: credits(micros),
        memo: Hash32([0; 32]),
    }
}

fn open_by_grant(world: &World, token: u8, endowment: u64) -> EntryBody {
    let grant = Grant {
        inviter: world.member(2),
        key: key(2).public(),
        token: key(token).public(),
        endowment: credits(endowment),
        valid_until: 40,
    };
    EntryBody::OpenAccount {
        grant: Some(Box::new(SignedGrant::new(&world.network, grant, &key(2)))),
        keys: all_roles(&key(token + 1)),
        endowment: credits(0),
    }
}

#[test]
fn a_transfer_moves_money_once() {
    let mut world = World::new();
    let (one, two) = (world.member(1), world.member(2));
    let entry = world.by(1, transfer(two, 1_000_400));
    world.all(vec![entry.clone()]);
    assert_eq!(world.balance(Purse::Account(one)), -400, "within the line");
    assert_eq!(world.balance(Purse::Account(two)), 2_000_400);
    assert_eq!(world.refused(entry.clone()), Refusal::Used(entry.id()));
    // 100 of the line of 500 are left.
    let entry = world.by(1, transfer(two, 101));
    assert!(
        matches!(world.refused(entry), Refusal::Funds { available, .. } if available == credits(100))
    );
    let entry = world.by(1, transfer(AccountId([9; 32]), 1));
    assert_eq!(world.refused(entry), Refusal::NoAccount(AccountId([9; 32])));
}

#[test]
fn entries_are_remembered_until_their_last_height() {
    let mut world = World::new();
    let two = world.member(2);
    let entry = world.sign_until(world.member(1), &key(1), transfer(two, 5), 3);
    world.all(vec![entry.clone()]);
    assert_eq!(world.refused(entry.clone()), Refusal::Used(entry.id()));
    // Height 3 is its last: remembered; at 4 it is forgotten and expired.
    assert_eq!(world.refused(entry.clone()), Refusal::Used(entry.id()));
    assert!(matches!(world.refused(entry), Refusal::Expired { .. }));
    let far = world.state.height() + limits::ENTRY_WINDOW;
    let late = world.sign_until(world.member(1), &key(1), transfer(two, 5), far + 1);
    assert!(matches!(world.refused(late), Refusal::Window { .. }));
    let latest = world.sign_until(world.member(1), &key(1), transfer(two, 6), far + 1);
    world.all(vec![latest]);
}

#[test]
fn keys_rotate() {
    let mut world = World::new();
    let two = world.member(2);
    let mut keys = vec![
        AccountKey {
            key: key(11).public(),
            roles: Roles::SPEND,
        },
        AccountKey {
            key: key(12).public(),
            roles: Roles::TRADE,
        },
    ];
    keys.sort_by_key(|k| k.key);
    let rotate = world.by(1, EntryBody::SetKeys { keys });
    world.all(vec![rotate]);
    let old = world.by(1, transfer(two, 1));
    assert!(matches!(world.refused(old), Refusal::Role { .. }));
    let trader = world.sign(world.member(1), &key(12), transfer(two, 1));
    assert!(matches!(world.refused(trader), Refusal::Role { .. }));
    let spender = world.sign(world.member(1), &key(11), transfer(two, 1));
    world.all(vec![spender]);
}

#[test]
fn an_invitation_opens_one_account() {
    let mut world = World::new();
    let open = world.sign(world.member(2), &key(21), open_by_grant(&world, 21, 700));
    world.all(vec![open.clone()]);
    let new = opened_by(&open.id());
    assert_eq!(world.balance(Purse::Account(new)), 700);
    assert_eq!(world.balance(Purse::Account(world.member(2))), 999_300);
    // The same token with another key set is a new entry, but the token is used.
    let mut again = open_by_grant(&world, 21, 700);
    if let EntryBody::OpenAccount { keys, .. } = &mut again {
        *keys = all_roles(&key(90));
    }
    let again = world.sign(world.member(2), &key(21), again);
    assert!(matches!(world.refused(again), Refusal::TokenUsed { .. }));
    // The guest has no credit line, and the sponsor's quota of three accounts is for the sponsor's
    // own openings.
    let spend = world.sign(new, &key(22), transfer(world.member(1), 701));
    assert!(matches!(world.refused(spend), Refusal::Funds { .. }));
    for n in [30, 31] {
        let body = EntryBody::OpenAccount {
            grant: None,
            keys: all_roles(&key(n)),
            endowment: credits(10),
        };
        let guests = world.sign(new, &key(22), body.clone());
        assert_eq!(world.refused(guests), Refusal::NotMember(new));
        let open = world.by(2, body);
        world.all(vec![open]);
    }
    let full = world.sign(world.member(2), &key(23), open_by_grant(&world, 23, 0));
    assert_eq!(
        world.refused(full),
        Refusal::AccountQuota {
            sponsor: world.member(2),
            limit: 3
        }
    );
}

#[test]
fn a_used_invitation_is_remembered_beyond_the_epoch() {
    let mut world = World::new();
    let body = |world: &World, second: u8| {
        let grant = Grant {
            inviter: world.member(2),
            key: key(2).public(),
            token: key(21).public(),
            endowment: credits(7),
            valid_until: 2 * limits::EPOCH_HEIGHTS,
        };
        EntryBody::OpenAccount {
            grant: Some(Box::new(SignedGrant::new(&world.network, grant, &key(2)))),
            keys: all_roles(&key(second)),
            endowment: credits(0),
        }
    };
    let open = world.sign(world.member(2), &key(21), body(&world, 22));
    world.all(vec![open]);
    // Expired tokens are forgotten with the first height of an epoch; this one has not expired.
    world.until(limits::EPOCH_HEIGHTS + 1);
    let again = world.sign(world.member(2), &key(21), body(&world, 23));
    assert!(matches!(world.refused(again), Refusal::TokenUsed { .. }));
}

#[test]
fn a_grant_needs_a_spending_key_of_the_inviter_and_a_valid_height() {
    let mut world = World::new();
    let grant = |signer: u8, valid_until| Grant {
        inviter: world.member(2),
        key: key(signer).public(),
        token: key(21).public(),
        endowment: credits(0),
        valid_until,
    };
    let open = |grant: Grant, signer: u8| EntryBody::OpenAccount {
        grant: Some(Box::new(SignedGrant::new(
            &world.network,
            grant,
            &key(signer),
        ))),
        keys: all_roles(&key(22)),
        endowment: credits(0),
    };
    let stranger = world.sign(world.member(2), &key(21), open(grant(3, 40), 3));
    let expired = world.sign(world.member(2), &key(21), open(grant(2, 0), 2));
    // In the block of height 3 one height too long, in that of height 4 as long as can be.
    let far = 4 + limits::INVITATION_WINDOW;
    let late = world.sign(world.member(2), &key(21), open(grant(2, far), 2));
    let latest = world.sign(world.member(2), &key(21), open(grant(2, far), 2));
    assert!(matches!(world.refused(stranger), Refusal::Role { .. }));
    assert!(matches!(world.refused(expired), Refusal::Grant { .. }));
    assert!(matches!(world.refused(late), Refusal::Grant { .. }));
    world.all(vec![latest]);
}

#[test]
fn only_a_validator_registers_a_beacon() {
    let mut world = World::new();
    let tip = Hash32(gridbay_protocol::beacon::Chain::new(&[9; 32], 10).tip());
    let body = EntryBody::RegisterBeacon { tip };
    let entry = world.by(3, body.clone());
    world.all(vec![entry]);
    let id = gridbay_protocol::validator::validator_id(&key(103).public());
    let successor = world.state.beacon_successor(&id);
    assert_eq!(successor.map(|s| s.tip), Some(tip));
    let open = world.sign(world.member(2), &key(21), open_by_grant(&world, 21, 0));
    world.all(vec![open.clone()]);
    let guest = opened_by(&open.id());
    let entry = world.sign(guest, &key(22), body);
    assert_eq!(
        world.state.admit(&entry).unwrap_err(),
        Refusal::NoValidator(guest)
    );
}

type Change = Box<dyn FnOnce(&mut gridbay_protocol::block::Block)>;
type Expected = fn(&BlockRefusal) -> bool;

/// Changes to a block, and how each must be refused.
fn changes() -> Vec<(Change, Expected)> {
    let tables = [wrong_hashes(), wrong_headers(), wrong_bodies()];
    tables.into_iter().flatten().collect()
}

fn wrong_hashes() -> Vec<(Change, Expected)> {
    let bad = Hash32([1; 32]);
    vec![
        (Box::new(move |b| b.header.state_root = bad), |r| {
            *r == BlockRefusal::Root("state_root")
        }),
        (Box::new(move |b| b.header.effects_root = bad), |r| {
            *r == BlockRefusal::Root("effects_root")
        }),
        (Box::new(move |b| b.header.entries_root = bad), |r| {
            *r == BlockRefusal::Root("entries_root")
        }),
        (Box::new(move |b| b.header.log_root = bad), |r| {
            *r == BlockRefusal::Root("log_root")
        }),
        (Box::new(move |b| b.header.validators = bad), |r| {
            *r == BlockRefusal::Root("validators")
        }),
        (Box::new(move |b| b.header.next_validators = bad), |r| {
            *r == BlockRefusal::Root("next_validators")
        }),
        (Box::new(move |b| b.header.evidence_root = bad), |r| {
            *r == BlockRefusal::Root("evidence_root")
        }),
        (Box::new(move |b| b.header.last_commit = bad), |r| {
            *r == BlockRefusal::Root("last_commit")
        }),
        (Box::new(move |b| b.header.beacon_reveal = bad), |r| {
            matches!(r, BlockRefusal::Reveal(_))
        }),
    ]
}

fn wrong_headers() -> Vec<(Change, Expected)> {
    vec![
        (Box::new(|b| b.header.height += 1), |r| {
            matches!(r, BlockRefusal::Height { .. })
        }),
        (Box::new(|b| b.header.parent.0[0] ^= 1), |r| {
            matches!(r, BlockRefusal::Parent { .. })
        }),
        (Box::new(|b| b.header.time_ms = 1_750), |r| {
            matches!(r, BlockRefusal::Time { .. })
        }),
        (Box::new(|b| b.header.proposer.0[0] ^= 1), |r| {
            matches!(r, BlockRefusal::Proposer(_))
        }),
        (Box::new(|b| b.header.rules += 1), |r| {
            matches!(r, BlockRefusal::Foreign { .. })
        }),
    ]
}

fn wrong_bodies() -> Vec<(Change, Expected)> {
    vec![
        (
            Box::new(|b| {
                b.entries.pop();
            }),
            |r| *r == BlockRefusal::Root("entries_root"),
        ),
        (
            Box::new(|b| {
                b.entries[0].signature.0[5] ^= 1;
            }),
            |r| matches!(r, BlockRefusal::Signature { .. }),
        ),
        (
            Box::new(|b| {
                let signatures = &mut b.last_commit.as_mut().unwrap().signatures;
                signatures.pop();
                b.header.last_commit = b.last_commit.as_ref().unwrap().hash();
            }),
            |r| matches!(r, BlockRefusal::Certificate(_)),
        ),
        (
            Box::new(|b| {
                b.last_commit = None;
                b.header.last_commit = Hash32::default();
            }),
            |r| *r == BlockRefusal::NotOfParent,
        ),
    ]
}

#[test]
fn a_block_with_anything_altered_is_refused() {
    let mut world = World::new();
    world.until(3);
    let entries: Vec<_> = (1..=3)
        .map(|n| world.by(n, transfer(world.member(4), u64::from(n))))
        .collect();
    assert_eq!(world.tampered(entries.clone(), |_| ()), Ok(()));
    for (i, (change, expected)) in changes().into_iter().enumerate() {
        let refusal = world.tampered(entries.clone(), change).unwrap_err();
        assert!(expected(&refusal), "change {i}: {refusal:?}");
    }
}

#[test]
fn a_block_with_entries_out_of_order_is_refused() {
    let world = World::new();
    let entries: Vec<_> = (1..=3)
        .map(|n| world.by(n, transfer(world.member(4), u64::from(n))))
        .collect();
    let swapped = |b: &mut gridbay_protocol::block::Block| {
        b.entries.swap(0, 2);
        let ids: Vec<_> = b.entries.iter().map(|e| e.id().0).collect();
        b.header.entries_root = Hash32(gridbay_ledger::log::merkle_root(&ids));
    };
    assert!(matches!(
        world.tampered(entries.clone(), swapped),
        Err(BlockRefusal::Order(_))
    ));
    let twice = |b: &mut gridbay_protocol::block::Block| {
        let first = b.entries[0].clone();
        b.entries.insert(0, first);
        let ids: Vec<_> = b.entries.iter().map(|e| e.id().0).collect();
        b.header.entries_root = Hash32(gridbay_ledger::log::merkle_root(&ids));
    };
    assert!(matches!(
        world.tampered(entries, twice),
        Err(BlockRefusal::Order(_))
    ));
}

#[test]
fn the_seed_of_an_epoch_is_the_beacon_at_the_end_of_the_one_before() {
    let mut world = World::new();
    let first = world.state.election_seed();
    world.until(limits::EPOCH_HEIGHTS - 1);
    assert_eq!(world.state.election_seed(), first);
    world.until(limits::EPOCH_HEIGHTS);
    let second = world.state.election_seed();
    assert_eq!(second, world.state.beacon());
    world.until(limits::EPOCH_HEIGHTS + 5);
    assert_eq!(world.state.election_seed(), second);
}
