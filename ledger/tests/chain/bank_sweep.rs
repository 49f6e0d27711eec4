//! A tax over more accounts than one block takes.

use crate::bank::{founded, small};
use crate::world::{World, all_roles, credits};
use gridbay_protocol::bank::Preset;
use gridbay_protocol::effect::Effect;
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::ids::{AccountId, Hash32};
use gridbay_protocol::keys::SecretKey;
use gridbay_protocol::limits::LEVIES_PER_BLOCK;
use gridbay_protocol::payment::{Purse, Reason};

fn saver_key(n: u32) -> SecretKey {
    let mut seed = [9; 32];
    seed[..4].copy_from_slice(&n.to_be_bytes());
    SecretKey::from_seed(&seed)
}

/// So many accounts that a tax takes two blocks: member 1 opens them, each with the 400 that it
/// saves, which makes 100 due. The members save as much, but for member 4, which saves nothing.
fn crowd() -> World {
    let mut genesis = founded(small(Preset::Bellagio));
    let count = LEVIES_PER_BLOCK as u32;
    genesis.policy.accounts_per_member = count;
    genesis.policy.invitations.per_epoch = count;
    for member in &mut genesis.members {
        member.endowment = credits(1_400);
    }
    genesis.members[0].endowment = credits(1_400 + 400 * u64::from(count));
    let mut world = World::founded(genesis);
    let open = |n: u32| EntryBody::OpenAccount {
        grant: None,
        keys: all_roles(&saver_key(n)),
        endowment: credits(400),
    };
    for batch in (0..count).collect::<Vec<_>>().chunks(1_500) {
        let entries = batch.iter().map(|n| world.by(1, open(*n))).collect();
        world.all(entries);
    }
    world
}

fn taxed(effects: &[Effect]) -> Vec<AccountId> {
    let taxes = effects.iter().filter_map(|effect| match effect {
        Effect::Posting(p) if p.reason == Reason::Tax => Some(p.from),
        _ => None,
    });
    let account = |purse| match purse {
        Purse::Account(id) => id,
        other => panic!("{other:?} pays no tax"),
    };
    taxes.map(account).collect()
}

#[test]
fn a_tax_goes_on_in_the_next_block() {
    let mut world = crowd();
    let first = world.until(32);
    assert_eq!(
        taxed(&first).len(),
        LEVIES_PER_BLOCK - 1,
        "member 4 saves nothing"
    );
    assert!(world.state.sweep().is_some() && world.state.work_is_due());
    let second = world.until(33);
    assert_eq!(taxed(&second).len(), 4);
    assert!(taxed(&first).last() < taxed(&second).first());
    assert_eq!(world.state.sweep(), None);
    let reliefs = second
        .iter()
        .filter(|effect| matches!(effect, Effect::Posting(p) if p.reason == Reason::Relief));
    assert_eq!(reliefs.count(), 1, "member 4 lacks 600 of 2,000");
    assert_eq!(world.account(4), 2_000);
}

/// Between the blocks of a tax, money moves from the last accounts to the first: nothing is gained
/// by it.
#[test]
fn money_that_moves_meanwhile_is_taxed_first() {
    let mut world = crowd();
    world.until(32);
    let (_, sweep) = world.state.sweep().unwrap();
    // The last saver of all comes late, and the members happen to come early.
    let keys: Vec<SecretKey> = (0..LEVIES_PER_BLOCK as u32).map(saver_key).collect();
    let account = |key: &SecretKey| world.state.account_of(&key.public()).unwrap();
    let key = keys.iter().max_by_key(|key| account(key)).unwrap();
    let (payer, payee) = (account(key), world.member(1));
    assert!(Some(payer) > sweep.through && Some(payee) < sweep.through);
    let transfer = |micros| EntryBody::Transfer {
        to: payee,
        amount: credits(micros),
        memo: Hash32([0; 32]),
    };
    // All it has is more than what is left after the tax.
    let all = world.sign(payer, key, transfer(400));
    assert!(world.state.admit(&all).is_err());
    let rest = world.sign(payer, key, transfer(300));
    let effects = world.all(vec![rest]);
    let own = taxed(&effects);
    assert_eq!(own.iter().filter(|id| **id == payer).count(), 1);
    // It has nothing left, and no baseline to be helped up to; member 1's receipts were taxed
    // before.
    assert_eq!(world.balance(Purse::Account(payer)), 0);
    assert_eq!(world.account(1), 1_300 + 300);
    assert_eq!(world.state.sweep(), None);
}
