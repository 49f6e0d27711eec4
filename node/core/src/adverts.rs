//! Adverts: what this node gossips about its offers, and what it heard from others.
//!
//! An advert is soft state: it expires by height, a newer one of the same node replaces it, and losing all
//! of them costs nothing but hints. What binds a seller is its offer on the ledger, so an advert whose
//! signer is unknown to the ledger, or without the right to operate, is refused.

use gridbay_ledger::State;
use gridbay_protocol::account::Roles;
use gridbay_protocol::advert::{Advert, AdvertLine, SignedAdvert};
use gridbay_protocol::codec;
use gridbay_protocol::ids::AccountId;
use gridbay_protocol::keys::{PublicKey, SecretKey};
use gridbay_protocol::offer::offer_id;
use std::collections::BTreeMap;

/// Nodes whose adverts are kept at the most.
pub const ADVERTS: usize = 10_000;
/// Heights for which an advert counts.
const VALID_HEIGHTS: u64 = 480;
/// Heights after which an unchanged advert is gossiped again.
const REPEAT_HEIGHTS: u64 = 120;

/// What to do with a gossiped message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Valid and new: pass it on.
    Accept,
    /// Old, known, or not to be judged yet: drop it and blame nobody.
    Ignore,
    /// No honest node sends this.
    Reject,
}

/// The adverts a node knows, and its own.
#[derive(Debug, Default)]
pub struct Adverts {
    /// By seller and node: a seller can speak of a node that is not his, but only for himself.
    known: BTreeMap<(AccountId, PublicKey), SignedAdvert>,
    own: Option<Advert>,
    said_at: u64,
}

impl Adverts {
    /// Adverts that count at the state's height.
    pub fn live<'a>(&'a self, state: &State) -> impl Iterator<Item = &'a Advert> {
        let height = state.height();
        self.known
            .values()
            .map(|s| &s.advert)
            .filter(move |a| a.valid_until >= height)
    }

    /// Judges a gossiped advert and keeps it if it is good and new.
    pub fn hear(&mut self, state: &State, bytes: &[u8]) -> Verdict {
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
        if !may {
            return Verdict::Reject;
        }
        if stale || too_long {
            return Verdict::Ignore;
        }
        self.known.retain(|_, k| k.advert.valid_until >= height);
        if self.known.len() >= ADVERTS && !self.known.contains_key(&(advert.account, advert.node)) {
            return Verdict::Ignore;
        }
        self.known.insert((advert.account, advert.node), signed);
        Verdict::Accept
    }

    /// This node's advert, if it is time to gossip it: it changed, or has not been said for long.
    pub fn say(
        &mut self,
        state: &State,
        account: AccountId,
        node: PublicKey,
        key: &SecretKey,
    ) -> Option<Vec<u8>> {
        let height = state.height();
        let lines = lines_of(state, account, node);
        let changed = self
            .own
            .as_ref()
            .map_or(!lines.is_empty(), |own| own.lines != lines);
        let due = height >= self.said_at + REPEAT_HEIGHTS && !lines.is_empty();
        if !changed && !due {
            return None;
        }
        let advert = Advert {
            account,
            key: key.public(),
            node,
            sequence: state
                .time_ms()
                .max(self.own.as_ref().map_or(0, |own| own.sequence + 1)),
            valid_until: height + VALID_HEIGHTS,
            lines,
            attributes: BTreeMap::new(),
            round_trips: Vec::new(),
            addresses: Vec::new(),
        };
        let signed = SignedAdvert::new(&state.network(), advert.clone(), key);
        self.own = Some(advert);
        self.said_at = height;
        let bytes = codec::encode(&signed);
        self.known.insert((account, node), signed);
        Some(bytes)
    }
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
