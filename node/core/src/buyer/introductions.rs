//! What the nodes of an order's leases have said of themselves, and were told of one another.
//! Kept in memory alone: after a restart all are asked again.

use super::guests::Guests;
use super::relays::Relays;
use super::setup::{self, Setup};
use super::tasks::Tasks;
use crate::agent::Phase;
use crate::cluster::{Card, Member, OWNER};
use crate::presence::{Presence, Reach};
use gridbay_protocol::ids::LeaseId;
use gridbay_protocol::keys::PublicKey;
use std::collections::BTreeMap;

/// Milliseconds after which a node is told again although nothing has changed.
pub(super) const AGAIN_MS: u64 = 10_000;
/// Milliseconds after which a node that did not answer, or refused, is told again.
pub(super) const RETRY_MS: u64 = 500;

/// Milliseconds between two tellings of one node at first, at the least and for each member, and at
/// the most: cards that change all the time must not make the others hear of it all the time, and
/// what is told of many members takes its time.
const PAUSE_MS: u64 = 100;
const PAUSE_EACH_MS: u64 = 15;
const PAUSE_MOST_MS: u64 = 5_000;
/// Milliseconds for which a node that knows more than half of those who are known by now waits for
/// the others, as long as somebody is missing: a telling each time that one more appears would keep
/// a large lease busy with tellings.
const GROWING_MS: u64 = 1_000;
/// Tellings after which the pauses grow: the members of a large lease appear one after another.
const BRISK: u32 = 16;

/// Pairs of the largest lease that are looked at for each millisecond until the next look, which
/// answers of members could else call for as often as they like; and the longest pause.
const LOOK_PAIRS: u64 = 100;
const LOOK_MOST_MS: u64 = 1_000;

/// A node of a lease.
type Place = (LeaseId, PublicKey);

/// The cards of the nodes of an order's leases, and the last word to each.
#[derive(Clone, Debug, Default)]
pub struct Introductions {
    /// Whether the user wants this node to be a member, or not; else that follows from the job.
    pub(super) wanted: Option<bool>,
    /// This node, while it is to be a member.
    pub(super) owner: Option<PublicKey>,
    /// The nodes of users whom the owner admits.
    pub(super) guests: Guests,
    pub(super) cards: BTreeMap<Place, Card>,
    pub(super) told: BTreeMap<Place, Told>,
    heard: BTreeMap<Place, setup::Told>,
    /// When each lease was first seen, and whether its set-up is written down.
    begun: BTreeMap<LeaseId, (u64, bool)>,
    /// Nobody is told anything before.
    look_from_ms: u64,
}

/// What a node was told last.
#[derive(Clone, Debug)]
pub(super) struct Told {
    pub(super) ranks: Vec<u32>,
    pub(super) others: Vec<Member>,
    /// Whether its answer came.
    pub(super) heard: bool,
    /// It is not asked before.
    pub(super) until_ms: u64,
    at_ms: u64,
    /// Nor told anything new for as long.
    pause_ms: u64,
    /// Tellings without a long rest between them.
    count: u32,
}

impl Told {
    /// A node is told something. After some tellings the pause is twice as long as the one before,
    /// unless it has heard nothing new for as long as [`AGAIN_MS`].
    pub(super) fn now(
        last: Option<Told>,
        ranks: &[u32],
        others: &[Member],
        now_ms: u64,
        until_ms: u64,
    ) -> Told {
        let last = last.filter(|last| now_ms < last.rests_until_ms() + AGAIN_MS);
        let brisk = PAUSE_MS.max(PAUSE_EACH_MS * others.len() as u64);
        let (pause_ms, count) = match last {
            None => (brisk, 1),
            Some(last) if last.count < BRISK => (brisk, last.count + 1),
            Some(last) => ((last.pause_ms * 2).min(PAUSE_MOST_MS), last.count),
        };
        Told {
            ranks: ranks.to_vec(),
            others: others.to_vec(),
            heard: false,
            until_ms,
            at_ms: now_ms,
            pause_ms,
            count,
        }
    }
}

impl Told {
    fn rests_until_ms(&self) -> u64 {
        self.at_ms + self.pause_ms
    }
}

/// What one member told last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reached<'a> {
    /// Its node.
    pub node: PublicKey,
    /// Its ranks.
    pub ranks: Vec<u32>,
    /// How it reaches the others.
    pub reach: &'a [Reach],
    /// Bytes per second sent to each of them, between its last two answers.
    pub rates: &'a [Option<u64>],
}

/// The ranks that run on each node of each lease.
type Members = BTreeMap<LeaseId, BTreeMap<PublicKey, Vec<u32>>>;

fn members(tasks: &Tasks, guests: Option<&Guests>, owner: Option<PublicKey>) -> Members {
    let mut members = Members::new();
    let runs = tasks.runs.values();
    for run in runs.filter(|r| r.accepted && !matches!(r.phase, Phase::Ended { .. })) {
        let nodes = members.entry(run.job.lease).or_default();
        nodes.entry(run.node).or_default().push(run.job.task);
    }
    for (lease, nodes) in &mut members {
        for (guest, rank) in guests.iter().flat_map(|all| all.of(*lease)) {
            nodes.entry(guest).or_default().push(rank);
        }
        if let Some(owner) = owner {
            nodes.entry(owner).or_default().push(OWNER);
        }
    }
    members
}

impl Introductions {
    /// What to tell which node now. Once everybody's card is there nobody waits to be told of it.
    pub(super) fn due(
        &mut self,
        tasks: &Tasks,
        relays: &Relays,
        now_ms: u64,
    ) -> Vec<(Place, Vec<u32>, Vec<Member>)> {
        if now_ms < self.look_from_ms {
            return Vec::new();
        }
        for run in tasks.runs.values() {
            self.begun.entry(run.job.lease).or_insert((now_ms, false));
        }
        let lives = |lease: &LeaseId| tasks.runs.values().any(|r| r.job.lease == *lease);
        self.begun.retain(|lease, _| lives(lease));
        self.guests.lapse(now_ms);
        let members = members(tasks, Some(&self.guests), self.owner);
        let is_member = |(lease, node): &Place| {
            let nodes = members.get(lease);
            nodes.is_some_and(|nodes| nodes.contains_key(node))
        };
        self.cards.retain(|place, _| is_member(place));
        self.told.retain(|place, _| is_member(place));
        self.heard.retain(|place, _| is_member(place));
        let mut due = Vec::new();
        for (lease, nodes) in &members {
            let mut runs = tasks.runs.values().filter(|run| run.job.lease == *lease);
            let all_run = runs.all(|run| run.accepted);
            let has_card = |node: &PublicKey| self.cards.contains_key(&(*lease, *node));
            let known = nodes.keys().filter(|node| has_card(node)).count();
            for (node, ranks) in nodes {
                let told = self.told.get(&(*lease, *node));
                let known = known - usize::from(has_card(node));
                let rests = told.is_some_and(|t| now_ms < t.until_ms);
                let asking = told.is_some_and(|t| !t.heard);
                let knew_all = told.is_none_or(|t| t.others.len() + 1 >= nodes.len());
                let knows_all = all_run && known + 1 == nodes.len();
                let knows_half = told
                    .is_some_and(|t| t.others.len() * 2 > known && now_ms < t.at_ms + GROWING_MS);
                let rested = told.is_none_or(|t| now_ms >= t.rests_until_ms());
                let paused = match knows_all {
                    true => !rested && knew_all,
                    false => !rested || knows_half,
                };
                if paused || rests && asking {
                    continue;
                }
                let others = self.others(*lease, nodes, node, relays);
                let same = told.is_some_and(|t| t.heard && t.ranks == *ranks && t.others == others);
                if !(rests && same) {
                    due.push(((*lease, *node), ranks.clone(), others));
                }
            }
        }
        let most = members.values().map(BTreeMap::len).max().unwrap_or(0) as u64;
        self.look_from_ms = now_ms + (most * most / LOOK_PAIRS).min(LOOK_MOST_MS);
        due
    }

    /// A node has answered. Returns how the network of its lease came to stand, if it does now for
    /// the first time.
    pub(super) fn hear(
        &mut self,
        tasks: &Tasks,
        place: Place,
        presence: Presence,
        now_ms: u64,
    ) -> Option<Setup> {
        let heard = setup::Told::now(self.heard.get(&place), presence.reach, now_ms);
        self.heard.insert(place, heard);
        self.cards.insert(place, presence.card);
        let lease = place.0;
        // Guests come and go; the network stands without them.
        let members = members(tasks, None, self.owner).remove(&lease)?;
        let lowest = |(node, ranks): (&PublicKey, &Vec<u32>)| Some((*node, *ranks.first()?));
        let lowest: BTreeMap<_, _> = members.iter().filter_map(lowest).collect();
        let heard = |node: &PublicKey| self.heard.get(&(lease, *node));
        let reaches = heard(&place.1).and_then(|h| setup::reached_ms(&lowest, &place.1, h));
        let told = self.told.get_mut(&place)?;
        told.heard = true;
        // One that misses somebody is soon asked again whether it still does.
        told.until_ms = match reaches {
            Some(_) => now_ms + AGAIN_MS,
            None => told.rests_until_ms(),
        };
        let runs = tasks.runs.values().filter(|r| r.job.lease == lease);
        let starting = runs.filter(|r| !r.accepted).count();
        let (begun_ms, written) = self.begun.get_mut(&lease)?;
        // All pairs are looked at only while it can matter.
        if *written || starting > 0 || reaches.is_none() {
            return None;
        }
        let told = |node: &PublicKey| self.heard.get(&(lease, *node));
        let done_ms = setup::complete_ms(&lowest, told)?;
        *written = true;
        Some(Setup {
            lease,
            members: lowest.len() as u32,
            ms: done_ms.saturating_sub(*begun_ms),
        })
    }

    /// What the members of a lease told last.
    pub fn reached(&self, lease: &LeaseId) -> Vec<Reached<'_>> {
        let mut all = Vec::new();
        for (place, heard) in self.heard.iter().filter(|(place, _)| place.0 == *lease) {
            let told = self.told.get(place);
            all.push(Reached {
                node: place.1,
                ranks: told.map(|t| t.ranks.clone()).unwrap_or_default(),
                reach: &heard.reach,
                rates: &heard.rates,
            });
        }
        all
    }

    /// The leases in which this node is a member.
    pub(super) fn owned(&self, tasks: &Tasks) -> Vec<LeaseId> {
        let all = self.owner.map(|_| members(tasks, None, None));
        all.unwrap_or_default().into_keys().collect()
    }

    /// The nodes that are known to be in the networks, ascending.
    pub(super) fn members(&self) -> Vec<Place> {
        self.cards.keys().copied().collect()
    }

    /// Whether a card bears the key of another node of the lease: one of them has copied it.
    pub(super) fn is_anothers(&self, place: Place, card: &Card) -> bool {
        let mut others = self
            .cards
            .iter()
            .filter(|(of, _)| of.0 == place.0 && **of != place);
        others.any(|(_, other)| other.public == card.public)
    }

    /// The nodes beside `node` whose cards are known.
    fn others(
        &self,
        lease: LeaseId,
        nodes: &BTreeMap<PublicKey, Vec<u32>>,
        node: &PublicKey,
        relays: &Relays,
    ) -> Vec<Member> {
        let others = nodes.iter().filter(|(other, _)| *other != node);
        let member = |(other, ranks): (&PublicKey, &Vec<u32>)| {
            let card = self.cards.get(&(lease, *other))?.clone();
            Some(Member {
                node: *other,
                ranks: ranks.clone(),
                card,
                relays: relays.ways(lease, node, other),
            })
        };
        others.filter_map(member).collect()
    }
}
