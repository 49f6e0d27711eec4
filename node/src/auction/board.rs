//! The board: the last auctions in short form, and the last price of every class.
//!
//! It lives outside the core thread, so that lists and price tags cost the core nothing. It is
//! filled from the host's index: at the start with all auctions there, then after every block with
//! the new ones.

use crate::api::types::{AuctionKind, AuctionSummary};
use gridbay_protocol::effect::{Auction, Effect};
use gridbay_protocol::genesis::Policy;
use gridbay_protocol::ids::ClassId;
use gridbay_protocol::lease::Share;
use gridbay_protocol::record::ausubel::{ClearingKind, ClearingRecord};
use gridbay_protocol::record::buy::BuyRecord;
use gridbay_protocol::record::reservation::ReservationRecord;
use gridbay_protocol::record::share::Sharing;
use gridbay_protocol::units::Credits;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::api::types::count;
use crate::market::BETWEEN;
use crate::market::price::mean_hourly;

/// Auctions kept; the oldest go first.
pub(crate) const KEPT: usize = 4_096;

/// The last sale of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Last {
    /// Mean price per node-hour.
    pub(crate) price: Credits,
    /// Height of its block.
    pub(crate) height: u64,
}

/// Place of an effect in the ledger: height, position in the block.
pub(crate) type Place = (u64, u32);

#[derive(Debug, Default)]
struct Inner {
    /// The latest place added.
    seen: Option<Place>,
    /// Ascending by place.
    lines: VecDeque<(Place, Vec<ClassId>, AuctionSummary)>,
    last: BTreeMap<ClassId, Last>,
}

/// The board.
#[derive(Debug, Default)]
pub(crate) struct Board(Mutex<Inner>);

impl Board {
    /// The latest place added, if there is one.
    pub(crate) fn seen(&self) -> Option<Place> {
        self.inner().seen
    }
    /// Adds auctions, ascending by place. Those added before are passed over.
    pub(crate) fn add(&self, auctions: Vec<(Place, Vec<ClassId>, AuctionSummary)>) {
        let mut inner = self.inner();
        for (place, classes, summary) in auctions {
            if inner.seen.is_some_and(|seen| seen >= place) {
                continue;
            }
            inner.seen = Some(place);
            // The price of a buy, a pool or a reservation is not that of a clearing.
            let cleared = matches!(summary.kind, AuctionKind::Boundary | AuctionKind::Free);
            if let Some(price) = summary.price.filter(|_| cleared) {
                let height = place.0;
                let last = Last { price, height };
                inner
                    .last
                    .extend(classes.iter().map(|class| (*class, last)));
            }
            inner.lines.push_back((place, classes, summary));
            if inner.lines.len() > KEPT {
                inner.lines.pop_front();
            }
        }
    }
    /// The last clearing of a class that sold something.
    pub(crate) fn last(&self, class: &ClassId) -> Option<Last> {
        self.inner().last.get(class).copied()
    }
    /// At most `limit` auctions, newest first; of one class if named.
    pub(crate) fn newest(&self, class: Option<&ClassId>, limit: usize) -> Vec<AuctionSummary> {
        let inner = self.inner();
        let wanted = inner
            .lines
            .iter()
            .rev()
            .filter(|(_, c, _)| class.is_none_or(|w| c.contains(w)));
        wanted
            .take(limit)
            .map(|(_, _, summary)| summary.clone())
            .collect()
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The short form of an auction; `None` for other effects. `name` is the class's.
pub(crate) fn summary(
    effect: &Effect,
    policy: &Policy,
    name: impl Fn(&ClassId) -> String,
) -> Option<(Vec<ClassId>, AuctionSummary)> {
    let auction = effect.auction()?;
    let summary = match auction {
        Auction::Clearing(record) => of_clearing(record, policy, name),
        Auction::Buy(record) => of_buy(record, policy, name),
        Auction::Sharing(record) => of_sharing(record, policy, name),
        Auction::Reservation(record) => of_reservation(record, policy, name),
    };
    Some((auction.classes(), summary))
}

fn of_reservation(
    record: &ReservationRecord,
    policy: &Policy,
    name: impl Fn(&ClassId) -> String,
) -> AuctionSummary {
    let total = |shares: &[Share]| shares.iter().map(|s| s.units).sum::<u32>();
    let sold = record.booked.iter().map(|b| total(&b.shares)).sum();
    let paid = Credits::sum(record.booked.iter().map(|b| b.pay)).unwrap_or(Credits::MAX);
    let heights = policy.calendar.slot_heights();
    // Units times slots: winners have them for as many slots as they asked for.
    let unit_slots = record.booked.iter().map(|won| {
        let bid = record.bids.iter().find(|bid| bid.order == won.order);
        u128::from(total(&won.shares)) * u128::from(bid.map_or(0, |bid| bid.slots))
    });
    AuctionSummary {
        id: record.id().to_hex(),
        kind: AuctionKind::Reservation,
        class: name(&record.class),
        height: record.height,
        slot: record.slot,
        units: total(&record.units),
        bids: count(record.bids.len()),
        winners: count(record.booked.len()),
        sold,
        paid,
        price: mean_hourly(paid, unit_slots.sum::<u128>() * unit_ms(1, heights, policy)),
    }
}

fn of_sharing(
    record: &Sharing,
    policy: &Policy,
    name: impl Fn(&ClassId) -> String,
) -> AuctionSummary {
    let sold: u32 = record.awards.iter().map(|a| a.portion.units).sum();
    let paid = Credits::sum(record.awards.iter().map(|a| a.pay)).unwrap_or(Credits::MAX);
    let heights = policy.calendar.slot_heights();
    AuctionSummary {
        id: record.id().to_hex(),
        kind: AuctionKind::Share,
        class: name(&record.class),
        height: record.height,
        slot: record.slot,
        units: record.units,
        bids: count(record.claims.len()),
        winners: count(record.awards.len()),
        sold,
        paid,
        price: mean_hourly(paid, unit_ms(sold, heights, policy)),
    }
}

fn of_clearing(
    record: &ClearingRecord,
    policy: &Policy,
    name: impl Fn(&ClassId) -> String,
) -> AuctionSummary {
    let sold: u32 = record.awards.iter().map(|a| a.units).sum();
    let paid = Credits::sum(record.awards.iter().map(|a| a.pay)).unwrap_or(Credits::MAX);
    AuctionSummary {
        id: record.id.to_hex(),
        kind: match record.kind {
            ClearingKind::Boundary => AuctionKind::Boundary,
            ClearingKind::Free => AuctionKind::Free,
        },
        class: name(&record.class),
        height: record.height,
        slot: record.slot,
        units: record.offers.iter().map(|o| o.units).sum(),
        bids: count(record.bids.len()),
        winners: count(record.awards.len()),
        sold,
        paid,
        price: mean_hourly(paid, unit_ms(sold, record.heights, policy)),
    }
}

fn of_buy(
    record: &BuyRecord,
    policy: &Policy,
    name: impl Fn(&ClassId) -> String,
) -> AuctionSummary {
    let units = record.units();
    // The rest of the running slot comes on top of the full ones.
    let slot = policy.calendar.slot(record.height.saturating_add(1));
    let rest = policy
        .calendar
        .last_of_slot(slot)
        .saturating_sub(record.height);
    let whole = policy.calendar.slot_heights();
    let full = record.price.checked_mul(u64::from(record.slots));
    // Each part pays its own, rounded up.
    let first = record
        .parts
        .iter()
        .map(|part| part.price.share_ceil(rest, whole));
    let first = first.collect::<Option<Vec<_>>>().and_then(Credits::sum);
    let paid = first.zip(full).and_then(|(r, f)| f.checked_add(r));
    let names: Vec<String> = record.classes().map(|class| name(&class)).collect();
    AuctionSummary {
        id: record.order.to_hex(),
        kind: AuctionKind::Buy,
        class: names.join(BETWEEN),
        height: record.height,
        slot,
        units,
        bids: 1,
        winners: 1,
        sold: units,
        paid: paid.unwrap_or(Credits::MAX),
        price: mean_hourly(record.price, unit_ms(units, whole, policy)),
    }
}

fn unit_ms(units: u32, heights: u64, policy: &Policy) -> u128 {
    u128::from(units) * u128::from(heights) * u128::from(policy.block_interval_ms)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::ids::{Hash32, OfferId, OrderId};
    use gridbay_protocol::policy::ausubel::AuctionPolicy;
    use gridbay_protocol::record::ausubel::{Award, ClearingOffer, Sold, clearing_id};
    use gridbay_protocol::record::buy::BoughtPart;
    use gridbay_protocol::record::reservation::{Booked, ReservationBid};
    use gridbay_protocol::units::Price;

    const SMALL: ClassId = ClassId([1; 32]);
    const LARGE: ClassId = ClassId([2; 32]);

    fn name(class: &ClassId) -> String {
        if *class == SMALL {
            "small".into()
        } else {
            "large".into()
        }
    }
    fn offer(units: u32) -> ClearingOffer {
        ClearingOffer {
            offer: OfferId([3; 32]),
            units,
            reserve: Price(5),
        }
    }
    fn clearing(class: ClassId, height: u64, pay: u64) -> Effect {
        let order = OrderId([9; 32]);
        let pay = Credits::from_micros(pay).unwrap();
        let won = pay > Credits::ZERO;
        Effect::Clearing(ClearingRecord {
            id: clearing_id(&class, height),
            class,
            kind: ClearingKind::Boundary,
            height,
            slot: 1,
            heights: 8,
            policy: AuctionPolicy::default(),
            held: vec![],
            offers: vec![offer(6)],
            bids: vec![],
            awards: if won {
                vec![Award {
                    order,
                    units: 4,
                    pay,
                }]
            } else {
                vec![]
            },
            sold: vec![Sold {
                offer: OfferId([3; 32]),
                units: 4,
                earns: pay,
            }],
        })
    }
    fn lines(effects: &[(Place, Effect)]) -> Vec<(Place, Vec<ClassId>, AuctionSummary)> {
        let line = |(place, effect): &(Place, Effect)| {
            let (class, summary) = summary(effect, &Policy::local(), name).unwrap();
            (*place, class, summary)
        };
        effects.iter().map(line).collect()
    }

    #[test]
    fn a_clearing_in_short() {
        // 4 units for 2 s at 10 credits an hour.
        let all = lines(&[((8, 2), clearing(SMALL, 8, 22_222))]);
        let summary = &all[0].2;
        assert_eq!((summary.units, summary.sold, summary.winners), (6, 4, 1));
        assert_eq!(summary.price.unwrap().to_string(), "9.9999");
        assert_eq!(summary.class, "small");
    }

    #[test]
    fn a_buy_in_short() {
        let part = |class, price| BoughtPart {
            class,
            taken: vec![offer(1)],
            displaced: vec![],
            displaced_value: Credits::ZERO,
            evicted: vec![],
            price: Credits::from_micros(price).unwrap(),
        };
        let record = BuyRecord {
            order: OrderId([9; 32]),
            height: 10,
            parts: vec![part(SMALL, 60), part(LARGE, 20)],
            price: Credits::from_micros(80).unwrap(),
            slots: 3,
        };
        let (classes, summary) = summary(&Effect::Buy(record), &Policy::local(), name).unwrap();
        assert_eq!(classes, [SMALL, LARGE]);
        assert_eq!(summary.class, "small + large");
        // Height 10 lies in the slot of 9 to 16: six heights of eight are left.
        assert_eq!((summary.slot, summary.paid.micros()), (1, 60 + 3 * 80));
        assert_eq!(summary.price.unwrap().micros(), 40 * 1_800);
    }

    /// Two units of three for two slots each.
    fn decision(class: ClassId, height: u64) -> Effect {
        let order = OrderId([8; 32]);
        let (offer, pay) = (OfferId([3; 32]), Credits::from_micros(88_888).unwrap());
        Effect::Reservation(ReservationRecord {
            class,
            height,
            slot: 2,
            posted: Price(5),
            units: vec![Share { offer, units: 3 }],
            busy: vec![],
            channels: vec![],
            bids: vec![ReservationBid {
                order,
                round: 1,
                rank: Hash32([0; 32]),
                groups: vec![],
                slots: 2,
                earliest: 2,
                latest: 3,
                value: pay,
                channels: None,
            }],
            booked: vec![Booked {
                order,
                start: 2,
                shares: vec![Share { offer, units: 2 }],
                channel: None,
                pay,
            }],
            beaten: None,
        })
    }

    #[test]
    fn reservations_in_short() {
        let all = lines(&[((16, 1), decision(SMALL, 16))]);
        let summary = &all[0].2;
        assert_eq!((summary.units, summary.sold, summary.winners), (3, 2, 1));
        // 2 units for 4 s at 40 credits an hour.
        assert_eq!(summary.price.unwrap().to_string(), "39.9996");
    }

    #[test]
    fn only_clearings_set_the_price_of_a_class() {
        let board = Board::default();
        board.add(lines(&[((16, 1), decision(SMALL, 16))]));
        assert!(board.last(&SMALL).is_none());
        board.add(lines(&[
            ((24, 0), clearing(SMALL, 24, 80)),
            ((32, 1), decision(SMALL, 32)),
        ]));
        assert_eq!(board.last(&SMALL).unwrap().height, 24);
        assert_eq!(board.newest(None, 9).len(), 3);
    }

    #[test]
    fn the_board_keeps_the_newest_and_the_last_prices() {
        let board = Board::default();
        board.add(lines(&[
            ((8, 0), clearing(SMALL, 8, 80)),
            ((8, 1), clearing(LARGE, 8, 40)),
        ]));
        board.add(lines(&[
            ((8, 1), clearing(LARGE, 8, 40)),
            ((16, 0), clearing(SMALL, 16, 0)),
        ]));
        assert_eq!(board.seen(), Some((16, 0)));
        let heights = |class| {
            let newest = board.newest(class, 9);
            newest
                .iter()
                .map(|s| (s.class.clone(), s.height))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            heights(Some(&SMALL)),
            [("small".into(), 16), ("small".into(), 8)]
        );
        assert_eq!(heights(None).len(), 3, "nothing twice");
        assert_eq!(
            board.last(&SMALL).unwrap().height,
            8,
            "the later one sold nothing"
        );
        for height in 0..KEPT as u64 {
            board.add(lines(&[(
                (100 + height, 0),
                clearing(LARGE, 100 + height, 40),
            )]));
        }
        assert_eq!(board.newest(None, usize::MAX).len(), KEPT);
        assert!(board.last(&SMALL).is_some(), "a price outlives its line");
    }
}
