//! Where relays are to be had: from those that say so in their adverts, and from founders, which
//! give by default and need not sell anything.

use crate::adverts::{Adverts, on_sale, sells};
use crate::relay::{GIVES, SELLS};
use gridbay_ledger::State;
use gridbay_protocol::advert::Advert;
use gridbay_protocol::ids::{ClassId, OfferId};
use gridbay_protocol::keys::PublicKey;
use gridbay_protocol::units::Price;

/// The market for relays, as this node knows it.
#[derive(Clone, Copy)]
pub(crate) struct Carriers<'a> {
    pub(crate) adverts: &'a Adverts,
    pub(crate) state: &'a State,
    /// This node, which is no relay for itself.
    pub(crate) own: PublicKey,
}

/// A unit that may be leased to relay.
#[derive(Clone, Copy, Debug)]
pub(super) struct Carrier {
    pub(super) node: PublicKey,
    pub(super) class: ClassId,
    pub(super) offer: OfferId,
    /// For a slot.
    pub(super) price: Price,
}

impl<'a> Carriers<'a> {
    /// What another account says of a seller's node does not count.
    fn saying(&self, attribute: &'static str) -> impl Iterator<Item = &'a Advert> {
        let (own, state) = (self.own, self.state);
        let says = move |a: &&Advert| a.attributes.contains_key(attribute) && sells(state, a);
        let all = self.adverts.live(self.state).filter(says);
        all.filter(move |advert| advert.node != own)
    }

    /// Nodes that may carry for nothing.
    pub(super) fn free(&self) -> Vec<PublicKey> {
        let founders = self.state.validators().members().iter().map(|v| v.node);
        let all = self.saying(GIVES).map(|advert| advert.node).chain(founders);
        all.filter(|node| *node != self.own).collect()
    }

    /// Units that may be bought at once to relay.
    pub(super) fn sold(&self) -> Vec<Carrier> {
        let carrier = |advert: &Advert, offer: OfferId| {
            let known = on_sale(self.state, advert, &offer)?;
            Some(Carrier {
                node: advert.node,
                class: known.terms.class,
                offer,
                price: known.terms.buy_price?,
            })
        };
        let lines = self.saying(SELLS).flat_map(|advert| {
            let lines = advert.lines.iter();
            lines.filter_map(move |line| carrier(advert, line.offer))
        });
        lines.collect()
    }
}
