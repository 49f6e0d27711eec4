//! Hints: better allocations of reservations that a block's proposer found by other means.
//!
//! A block that decides on reservations may carry one hint for each class. Every validator compares
//! it with the rule's outcome for the same input ([`crate::mechanism::reservation::hint`]) and
//! refuses the whole block if a hint is not feasible, not worth strictly more, or not of a decision
//! that this block makes. A proposer therefore never includes one that it has not checked.
//!
//! 1. Hints ascend by class, one for each.
//! 2. Placements ascend by order.
//! 3. A group's units are told as runs: so many units of an offer from a number on. They ascend and
//!    do not overlap.
//!
//! Units are numbered as in the record's busy units, so a hint names which of them it takes.

use crate::codec;
use crate::ids::{ClassId, Hash32, OfferId, OrderId};
use crate::limits;
use crate::mechanism::reservation::hint;
use crate::mechanism::reservation::{Input, Outcome, Placement};
use crate::record::reservation::{Key, Node, ReservationRecord};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Units of an offer with consecutive numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnitRun {
    /// The offer.
    pub offer: OfferId,
    /// Number of the first unit, from 0.
    pub first: u32,
    /// How many, at least 1.
    pub units: u32,
}

/// Where a hint places a reservation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Placed {
    /// The order.
    pub order: OrderId,
    /// Its first slot.
    pub start: u64,
    /// Its units, group by group.
    pub groups: Vec<Vec<UnitRun>>,
    /// Its channel.
    pub channel: Option<u32>,
}

/// An allocation for one decision on reservations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hint {
    /// The class that is decided on.
    pub class: ClassId,
    /// Who wins, and what.
    pub placements: Vec<Placed>,
}

/// Why a hint is not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HintRefusal {
    /// The block decides on no reservations of this class, or the hint is not the first for it.
    #[error("nothing is decided that it could be for")]
    Superfluous,
    /// Placements that do not ascend by order.
    #[error("the placement of {0} is out of order")]
    Unordered(OrderId),
    /// Not feasible, or not worth more than what the rule finds.
    #[error("allocation")]
    Allocation(#[source] Box<hint::Refusal<Key, Node>>),
}

impl From<hint::Refusal<Key, Node>> for HintRefusal {
    fn from(refusal: hint::Refusal<Key, Node>) -> HintRefusal {
        HintRefusal::Allocation(Box::new(refusal))
    }
}

/// Whether the hints of a block are within the counts and bytes that it may have.
pub fn fit(hints: &[Hint]) -> bool {
    hints.len() <= limits::CLASSES
        && hints.iter().all(Hint::is_bounded)
        && codec::encode(&hints).len() <= limits::HINT_BYTES
}

impl Hint {
    /// Whether its lists are within what an allocation may need; to be asked before anything else.
    pub fn is_bounded(&self) -> bool {
        let small = |runs: &Vec<UnitRun>| {
            let units = runs.iter().map(|run| u64::from(run.units));
            runs.len() <= limits::RESERVATION_UNITS as usize
                && runs.iter().all(|run| run.units > 0)
                && units.sum::<u64>() <= limits::RESERVATION_UNITS.into()
        };
        let bounded = |placed: &Placed| {
            placed.groups.len() <= limits::RESERVATION_GROUPS && placed.groups.iter().all(small)
        };
        self.placements.len() <= limits::RESERVATIONS_DECIDED && self.placements.iter().all(bounded)
    }

    /// An allocation in the words of a record's input, as a hint.
    pub fn new(record: &ReservationRecord, placements: &[Placement<Key, Node>]) -> Hint {
        let mut placed: Vec<Placed> = placements
            .iter()
            .map(|placement| Placed {
                order: placement.id.1,
                start: record.slot + u64::from(placement.start),
                groups: placement.nodes.iter().map(|nodes| runs(nodes)).collect(),
                channel: placement.channel,
            })
            .collect();
        placed.sort_unstable_by_key(|placed| placed.order);
        Hint {
            class: record.class,
            placements: placed,
        }
    }

    /// The outcome with this hint, where `found` is what the rule makes of the record's input.
    ///
    /// # Errors
    /// It is not feasible, not worth strictly more, or not in order.
    pub fn take(
        &self,
        record: &ReservationRecord,
        input: &Input<Key, Node>,
        found: &Outcome<Key, Node>,
    ) -> Result<Outcome<Key, Node>, HintRefusal> {
        let unordered = self
            .placements
            .windows(2)
            .find(|p| p[0].order >= p[1].order);
        if let Some(pair) = unordered {
            return Err(HintRefusal::Unordered(pair[1].order));
        }
        let ranks = record.bids.iter().map(|bid| (bid.order, bid.rank));
        let ranks: BTreeMap<OrderId, Hash32> = ranks.collect();
        let placements = self.placements.iter();
        let mut placements: Vec<_> = placements.map(|p| p.read(record.slot, &ranks)).collect();
        placements.sort_by_key(|placement| placement.id);
        Ok(hint::take(input, found, &placements)?)
    }
}

impl Placed {
    /// In the words of the input. Values that no reservation can have become values that none has:
    /// an order without a rank is nobody's bid, a start before the first slot for sale is none.
    fn read(&self, slot: u64, ranks: &BTreeMap<OrderId, Hash32>) -> Placement<Key, Node> {
        let rank = ranks.get(&self.order).copied().unwrap_or_default();
        let ahead = self.start.checked_sub(slot);
        let start = ahead.and_then(|ahead| u32::try_from(ahead).ok());
        let units = |run: &UnitRun| {
            let (offer, first) = (run.offer, run.first);
            let last = first.saturating_add(run.units);
            (first..last).map(move |unit| (offer, unit))
        };
        let groups = self.groups.iter();
        Placement {
            id: (rank, self.order),
            start: start.unwrap_or(u32::MAX),
            nodes: groups.map(|g| g.iter().flat_map(units).collect()).collect(),
            channel: self.channel,
        }
    }
}

/// Ascending nodes as runs.
fn runs(nodes: &[Node]) -> Vec<UnitRun> {
    let mut runs: Vec<UnitRun> = Vec::new();
    for &(offer, unit) in nodes {
        match runs.last_mut() {
            Some(run) if run.offer == offer && run.first + run.units == unit => run.units += 1,
            _ => runs.push(UnitRun {
                offer,
                first: unit,
                units: 1,
            }),
        }
    }
    runs
}
