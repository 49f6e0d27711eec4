//! The mempool against strangers: their entries take nobody's place, whatever they say.

use crate::genesis::account_key;
use crate::world::World;
use gridbay_host::message::HostMessage;
use gridbay_host::{Host, HostEffect, HostInput, MempoolRefusal, Received, limits};
use gridbay_ledger::Refusal;
use gridbay_protocol::account::{AccountKey, Roles};
use gridbay_protocol::appeal::Appeal;
use gridbay_protocol::entry::{Entry, EntryBody, SignedEntry};
use gridbay_protocol::ids::{AccountId, ClassId, EntryId, Hash32, ValidatorId};
use gridbay_protocol::invitation::{Grant, SignedGrant};
use gridbay_protocol::keys::{SecretKey, Signature};
use gridbay_protocol::limits::ENTRY_WINDOW;
use gridbay_protocol::order::{Bid, Open, Step, Wish};
use gridbay_protocol::receipt::{Receipt, SignedReceipt};
use gridbay_protocol::units::{Credits, Price};

pub(crate) const STRANGER: [u8; 32] = [77; 32];

/// One of many identities of a stranger: a bound on the checks of one does not end the others'
/// flood.
pub(crate) fn stranger(n: u64) -> [u8; 32] {
    let mut peer = STRANGER;
    peer[..8].copy_from_slice(&n.to_le_bytes());
    peer
}

pub(crate) fn host(world: &World, i: usize) -> &Host {
    world.hosts[i].as_ref().expect("it runs")
}

pub(crate) fn give(world: &mut World, to: usize, from: [u8; 32], entries: Vec<SignedEntry>) {
    let message = Received::Message(HostMessage::Entries(entries));
    world.input(to, HostInput::Message { from, message });
}

pub(crate) fn signed(
    world: &World,
    account: AccountId,
    key: &SecretKey,
    valid_until: u64,
    body: EntryBody,
) -> SignedEntry {
    let entry = Entry {
        network: world.genesis.network(),
        account,
        key: key.public(),
        valid_until,
        body,
    };
    SignedEntry::new(entry, key)
}

pub(crate) fn payment(to: AccountId, micros: u64) -> EntryBody {
    EntryBody::Transfer {
        to,
        amount: Credits::from_micros(micros).unwrap(),
        memo: Hash32([0; 32]),
    }
}

/// An appeal of about 7 KiB with worthless receipts.
fn appeal(n: u64) -> EntryBody {
    let mut id = [0; 32];
    id[..8].copy_from_slice(&n.to_le_bytes());
    let receipt = |validator: u8| SignedReceipt {
        receipt: Receipt {
            entry: EntryId(id),
            height: 1,
            validator: ValidatorId([validator; 32]),
        },
        signature: Signature([validator; 64]),
    };
    let bid = Bid {
        class: ClassId([1; 32]),
        steps: vec![Step {
            units: 1,
            price: Price(10),
        }],
        min: 1,
        slots: 1,
        budget: Credits::from_micros(100).unwrap(),
        stands_until: 100,
        work: Hash32([3; 32]),
    };
    EntryBody::Appeal(Box::new(Appeal {
        key: SecretKey::from_seed(&[1; 32]).public(),
        valid_until: 10,
        open: Open {
            commit: EntryId(id),
            salt: [8; 32],
            wish: Wish::from(bid),
        },
        receipts: (1..40).map(receipt).collect(),
    }))
}

fn takes(world: &mut World, i: usize) {
    for _ in 0..limits::MEMPOOL_PER_ACCOUNT {
        let entry = world.transfer(i);
        let id = entry.id();
        let effects = world.input(0, HostInput::Submit(vec![entry]));
        let taken = effects
            .iter()
            .any(|e| matches!(e, HostEffect::EntryAdmitted { entry } if *entry == id));
        assert!(taken, "{effects:?}");
    }
}

#[test]
fn junk_valid_for_ever_neither_fills_the_pool_nor_mutes_an_account() {
    let mut world = World::new(4, 0, 51);
    // Nobody else is there, so nothing leaves the mempool.
    world.boot(0);
    let key = SecretKey::from_seed(&[240; 32]);
    let victim = world.account(1);
    let bytes = {
        let entry = signed(&world, victim, &key, u64::MAX, appeal(0));
        gridbay_protocol::codec::encode(&entry).len()
    };
    assert!(bytes > 7_000, "{bytes}");
    for n in 0..4_700 {
        let account = if n % 2 == 0 {
            victim
        } else {
            AccountId([9; 32])
        };
        let entry = signed(&world, account, &key, u64::MAX, appeal(n));
        give(&mut world, 0, stranger(n), vec![entry]);
    }
    let ends = [u64::MAX, ENTRY_WINDOW + 4, 100];
    for n in 0..600 {
        for valid_until in ends {
            let to = world.account(2);
            let entry = signed(&world, victim, &key, valid_until, payment(to, 1 + n));
            give(&mut world, 0, stranger(n), vec![entry]);
        }
    }
    assert_eq!(host(&world, 0).mempool_len(), 0);
    takes(&mut world, 1);
    takes(&mut world, 0);
    // A restart brings nothing of it back.
    world.crash(0);
    world.boot(0);
    assert!(host(&world, 0).mempool_len() <= 2 * limits::MEMPOOL_PER_ACCOUNT);
    for entry in host(&world, 0).waiting() {
        let account = entry.entry().account;
        assert!(account == victim || account == world.account(0));
    }
}

/// An opening of an account with an invitation that `inviter` signed, or somebody in its name.
fn opening(
    world: &World,
    key: &SecretKey,
    token: &SecretKey,
    ends: (u64, u64),
    n: u8,
) -> SignedEntry {
    let inviter = world.account(1);
    let network = world.genesis.network();
    let grant = Grant {
        inviter,
        key: key.public(),
        token: token.public(),
        endowment: Credits::ZERO,
        valid_until: ends.1,
    };
    let keys = vec![AccountKey {
        key: SecretKey::from_seed(&[n; 32]).public(),
        roles: Roles::ALL,
    }];
    let body = EntryBody::OpenAccount {
        grant: Some(Box::new(SignedGrant::new(&network, grant, key))),
        keys,
        endowment: Credits::ZERO,
    };
    signed(world, inviter, token, ends.0, body)
}

#[test]
fn invitations_mute_their_inviter_neither_forged_nor_right() {
    let mut world = World::new(4, 0, 52);
    world.boot(0);
    let stranger = SecretKey::from_seed(&[240; 32]);
    let token = SecretKey::from_seed(&[241; 32]);
    for n in 0..=255 {
        for ends in [(100, u64::MAX), (ENTRY_WINDOW + 4, 100), (100, 100)] {
            let forged = opening(&world, &stranger, &token, ends, n);
            give(&mut world, 0, STRANGER, vec![forged]);
        }
    }
    assert_eq!(host(&world, 0).mempool_len(), 0);
    // The holder of an invitation can sign any number of openings; one can take effect.
    let inviter = account_key(1);
    for n in 0..=255 {
        let right = opening(&world, &inviter, &token, (100, 100), n);
        give(&mut world, 0, STRANGER, vec![right]);
    }
    assert_eq!(host(&world, 0).mempool_len(), limits::MEMPOOL_PER_TOKEN);
    takes(&mut world, 1);
}

#[test]
fn what_is_valid_too_long_is_refused_also_from_its_owner() {
    let mut world = World::new(4, 0, 53);
    world.boot(0);
    let far = ENTRY_WINDOW + limits::MEMPOOL_AHEAD + 1;
    let to = world.account(2);
    let refused = world.sign(1, payment(to, 1), far);
    let effects = world.input(0, HostInput::Submit(vec![refused.clone()]));
    let window = effects.iter().any(|effect| match effect {
        HostEffect::EntryRefused {
            refusal: MempoolRefusal::Ledger(refusal),
            ..
        } => matches!(**refusal, Refusal::Window { .. }),
        _ => false,
    });
    assert!(window, "{effects:?}");
    give(&mut world, 0, STRANGER, vec![refused.signed().clone()]);
    assert_eq!(host(&world, 0).mempool_len(), 0);
    // A book a few blocks ahead admits it: it waits.
    let waits = world.sign(1, payment(to, 2), far - 1).signed().clone();
    give(&mut world, 0, STRANGER, vec![waits]);
    assert_eq!(host(&world, 0).mempool_len(), 1);
}
