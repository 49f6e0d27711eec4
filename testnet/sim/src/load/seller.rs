//! Sellers: they set offers and change them, withdraw them, give up leases, and drain their nodes.

use super::desk::Desk;
use crate::found::node_key;
use crate::world::World;
use gridbay_core::input::Command;
use gridbay_protocol::entry::{EntryBody, SignedEntry};
use gridbay_protocol::ids::ClassId;
use gridbay_protocol::limits;
use gridbay_protocol::offer::{OfferTerms, Primary, Reclaim};
use gridbay_protocol::units::Price;

/// Label of the hoarder's first offer; those of nodes lie below.
pub(super) const HOARD: u32 = 100;
/// Labels of a node's own offers.
const LABELS: u64 = 2;
/// A price that nobody pays.
const SKY_HIGH: Price = Price(1_000_000_000);

/// An offer of a hoarder: as many of them as an account may have are just below what one seller may
/// take of a class.
pub(super) fn hoarded(class: ClassId, node: usize, label: u32) -> OfferTerms {
    OfferTerms {
        label,
        class,
        units: limits::CLASS_UNITS / 2 / limits::OFFERS_PER_ACCOUNT as u32 - 8,
        reserve: SKY_HIGH,
        buy_price: None,
        reclaim: Reclaim::None,
        mechanism: Primary::Ausubel,
        node: node_key(node),
    }
}

/// Whether an offer is sold ahead of time first.
pub(super) fn is_ahead(terms: &OfferTerms) -> bool {
    terms.mechanism == Primary::Reservation
}

impl World {
    /// Some units at node `node`; mostly few, so that buyers compete.
    pub(super) fn terms(&mut self, node: usize, label: u32) -> OfferTerms {
        let classes = self.classes();
        let rng = &mut self.load.rng;
        let reserve = rng.range(0, 60);
        let buy_price = Price(reserve + rng.range(0, 100));
        let reclaim = match rng.below(10) {
            0 => Reclaim::Notice(1),
            _ => Reclaim::None,
        };
        let ahead = rng.chance(250_000);
        if ahead {
            return self.terms_ahead(node, label);
        }
        OfferTerms {
            label,
            // An offer keeps its class, so each label has one.
            class: classes[usize::from(label == 1)],
            units: rng.range(1, 4) as u32,
            reserve: Price(reserve),
            buy_price: Some(buy_price).filter(|_| !rng.chance(150_000)),
            reclaim,
            mechanism: Primary::Ausubel,
            node: node_key(node),
        }
    }
    /// Units under reservation, sometimes at more than the posted price.
    fn terms_ahead(&mut self, node: usize, label: u32) -> OfferTerms {
        let classes = self.classes();
        let rng = &mut self.load.rng;
        OfferTerms {
            label,
            class: classes[usize::from(label == 1)],
            units: rng.range(1, 4) as u32,
            reserve: Price(rng.range(0, 110)),
            buy_price: None,
            reclaim: Reclaim::None,
            mechanism: Primary::Reservation,
            node: node_key(node),
        }
    }
    pub(super) fn set_offer(&mut self, node: usize) {
        let label = self.load.rng.below(LABELS) as u32;
        let terms = self.terms(node, label);
        self.command(node, "offer", Command::SetOffer(terms));
    }
    pub(super) fn withdraw_offer(&mut self, node: usize) {
        let label = self.load.rng.below(LABELS) as u32;
        self.command(node, "withdrawal", Command::WithdrawOffer(label));
    }
    /// One node, in some worlds, takes no more leases until it starts again.
    pub(super) fn drain(&mut self, node: usize) {
        let late = self.now > self.plan.active_ms / 2;
        if late && !self.load.drained && self.plan.seed.is_multiple_of(3) {
            self.load.drained = true;
            self.command(node, "drain", Command::Drain);
        }
    }
    /// A seller says that it cannot deliver a lease that it has units in.
    pub(super) fn give_up(&mut self) {
        let Some(to) = self.some_validator() else {
            return;
        };
        if self.write(to, failure) {
            self.cover.deed("lease given up");
        }
    }
    /// Offers as often as an account may.
    pub(super) fn hoard(&mut self, first: u32) {
        let Some(to) = self.some_validator() else {
            return;
        };
        let node = self.load.rng.index(self.plan.validators);
        let class = self.classes()[2];
        self.cover.deed("hoard of offers");
        for label in 0..limits::OFFERS_PER_ACCOUNT as u32 {
            self.write(to, |desk| {
                let account = desk.account(node)?;
                let key = desk.load.keys.get(node)?.clone();
                let terms = hoarded(class, node, first + label);
                Some(desk.sign(account, &key, EntryBody::SetOffer(terms)))
            });
        }
    }
}

fn failure(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let leases: Vec<_> = desk.state.leases().collect();
    let (lease, record) = desk.load.rng.pick(&leases).copied()?;
    let share = desk.load.rng.pick(&record.shares)?;
    let seller = desk.state.offer(&share.offer)?.seller;
    let key = desk.key_of(&seller)?;
    Some(desk.sign(seller, &key, EntryBody::Fail { lease: *lease }))
}
