//! The nodes of a lease learn of one another, and of nobody else.

use crate::genesis::node_key;
use crate::world::{EPOCH_MS, World};
use crate::{finish, market, order, sealed};
use gridbay_core::adverts::About;
use gridbay_core::agent::{AgentReply, AgentRequest, StartRefusal};
use gridbay_core::buyer::Finish;
use gridbay_core::cluster::{Card, Cluster, Member, OWNER, PROGRAM, is_led};
use gridbay_core::effect::Effect;
use gridbay_core::input::{Command, Input, Now};
use gridbay_core::key::OrderKey;
use gridbay_core::needs::{MPI, NETWORK};
use gridbay_protocol::ids::LeaseId;
use gridbay_protocol::job::JobExit;
use gridbay_protocol::keys::PublicKey;

/// The buyer's node. Nodes 0 and 1 sell two units each.
const BUYER: usize = 4;

/// A world in which an order with a network runs on both sellers.
fn connected(seconds: u64) -> World {
    let mut world = market();
    let mut want = order(&world, 7, sealed(3, 400), 3, seconds);
    want.spec.network = true;
    world.order(BUYER, want);
    let complete = |w: &World| {
        let others = |n: usize| w.clusters(n).map(|c| c.others.len()).sum::<usize>();
        others(0) == 1 && others(1) == 1
    };
    assert!(world.run_until(20_000, complete), "both know the other");
    world
}

/// The answer of a seller to a cluster brought by `from`.
fn ask(world: &mut World, seller: usize, from: PublicKey, cluster: Cluster) -> Vec<Effect> {
    let now = Now {
        mono_ms: world.now,
        wall_ms: EPOCH_MS + 1_000 + world.now,
    };
    let asked = Input::Asked {
        token: u64::MAX,
        from,
        request: AgentRequest::Connect(Box::new(cluster)),
    };
    let core = &mut world.nodes[seller].core;
    let effects = core.step(now, asked).expect("no fault");
    let told = |e: &Effect| matches!(e, Effect::Answer { .. } | Effect::Connect { .. });
    effects.into_iter().filter(told).collect()
}

#[test]
fn the_nodes_of_a_lease_learn_of_one_another_and_part_with_it() {
    let mut world = connected(30);
    let (one, two) = (
        world.clusters(0).next().unwrap().clone(),
        world.clusters(1).next().unwrap().clone(),
    );
    assert_eq!((one.lease, one.secret), (two.lease, two.secret));
    let mut ranks = [one.ranks.clone(), two.ranks.clone()].concat();
    ranks.sort_unstable();
    assert_eq!(ranks, [0, 1, 2]);
    for (this, other, n) in [(&one, &two, 1), (&two, &one, 0)] {
        assert_eq!(this.others[0].node, node_key(n));
        assert_eq!(this.others[0].ranks, other.ranks);
        assert_eq!(this.others[0].card, world.card(n));
    }
    assert!(world.run_until(60_000, |w| finish(w, BUYER, 7) == Some(Finish::Done)));
    let left = |w: &World| w.clusters(0).count() + w.clusters(1).count() == 0;
    assert!(world.run_until(20_000, left), "nobody keeps a key");
}

#[test]
fn a_job_without_a_network_gets_none() {
    let mut world = market();
    let want = order(&world, 7, sealed(3, 400), 3, 5);
    world.order(BUYER, want);
    assert!(world.run_until(60_000, |w| finish(w, BUYER, 7) == Some(Finish::Done)));
    assert_eq!(world.connects, 0);
}

#[test]
fn a_machine_without_networks_gives_such_a_lease_up() {
    let mut world = market();
    world.nodes[0].core.lacks(NETWORK);
    let mut want = order(&world, 7, sealed(3, 400), 3, 5);
    want.spec.network = true;
    world.order(BUYER, want);
    // Nobody else has a third unit: the order waits, and runs there no more.
    world.run(40_000);
    assert_eq!(world.clusters(0).count(), 0);
    assert!(world.nodes[0].jobs.is_empty(), "nothing was started");
    world.command(BUYER, Command::Cancel(OrderKey(7)));
    let over = |w: &World| finish(w, BUYER, 7).is_some();
    assert!(world.run_until(20_000, over));
    let mut plain = order(&world, 8, sealed(2, 300), 2, 1);
    plain.spec.network = false;
    world.order(BUYER, plain);
    assert!(world.run_until(60_000, |w| finish(w, BUYER, 8) == Some(Finish::Done)));
}

#[test]
fn an_order_that_no_seller_can_serve_is_refused_before_it_costs() {
    let mut world = market();
    let mut want = order(&world, 7, sealed(3, 400), 3, 500);
    want.spec.network = true;
    want.spec.argv = [PROGRAM, "lead", "mpi", "a"].map(str::to_owned).into();
    let tell = |world: &mut World, names: &[&str]| {
        for n in 0..2 {
            let about = About {
                attributes: names
                    .iter()
                    .map(|name| ((*name).to_owned(), "yes".to_owned()))
                    .collect(),
                ..About::default()
            };
            world.input(n, 0, Input::About(about));
        }
        let last = names[names.len() - 1];
        let heard = |w: &World| {
            let core = &w.nodes[BUYER].core;
            let mut live = core.adverts().live(core.state());
            live.all(|advert| advert.attributes.contains_key(last))
        };
        assert!(world.run_until(1_000_000, heard));
    };
    tell(&mut world, &[NETWORK]);
    world.order(BUYER, want.clone());
    world.run(1_000);
    let placed = |w: &World| w.nodes[BUYER].core.buyer().order(&OrderKey(7)).is_some();
    assert!(!placed(&world), "nobody has MPI");
    tell(&mut world, &[NETWORK, MPI]);
    world.order(BUYER, want);
    assert!(world.run_until(1_000, placed));
}

#[test]
fn an_order_that_its_first_rank_leads_ends_with_it() {
    let mut world = market();
    let mut want = order(&world, 7, sealed(3, 400), 3, 500);
    want.spec.network = true;
    // The world's only program sleeps: as long as its second word says.
    want.spec.argv = [PROGRAM, "lead"].map(str::to_owned).into();
    assert!(is_led(&want.spec));
    world.order(BUYER, want);
    let running = |w: &World| w.nodes[0].jobs.len() + w.nodes[1].jobs.len() == 3;
    assert!(world.run_until(20_000, running));
    let first = |w: &World| {
        (0..2).find_map(|n| {
            w.nodes[n]
                .jobs
                .keys()
                .find(|j| j.task == 0)
                .map(|j| (n, *j))
        })
    };
    let (n, job) = first(&world).unwrap();
    world.run(1_000);
    world.end_job(n, job, JobExit::Code(3));
    assert!(world.run_until(30_000, |w| finish(w, BUYER, 7) == Some(Finish::Done)));
    let order = world.nodes[BUYER].core.buyer().order(&OrderKey(7)).unwrap();
    assert_eq!((order.tasks.exit_code(), order.tasks.done()), (3, 1));
}

#[test]
fn a_member_that_is_gone_is_cut_off_by_the_ledger_alone() {
    let mut world = connected(500);
    world.kill(BUYER);
    world.kill(1);
    let alone = |w: &World| w.clusters(0).all(|c| c.others.is_empty());
    assert!(world.run_until(200_000, alone));
}

#[test]
fn the_buyers_node_joins_and_leaves_at_its_word() {
    let mut world = connected(500);
    let known = |w: &World, n: usize| {
        let mut others = w.clusters(n).flat_map(|c| &c.others);
        others.any(|m| m.node == node_key(BUYER) && m.ranks == [OWNER])
    };
    assert!(!known(&world, 0));
    world.command(BUYER, Command::Attend(OrderKey(7), true));
    let joined = |w: &World| {
        let own = w.clusters(BUYER).next();
        let complete = own.is_some_and(|c| c.ranks == [OWNER] && c.others.len() == 2);
        complete && known(w, 0) && known(w, 1)
    };
    assert!(world.run_until(20_000, joined));
    // The ledger's block does not throw it out, though it holds no unit.
    world.run(30_000);
    assert!(joined(&world));
    world.command(BUYER, Command::Attend(OrderKey(7), false));
    let left = |w: &World| w.clusters(BUYER).count() == 0 && !known(w, 0) && !known(w, 1);
    assert!(world.run_until(20_000, left));
    assert_eq!(world.clusters(0).map(|c| c.others.len()).sum::<usize>(), 1);
    world.command(BUYER, Command::Attend(OrderKey(7), true));
    assert!(world.run_until(20_000, joined));
    world.command(BUYER, Command::Cancel(OrderKey(7)));
    let over = |w: &World| (0..5).all(|n| w.clusters(n).count() == 0);
    assert!(world.run_until(60_000, over), "nothing is left");
}

#[test]
fn a_cluster_that_is_held_has_its_buyers_node_in_it_by_itself() {
    let mut world = market();
    let mut want = order(&world, 7, sealed(3, 400), 3, 500);
    want.spec.network = true;
    want.spec.argv = [PROGRAM, "hold"].map(str::to_owned).into();
    world.order(BUYER, want);
    let joined = |w: &World| w.clusters(BUYER).any(|c| c.others.len() == 2);
    assert!(world.run_until(30_000, joined));
    let order = world.nodes[BUYER].core.buyer().order(&OrderKey(7)).unwrap();
    let lease = order.milestones().lease.unwrap();
    let written = |w: &World| {
        let order = w.nodes[BUYER].core.buyer().order(&OrderKey(7)).unwrap();
        order.setups().first().cloned()
    };
    assert!(world.run_until(20_000, |w| written(w).is_some()));
    let setup = written(&world).unwrap();
    assert_eq!((setup.lease, setup.members), (lease, 3));
    assert!(setup.ms < 10_000, "{setup:?}");
    let order = world.nodes[BUYER].core.buyer().order(&OrderKey(7)).unwrap();
    let reached = order.introductions().reached(&lease);
    assert_eq!(reached.len(), 3);
    assert!(reached.iter().all(|member| member.reach.len() == 2));
}

#[test]
fn nobody_else_takes_the_place_of_the_buyers_node() {
    let mut world = connected(500);
    let right = world.clusters(0).next().unwrap().clone();
    let card = Card {
        public: [1; 32],
        places: vec![],
        outside: None,
    };
    let mut with = |from: usize, node: usize, ranks: &[u32]| {
        let mut cluster = right.clone();
        cluster.others.push(Member {
            node: node_key(node),
            ranks: ranks.to_vec(),
            card: card.clone(),
            relays: vec![],
        });
        cluster.others.sort_by_key(|m| m.node);
        let said = ask(&mut world, 0, node_key(from), cluster);
        said.iter().any(|e| matches!(e, Effect::Connect { .. }))
    };
    assert!(with(BUYER, BUYER, &[OWNER]));
    assert!(!with(BUYER, 5, &[OWNER]), "a stranger");
    assert!(!with(BUYER, BUYER, &[9, OWNER]), "a task without a unit");
    assert!(!with(BUYER, BUYER, &[9]));
    assert!(!with(5, 5, &[OWNER]), "not the buyer");
}

#[test]
fn a_node_with_a_new_key_is_introduced_again() {
    let mut world = connected(500);
    world.kill(1);
    world.restart(1);
    let new = world.card(1);
    let known = move |w: &World| {
        let mut others = w.clusters(0).flat_map(|c| &c.others);
        others.any(|m| m.card == new)
    };
    assert!(world.run_until(30_000, known));
    assert_eq!(world.clusters(1).map(|c| c.others.len()).sum::<usize>(), 1);
}

/// Whether a node is told of another with this card.
fn tells(world: &World, to: usize, of: usize, card: &Card) -> bool {
    let mut others = world.clusters(to).flat_map(|c| &c.others);
    others.any(|m| m.node == node_key(of) && m.card == *card)
}

#[test]
fn a_copied_card_displaces_nobody() {
    let mut world = connected(500);
    let (victim, own) = (world.card(0), world.card(1));
    world.copies.told.insert(1, victim.clone());
    for _ in 0..300 {
        world.run(100);
        assert!(tells(&world, 1, 0, &victim), "its owner keeps it");
        assert!(tells(&world, 0, 1, &own), "nobody hears of the copy");
    }
    assert!(world.copies.given_up.is_empty());
}

#[test]
fn whose_card_is_copied_before_its_buyer_knows_it_is_introduced_under_a_new_key() {
    let mut world = connected(500);
    let victim = world.card(0);
    world.copies.told.insert(1, victim.clone());
    // The buyer's node forgets all cards, and hears the copier first.
    world.kill(BUYER);
    world.suspend(0);
    world.restart(BUYER);
    world.run(5_000);
    world.resume(0);
    let known = |w: &World| tells(w, 1, 0, &w.card(0));
    assert!(world.run_until(60_000, known));
    assert_ne!(world.card(0), victim);
    world.run(30_000);
    assert!(known(&world), "and stays");
}

#[test]
fn only_the_buyers_node_opens_a_network_and_only_to_those_who_hold_units() {
    let mut world = connected(500);
    let right = world.clusters(0).next().unwrap().clone();
    let buyer = node_key(BUYER);
    let card = Card {
        public: [1; 32],
        places: vec![],
        outside: None,
    };
    let outsider = |n: usize, ranks: &[u32]| Member {
        node: node_key(n),
        ranks: ranks.to_vec(),
        card: card.clone(),
        relays: vec![],
    };
    let with = |change: &dyn Fn(&mut Cluster)| {
        let mut cluster = right.clone();
        change(&mut cluster);
        cluster.others.sort_by_key(|m| m.node);
        cluster
    };
    let refusals = [
        (node_key(5), right.clone(), StartRefusal::NotBuyer),
        (node_key(1), right.clone(), StartRefusal::NotBuyer),
        (
            buyer,
            with(&|c| c.lease = LeaseId([9; 32])),
            StartRefusal::NoLease,
        ),
        (buyer, with(&|c| c.ranks = vec![7]), StartRefusal::NotBuyer),
        (
            buyer,
            with(&|c| c.others.push(outsider(5, &[8]))),
            StartRefusal::NotMine,
        ),
        (
            buyer,
            with(&|c| c.others = vec![outsider(0, &[8])]),
            StartRefusal::NotMine,
        ),
        (
            buyer,
            with(&|c| c.others[0].ranks = vec![7, 8, 9]),
            StartRefusal::NotMine,
        ),
        (
            buyer,
            with(&|c| c.others[0].ranks = c.ranks.clone()),
            StartRefusal::Invalid,
        ),
    ];
    for (from, cluster, why) in refusals {
        let said = ask(&mut world, 0, from, cluster);
        let refused = |e: &Effect| matches!(e, Effect::Answer { reply: AgentReply::Refused(r), .. } if *r == why);
        assert!(said.iter().any(refused), "{why:?}: {said:?}");
        assert_eq!(said.len(), 1);
    }
    let said = ask(&mut world, 0, buyer, right.clone());
    assert!(
        matches!(&said[..], [Effect::Connect { token: Some(_), cluster }] if *cluster == right)
    );
}
