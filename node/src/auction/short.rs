//! The short form of an auction.

use crate::api::types::{AuctionKind, AuctionSummary, count};
use crate::market::BETWEEN;
use crate::market::price::mean_hourly;
use gridbay_protocol::effect::{Auction, Effect};
use gridbay_protocol::genesis::Policy;
use gridbay_protocol::ids::ClassId;
use gridbay_protocol::lease::Share;
use gridbay_protocol::record::ausubel::{ClearingKind, ClearingRecord};
use gridbay_protocol::record::buy::BuyRecord;
use gridbay_protocol::record::posted::PostedRecord;
use gridbay_protocol::record::reservation::ReservationRecord;
use gridbay_protocol::record::share::Sharing;
use gridbay_protocol::units::Credits;

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
        Auction::Posted(record) => of_posted(record, policy, name),
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
    let (slot, first) = begun(policy, record.height, record.parts.iter().map(|p| p.price));
    let whole = policy.calendar.slot_heights();
    let full = record.price.checked_mul(u64::from(record.slots));
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

fn of_posted(
    record: &PostedRecord,
    policy: &Policy,
    name: impl Fn(&ClassId) -> String,
) -> AuctionSummary {
    let prices = || record.served.iter().map(|hired| hired.price);
    let (slot, first) = begun(policy, record.height, prices());
    let listed = record.offers.iter().map(|offer| offer.units);
    let sold = record.served.iter().flat_map(|hired| &hired.taken);
    let sold = sold.map(|taken| taken.units).sum();
    let price = Credits::sum(prices()).unwrap_or(Credits::MAX);
    let whole = policy.calendar.slot_heights();
    AuctionSummary {
        id: record.id().to_hex(),
        kind: AuctionKind::Posted,
        class: name(&record.class),
        height: record.height,
        slot,
        units: listed.fold(record.left_out, u32::saturating_add),
        bids: count(record.bids.len()),
        winners: count(record.served.len()),
        sold,
        paid: first.unwrap_or(Credits::MAX),
        price: mean_hourly(price, unit_ms(sold, whole, policy)),
    }
}

/// The slot that runs after a height, and what sales at these prices a slot pay for the rest of it,
/// each rounded up; `None` if that is no amount.
fn begun(
    policy: &Policy,
    height: u64,
    prices: impl Iterator<Item = Credits>,
) -> (u64, Option<Credits>) {
    let slot = policy.calendar.slot(height.saturating_add(1));
    let rest = policy.calendar.last_of_slot(slot).saturating_sub(height);
    let whole = policy.calendar.slot_heights();
    let paid = prices.map(|price| price.share_ceil(rest, whole));
    let paid = paid.collect::<Option<Vec<_>>>();
    (slot, paid.and_then(Credits::sum))
}

fn unit_ms(units: u32, heights: u64, policy: &Policy) -> u128 {
    u128::from(units) * u128::from(heights) * u128::from(policy.block_interval_ms)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::auction::board::Place;
    use gridbay_protocol::ids::{Hash32, OfferId, OrderId};
    use gridbay_protocol::policy::ausubel::AuctionPolicy;
    use gridbay_protocol::record::ausubel::{Award, ClearingOffer, Sold, clearing_id};
    use gridbay_protocol::record::buy::BoughtPart;
    use gridbay_protocol::record::posted::{Hired, PostedBid};
    use gridbay_protocol::record::reservation::{Booked, ReservationBid};
    use gridbay_protocol::units::Price;

    pub(crate) const SMALL: ClassId = ClassId([1; 32]);
    pub(crate) const LARGE: ClassId = ClassId([2; 32]);

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
    pub(crate) fn clearing(class: ClassId, height: u64, pay: u64) -> Effect {
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
    pub(crate) fn lines(effects: &[(Place, Effect)]) -> Vec<(Place, Vec<ClassId>, AuctionSummary)> {
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
    pub(crate) fn decision(class: ClassId, height: u64) -> Effect {
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
    fn hires_in_short() {
        let hired = |order: u8, units, price| Hired {
            order: OrderId([order; 32]),
            taken: vec![offer(units)],
            price: Credits::from_micros(price).unwrap(),
        };
        let came = |order: u8, units| PostedBid {
            order: OrderId([order; 32]),
            units,
            limit: Price(5),
        };
        let record = PostedRecord {
            class: SMALL,
            height: 10,
            offers: vec![offer(6)],
            left_out: 4,
            bids: vec![came(9, 2), came(8, 9), came(7, 3)],
            served: vec![hired(9, 2, 10), hired(7, 3, 15)],
        };
        let id = record.id().to_hex();
        let (_, summary) = summary(&Effect::Posted(record), &Policy::local(), name).unwrap();
        assert_eq!((summary.id, summary.kind), (id, AuctionKind::Posted));
        assert_eq!((summary.units, summary.sold), (10, 5));
        assert_eq!((summary.bids, summary.winners), (3, 2));
        // Six heights of eight are left: 7.5 and 11.25, each rounded up.
        assert_eq!((summary.slot, summary.paid.micros()), (1, 8 + 12));
        assert_eq!(summary.price.unwrap().micros(), 5 * 1_800);
    }
}
