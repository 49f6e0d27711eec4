//! Users whom the owner of a lease admits to its network.

use crate::genesis::{account_key, node_key};
use crate::world::World;
use crate::{market, order, sealed};
use gridbay_core::agent::StartRefusal;
use gridbay_core::buyer::Welcome;
use gridbay_core::cluster::{GUESTS, PROGRAM};
use gridbay_core::input::Command;
use gridbay_core::key::OrderKey;
use gridbay_protocol::ids::LeaseId;
use std::collections::BTreeSet;

/// The owner's node. Nodes 0 and 1 sell two units each.
const OWNER: usize = 4;
/// The node of another user.
const GUEST: usize = 2;

/// A cluster that is held, with its owner's node in it.
fn held() -> (World, LeaseId) {
    let mut world = market();
    let mut want = order(&world, 7, sealed(3, 400), 3, 500);
    want.spec.network = true;
    want.spec.argv = [PROGRAM, "hold"].map(str::to_owned).into();
    world.order(OWNER, want);
    let joined = |w: &World| w.clusters(OWNER).any(|c| c.others.len() == 2);
    assert!(world.run_until(30_000, joined));
    let order = world.nodes[OWNER]
        .core
        .buyer()
        .order(&OrderKey(7))
        .expect("the order");
    let lease = order.milestones().lease.expect("a lease");
    (world, lease)
}

fn admit(world: &mut World, accounts: &[usize]) {
    let keys: BTreeSet<_> = accounts.iter().map(|n| account_key(*n).public()).collect();
    world.command(OWNER, Command::Admit(OrderKey(7), keys));
}

fn welcome(world: &World, lease: &LeaseId) -> Option<Welcome> {
    let guest = world.nodes[GUEST].core.buyer();
    Some(guest.visited_lease(lease)?.welcome)
}

/// Whether everybody else has the guest among the members, and it has them.
fn is_in(world: &World) -> bool {
    let known = |n: usize| {
        let mut others = world.clusters(n).flat_map(|c| &c.others);
        others.any(|m| m.node == node_key(GUEST) && m.ranks.iter().all(|r| GUESTS.contains(r)))
    };
    let own = world.clusters(GUEST).next();
    [0, 1, OWNER].into_iter().all(known) && own.is_some_and(|c| c.others.len() == 3)
}

fn is_out(world: &World) -> bool {
    let known = |n: usize| {
        let mut others = world.clusters(n).flat_map(|c| &c.others);
        others.any(|m| m.node == node_key(GUEST))
    };
    ![0, 1, OWNER].into_iter().any(known)
}

#[test]
fn an_admitted_users_node_is_a_member_until_it_leaves() {
    let (mut world, lease) = held();
    admit(&mut world, &[GUEST]);
    world.command(GUEST, Command::Visit(lease, Some(node_key(OWNER))));
    assert!(world.run_until(20_000, is_in));
    world.run(60_000);
    assert!(is_in(&world), "it asks again");
    world.command(GUEST, Command::Visit(lease, None));
    let left = |w: &World| is_out(w) && w.clusters(GUEST).count() == 0;
    assert!(world.run_until(60_000, left));
}

#[test]
fn nobody_comes_without_being_admitted() {
    let (mut world, lease) = held();
    admit(&mut world, &[3]);
    world.command(GUEST, Command::Visit(lease, Some(node_key(OWNER))));
    let refused = |w: &World| welcome(w, &lease) == Some(Welcome::Refused(StartRefusal::NotBuyer));
    assert!(world.run_until(5_000, refused));
    world.command(GUEST, Command::Visit(lease, Some(node_key(1))));
    let unknown = |w: &World| welcome(w, &lease) == Some(Welcome::Refused(StartRefusal::NoLease));
    assert!(world.run_until(5_000, unknown), "not the owner's node");
    world.run(10_000);
    assert!(is_out(&world) && world.clusters(GUEST).count() == 0);
}

#[test]
fn a_guest_that_is_dismissed_or_gone_is_cut_off() {
    let (mut world, lease) = held();
    admit(&mut world, &[GUEST]);
    world.command(GUEST, Command::Visit(lease, Some(node_key(OWNER))));
    assert!(world.run_until(20_000, is_in));
    admit(&mut world, &[]);
    assert!(world.run_until(5_000, is_out));
    let left = |w: &World| w.clusters(GUEST).count() == 0;
    assert!(world.run_until(20_000, left), "it has heard of it");
    let told = Some(Welcome::Refused(StartRefusal::Dismissed));
    assert_eq!(welcome(&world, &lease), told);
    admit(&mut world, &[GUEST]);
    assert!(world.run_until(20_000, is_in), "it still wants to be");
    world.kill(GUEST);
    assert!(world.run_until(60_000, is_out));
}

#[test]
fn a_guest_leaves_with_the_lease() {
    let (mut world, lease) = held();
    admit(&mut world, &[GUEST]);
    world.command(GUEST, Command::Visit(lease, Some(node_key(OWNER))));
    assert!(world.run_until(20_000, is_in));
    world.command(OWNER, Command::Cancel(OrderKey(7)));
    let over =
        |w: &World| (0..5).all(|n| w.clusters(n).count() == 0) && welcome(w, &lease).is_none();
    assert!(world.run_until(60_000, over));
}
