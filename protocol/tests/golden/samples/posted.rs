//! Samples of hires at posted prices.

use super::{entry, micros};
use gridbay_protocol::effect::Effect;
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::ids::{ClassId, Hash32, OfferId, OrderId};
use gridbay_protocol::offer::Primary;
use gridbay_protocol::order::Hire;
use gridbay_protocol::record::ausubel::ClearingOffer;
use gridbay_protocol::record::posted::{PostedBid, PostedRecord};
use gridbay_protocol::units::Price;

const CLASS: ClassId = ClassId([0xc1; 32]);

pub(crate) fn hire() -> Hire {
    Hire {
        class: CLASS,
        units: 3,
        slots: 12,
        limit: Price(1_500),
        work: Hash32([0x33; 32]),
    }
}

/// The offer and the order.
pub(super) fn entries() -> [(&'static str, EntryBody); 2] {
    let offer = entry::offer_under(Primary::Posted);
    [
        ("set_offer.posted", EntryBody::SetOffer(offer)),
        ("posted", EntryBody::Posted(hire())),
    ]
}

/// Three come, of which the second finds too few units within its limit. None can pay for the
/// dearest ones.
pub(super) fn sold() -> Effect {
    let offer = |n, units, price| ClearingOffer {
        offer: OfferId([n; 32]),
        units,
        reserve: Price(price),
    };
    let bid = |n, units, limit| PostedBid {
        order: OrderId([n; 32]),
        units,
        limit: Price(limit),
    };
    let offers = [(0x0e, 2, 1_200), (0x0f, 2, 1_000), (0x0d, 7, 1_501)];
    let offers = offers.map(|(n, units, price)| offer(n, units, price));
    let bids = vec![
        bid(0x0d, 3, 1_500),
        bid(0x0b, 1, 1_100),
        bid(0x0c, 1, 1_200),
    ];
    let (record, _) = PostedRecord::decide(CLASS, 24, offers.to_vec(), bids);
    assert_eq!((record.offers.len(), record.left_out), (2, 7));
    let prices: Vec<_> = record.served.iter().map(|hired| hired.price).collect();
    assert_eq!(prices, [micros(3_200), micros(1_200)]);
    Effect::Posted(record)
}
