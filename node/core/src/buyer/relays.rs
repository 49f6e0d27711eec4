//! What a buyer's node knows of the ways between members of its leases' networks, and of the relays
//! that carry for pairs which have none. Kept in memory alone.

use super::source::Source;
use crate::cluster::{RelayWay, VIAS};
use crate::relay::{ByRelay, Carried, Link, Links, PAIRS, Signed, Ticket, Wish};
use gridbay_protocol::ids::LeaseId;
use gridbay_protocol::keys::PublicKey;
use std::collections::{BTreeMap, BTreeSet};

/// Milliseconds for which both ends say that they have no way before it counts: what is begun needs
/// some time to find one.
const NEED_MS: u64 = 3_000;
/// Milliseconds for which a pair has its relays although it needs none any more.
const HOLD_MS: u64 = 30_000;
/// Milliseconds for which a member's word counts.
const FRESH_MS: u64 = 8_000;
/// Milliseconds between two looks at all pairs, of which a large lease has many.
const PACE_MS: u64 = 200;
/// Milliseconds that a relay has before it must carry.
const JUDGE_MS: u64 = 12_000;
/// Milliseconds for which a node that failed as a relay is not asked again.
const REST_MS: u64 = 60_000;
/// Wishes in a row without a good answer after which a relay is given up, or another one leased
/// beside it.
const FAILURES: u32 = 2;
/// Places of one relay that members are told.
const PLACES_TOLD: usize = VIAS / 2;

/// A node of a lease.
pub(super) type Place = (LeaseId, PublicKey);
/// Two nodes, the lower key first.
pub type Ends = [PublicKey; 2];

pub(super) fn ends(one: PublicKey, other: PublicKey) -> Ends {
    [one.min(other), one.max(other)]
}

/// A member's last word on its ways.
#[derive(Clone, Debug, Default)]
struct Heard {
    said: Option<Signed<Links>>,
    at_ms: u64,
    ask_from_ms: u64,
    /// The relays by which something ever came.
    came: BTreeSet<Ticket>,
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Relays {
    heard: BTreeMap<Place, Heard>,
    judge_from_ms: u64,
    /// Since when pairs have no way by the word of both ends.
    lacking: BTreeMap<(LeaseId, Ends), u64>,
    /// Pairs that have relays, and until when at the least.
    kept: BTreeMap<(LeaseId, Ends), u64>,
    pub(super) sources: Vec<Source>,
    rests: BTreeMap<PublicKey, u64>,
    /// Nodes that claimed to carry and did not, and whether no single member can have made it look
    /// so.
    accused: BTreeMap<PublicKey, bool>,
    /// No relay is leased before.
    pub(super) lease_from_ms: u64,
    /// When a pair was last in need of a relay.
    pub(super) needed_ms: u64,
}

/// A wish that is on its way.
#[derive(Clone, Debug)]
pub(super) struct Wished {
    pub(super) wish: Wish,
    pub(super) pairs: Vec<Ends>,
}

/// What the two ends of a pair say of a relay, and it of itself.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Carries,
    /// Neither end hears anything, and the relay says that both send.
    Claims,
    /// Neither end hears anything, and they have no other way.
    Deaf,
    Unknown,
}

/// Whether one member, other than this node, is an end of all pairs for which a relay does not
/// carry: it may answer no probe, and send what is none, so that the relay looks like a liar.
fn may_be_a_member(failing: &[(Ends, Verdict)], own: Option<PublicKey>) -> bool {
    let first = failing.first().map(|(pair, _)| *pair);
    let mut suspects = first.iter().flatten().filter(|node| Some(**node) != own);
    suspects.any(|node| failing.iter().all(|(pair, _)| pair.contains(node)))
}

impl Relays {
    /// The relays that carry, or are asked to.
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }
    /// What a member said last of its ways to the others.
    pub fn links(&self, lease: &LeaseId, node: &PublicKey) -> Option<&[Link]> {
        let said = self.heard.get(&(*lease, *node))?.said.as_ref()?;
        Some(&said.said.links)
    }

    /// The relay by which a member sends to another now, by its own word.
    pub fn used(&self, lease: &LeaseId, from: &PublicKey, to: &PublicKey) -> Option<PublicKey> {
        let link = self
            .links(lease, from)?
            .iter()
            .find(|link| link.node == *to)?;
        let ticket = link.relayed.iter().find(|by| by.used)?.ticket;
        let pair = ends(*from, *to);
        let gave = |s: &&Source| s.carries == *lease && s.tickets(&pair).ends().contains(&ticket);
        self.sources.iter().find(gave).map(|source| source.node)
    }

    /// The members that are to be asked for their ways now, each of those named.
    pub(super) fn due(&mut self, members: &[Place], now_ms: u64, every_ms: u64) -> Vec<Place> {
        self.heard.retain(|place, _| members.contains(place));
        let mut due = Vec::new();
        for place in members {
            let heard = self.heard.entry(*place).or_default();
            if heard.ask_from_ms <= now_ms {
                heard.ask_from_ms = now_ms + every_ms;
                due.push(*place);
            }
        }
        due
    }

    /// A member answered; the word was checked.
    pub(super) fn hear(&mut self, place: Place, said: Signed<Links>, now_ms: u64) {
        let Some(heard) = self.heard.get_mut(&place) else {
            return;
        };
        let by_relays = said.said.links.iter().flat_map(|link| &link.relayed);
        let came = by_relays
            .filter(|by| by.answers || by.received > 0 || heard.came.contains(&by.ticket))
            .map(|by| by.ticket);
        heard.came = came.collect();
        (heard.said, heard.at_ms) = (Some(said), now_ms);
    }

    fn link(&self, lease: LeaseId, from: &PublicKey, to: &PublicKey, now_ms: u64) -> Option<&Link> {
        let heard = self.heard.get(&(lease, *from))?;
        let links = &heard.said.as_ref()?.said.links;
        let fresh = now_ms < heard.at_ms + FRESH_MS;
        // Ascending, by the check of the word.
        let found = links.binary_search_by_key(to, |link| link.node);
        found.ok().filter(|_| fresh).and_then(|at| links.get(at))
    }

    /// Both ends' words on a pair.
    fn links_of(&self, lease: LeaseId, pair: &Ends, now_ms: u64) -> Option<[&Link; 2]> {
        let [low, high] = pair;
        let first = self.link(lease, low, high, now_ms)?;
        Some([first, self.link(lease, high, low, now_ms)?])
    }

    /// Finds out which pairs need relays. One member's word alone moves nothing.
    pub(super) fn judge_pairs(&mut self, now_ms: u64) {
        if now_ms < self.judge_from_ms {
            return;
        }
        self.judge_from_ms = now_ms + PACE_MS;
        let places: Vec<Place> = self.heard.keys().copied().collect();
        for (at, (lease, low)) in places.iter().enumerate() {
            let others = places[at + 1..].iter().take_while(|(of, _)| of == lease);
            for (_, high) in others {
                let key = (*lease, [*low, *high]);
                let Some(links) = self.links_of(*lease, &key.1, now_ms) else {
                    continue;
                };
                let lacks = links.iter().all(|link| !link.reached);
                let uses = match self.kept.contains_key(&key) {
                    // Ways back and forth may differ; the ticket is one that it was given.
                    true => self
                        .used(lease, low, high)
                        .or(self.used(lease, high, low))
                        .is_some(),
                    // This node may have been away, and have forgotten.
                    false => links.iter().all(|l| l.relayed.iter().any(|by| by.used)),
                };
                let since = match lacks {
                    true => Some(*self.lacking.entry(key).or_insert(now_ms)),
                    false => self.lacking.remove(&key).and(None),
                };
                let waited = since.is_some_and(|since| now_ms >= since + NEED_MS);
                if waited || uses {
                    self.needed_ms = now_ms;
                    self.kept.insert(key, now_ms + HOLD_MS);
                }
            }
        }
        let is_member = |(lease, pair): &(LeaseId, Ends)| {
            pair.iter()
                .all(|node| self.heard.contains_key(&(*lease, *node)))
        };
        self.lacking.retain(|key, _| is_member(key));
        self.kept
            .retain(|key, until| is_member(key) && now_ms < *until);
    }

    /// Leases of which some pair has relays.
    pub(super) fn needy(&self) -> BTreeSet<LeaseId> {
        self.kept.keys().map(|(lease, _)| *lease).collect()
    }

    /// The pairs that a relay is to carry for: all but its own node's.
    pub(super) fn pairs(&self, carries: &LeaseId, relay: &PublicKey) -> Vec<Ends> {
        let all = self.kept.keys().filter(|(lease, _)| lease == carries);
        let all = all.map(|(_, pair)| *pair).filter(|p| !p.contains(relay));
        all.take(PAIRS).collect()
    }

    /// Whether there are such pairs.
    pub(super) fn serves(&self, carries: &LeaseId, relay: &PublicKey) -> bool {
        let mut all = self.kept.keys().filter(|(lease, _)| lease == carries);
        all.any(|(_, pair)| !pair.contains(relay))
    }

    /// Whether a pair of a lease has no way and no relay that carries for it.
    pub(super) fn is_short(&self, carries: &LeaseId) -> bool {
        let mut pairs = self.kept.keys().filter(|(lease, _)| lease == carries);
        pairs.any(|(_, pair)| {
            let by = |s: &Source| s.carries == *carries && s.carries() && s.bytes(pair).is_some();
            !self.sources.iter().any(by)
        })
    }

    /// Whether a node may be asked to carry now.
    pub(super) fn may_ask(&self, node: &PublicKey, now_ms: u64) -> bool {
        let rests = self.rests.get(node).is_some_and(|until| now_ms < *until);
        !rests && !self.is_accused(node)
    }
    /// Whether a node claimed to carry and did not.
    pub fn is_accused(&self, node: &PublicKey) -> bool {
        self.accused.contains_key(node)
    }
    /// Whether it is to be complained of for that.
    pub fn is_guilty(&self, node: &PublicKey) -> bool {
        self.accused.get(node).is_some_and(|guilty| *guilty)
    }
    /// The relays that a lease pays.
    fn paid_by(&self, lease: &LeaseId) -> impl Iterator<Item = &Source> {
        let by = move |s: &&Source| s.paid_by.is_some_and(|(paid, _)| paid == *lease);
        self.sources.iter().filter(by)
    }
    /// Whether a leased relay did not answer its last wish well.
    pub(super) fn is_silent(&self, paid_by: &LeaseId) -> bool {
        self.paid_by(paid_by).any(|source| source.failures > 0)
    }
    /// Whether it has failed for so long that another one takes its place.
    pub(super) fn has_failed(&self, paid_by: &LeaseId) -> bool {
        let mut all = self.paid_by(paid_by);
        all.any(|s| s.failures >= FAILURES || s.deaf)
    }
    /// Whether it carries.
    pub(super) fn pays_off(&self, paid_by: &LeaseId) -> bool {
        self.paid_by(paid_by).any(Source::carries)
    }
    /// Whether a node does not carry as it should.
    pub(super) fn fails_at(&self, node: &PublicKey) -> bool {
        let mut theirs = self.sources.iter().filter(|s| s.node == *node);
        self.is_accused(node) || theirs.any(Source::fails)
    }

    /// A relay answered a wish, or did not; the word was checked.
    pub(super) fn answered(
        &mut self,
        source: (LeaseId, PublicKey, Option<LeaseId>),
        answer: Option<(Vec<Ends>, Signed<Carried>)>,
        next_ms: u64,
        now_ms: u64,
    ) {
        let (carries, node, paid) = source;
        let known = self
            .sources
            .iter_mut()
            .find(|s| s.is(&carries, &node, paid));
        let Some(source) = known else {
            return;
        };
        (source.asking, source.ask_from_ms) = (false, next_ms);
        match answer {
            Some(answer) => {
                if source.answer.is_none() {
                    source.since_ms = now_ms;
                }
                (source.answer, source.failures) = (Some(answer), 0);
            }
            None => source.failures += 1,
        }
    }

    /// Gives up relays that nobody needs, that fail, or that claimed what is not so; `pays` says
    /// whether a lease still does. A leased one is kept until another one carries.
    pub(super) fn keep_sources(
        &mut self,
        own: Option<PublicKey>,
        now_ms: u64,
        pays: impl Fn(&LeaseId) -> bool,
    ) {
        let needed = |s: &&Source| self.serves(&s.carries, &s.node);
        let needed = self.sources.iter().filter(needed);
        let needed: BTreeSet<_> = needed.map(|s| (s.carries, s.node)).collect();
        let failing: Vec<_> = { self.sources.iter() }
            .map(|source| self.failing(source, now_ms))
            .collect();
        for (source, failing) in self.sources.iter_mut().zip(failing) {
            source.deaf = !failing.is_empty();
            if failing.iter().any(|(_, v)| *v == Verdict::Claims) {
                let node = source.node;
                let guilty = self.accused.entry(node).or_insert_with(|| {
                    tracing::warn!(%node, "a relay claims to carry what neither end has heard");
                    false
                });
                *guilty |= !may_be_a_member(&failing, own);
            }
        }
        let mut gone = Vec::new();
        let accused = &self.accused;
        self.sources.retain(|s| {
            let failed = s.failures >= FAILURES;
            // A free one that carries nothing gives its place to another.
            let empty = s.paid_by.is_none() && s.answer.is_some() && !s.carries();
            if failed || empty {
                gone.push(s.node);
            }
            let paid = s.paid_by.is_none_or(|(lease, _)| pays(&lease));
            needed.contains(&(s.carries, s.node))
                && paid
                && !(failed && s.paid_by.is_none())
                && !empty
                && (s.paid_by.is_some() || !accused.contains_key(&s.node))
        });
        self.rests.retain(|_, until| now_ms < *until);
        self.rests
            .extend(gone.into_iter().map(|node| (node, now_ms + REST_MS)));
    }

    /// The pairs for which a relay does not carry although they need it, or it says that it does;
    /// none if it carries for some pair, or had no time yet.
    fn failing(&self, source: &Source, now_ms: u64) -> Vec<(Ends, Verdict)> {
        if source.answer.is_none() || now_ms < source.since_ms + JUDGE_MS {
            return Vec::new();
        }
        let pairs = source.answer.iter().flat_map(|(pairs, _)| pairs);
        let mut verdicts: Vec<_> = pairs
            .map(|pair| (*pair, self.verdict(source, pair, now_ms)))
            .collect();
        if verdicts.iter().any(|(_, v)| *v == Verdict::Carries) {
            return Vec::new();
        }
        verdicts.retain(|(_, v)| matches!(v, Verdict::Claims | Verdict::Deaf));
        verdicts
    }

    fn verdict(&self, source: &Source, pair: &Ends, now_ms: u64) -> Verdict {
        let links = self.links_of(source.carries, pair, now_ms);
        let (Some(links), Some(said)) = (links, source.bytes(pair)) else {
            return Verdict::Unknown;
        };
        let tickets = source.tickets(pair).ends();
        let count = |end: usize| -> Option<&ByRelay> {
            let mut all = links[end].relayed.iter();
            all.find(|by| by.ticket == tickets[end])
        };
        // An end that was not told of the relay yet says nothing of it.
        let (Some(low), Some(high)) = (count(0), count(1)) else {
            return Verdict::Unknown;
        };
        let ever = [0, 1].iter().any(|end: &usize| {
            let heard = self.heard.get(&(source.carries, pair[*end]));
            heard.is_some_and(|heard| heard.came.contains(&tickets[*end]))
        });
        if low.answers || high.answers {
            Verdict::Carries
        } else if !ever && said.iter().all(|bytes| *bytes > 0) {
            Verdict::Claims
        } else if links.iter().all(|link| !link.reached) {
            // Also one that carried once.
            Verdict::Deaf
        } else if ever {
            Verdict::Carries
        } else {
            Verdict::Unknown
        }
    }

    /// The relays by which a member may reach another.
    pub(super) fn ways(&self, lease: LeaseId, from: &PublicKey, to: &PublicKey) -> Vec<RelayWay> {
        let pair = ends(*from, *to);
        let mut ways = Vec::new();
        let stands = |s: &&Source| s.carries == lease && s.bytes(&pair).is_some();
        for source in self.sources.iter().filter(stands) {
            let ticket = source.tickets(&pair).ends()[usize::from(pair[1] == *from)];
            let places = source.answer.iter().flat_map(|(_, a)| &a.said.places);
            ways.extend(places.take(PLACES_TOLD).map(|place| RelayWay {
                node: source.node,
                place: place.clone(),
                ticket,
            }));
        }
        ways.truncate(VIAS);
        ways
    }
}
