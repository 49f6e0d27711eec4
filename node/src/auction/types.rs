//! Auctions: a line each, and one with its proof.
//!
//! The figures of a line stand in the room of its mechanism; this file alone knows all rooms.

mod ausubel;
mod buy;
mod posted;
mod reservation;
mod share;

use crate::api::types::{Hex, amount, optional_amount};
use crate::market::BETWEEN;
use gridbay_protocol::effect::{Auction, Effect};
use gridbay_protocol::genesis::Policy;
use gridbay_protocol::ids::{ClassId, to_hex};
use gridbay_protocol::record::ausubel::{ClearingKind, ClearingRecord};
use gridbay_protocol::record::buy::BuyRecord;
use gridbay_protocol::record::posted::PostedRecord;
use gridbay_protocol::record::reservation::ReservationRecord;
use gridbay_protocol::record::share::Sharing;
use gridbay_protocol::units::Credits;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

named! {
    /// How an auction came about.
    pub enum AuctionKind {
        /// Cleared at a slot's boundary: every unit that is not firm.
        Boundary = "boundary",
        /// Cleared between boundaries: free units.
        Free = "free",
        /// A buy-it-now.
        Buy = "buy",
        /// A pool shared for a slot.
        Share = "share",
        /// Reservations of a class decided on.
        Reservation = "reservation",
        /// Hires of a class decided on.
        Posted = "posted",
    }
}

impl AuctionKind {
    /// How an auction came about.
    pub(crate) fn of(auction: &Auction<'_>) -> AuctionKind {
        match auction {
            Auction::Clearing(record) => match record.kind {
                ClearingKind::Boundary => AuctionKind::Boundary,
                ClearingKind::Free => AuctionKind::Free,
            },
            Auction::Buy(_) => AuctionKind::Buy,
            Auction::Sharing(_) => AuctionKind::Share,
            Auction::Reservation(_) => AuctionKind::Reservation,
            Auction::Posted(_) => AuctionKind::Posted,
        }
    }
}

/// `GET /auctions`: one line, newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AuctionSummary {
    /// Id of the clearing, or of the order of a buy, in hex.
    pub id: String,
    /// Kind.
    pub kind: AuctionKind,
    /// Name of the class.
    pub class: String,
    /// Height of its block.
    pub height: u64,
    /// Slot sold.
    pub slot: u64,
    /// Units for sale.
    pub units: u32,
    /// Bids.
    pub bids: u32,
    /// Bids that won.
    pub winners: u32,
    /// Units sold.
    pub sold: u32,
    /// Paid for the time sold; by hires, for what is left of the slot.
    #[serde(with = "amount")]
    pub paid: Credits,
    /// Mean price per node-hour; `None` if nothing was sold.
    #[serde(with = "optional_amount")]
    pub price: Option<Credits>,
}

impl AuctionSummary {
    /// The line of an auction, and the classes that it is of; `None` for other effects. `name` is
    /// that of a class.
    pub(crate) fn of(
        effect: &Effect,
        policy: &Policy,
        name: impl Fn(&ClassId) -> String,
    ) -> Option<(Vec<ClassId>, AuctionSummary)> {
        let auction = effect.auction()?;
        Some(AuctionSummary::of_auction(auction, policy, name))
    }

    /// The line of an auction, and the classes that it is of.
    pub(crate) fn of_auction(
        auction: Auction<'_>,
        policy: &Policy,
        name: impl Fn(&ClassId) -> String,
    ) -> (Vec<ClassId>, AuctionSummary) {
        let figures = match auction {
            Auction::Clearing(record) => ausubel::figures(record, policy),
            Auction::Buy(record) => buy::figures(record, policy),
            Auction::Sharing(record) => share::figures(record, policy),
            Auction::Reservation(record) => reservation::figures(record, policy),
            Auction::Posted(record) => posted::figures(record, policy),
        };
        let classes = auction.classes();
        let names: Vec<String> = classes.iter().map(name).collect();
        let summary = AuctionSummary {
            id: to_hex(&auction.id()),
            kind: AuctionKind::of(&auction),
            class: names.join(BETWEEN),
            height: auction.height(),
            slot: figures.slot,
            units: figures.units,
            bids: figures.bids,
            winners: figures.winners,
            sold: figures.sold,
            paid: figures.paid,
            price: figures.price,
        };
        (classes, summary)
    }
}

/// The record of an auction: its whole input and outcome, as on the ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AuctionRecord {
    /// A clearing.
    Clearing(ClearingRecord),
    /// A buy.
    Buy(BuyRecord),
    /// A sharing of a pool.
    Sharing(Sharing),
    /// A decision on reservations.
    Reservation(ReservationRecord),
    /// A decision on hires.
    Posted(PostedRecord),
}

impl From<Auction<'_>> for AuctionRecord {
    fn from(auction: Auction<'_>) -> AuctionRecord {
        match auction {
            Auction::Clearing(record) => AuctionRecord::Clearing(record.clone()),
            Auction::Buy(record) => AuctionRecord::Buy(record.clone()),
            Auction::Sharing(record) => AuctionRecord::Sharing(record.clone()),
            Auction::Reservation(record) => AuctionRecord::Reservation(record.clone()),
            Auction::Posted(record) => AuctionRecord::Posted(record.clone()),
        }
    }
}

impl AuctionRecord {
    /// The auction as the ledger knows it.
    pub fn auction(&self) -> Auction<'_> {
        match self {
            AuctionRecord::Clearing(record) => Auction::Clearing(record),
            AuctionRecord::Buy(record) => Auction::Buy(record),
            AuctionRecord::Sharing(record) => Auction::Sharing(record),
            AuctionRecord::Reservation(record) => Auction::Reservation(record),
            AuctionRecord::Posted(record) => Auction::Posted(record),
        }
    }
}

/// `GET /auctions/{id}`: the record and what a stranger needs to check it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AuctionProof {
    /// Id, as in the summary.
    pub id: String,
    /// Name of the class.
    pub class: String,
    /// The record, as on the ledger: an object with the name of its kind.
    #[schema(value_type = Object)]
    pub record: AuctionRecord,
    /// Header of its block.
    pub header: Hex,
    /// Certificate of its block.
    pub certificate: Hex,
    /// Validators of its height.
    pub validators: Hex,
    /// An [`EffectProof`](crate::api::types::EffectProof): the record is among the effects the
    /// header commits to.
    pub proof: Hex,
}

#[cfg(test)]
pub(crate) mod tests {
    pub(crate) use super::ausubel::tests::{clearing, empty};
    pub(crate) use super::reservation::tests::decision;

    use super::*;
    use crate::auction::board::Place;
    use gridbay_protocol::ids::OfferId;
    use gridbay_protocol::record::ausubel::ClearingOffer;
    use gridbay_protocol::units::Price;

    pub(crate) const SMALL: ClassId = ClassId([1; 32]);
    pub(crate) const LARGE: ClassId = ClassId([2; 32]);

    pub(crate) fn offer(units: u32) -> ClearingOffer {
        ClearingOffer {
            offer: OfferId([3; 32]),
            units,
            reserve: Price(5),
        }
    }
    /// The line of an effect that is an auction.
    pub(super) fn line(effect: &Effect) -> (Vec<ClassId>, AuctionSummary) {
        let name = |class: &ClassId| if *class == SMALL { "small" } else { "large" }.to_owned();
        AuctionSummary::of(effect, &Policy::local(), name).unwrap()
    }
    pub(crate) fn lines(effects: &[(Place, Effect)]) -> Vec<(Place, Vec<ClassId>, AuctionSummary)> {
        let line = |(place, effect): &(Place, Effect)| {
            let (class, summary) = line(effect);
            (*place, class, summary)
        };
        effects.iter().map(line).collect()
    }
}
