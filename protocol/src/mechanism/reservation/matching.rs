//! The match of nodes to the classes of a bid, where classes may overlap.
//!
//! 1. By Hall's theorem the free nodes suffice exactly if, for every set A of classes, the free
//!    nodes of their union are at least as many as all of A want.
//! 2. If A falls into two parts without a common node, its parts say all that A says. So only
//!    *groups* are looked at: sets of classes that hang together. Classes that are pairwise
//!    disjoint make one group each, and the test is counting.
//! 3. The slack of A is the number of nodes in its union beyond those that A wants. A node given to
//!    class c changes the slack only of those A that hold the node but not c: there it falls by
//!    one. So the node can be given if all of these have slack, and taking the lowest such nodes
//!    class by class gives the lexicographically smallest sets: the sets that a class can take form
//!    a matroid, where a node once refused stays refused.

use std::collections::BTreeSet;

use super::GROUPS;
use super::calendar::{contains, join, members};
use crate::mechanism::meter;

/// Classes that hang together, as bits by position in the bid.
#[derive(Debug, Clone)]
struct Group {
    classes: u32,
    need: u32,
    /// Union of their nodes.
    nodes: Vec<u64>,
}

impl Group {
    fn free(&self, free: &[u64]) -> u32 {
        meter::steps(free.len());
        let words = self.nodes.iter().zip(free);
        words.map(|(a, b)| (a & b).count_ones()).sum()
    }
}

/// The classes of one bid.
#[derive(Debug, Clone)]
pub(super) struct Matching {
    /// Quantity and nodes of each class.
    classes: Vec<(u32, Vec<u64>)>,
    /// By rising number of classes.
    groups: Vec<Group>,
}

impl Matching {
    /// From quantities and sets of nodes; `None` beyond [`GROUPS`] groups.
    pub(super) fn new(classes: Vec<(u32, Vec<u64>)>) -> Option<Self> {
        let groups = connected(&classes)?;
        let group = |set: u32| {
            let mut group = Group {
                classes: set,
                need: 0,
                nodes: vec![0; classes[0].1.len()],
            };
            for (_, (quantity, nodes)) in in_set(set, &classes) {
                meter::steps(nodes.len());
                group.need += quantity;
                join(&mut group.nodes, nodes);
            }
            group
        };
        let groups = groups.into_iter().map(group).collect();
        Some(Matching { classes, groups })
    }

    /// Whether the free nodes suffice. `suspect` is the group that failed last time: it is asked
    /// first, because a group that is short at one start is mostly short at the next.
    pub(super) fn feasible(&self, free: &[u64], suspect: &mut usize) -> bool {
        let short = |group: &Group| group.free(free) < group.need;
        if self.groups.get(*suspect).is_some_and(short) {
            return false;
        }
        match self.groups.iter().position(short) {
            Some(group) => {
                *suspect = group;
                false
            }
            None => true,
        }
    }

    /// The smallest sets among free nodes that suffice.
    pub(super) fn pick(&self, free: &[u64]) -> Vec<Vec<usize>> {
        let mut free = free.to_vec();
        let slack = |group: &Group| group.free(&free).saturating_sub(group.need);
        let mut slack: Vec<u32> = self.groups.iter().map(slack).collect();
        let mut picked = Vec::with_capacity(self.classes.len());
        for (class, (quantity, nodes)) in self.classes.iter().enumerate() {
            let mut chosen = Vec::with_capacity(*quantity as usize);
            for node in members(nodes) {
                meter::steps(1);
                if chosen.len() == *quantity as usize {
                    break;
                }
                if contains(&free, node) && self.give(node, class, &mut slack) {
                    free[node / 64] &= !(1 << (node % 64));
                    chosen.push(node);
                }
            }
            debug_assert_eq!(chosen.len(), *quantity as usize, "the free nodes suffice");
            picked.push(chosen);
        }
        picked
    }

    /// Step 3 for one node: whether the class can have it; if so, the slack falls.
    fn give(&self, node: usize, class: usize, slack: &mut [u32]) -> bool {
        meter::steps(self.groups.len());
        let losers: Vec<usize> = (0..self.groups.len())
            .filter(|&index| {
                let group = &self.groups[index];
                group.classes & (1 << class) == 0 && contains(&group.nodes, node)
            })
            .collect();
        let can = losers.iter().all(|&group| slack[group] > 0);
        if can {
            losers.iter().for_each(|&group| slack[group] -= 1);
        }
        can
    }
}

/// The classes of a set, with their positions.
fn in_set<T>(set: u32, classes: &[T]) -> impl Iterator<Item = (usize, &T)> {
    let held = move |(class, _): &(usize, &T)| set & (1 << class) != 0;
    classes.iter().enumerate().filter(held)
}

/// All sets of classes that hang together, smaller sets first; `None` beyond [`GROUPS`].
fn connected(classes: &[(u32, Vec<u64>)]) -> Option<Vec<u32>> {
    let meet = |a: &[u64], b: &[u64]| {
        meter::steps(a.len());
        a.iter().zip(b).any(|(a, b)| a & b != 0)
    };
    let neighbours: Vec<u32> = classes
        .iter()
        .map(|(_, nodes)| {
            let others = classes.iter().enumerate();
            let near = others.filter(|(_, (_, other))| meet(nodes, other));
            near.fold(0, |set, (class, _)| set | 1 << class)
        })
        .collect();
    let mut sets: Vec<u32> = (0..classes.len()).map(|class| 1 << class).collect();
    let mut seen: BTreeSet<u32> = sets.iter().copied().collect();
    let mut next = 0;
    // Every larger set is a smaller one and a neighbour of it.
    while let Some(&set) = sets.get(next) {
        next += 1;
        meter::steps(2 * classes.len());
        let near = in_set(set, &neighbours).fold(0, |all, (_, near)| all | near);
        for (class, _) in in_set(near & !set, classes) {
            let larger = set | 1 << class;
            if seen.insert(larger) {
                sets.push(larger);
            }
        }
        if sets.len() > GROUPS {
            return None;
        }
    }
    Some(sets)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matching(classes: &[(u32, u64)]) -> Option<Matching> {
        Matching::new(classes.iter().map(|&(q, set)| (q, vec![set])).collect())
    }

    #[test]
    fn disjoint_classes_make_one_group_each() {
        let sixteen: Vec<(u32, u64)> = (0..16).map(|c| (1, 0b11 << (2 * c))).collect();
        assert_eq!(matching(&sixteen).unwrap().groups.len(), 16);
        let six = vec![(1, 0b11_1111); 6];
        assert_eq!(matching(&six).unwrap().groups.len(), 63);
        assert!(matching(&[(1, 1); 7]).is_none());
        // A chain: as many groups as it has pieces.
        let chain: Vec<(u32, u64)> = (0..8).map(|c| (1, 0b11 << c)).collect();
        assert_eq!(matching(&chain).unwrap().groups.len(), 36);
    }

    #[test]
    fn a_class_leaves_what_the_next_needs() {
        let bid = matching(&[(2, 0b1111), (1, 0b0001), (1, 0b0110)]).unwrap();
        let mut suspect = 0;
        assert!(bid.feasible(&[0b1111], &mut suspect));
        assert_eq!(
            bid.pick(&[0b1111]),
            [vec![1, 3], vec![0], vec![2]],
            "node 0 and one of 1, 2 are left to the others"
        );
        assert!(!bid.feasible(&[0b0111], &mut suspect));
        assert!(!bid.feasible(&[0b1110], &mut suspect));
        assert!(bid.feasible(&[0b1111], &mut suspect));
    }
}
