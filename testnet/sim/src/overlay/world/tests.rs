//! Whole worlds.

use super::*;
use crate::overlay::figures::Figures;
use gridbay_core::overlay::{WANTED_PEERS, inbound, roomy};
use std::time::Duration;

fn seconds(s: u64) -> Duration {
    Duration::from_secs(s)
}

fn small(nodes: usize, seed: u64) -> Settings {
    Settings {
        join: seconds(60),
        measured: seconds(600),
        lookups: 300,
        ..Settings::wide_area(nodes, seed)
    }
}

#[test]
fn a_small_world_with_churn_finds_its_records() {
    let settings = Settings {
        churn: 1800,
        ..small(200, 3)
    };
    let figures = Figures::of(&settings);
    assert!(figures.is_well(), "{figures:?}");
    assert_eq!(figures.lookups, 300);
    let counts = figures.counts;
    // Those who come for the last that left come after the end.
    let came = counts.back + counts.new;
    assert!(counts.left == 60 && (45..=60).contains(&came), "{counts:?}");
    assert!(counts.back > 10 && counts.new > 10, "{counts:?}");
    assert!(counts.dead_dials > 0 && counts.put > 200, "{counts:?}");
}

#[test]
fn equal_settings_give_equal_figures_and_other_seeds_others() {
    let (one, again, other) = (small(60, 1), small(60, 1), small(60, 2));
    let figures = Figures::of(&one);
    assert_eq!(figures, Figures::of(&again));
    assert_ne!(figures.counts, Figures::of(&other).counts);
}

#[test]
fn every_pair_finds_each_other_while_nobody_leaves() {
    let settings = Settings {
        churn: 0,
        lookups: 0,
        measured: seconds(120),
        ..small(50, 3)
    };
    let mut world = World::new(&settings);
    let mut asked = 0;
    let from = world.measured_from();
    for a in 0..50 {
        for b in (0..50).filter(|b| *b != a) {
            asked += 1;
            // Two at a time: more than a node's limit would begin otherwise.
            let at = from + 50 * asked;
            world.queue.push(at, Event::Seek { from: a, of: b });
        }
    }
    world.run();
    assert_eq!(world.looked().len(), 50 * 49);
    let failed = world.looked().iter().filter(|l| !l.found).count();
    assert_eq!(failed, 0);
}

#[test]
fn no_node_has_more_connections_than_it_may_and_a_crowded_one_makes_room() {
    let settings = Settings {
        connections: 40,
        churn: 300,
        ..small(150, 4)
    };
    for room in [true, false] {
        let mut world = World::new(&Settings {
            room,
            ..settings.clone()
        });
        world.run();
        for node in &world.nodes {
            let theirs = node.links.iter().filter(|l| !l.outbound).count();
            assert!(node.links.len() <= 40 && theirs <= inbound(40));
        }
        let counts = world.counts();
        assert_eq!(counts.closed_for_room > 0, room, "{counts:?}");
        let most = world.samples().iter().max().unwrap();
        assert!(*most as usize > roomy(40), "{most}");
        assert!(counts.own_full + counts.refused > 0, "{counts:?}");
    }
}

#[test]
fn both_ends_agree_on_every_connection() {
    let mut world = World::new(&small(100, 5));
    world.run();
    let up = |id: Id| world.nodes[id as usize].up;
    let mut links = 0;
    for (id, node) in world.nodes.iter().enumerate().filter(|(_, n)| n.up) {
        for link in node.links.iter() {
            let other = &world.nodes[link.peer as usize];
            let back = other.links.get(id as Id);
            assert_eq!(
                back.map(|b| (b.since, !b.outbound)),
                Some((link.since, link.outbound))
            );
            links += usize::from(up(link.peer));
        }
        let known = node.table.peers();
        assert!(known.into_iter().all(|p| !world.nodes[p as usize].private));
    }
    assert!(links > 1000, "{links}");
}

#[test]
fn without_founders_a_node_comes_back_by_what_it_has_on_disk() {
    let mut world = World::new(&Settings {
        churn: 0,
        lookups: 0,
        ..small(60, 6)
    });
    world.run_until(world.measured_from());
    // Nobody can dial the founders any more, and nobody comes who was not there.
    (0..FOUNDERS).for_each(|founder| world.nodes[founder].private = true);
    for _ in 0..10 {
        world.leave();
    }
    world.run();
    let back: Vec<_> = world.nodes.iter().filter(|n| n.up && n.run > 1).collect();
    assert!(back.len() > 1, "{}", back.len());
    assert!(
        back.iter()
            .all(|n| n.links.len() >= WANTED_PEERS && n.own.put.is_some())
    );
}
