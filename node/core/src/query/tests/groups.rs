//! Groups against trying all subsets.

use super::sample::{self, Dice, Shop};
use crate::query::group::{CANDIDATES, Group, Sites, Spread, choose};
use crate::query::roundtrip;
use crate::query::subject::Subject;
use std::collections::BTreeSet;

/// Whether some nodes are a group, from its definition.
fn is_group(group: &Group, nodes: &[&Subject<'_>]) -> bool {
    let sites: BTreeSet<_> = nodes.iter().map(|n| n.site()).collect();
    let spread = group.sites.is_none_or(|Sites { spread, count }| {
        let count = count as usize;
        let right = match spread {
            Spread::Exactly => sites.len() == count,
            Spread::AtLeast => sites.len() >= count,
            Spread::AtMost => sites.len() <= count,
        };
        right && !sites.contains(&None)
    });
    let near = group.within.is_none_or(|(bound, inclusive)| {
        nodes.iter().enumerate().all(|(i, a)| {
            nodes[i + 1..].iter().all(|b| {
                let trip = roundtrip::between(a.round_trips, b.round_trips);
                trip.is_some_and(|t| t < bound || (inclusive && t == bound))
            })
        })
    });
    nodes.len() == group.nodes as usize && spread && near
}

/// The first group in order, by trying all.
fn first(group: &Group, nodes: &[&Subject<'_>]) -> Option<Vec<usize>> {
    let mut best: Option<Vec<usize>> = None;
    for set in 0u32..1 << nodes.len() {
        let members: Vec<usize> = (0..nodes.len()).filter(|i| set & (1 << i) != 0).collect();
        let of: Vec<&Subject<'_>> = members.iter().map(|i| nodes[*i]).collect();
        if is_group(group, &of) && best.as_ref().is_none_or(|b| members < *b) {
            best = Some(members);
        }
    }
    best
}

#[test]
fn the_first_group_in_order_is_chosen() {
    let mut found = 0;
    for seed in 0..600 {
        let mut dice = Dice(seed);
        let shop = Shop::new(&mut dice, 9);
        let subjects = shop.subjects();
        let nodes: Vec<&Subject<'_>> = subjects.iter().collect();
        let group = sample::group(&mut dice);
        let (chosen, search) = choose(&group, &nodes);
        assert!(!search.gave_up);
        assert_eq!(chosen, first(&group, &nodes), "{group}");
        found += usize::from(chosen.is_some());
    }
    assert!((100..590).contains(&found), "{found}");
}

#[test]
fn without_a_bound_on_round_trips_no_group_is_missed_among_many_nodes() {
    // One site is in the first thousand places, others only come after.
    let stalls = (0..64).map(|n| {
        let site = if n < 60 {
            "a.edu"
        } else {
            ["b.edu", "c.edu", "d.edu", "e.edu"][n - 60]
        };
        sample::Stall::new(n, &[("site", site)], &[])
    });
    let shop = Shop::of(stalls.collect());
    let subjects = shop.subjects();
    let nodes: Vec<&Subject<'_>> = (0..1_000)
        .map(|n| &subjects[n % 60])
        .chain(&subjects[60..])
        .collect();
    assert!(nodes.len() > CANDIDATES);
    for (spread, count, nodes_wanted) in [(Spread::AtLeast, 5, 10), (Spread::Exactly, 4, 6)] {
        let group = Group {
            nodes: nodes_wanted,
            sites: Some(Sites { spread, count }),
            within: None,
        };
        let (chosen, search) = choose(&group, &nodes);
        let members: Vec<&Subject<'_>> = chosen.unwrap().iter().map(|i| nodes[*i]).collect();
        assert!(is_group(&group, &members) && !search.gave_up, "{group}");
    }
}

#[test]
fn an_unknown_pair_is_no_near_pair_and_is_counted() {
    let near = |n| sample::Stall::new(n, &[("site", "a.edu")], &[(60, 2)]);
    let silent = sample::Stall::new(2, &[("site", "a.edu")], &[]);
    let shop = Shop::of(vec![near(0), near(1), silent]);
    let subjects = shop.subjects();
    let nodes: Vec<&Subject<'_>> = subjects.iter().collect();
    let group = |nodes| Group {
        nodes,
        sites: None,
        within: Some((5_000, false)),
    };
    let (chosen, search) = choose(&group(2), &nodes);
    assert_eq!((chosen, search.longest), (Some(vec![0, 1]), Some(4_000)));
    let (chosen, search) = choose(&group(3), &nodes);
    assert_eq!(chosen, None);
    let counts = (search.pairs, search.near_pairs, search.unknown_pairs);
    assert_eq!(counts, (3, 1, 2));
}
