//! Posted prices: sellers post them, and buyers hire, through their nodes and by hand; some ask for
//! more than there is, or name less than the price.

use super::desk::Desk;
use crate::found::node_key;
use crate::world::World;
use gridbay_core::buy::{PostedTerms, Terms};
use gridbay_core::input::Command;
use gridbay_protocol::entry::{EntryBody, SignedEntry};
use gridbay_protocol::ids::{ClassId, Hash32};
use gridbay_protocol::offer::{OfferTerms, Primary, Reclaim};
use gridbay_protocol::order::Hire;
use gridbay_protocol::units::Price;

/// Labels of a node's posted offers, one for each class in which there is trade; those of its other
/// offers lie below.
const POSTED: [u32; 2] = [3, 4];
/// Prices are multiples of this, so that some are equal, micro-credits.
const TICK: u64 = 20;
/// Ticks of the dearest offer.
const DEAREST: u64 = 4;
/// Units of one hire at the most.
const MOST_UNITS: u64 = 4;
/// Hires by hand that are handed in together at the most.
const MOST_AT_ONCE: u64 = 4;

impl World {
    /// A deed at posted prices.
    pub(crate) fn hire_somehow(&mut self, node: usize) {
        match self.load.rng.below(20) {
            0..=5 => self.post_price(node),
            6 => self.withdraw_posted(node),
            7..=14 => self.hire(node),
            _ => self.hire_by_hand(),
        }
    }
    /// Some units at a posted price, or another price for them. Now and then it is an offer that
    /// has been sold in another way.
    fn post_price(&mut self, node: usize) {
        let classes = self.classes();
        let rng = &mut self.load.rng;
        let place = usize::from(rng.chance(250_000));
        let label = match rng.below(8) {
            0 => place as u32,
            _ => POSTED[place],
        };
        let terms = OfferTerms {
            label,
            // An offer keeps its class.
            class: classes[place],
            units: rng.range(1, 4) as u32,
            reserve: Price(TICK * rng.range(0, DEAREST)),
            buy_price: None,
            reclaim: Reclaim::None,
            mechanism: Primary::Posted,
            node: node_key(node),
        };
        self.command(node, "posted offer", Command::SetOffer(terms));
    }
    fn withdraw_posted(&mut self, node: usize) {
        let label = POSTED[self.load.rng.index(POSTED.len())];
        self.command(node, "withdrawal", Command::WithdrawOffer(label));
    }
    fn hire(&mut self, node: usize) {
        let classes = self.classes();
        let class = self.load.class(&classes);
        let rng = &mut self.load.rng;
        let (units, slots) = (rng.range(1, MOST_UNITS) as u32, rng.range(1, 3) as u32);
        let limit = Price(TICK * rng.range(0, DEAREST + 1));
        let terms = Terms::Posted(PostedTerms { units, limit });
        self.order(node, "hire", class, units, slots, terms);
    }
    /// Several at once, so that a block has some of one class.
    fn hire_by_hand(&mut self) {
        let Some(to) = self.some_validator() else {
            return;
        };
        let classes = self.classes();
        let class = self.load.class(&classes);
        let mut hires = Vec::new();
        for _ in 0..self.load.rng.range(2, MOST_AT_ONCE) {
            hires.extend(self.draw_up(to, |desk| by_hand(desk, class)));
        }
        if !hires.is_empty() {
            self.cover.deed("hires by hand");
            self.hand_in(to, hires);
        }
    }
}

/// A hire of somebody's, at times for more slots than anything may be firm.
fn by_hand(desk: &mut Desk<'_>, class: ClassId) -> Option<SignedEntry> {
    let rng = &mut desk.load.rng;
    let slots = match rng.below(12) {
        0 => desk.state.policy().max_firm_slots + 1,
        _ => rng.range(1, 3) as u32,
    };
    let hire = Hire {
        class,
        units: rng.range(1, MOST_UNITS) as u32,
        slots,
        limit: Price(TICK * rng.range(0, DEAREST + 1)),
        work: Hash32(rng.bytes32()),
    };
    desk.by_owner(EntryBody::Posted(hire))
}
