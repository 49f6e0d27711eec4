//! Two claims on a pool of two nodes: one each.

use super::CLAIMS;
use crate::demo::evidence::{Auction, Evidence};
use crate::demo::sample::{done, id, micros};
use gridbay_node::api::types::AuctionRecord;
use gridbay_protocol::ids::{AccountId, ClassId, Hash32, OfferId};
use gridbay_protocol::mechanism::share::Utility;
use gridbay_protocol::offer::PoolTerms;
use gridbay_protocol::record::share::{Sharing, SharingClaim};
use gridbay_protocol::units::Price;

pub(crate) fn add(evidence: &mut Evidence) {
    evidence
        .orders
        .extend([done(CLAIMS[0], 20), done(CLAIMS[1], 21)]);
    evidence.auctions.push(sharing());
}

fn sharing() -> Auction {
    let claim = |n| SharingClaim {
        order: id(n),
        sponsor: AccountId([n; 32]),
        rate: micros(1_000),
        utility: Utility::Log,
        weights: vec![1, 1],
        tasks: 6,
    };
    let mut record = Sharing {
        offer: OfferId([3; 32]),
        class: ClassId([1; 32]),
        height: 8,
        slot: 1,
        units: 2,
        reserve: Price(100),
        terms: PoolTerms {
            cap_ppm: 1_000_000,
            sixteenths: 8,
        },
        draw: Hash32([5; 32]),
        claims: vec![claim(20), claim(21)],
        awards: vec![],
    };
    record.awards = record.divide();
    Auction {
        id: record.id().to_hex(),
        class: "small".into(),
        record: AuctionRecord::Sharing(record),
    }
}
