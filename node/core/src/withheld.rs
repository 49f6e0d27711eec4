//! Offers held back while the node drains or its disk is short of room: units that cannot be served
//! are not sold.
//!
//! 1. Meanwhile each standing offer of this node is withdrawn, and its terms are remembered across
//!    restarts.
//! 2. After that each is set again with those terms, unless the owner has set or withdrawn it
//!    meanwhile. A node does not drain any more once it is told to resume, or is started again.
//! 3. After a restart an entry of the run before may still be on its way: an offer that stands then
//!    is remembered until none can be.
//! 4. An entry that has not shown up is sent again. The memory of an offer goes when the offer
//!    stands and no entry about it can be on its way.

use crate::effect::Effect;
use crate::signer::ENTRY_HEIGHTS;
use gridbay_ledger::{Offer, Pending, State};
use gridbay_protocol::codec::{self, CodecError};
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::ids::AccountId;
use gridbay_protocol::keys::PublicKey;
use gridbay_protocol::offer::{OfferTerms, offer_id};
use std::collections::BTreeMap;
use std::mem;

/// Heights after which an entry that has not shown up is sent again.
const REPEAT_HEIGHTS: u64 = 8;
/// Bytes of the memory at the most.
pub const BYTES: usize = 1 << 20;

/// The request of an entry about an offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ask {
    Withdraw,
    Set,
}

/// The offers held back.
#[derive(Debug, Default)]
pub struct Withheld {
    /// Terms by label.
    offers: BTreeMap<u32, OfferTerms>,
    /// The last entry about each: its request, and the height at which it was sent.
    sent: BTreeMap<u32, (Ask, u64)>,
    /// Read back from disk, and no block looked at since.
    read_back: bool,
}

impl Withheld {
    /// With what an earlier run remembered.
    pub(crate) fn new(offers: Vec<OfferTerms>) -> Withheld {
        let of = |terms: OfferTerms| (terms.label, terms);
        Withheld {
            offers: offers.into_iter().map(of).collect(),
            sent: BTreeMap::new(),
            read_back: true,
        }
    }
    /// Parses what [`Effect::SaveWithheld`] had kept.
    ///
    /// # Errors
    /// It is something else.
    pub fn decode(bytes: &[u8]) -> Result<Vec<OfferTerms>, CodecError> {
        codec::decode(bytes, BYTES)
    }
    /// Terms of the offers that are held back and do not stand.
    pub fn absent<'a>(
        &'a self,
        state: &'a State,
        account: &AccountId,
    ) -> impl Iterator<Item = &'a OfferTerms> + use<'a> {
        let account = *account;
        let all = self.offers.values();
        all.filter(move |terms| !stands(state, &account, terms.label))
    }
    /// Whether an entry about an offer is on its way that the owner's next one could meet in one
    /// block, where either may come first. The node holds offers back, or sets them again.
    pub(crate) fn is_changing(
        &self,
        state: &State,
        account: &AccountId,
        label: u32,
        hold: bool,
    ) -> bool {
        let stands = stands(state, account, label);
        self.sent.get(&label).is_some_and(|(ask, at)| {
            let undone = match ask {
                Ask::Withdraw => hold && stands,
                Ask::Set => !stands,
            };
            undone && state.height() <= at + ENTRY_HEIGHTS
        })
    }
    /// The owner does not sell it any more. Whether it was held back.
    pub(crate) fn forget(&mut self, label: u32, effects: &mut Vec<Effect>) -> bool {
        let was = self.offers.remove(&label).is_some();
        if was {
            effects.push(self.save());
        }
        was
    }

    /// The entries to send after a block, at which offers are to be held back or not.
    pub(crate) fn after_block(
        &mut self,
        state: &State,
        account: &AccountId,
        node: &PublicKey,
        hold: bool,
        effects: &mut Vec<Effect>,
    ) -> Vec<EntryBody> {
        let height = state.height();
        if mem::take(&mut self.read_back) {
            let labels = self.offers.keys();
            let sent = labels.map(|label| (*label, (Ask::Withdraw, height)));
            self.sent.extend(sent);
        }
        let before = self.offers.clone();
        let (ask, due) = match hold {
            true => (Ask::Withdraw, self.standing(state, account, node)),
            false => (Ask::Set, self.missing(state, account)),
        };
        if self.offers != before {
            effects.push(self.save());
        }
        let again = |sent: &(Ask, u64)| sent.0 != ask || height >= sent.1 + REPEAT_HEIGHTS;
        let due: Vec<OfferTerms> = due
            .into_iter()
            .filter(|terms| self.sent.get(&terms.label).is_none_or(again))
            .collect();
        let sent = due.iter().map(|terms| (terms.label, (ask, height)));
        self.sent.extend(sent);
        let entry = |terms: OfferTerms| match ask {
            Ask::Withdraw => EntryBody::WithdrawOffer { label: terms.label },
            Ask::Set => EntryBody::SetOffer(terms),
        };
        due.into_iter().map(entry).collect()
    }

    /// The offers of this node that stand; from now on they are remembered.
    fn standing(
        &mut self,
        state: &State,
        account: &AccountId,
        node: &PublicKey,
    ) -> Vec<OfferTerms> {
        let offers = state.offers_of(account).map(|(_, offer)| offer);
        let here = offers.filter_map(to_be).filter(|t| t.node == *node);
        let standing: Vec<OfferTerms> = here.cloned().collect();
        for terms in &standing {
            self.offers.insert(terms.label, terms.clone());
        }
        standing
    }

    /// The remembered offers that do not stand. Those that do are forgotten.
    fn missing(&mut self, state: &State, account: &AccountId) -> Vec<OfferTerms> {
        let height = state.height();
        let sent = &self.sent;
        let may_come = |label| {
            let last = sent.get(&label);
            last.is_some_and(|(_, at)| height <= at + ENTRY_HEIGHTS)
        };
        self.offers
            .retain(|label, _| may_come(*label) || !stands(state, account, *label));
        let offers = &self.offers;
        self.sent.retain(|label, _| offers.contains_key(label));
        let missing = offers.values().filter(|t| !stands(state, account, t.label));
        missing.cloned().collect()
    }

    fn save(&self) -> Effect {
        let all: Vec<&OfferTerms> = self.offers.values().collect();
        Effect::SaveWithheld(codec::encode(&all))
    }
}

/// The terms that an offer has, or will have; `None` if it is not for sale then.
fn to_be(offer: &Offer) -> Option<&OfferTerms> {
    match &offer.pending {
        Some(Pending::Set(terms)) => Some(terms),
        Some(Pending::Withdraw) => None,
        None => offer.active.then_some(&offer.terms),
    }
}

fn stands(state: &State, account: &AccountId, label: u32) -> bool {
    let offer = state.offer(&offer_id(account, label));
    offer.is_some_and(|offer| to_be(offer).is_some())
}
