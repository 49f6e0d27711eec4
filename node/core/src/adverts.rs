//! Adverts: this node's gossip about its offers and itself, and the adverts heard from others.
//!
//! An advert is soft state: it expires by height, a newer one of the same node replaces it, and
//! losing all of them costs nothing but hints. Only its offer on the ledger binds a seller, so an
//! advert is not kept if the ledger does not know its signer, or the signer lacks the right to
//! operate.
//!
//! A node gossips its advert at once when its offers change; within `FREE_HEIGHTS` when only their
//! free units do, which every node's ledger tells as well, so that the sellers of a large lease do
//! not all speak at the moment at which it is set up; after `ABOUT_HEIGHTS` at the earliest when
//! only its statements about itself change; and anyhow every `REPEAT_HEIGHTS`. `rate` bounds how
//! often, also for others' adverts.
//!
//! A node that passes on rejected adverts loses the peers that reject them. So a node rejects only
//! adverts that no state of the ledger can make good: a node that is a block ahead, or behind,
//! judges all others differently in good faith.

mod known;
mod rate;

pub use known::{ADVERTS, ADVERTS_PER_ACCOUNT};
pub use rate::{AdvertRate, OF_ACCOUNT, OF_ALL, OF_NODE};

use gridbay_ledger::{Offer, State};
use gridbay_protocol::account::Roles;
use gridbay_protocol::advert::{Advert, AdvertLine, RoundTrip, SignedAdvert};
use gridbay_protocol::codec;
use gridbay_protocol::ids::{AccountId, OfferId};
use gridbay_protocol::keys::{PublicKey, SecretKey};
use gridbay_protocol::offer::offer_id;
use known::Known;
use rate::Passed;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Heights for which an advert counts.
const VALID_HEIGHTS: u64 = 480;
/// Heights after which an unchanged advert is gossiped again.
const REPEAT_HEIGHTS: u64 = 120;
/// Heights within which an advert is gossiped of which only the free units changed.
const FREE_HEIGHTS: u64 = 32;
/// Heights after which an advert is gossiped of which only the attributes or round trips changed.
const ABOUT_HEIGHTS: u64 = 30;

/// The verdict on a gossiped message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Valid and new: pass it on.
    Accept,
    /// Old, known, too much, or not to be judged at this height: drop it and blame nobody.
    Ignore,
    /// Bad whatever the ledger holds: no honest node sends this.
    Reject,
}

/// How an advert of another node came here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// By gossip: it is passed on if it is accepted, so the rates hold.
    Told,
    /// It answers a question of this node, which bounds how many come.
    Asked,
}

/// A node's statements about itself, beside its offers; within the limits of adverts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// `site`, `arch`, `os`, and what its owner adds under names that begin with `x.`.
    pub attributes: BTreeMap<String, String>,
    /// Round trips to landmarks, ascending by node.
    pub round_trips: Vec<RoundTrip>,
}

/// By seller and node: a seller can speak of another's node, but only in its own name.
type Place = (AccountId, PublicKey);

/// The adverts a node knows, and its own.
#[derive(Debug, Default)]
pub struct Adverts {
    known: Known,
    passed: Passed,
    about: About,
    own: Option<Arc<SignedAdvert>>,
    said_at: u64,
    /// Since when other units are free than it says.
    free_since: Option<u64>,
}

impl Adverts {
    /// Adverts that count at the state's height.
    pub fn live<'a>(&'a self, state: &State) -> impl Iterator<Item = &'a Advert> {
        self.kept(state).map(|signed| &signed.advert)
    }

    /// The same with their signatures, to share.
    pub fn kept<'a>(&'a self, state: &State) -> impl Iterator<Item = &'a Arc<SignedAdvert>> {
        let height = state.height();
        let all = self.known.iter();
        all.filter(move |signed| signed.advert.valid_until >= height)
    }

    /// At most `limit` adverts that count, in an order that does not change, after that of a place.
    pub fn page(&self, state: &State, after: Option<Place>, limit: usize) -> Vec<SignedAdvert> {
        let height = state.height();
        let rest = self.known.after(after);
        let live = rest.filter(|signed| signed.advert.valid_until >= height);
        live.take(limit).map(|s| s.as_ref().clone()).collect()
    }

    /// This node's own advert as it was last said, while it counts.
    pub fn own(&self, state: &State) -> Option<&SignedAdvert> {
        let own = self.own.as_deref();
        own.filter(|signed| signed.advert.valid_until >= state.height())
    }

    /// Sets this node's statements about itself from now on.
    pub fn set_about(&mut self, about: About) {
        self.about = about;
    }

    /// This node's round trips to landmarks, ascending by node.
    pub fn round_trips(&self) -> &[RoundTrip] {
        &self.about.round_trips
    }

    /// Judges an advert and keeps it if it is good and new, and within its author's rates if it was
    /// gossiped.
    pub fn hear(&mut self, state: &State, heard: Heard, now_ms: u64, bytes: &[u8]) -> Verdict {
        let Ok(signed) = SignedAdvert::receive(&state.network(), bytes) else {
            return Verdict::Reject;
        };
        let advert = &signed.advert;
        let height = state.height();
        let known = self
            .known
            .get(&(advert.account, advert.node))
            .map_or(0, |k| k.advert.sequence);
        let stale = advert.sequence <= known || advert.valid_until < height;
        let too_long = advert.valid_until > height + 2 * VALID_HEIGHTS;
        let Some(account) = state.account(&advert.account) else {
            return Verdict::Ignore;
        };
        let may = account
            .roles(&advert.key)
            .is_some_and(|r| r.contains(Roles::OPERATE));
        let place = (advert.account, advert.node);
        let told = heard == Heard::Told;
        if !may || stale || too_long || (told && !self.passed.may(&place, now_ms)) {
            return Verdict::Ignore;
        }
        let kept = self
            .known
            .insert(Arc::new(signed), height, |advert| sells(state, advert));
        if !kept {
            return Verdict::Ignore;
        }
        if told {
            self.passed.take(place, now_ms);
        }
        Verdict::Accept
    }

    /// This node's advert, if it is time to gossip it: it changed, or has not been said for long.
    pub fn say(
        &mut self,
        state: &State,
        account: AccountId,
        node: PublicKey,
        key: &SecretKey,
        now_ms: u64,
    ) -> Option<Vec<u8>> {
        let height = state.height();
        let lines = lines_of(state, account, node);
        let own = self.own.as_deref().map(|signed| &signed.advert);
        let offers = own.map_or(!lines.is_empty(), |own| !same_offers(&own.lines, &lines));
        let free = own.is_some_and(|own| own.lines != lines);
        self.free_since = free.then(|| self.free_since.unwrap_or(height));
        let told = { self.free_since }.is_some_and(|since| height >= since + turn(&node));
        let changed = offers || told;
        let about = &self.about;
        let other = own.is_none_or(|own| {
            own.attributes != about.attributes || own.round_trips != about.round_trips
        });
        let after = if other { ABOUT_HEIGHTS } else { REPEAT_HEIGHTS };
        let due = height >= self.said_at + after && !lines.is_empty();
        if !(changed || due) || !self.passed.may(&(account, node), now_ms) {
            return None;
        }
        self.passed.take((account, node), now_ms);
        let advert = Advert {
            account,
            key: key.public(),
            node,
            sequence: state.time_ms().max(own.map_or(0, |own| own.sequence + 1)),
            valid_until: height + VALID_HEIGHTS,
            lines,
            attributes: about.attributes.clone(),
            round_trips: about.round_trips.clone(),
            addresses: Vec::new(),
        };
        let signed = Arc::new(SignedAdvert::new(&state.network(), advert, key));
        self.own = Some(Arc::clone(&signed));
        self.said_at = height;
        self.free_since = None;
        let bytes = codec::encode(signed.as_ref());
        self.known
            .insert(signed, height, |advert| sells(state, advert));
        Some(bytes)
    }
}

/// Whether an advert names an offer that is on sale at its node.
pub(crate) fn sells(state: &State, advert: &Advert) -> bool {
    let mut lines = advert.lines.iter();
    lines.any(|line| on_sale(state, advert, &line.offer).is_some())
}

/// An offer that is on sale, by the account that speaks, at the node that it speaks of.
pub(crate) fn on_sale<'a>(state: &'a State, advert: &Advert, offer: &OfferId) -> Option<&'a Offer> {
    let offer = state.offer(offer).filter(|o| o.active)?;
    let theirs = offer.seller == advert.account && offer.terms.node == advert.node;
    theirs.then_some(offer)
}

fn lines_of(state: &State, account: AccountId, node: PublicKey) -> Vec<AdvertLine> {
    let mut lines: Vec<AdvertLine> = state
        .offers()
        .filter(|(_, o)| o.seller == account && o.terms.node == node && o.active)
        .map(|(id, o)| {
            debug_assert_eq!(*id, offer_id(&account, o.terms.label));
            AdvertLine {
                offer: *id,
                class: o.terms.class,
                free: state.occupancy(id).free(),
                price: o.terms.reserve,
            }
        })
        .collect();
    lines.sort_by_key(|line| line.offer);
    lines
}

/// Whether adverts are the same but for the units that are free.
fn same_offers(some: &[AdvertLine], others: &[AdvertLine]) -> bool {
    let terms = |line: &AdvertLine| (line.offer, line.class, line.price);
    some.iter().map(terms).eq(others.iter().map(terms))
}

/// A node's own share of [`FREE_HEIGHTS`].
fn turn(node: &PublicKey) -> u64 {
    u64::from(node.as_bytes()[31]) % FREE_HEIGHTS
}
