//! The shelf: adverts and ledger joined into one view of sellers' nodes, copied out of the core so
//! that queries cost it little.
//!
//! An advert names offers, but the ledger's version of them counts. A line is on the shelf if its
//! offer stands on the ledger, of this seller at this node; class, prices and terms are the
//! ledger's, the free units are the seller's word.

use crate::adverts::{Adverts, on_sale};
use crate::query::roundtrip;
use crate::query::subject::{Line, Subject};
use gridbay_ledger::State;
use gridbay_protocol::advert::{Advert, RoundTrip, SignedAdvert};
use gridbay_protocol::class::Class;
use gridbay_protocol::ids::OfferId;
use gridbay_protocol::keys::PublicKey;
use gridbay_protocol::offer::{OfferTerms, Reclaim};
use gridbay_protocol::units::{Credits, Price};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A line that counts.
#[derive(Clone, Copy, Debug)]
struct Item {
    offer: OfferId,
    /// Index into the classes.
    class: usize,
    free: u32,
    reserve: Price,
    buy: Option<Price>,
    mechanism: &'static str,
    firm: bool,
}

/// Adverts that count, with their lines that do.
#[derive(Clone, Debug)]
pub struct Shelf {
    classes: Vec<Class>,
    slot_ms: u64,
    nodes: Vec<(Arc<SignedAdvert>, Vec<Item>)>,
    /// This node, and its own round trips to landmarks.
    own: (PublicKey, Vec<RoundTrip>),
}

impl Shelf {
    /// The shelf at the state's height.
    pub fn new(adverts: &Adverts, state: &State, node: PublicKey) -> Shelf {
        Shelf::with(adverts, state, node, |_| true)
    }

    /// The shelf of the wanted nodes.
    pub(crate) fn with(
        adverts: &Adverts,
        state: &State,
        node: PublicKey,
        wanted: impl Fn(&Advert) -> bool,
    ) -> Shelf {
        let number = |(index, class): (usize, &Class)| (class.key.id(), index);
        let numbers: BTreeMap<_, _> = state.classes().iter().enumerate().map(number).collect();
        let item = |advert: &Advert, offer: OfferId| {
            let terms: &OfferTerms = &on_sale(state, advert, &offer)?.terms;
            Some(Item {
                offer,
                class: *numbers.get(&terms.class)?,
                free: state.occupancy(&offer).free(),
                reserve: terms.reserve,
                buy: terms.buy_price,
                mechanism: terms.mechanism.name(),
                firm: terms.reclaim == Reclaim::None,
            })
        };
        let lines = |signed: &Arc<SignedAdvert>| {
            let advert = &signed.advert;
            let lines = advert.lines.iter();
            let items = lines.filter_map(|line| item(advert, line.offer));
            (Arc::clone(signed), items.collect::<Vec<_>>())
        };
        Shelf {
            classes: state.classes().to_vec(),
            slot_ms: state.policy().slot_ms(),
            nodes: adverts
                .kept(state)
                .filter(|signed| wanted(&signed.advert))
                .map(lines)
                .collect(),
            own: (node, adverts.round_trips().to_vec()),
        }
    }

    /// Nodes on it.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Whether it has an advert of a node.
    pub fn knows(&self, node: &PublicKey) -> bool {
        let mut nodes = self.nodes.iter();
        nodes.any(|(signed, _)| signed.advert.node == *node)
    }

    /// The subjects of queries. `measured` has round trips from here in microseconds; others are
    /// estimated from common landmarks, and this node's own is zero.
    pub fn subjects(&self, measured: &BTreeMap<PublicKey, u64>) -> Vec<Subject<'_>> {
        let mut hourly = Hourly {
            slot_ms: self.slot_ms,
            known: BTreeMap::new(),
        };
        let nodes = self.nodes.iter();
        nodes
            .map(|(signed, items)| {
                let advert = &signed.advert;
                let lines = items.iter().map(|item| Line {
                    offer: item.offer,
                    class: &self.classes[item.class],
                    free: item.free,
                    price: hourly.of(item.reserve),
                    buy: item.buy.map(|price| hourly.of(price)),
                    mechanism: item.mechanism,
                    firm: item.firm,
                });
                Subject {
                    lines: lines.collect(),
                    node: advert.node,
                    seller: advert.account,
                    texts: &advert.attributes,
                    round_trips: &advert.round_trips,
                    rtt: self.rtt(advert, measured),
                }
            })
            .collect()
    }

    fn rtt(&self, advert: &Advert, measured: &BTreeMap<PublicKey, u64>) -> Option<u64> {
        let (node, trips) = &self.own;
        if advert.node == *node {
            return Some(0);
        }
        let here = measured.get(&advert.node).copied();
        here.or_else(|| roundtrip::between(trips, &advert.round_trips))
    }
}

/// Prices per hour; there are far fewer prices than offers.
struct Hourly {
    slot_ms: u64,
    known: BTreeMap<Price, Credits>,
}

impl Hourly {
    fn of(&mut self, price: Price) -> Credits {
        let slot_ms = self.slot_ms;
        let known = self.known.entry(price);
        *known.or_insert_with(|| price.hourly_as_set(slot_ms))
    }
}
