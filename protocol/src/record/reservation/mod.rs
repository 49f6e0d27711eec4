//! Bookings: the public record of the reservations made at a slot boundary.
//!
//! As with clearings, a record holds the whole input of the mechanism; with the window policy of
//! the genesis anybody can recompute it ([`ReservationRecord::input`]).
//!
//! **Nodes.** Units of one offer are alike, so taken units are told as runs: unit 0 of the offer
//! from slot 5 to 8, unit 1 from 6 to 6. A run says how much is taken in which slots, not which
//! machine serves whom.

pub mod hint;

use crate::hash::{Domain, hash};
use crate::ids::{ClassId, ClearingId, Hash32, OfferId, OrderId};
use crate::lease::Share;
use crate::mechanism::reservation::window::WindowPolicy;
use crate::mechanism::reservation::{self, Channels, Want};
use crate::order::{Group, Reservation};
use crate::units::{Credits, Price};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A unit of an offer, as the mechanism tells them apart.
pub type Node = (OfferId, u32);
/// A reservation, as the mechanism tells them apart: its rank breaks ties first.
pub type Key = (Hash32, OrderId);

/// A unit that is taken for a run of slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BusyUnit {
    /// The offer.
    pub offer: OfferId,
    /// Number of the unit, from 0.
    pub unit: u32,
    /// First slot.
    pub first: u64,
    /// Last slot.
    pub last: u64,
}

/// A channel that is taken for a run of slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BusyChannel {
    /// The channel.
    pub channel: u32,
    /// First slot.
    pub first: u64,
    /// Last slot.
    pub last: u64,
}

/// A reservation as it was decided on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReservationBid {
    /// The order.
    pub order: OrderId,
    /// Round of its commitment: the first tie-break.
    pub round: u64,
    /// Rank drawn from the beacon at its first decision: the second tie-break.
    pub rank: Hash32,
    /// The groups wanted together.
    pub groups: Vec<Group>,
    /// Length in slots.
    pub slots: u32,
    /// First slot it may start in.
    pub earliest: u64,
    /// Last slot it may start in.
    pub latest: u64,
    /// Its worth, and its payment.
    pub value: Credits,
    /// The exclusive channel, if one is needed.
    pub channels: Option<Channels>,
}

/// The booking of a reservation that won.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Booked {
    /// The order.
    pub order: OrderId,
    /// Its first slot.
    pub start: u64,
    /// Units by offer, ascending.
    pub shares: Vec<Share>,
    /// Its channel.
    pub channel: Option<u32>,
    /// Its payment for all its slots.
    pub pay: Credits,
}

/// One decision on the reservations of a class: input and outcome. Lists are sorted by id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReservationRecord {
    /// The class.
    pub class: ClassId,
    /// Height of the block that holds it.
    pub height: u64,
    /// First slot for sale.
    pub slot: u64,
    /// Posted price of a node-slot: the least that a reservation is worth.
    pub posted: Price,
    /// Units for sale by offer.
    pub units: Vec<Share>,
    /// Units that are taken.
    pub busy: Vec<BusyUnit>,
    /// Channels that are taken.
    pub channels: Vec<BusyChannel>,
    /// Who asked.
    pub bids: Vec<ReservationBid>,
    /// Who won.
    pub booked: Vec<Booked>,
    /// The worth of the rule's own result, if a hint of the proposer was worth more and `booked` is
    /// from the hint.
    pub beaten: Option<Credits>,
}

impl ReservationBid {
    /// The order's side of a decision.
    pub fn new(order: OrderId, round: u64, rank: Hash32, wish: &Reservation) -> ReservationBid {
        ReservationBid {
            order,
            round,
            rank,
            groups: wish.groups.clone(),
            slots: wish.slots,
            earliest: wish.earliest,
            latest: wish.latest,
            value: wish.value,
            channels: wish.channels,
        }
    }
}

impl ReservationRecord {
    /// Its id.
    pub fn id(&self) -> ClearingId {
        let height = self.height.to_be_bytes();
        let parts: [&[u8]; 3] = [b"reservation", self.class.as_bytes(), &height];
        ClearingId(hash(Domain::Clearing, &parts))
    }
    /// The input of the mechanism: slots count from the first one for sale.
    pub fn input(&self, policy: &WindowPolicy) -> reservation::Input<Key, Node> {
        let window = u64::from(policy.slots);
        let slots = |first: u64, last: u64| {
            let to = last.saturating_add(1).saturating_sub(self.slot).min(window);
            (first.saturating_sub(self.slot) as u32).min(policy.slots)..to as u32
        };
        let busy = self.busy.iter().flat_map(|run| {
            let node = (run.offer, run.unit);
            slots(run.first, run.last).map(move |slot| (node, slot))
        });
        let busy_channels = self.channels.iter().flat_map(|run| {
            let channel = run.channel;
            slots(run.first, run.last).map(move |slot| (channel, slot))
        });
        reservation::Input {
            policy: policy.attempts(),
            reserve: self.posted.0,
            slots: policy.slots,
            starts: policy.starts,
            nodes: self.nodes(&[]),
            busy: busy.collect(),
            busy_channels: busy_channels.collect(),
            bids: self.bids.iter().map(|bid| self.bid(bid)).collect(),
        }
    }

    /// Nodes of the offers named, of all if none is.
    fn nodes(&self, named: &[OfferId]) -> Vec<Node> {
        let all = self.units.iter();
        let all = all.filter(|s| named.is_empty() || named.binary_search(&s.offer).is_ok());
        all.flat_map(|s| (0..s.units).map(|unit| (s.offer, unit)))
            .collect()
    }

    fn bid(&self, bid: &ReservationBid) -> reservation::Bid<Key, Node> {
        let from_now = |slot: u64| {
            let ahead = slot.saturating_sub(self.slot);
            ahead.min(u64::from(u32::MAX)) as i64
        };
        let groups = bid.groups.iter();
        reservation::Bid {
            id: (bid.rank, bid.order),
            time: bid.round,
            value: bid.value.micros(),
            earliest: from_now(bid.earliest),
            // A last start that has passed is below every first one.
            latest: match bid.latest >= self.slot {
                true => from_now(bid.latest),
                false => -1,
            },
            slots: bid.slots,
            classes: groups
                .map(|group| Want {
                    quantity: group.units,
                    nodes: self.nodes(&group.offers),
                })
                .collect(),
            channels: bid.channels,
        }
    }

    /// The winners of an outcome of this input, by order.
    pub fn winners(&self, outcome: &reservation::Outcome<Key, Node>) -> Vec<Booked> {
        let awards = outcome.awards.iter();
        let mut booked: Vec<Booked> = awards
            .map(|award| {
                let placement = &award.placement;
                let mut units: BTreeMap<OfferId, u32> = BTreeMap::new();
                for (offer, _) in placement.nodes.iter().flatten() {
                    *units.entry(*offer).or_default() += 1;
                }
                let shares = units.into_iter();
                Booked {
                    order: placement.id.1,
                    start: self.slot + u64::from(placement.start),
                    shares: shares
                        .map(|(offer, units)| Share { offer, units })
                        .collect(),
                    channel: placement.channel,
                    pay: Credits::from_micros(award.pay).unwrap_or(Credits::MAX),
                }
            })
            .collect();
        booked.sort_unstable_by_key(|b| b.order);
        booked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OFFER: OfferId = OfferId([3; 32]);

    fn record(groups: &[&[OfferId]], earliest: u64, latest: u64) -> ReservationRecord {
        let group = |offers: &&[OfferId]| Group {
            units: 1,
            offers: offers.to_vec(),
        };
        ReservationRecord {
            class: ClassId([1; 32]),
            height: 80,
            slot: 10,
            posted: Price(5),
            units: vec![Share {
                offer: OFFER,
                units: 2,
            }],
            busy: vec![BusyUnit {
                offer: OFFER,
                unit: 0,
                first: 8,
                last: 11,
            }],
            channels: vec![BusyChannel {
                channel: 7,
                first: 12,
                last: u64::MAX,
            }],
            bids: vec![ReservationBid {
                order: OrderId([2; 32]),
                round: 4,
                rank: Hash32([9; 32]),
                groups: groups.iter().map(group).collect(),
                slots: 2,
                earliest,
                latest,
                value: Credits::from_micros(1_000).unwrap(),
                channels: Some(Channels { low: 7, high: 8 }),
            }],
            booked: vec![],
            beaten: None,
        }
    }

    fn decide(record: &ReservationRecord) -> Vec<Booked> {
        let input = record.input(&WindowPolicy::MIRAGE);
        record.winners(&reservation::clear(&input).unwrap())
    }

    #[test]
    fn slots_count_from_the_first_one_for_sale() {
        let input = record(&[&[]], 3, 12).input(&WindowPolicy::MIRAGE);
        assert_eq!(input.busy, [((OFFER, 0), 0), ((OFFER, 0), 1)]);
        assert_eq!(input.busy_channels.len(), 102);
        assert_eq!(
            (input.bids[0].earliest, input.bids[0].latest),
            (0, 2),
            "a window that has begun"
        );
        let past = record(&[&[]], 3, 9).input(&WindowPolicy::MIRAGE);
        assert_eq!((past.bids[0].earliest, past.bids[0].latest), (0, -1));
    }

    #[test]
    fn winners_get_units_by_offer_and_the_first_free_channel() {
        let won = decide(&record(&[&[], &[OFFER]], 3, 20));
        let [won] = &won[..] else {
            panic!("{won:?}");
        };
        assert_eq!((won.start, won.channel), (12, Some(8)));
        assert_eq!(
            won.shares[..],
            [Share {
                offer: OFFER,
                units: 2
            }]
        );
        assert!(
            decide(&record(&[&[OfferId([4; 32])]], 3, 20)).is_empty(),
            "no such offer"
        );
        assert!(decide(&record(&[&[]], 3, 9)).is_empty(), "too late");
    }
}
