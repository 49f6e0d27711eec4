//! The streams that stand, and their part in the ways of pairs.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use gridbay_protocol::keys::PublicKey;
use tokio::sync::oneshot;

use super::book::{Book, Pair};
use super::pass::{MUTE, OPENED, Pass, Refusal, UNUSED};
use super::pump::Activity;
use crate::cluster::{Clusters, Inner};

/// How old a stream may be for another one to count as opened at the same time.
const CROSSED: Duration = Duration::from_secs(10);

/// All of them, with those that are wanted.
#[derive(Default)]
pub(in crate::cluster) struct Streams {
    open: BTreeMap<PublicKey, Open>,
    book: Book,
    number: u64,
    pub(super) refused: BTreeMap<Refusal, u64>,
}

/// Where a stream's proxy is, why it may be, and whether this node opened it.
pub(super) struct Place {
    pub(super) at: SocketAddr,
    pub(super) pass: Pass,
    pub(super) own: bool,
}

struct Open {
    number: u64,
    place: Place,
    since: Instant,
    /// When a way last led over it.
    led: Instant,
    activity: Activity,
    /// Dropping it ends the stream.
    _end: oneshot::Sender<()>,
}

impl Open {
    /// Whether a member that opened it has been silent for long. To a relay's ends it is the pair
    /// that speaks, now and then: theirs end with the grant.
    fn is_mute(&self, now: Instant) -> bool {
        matches!(self.place.pass, Pass::Member(_)) && now >= self.activity.heard() + MUTE
    }
}

impl Streams {
    /// Whether none is open.
    pub(in crate::cluster) fn are_none(&self) -> bool {
        self.open.is_empty()
    }

    /// Those that peers opened: whose each is, why it may be, and since when.
    pub(super) fn let_in(&self) -> impl Iterator<Item = (&PublicKey, &Pass, Instant)> {
        let theirs = self.open.iter().filter(|(_, open)| !open.place.own);
        theirs.map(|(peer, open)| (peer, &open.place.pass, open.since))
    }

    /// The proxy that leads to a peer.
    pub(in crate::cluster) fn at(&self, peer: &PublicKey) -> Option<SocketAddr> {
        self.open.get(peer).map(|open| open.place.at)
    }
}

impl Clusters {
    /// Ends streams that are of no use, or that may not be any more; the streams that are to be
    /// asked for now, at most `room`.
    pub(super) fn streams_due(&self, now: Instant, room: usize) -> Vec<(PublicKey, Pass)> {
        let mut inner = self.lock();
        let (pairs, ways) = inner.pairs();
        for open in inner.streams.open.values_mut() {
            if ways.contains(&open.place.at) {
                open.led = now;
            }
        }
        let by = |pair: &Pair| {
            let relays = pair.relays.iter().map(|(relay, _)| *relay);
            relays.chain([pair.node]).collect::<Vec<_>>()
        };
        let wanted: BTreeSet<PublicKey> = pairs.iter().flat_map(by).collect();
        let over = |(peer, open): (&PublicKey, &Open)| {
            let Place { own, pass, .. } = &open.place;
            let unused = || now >= open.led.max(open.activity.last()) + UNUSED;
            let over = match own {
                // However much the other end says: it is a member no longer.
                true => !wanted.contains(peer) || unused(),
                false => !inner.lets_in(peer, pass) || open.is_mute(now),
            };
            over.then_some(*peer)
        };
        let over: Vec<PublicKey> = inner.streams.open.iter().filter_map(over).collect();
        for peer in over {
            inner.streams.open.remove(&peer);
            inner.refresh(&peer);
        }
        let dark = inner.engine.as_ref().is_some_and(|e| e.is_dark());
        let Streams { open, book, .. } = &mut inner.streams;
        let own = open.values().filter(|open| open.place.own).count();
        let room = room.min(OPENED.saturating_sub(own));
        book.due(&pairs, |peer| open.contains_key(peer), dark, room, now)
    }

    /// What was asked for stands, or does not.
    pub(super) fn stream_asked(&self, to: &PublicKey, stands: bool, now: Instant) {
        self.lock().streams.book.answered(to, stands, now);
    }

    /// Enters a stream as a way to a peer; none if the two ends keep another one.
    pub(super) fn enter_stream(
        &self,
        me: &PublicKey,
        peer: PublicKey,
        place: Place,
    ) -> Option<(u64, Activity, oneshot::Receiver<()>)> {
        let now = Instant::now();
        let mut inner = self.lock();
        let gives_way = match place.own {
            true => None,
            // Others may have entered since this one was admitted.
            false => inner.admits(&peer, &place.pass).ok()?,
        };
        let streams = &mut inner.streams;
        if let Some(other) = streams.open.get(&peer) {
            let crossed = other.place.own != place.own && now < other.since + CROSSED;
            let lower = place.own == (*me < peer);
            if crossed && !lower {
                return None;
            }
        }
        // A ticket is of one node.
        let again = |(of, open): (&PublicKey, &Open)| {
            let relay = matches!(place.pass, Pass::Relay(_)) && !place.own && !open.place.own;
            (relay && *of != peer && open.place.pass == place.pass).then_some(*of)
        };
        let gone = streams.open.iter().filter_map(again).chain(gives_way);
        let gone: Vec<PublicKey> = gone.collect();
        gone.iter().for_each(|peer| drop(streams.open.remove(peer)));
        streams.number += 1;
        let (number, activity) = (streams.number, Activity::new(now));
        let (end, ended) = oneshot::channel();
        let open = Open {
            number,
            place,
            since: now,
            led: now,
            activity: activity.clone(),
            _end: end,
        };
        streams.open.insert(peer, open);
        for peer in gone.iter().chain([&peer]) {
            inner.refresh(peer);
        }
        Some((number, activity, ended))
    }

    /// A stream ended.
    pub(super) fn end_stream(&self, peer: &PublicKey, number: u64) {
        let mut inner = self.lock();
        let known = inner.streams.open.get(peer);
        if known.is_some_and(|open| open.number == number) {
            inner.streams.open.remove(peer);
            inner.refresh(peer);
        }
    }

    /// How many there are now.
    #[cfg(test)]
    pub(super) fn streams_open(&self) -> usize {
        self.lock().streams.open.len()
    }
}

impl Inner {
    /// All pairs as they are, and the places that ways in use lead to.
    fn pairs(&self) -> (Vec<Pair>, BTreeSet<SocketAddr>) {
        let (mut pairs, mut ways) = (Vec::new(), BTreeSet::new());
        let Some(engine) = &self.engine else {
            return (pairs, ways);
        };
        for (lease, own) in &self.open {
            let Ok(status) = engine.status(lease) else {
                continue;
            };
            let paths = status.pairs.iter().filter_map(|pair| pair.path);
            ways.extend(paths.map(|path| path.via.at));
            for member in &own.members {
                let public = member.card.public;
                let pair = status.pairs.iter().find(|pair| pair.public == public);
                let relays = member.relays.iter().map(|way| (way.node, way.ticket));
                let mut relays: Vec<_> = relays.collect();
                // Those of one relay stand beside one another.
                relays.dedup();
                pairs.push(Pair {
                    lease: *lease,
                    node: member.node,
                    has_way: pair.is_none_or(|pair| pair.path.is_some()),
                    relays,
                });
            }
        }
        (pairs, ways)
    }

    /// Tells the data plane of the ways to a peer, and by it, in all networks.
    fn refresh(&mut self, peer: &PublicKey) {
        let Some(engine) = &self.engine else {
            return;
        };
        for (lease, own) in &self.open {
            let mut members = own.members.iter();
            let leads = members
                .any(|m| m.node == *peer || m.relays.iter().any(|relay| relay.node == *peer));
            if leads && let Err(error) = engine.set_members(lease, &self.members_of(&own.members)) {
                tracing::warn!(%lease, %error, "ways are as they were");
            }
        }
    }
}
