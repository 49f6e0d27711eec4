//! Transfers of the owner.

use crate::genesis::credits;
use crate::world::World;
use gridbay_core::input::Command;
use gridbay_core::reply::{RefusedKind, Reply};
use gridbay_protocol::ids::{AccountId, Hash32};
use gridbay_protocol::units::Credits;

fn transfer(to: AccountId, amount: Credits) -> Command {
    let memo = Hash32([1; 32]);
    Command::Transfer { to, amount, memo }
}

fn free(world: &World, n: usize) -> i64 {
    let account = world.nodes[n].core.account().expect("has an account");
    world.nodes[0].core.state().balance(&account).free
}

/// Two validators that have decided a few blocks and know their accounts.
fn settled() -> (World, AccountId) {
    let mut world = World::new(2, 1);
    let known = |w: &World| w.nodes.iter().all(|n| n.core.account().is_some());
    assert!(world.run_until(20_000, known));
    let to = world.nodes[2].core.account().expect("known");
    (world, to)
}

#[test]
fn equal_transfers_at_one_height_all_take_effect() {
    let (mut world, to) = settled();
    let (mine, theirs) = (free(&world, 0), free(&world, 2));
    for _ in 0..3 {
        world.command(0, transfer(to, credits(5)));
    }
    world.run(3_000);
    let mut ids: Vec<_> = world.nodes[0]
        .replies
        .iter()
        .map(|reply| match reply {
            Reply::Submitted(entry) => *entry,
            other => panic!("{other:?}"),
        })
        .collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 3);
    assert_eq!(free(&world, 0), mine - 15_000_000);
    assert_eq!(free(&world, 2), theirs + 15_000_000);
}

#[test]
fn what_cannot_be_paid_or_reaches_nobody_is_refused_at_once() {
    let (mut world, to) = settled();
    world.command(0, transfer(to, credits(101)));
    world.command(0, transfer(AccountId([9; 32]), credits(1)));
    assert!(world.run_until(1_000, |w| w.nodes[0].replies.len() == 2));
    let kinds: Vec<_> = world.nodes[0]
        .replies
        .iter()
        .map(|reply| match reply {
            Reply::Refused(refused) => refused.kind,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(kinds, [RefusedKind::Unfunded, RefusedKind::NotFound]);
    let before = free(&world, 0);
    world.run(3_000);
    assert_eq!(free(&world, 0), before, "nothing was sent");
}

#[test]
fn what_finds_no_place_in_the_pool_is_refused_at_once() {
    let (mut world, to) = settled();
    let mine = free(&world, 0);
    for _ in 0..700 {
        world.command(0, transfer(to, Credits::from_micros(1).unwrap()));
    }
    assert!(world.run_until(1_000, |w| w.nodes[0].replies.len() == 700));
    let is_sent = |reply: &&Reply| match reply {
        Reply::Submitted(_) => true,
        Reply::Refused(refused) => {
            assert_eq!((refused.kind, refused.word), (RefusedKind::Busy, "busy"));
            false
        }
        other => panic!("{other:?}"),
    };
    let sent = world.nodes[0].replies.iter().filter(is_sent).count() as i64;
    assert!(sent < 700, "an account has its share of the pool");
    world.run(20_000);
    assert_eq!(
        free(&world, 0),
        mine - sent,
        "what was said to be sent, and no more"
    );
}
