//! Groups: which of the nodes that fit are taken together.
//!
//! `choose 4 nodes from 2 sites with rtt_between < 20ms` wants four nodes of exactly two sites,
//! every two of them less than 20 ms apart ([`super::roundtrip`]).
//!
//! 1. Candidates are the nodes that fit, in the query's order. A group that names sites passes over
//!    nodes that name none; if it says nothing of round trips, also those beyond the first n of
//!    their site, which it never needs. Beyond [`CANDIDATES`] candidates nothing is looked at.
//! 2. The group is the first in order: the one with the best first node, then the best second node,
//!    and so on, among all groups that fulfil everything. It is sought depth first; a branch is
//!    left as soon as too few nodes or sites remain.
//! 3. After [`STEPS`] nodes were tried, the search ends without an answer and says so. Without a
//!    bound on round trips that never happens: no branch is entered in vain.

use super::roundtrip;
use super::subject::Subject;
use super::value::{Kind, Value};
use std::collections::BTreeMap;
use std::fmt;

/// Nodes of a group at the most.
pub const GROUP: u32 = 256;
/// Candidates looked at.
pub const CANDIDATES: usize = 512;
/// Nodes tried in the search: some 20 ms.
pub const STEPS: usize = 50_000;

const _: () = assert!(GROUP as usize <= CANDIDATES);

/// How many sites.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// So many.
    Exactly,
    /// So many or more.
    AtLeast,
    /// So many or fewer.
    AtMost,
}

/// How many different sites a group is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sites {
    /// In which sense.
    pub spread: Spread,
    /// Their number, 1 to the number of nodes.
    pub count: u32,
}

/// A condition on several nodes together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// Their number, 1 to [`GROUP`].
    pub nodes: u32,
    /// From how many sites.
    pub sites: Option<Sites>,
    /// Bound on the round trip between every two in microseconds, and whether it may be reached.
    pub within: Option<(u64, bool)>,
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} nodes", self.nodes)?;
        if let Some(Sites { spread, count }) = self.sites {
            let spread = match spread {
                Spread::Exactly => "",
                Spread::AtLeast => ">= ",
                Spread::AtMost => "<= ",
            };
            write!(f, " from {spread}{count} sites")?;
        }
        if let Some((micros, inclusive)) = self.within {
            let sign = if inclusive { "<=" } else { "<" };
            let bound = Value::of_amount(micros, Kind::Duration);
            write!(f, " with rtt_between {sign} {bound}")?;
        }
        Ok(())
    }
}

/// The findings on the way to a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Search {
    /// Nodes that fit each on its own.
    pub fitting: usize,
    /// Of these, passed over because they name no site.
    pub siteless: usize,
    /// Candidates looked at.
    pub candidates: usize,
    /// Different sites among them.
    pub sites: usize,
    /// Pairs of candidates.
    pub pairs: usize,
    /// Pairs whose round trip is unknown: no common landmark.
    pub unknown_pairs: usize,
    /// Pairs that are near enough to one another.
    pub near_pairs: usize,
    /// Whether the search ended before everything was tried.
    pub gave_up: bool,
    /// Longest round trip within the group in microseconds, if the group bounds it.
    pub longest: Option<u64>,
}

/// Chooses among nodes in order; the answer's indices ascend. `None`: there is no such group, or
/// none was found.
pub fn choose(group: &Group, nodes: &[&Subject<'_>]) -> (Option<Vec<usize>>, Search) {
    let mut search = Search {
        fitting: nodes.len(),
        ..Search::default()
    };
    let candidates = candidates(group, nodes, &mut search);
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    let site_of: Vec<usize> = candidates
        .iter()
        .map(|index| {
            let site = nodes[*index].site().unwrap_or_default();
            let next = numbers.len();
            *numbers.entry(site).or_insert(next)
        })
        .collect();
    search.sites = numbers.len();
    let near = pairs(group, nodes, &candidates, &mut search);
    let mut seeker = Seeker {
        group,
        site_of: &site_of,
        near: &near,
        chosen: Vec::new(),
        taken: vec![0; numbers.len()],
        steps: 0,
        search: &mut search,
    };
    let all = Bits::full(candidates.len());
    let found = seeker.remains(&all) && seeker.seek(&all);
    let chosen = found.then(|| std::mem::take(&mut seeker.chosen));
    let members: Option<Vec<usize>> =
        chosen.map(|chosen| chosen.iter().map(|i| candidates[*i]).collect());
    if let (Some(members), true) = (&members, group.within.is_some()) {
        search.longest = longest(nodes, members);
    }
    (members, search)
}

/// Longest round trip between any two.
fn longest(nodes: &[&Subject<'_>], members: &[usize]) -> Option<u64> {
    let trip = |(i, a): (usize, &usize)| {
        let others = members[..i].iter();
        let trips =
            others.map(|b| roundtrip::between(nodes[*a].round_trips, nodes[*b].round_trips));
        trips.flatten().max()
    };
    members.iter().enumerate().filter_map(trip).max()
}

/// Indices of the nodes looked at.
fn candidates(group: &Group, nodes: &[&Subject<'_>], search: &mut Search) -> Vec<usize> {
    let mut of_site: BTreeMap<&str, u32> = BTreeMap::new();
    let mut candidates = Vec::new();
    for (index, node) in nodes.iter().enumerate() {
        if group.sites.is_some() {
            let Some(site) = node.site() else {
                search.siteless += 1;
                continue;
            };
            let count = of_site.entry(site).or_default();
            *count += 1;
            if group.within.is_none() && *count > group.nodes {
                continue;
            }
        }
        if candidates.len() == CANDIDATES {
            search.gave_up = true;
            break;
        }
        candidates.push(index);
    }
    search.candidates = candidates.len();
    candidates
}

/// For each candidate those after it that are near enough; nothing if nearness does not matter.
fn pairs(
    group: &Group,
    nodes: &[&Subject<'_>],
    candidates: &[usize],
    search: &mut Search,
) -> Vec<Bits> {
    let Some((bound, inclusive)) = group.within else {
        return Vec::new();
    };
    let mut near = vec![Bits::empty(candidates.len()); candidates.len()];
    for (i, a) in candidates.iter().enumerate() {
        for (j, b) in candidates.iter().enumerate().skip(i + 1) {
            search.pairs += 1;
            match roundtrip::between(nodes[*a].round_trips, nodes[*b].round_trips) {
                None => search.unknown_pairs += 1,
                Some(trip) if trip < bound || (inclusive && trip == bound) => {
                    search.near_pairs += 1;
                    near[i].set(j);
                }
                Some(_) => {}
            }
        }
    }
    near
}

struct Seeker<'a> {
    group: &'a Group,
    /// Number of each candidate's site.
    site_of: &'a [usize],
    /// See [`pairs`].
    near: &'a [Bits],
    chosen: Vec<usize>,
    /// Chosen nodes of each site.
    taken: Vec<u32>,
    steps: usize,
    search: &'a mut Search,
}

impl Seeker<'_> {
    /// Completes the group from those left, which all go with those chosen. At most [`GROUP`] deep.
    fn seek(&mut self, left: &Bits) -> bool {
        if self.chosen.len() == self.group.nodes as usize {
            return true;
        }
        let mut rest = left.clone();
        while let Some(next) = rest.first() {
            if self.steps == STEPS {
                self.search.gave_up = true;
                return false;
            }
            self.steps += 1;
            rest.clear(next);
            let mut after = rest.clone();
            if let Some(near) = self.near.get(next) {
                after.keep(near);
            }
            self.chosen.push(next);
            self.taken[self.site_of[next]] += 1;
            if self.remains(&after) && self.seek(&after) {
                return true;
            }
            self.chosen.pop();
            self.taken[self.site_of[next]] -= 1;
            // Without `next`, enough must be left as well.
            if !self.remains(&rest) {
                return false;
            }
        }
        false
    }

    /// Whether the group may still be completed from those left: necessary, and enough if nearness
    /// does not matter.
    fn remains(&self, left: &Bits) -> bool {
        let Some(need) = (self.group.nodes as usize).checked_sub(self.chosen.len()) else {
            return false;
        };
        let Some(Sites { spread, count }) = self.group.sites else {
            return left.count() >= need;
        };
        let mut open = vec![0; self.taken.len()];
        left.each(|candidate| open[self.site_of[candidate]] += 1);
        let used = self.taken.iter().filter(|taken| **taken > 0).count();
        let (mut old, mut new) = (0, Vec::new());
        for (taken, open) in self.taken.iter().zip(open) {
            match (taken, open) {
                (0, 0) => {}
                (0, open) => new.push(open),
                (_, open) => old += open,
            }
        }
        new.sort_unstable_by(|a: &usize, b| b.cmp(a));
        let count = count as usize;
        let reach = |sites: usize| old + new.iter().take(sites).sum::<usize>();
        let more = count.saturating_sub(used);
        match spread {
            Spread::Exactly => {
                used <= count && new.len() >= more && need >= more && reach(more) >= need
            }
            Spread::AtLeast => new.len() >= more && need >= more && reach(new.len()) >= need,
            Spread::AtMost => used <= count && reach(more) >= need,
        }
    }
}

/// A set of small numbers.
#[derive(Clone, Debug)]
struct Bits(Vec<u64>);

impl Bits {
    fn empty(size: usize) -> Bits {
        Bits(vec![0; size.div_ceil(64)])
    }
    fn full(size: usize) -> Bits {
        let mut bits = Bits::empty(size);
        (0..size).for_each(|n| bits.set(n));
        bits
    }
    fn set(&mut self, n: usize) {
        self.0[n / 64] |= 1 << (n % 64);
    }
    fn clear(&mut self, n: usize) {
        self.0[n / 64] &= !(1 << (n % 64));
    }
    fn keep(&mut self, other: &Bits) {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a &= b);
    }
    fn count(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }
    fn first(&self) -> Option<usize> {
        let word = self.0.iter().position(|word| *word != 0)?;
        Some(word * 64 + self.0[word].trailing_zeros() as usize)
    }
    fn each(&self, mut with: impl FnMut(usize)) {
        for (index, word) in self.0.iter().enumerate() {
            let mut word = *word;
            while word != 0 {
                with(index * 64 + word.trailing_zeros() as usize);
                word &= word - 1;
            }
        }
    }
}
