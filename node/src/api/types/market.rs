//! The market: offers, quotes, prices, auctions.

use super::{Hex, How, amount, optional_amount};
use gridbay_protocol::booking::ReservationRecord;
use gridbay_protocol::clearing::{BuyRecord, ClearingRecord};
use gridbay_protocol::effect::Auction;
use gridbay_protocol::ids::{AccountId, ClassId, OfferId};
use gridbay_protocol::offer::Primary;
use gridbay_protocol::sharing::Sharing;
use gridbay_protocol::units::Credits;
use serde::{Deserialize, Serialize};

/// `PUT /offers`: sets an offer of this node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OfferRequest {
    /// Number of the offer; `None` changes this node's only offer of the class or makes a new one.
    pub label: Option<u32>,
    /// Name of the class.
    pub class: String,
    /// Units.
    pub units: u32,
    /// Least price per node-hour.
    #[serde(with = "amount")]
    pub reserve: Credits,
    /// Buy-it-now price per node-hour.
    #[serde(with = "optional_amount")]
    pub buy: Option<Credits>,
    /// Seconds of notice before units are taken back; never if `None`.
    pub notice_seconds: Option<u32>,
    /// Mechanism they are sold under first: `"ausubel"`, or an object with its name and terms.
    #[serde(default)]
    pub mechanism: Primary,
}

/// An offer on the ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    /// Its id.
    pub offer: OfferId,
    /// Seller's number of it.
    pub label: u32,
    /// Seller.
    pub account: AccountId,
    /// Whether this node is the seller.
    pub own: bool,
    /// Name of the class.
    pub class: String,
    /// Units offered.
    pub units: u32,
    /// Units leased now.
    pub leased: u32,
    /// Least price per node-hour.
    #[serde(with = "amount")]
    pub reserve: Credits,
    /// Buy-it-now price per node-hour.
    #[serde(with = "optional_amount")]
    pub buy: Option<Credits>,
    /// Seconds of notice before units are taken back; never if `None`.
    pub notice_seconds: Option<u32>,
    /// Mechanism they are sold under first.
    pub mechanism: Primary,
    /// Whether units are for sale: those of a new offer are from the close of the round on.
    pub on_sale: bool,
    /// Whether it is withdrawn and ends with its leases.
    pub withdrawn: bool,
    /// Whether this node holds it back while its disk is short of room, and sets it again by itself.
    pub held_back: bool,
}

/// What an order asks for, without its job. `POST /quote`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Want {
    /// Name of the class; `None` for the network's only or first class.
    pub class: Option<String>,
    /// Nodes.
    pub nodes: u32,
    /// Most per node-hour; `None` lets the node choose (a buy at the asked prices only).
    #[serde(with = "optional_amount")]
    pub max_price: Option<Credits>,
    /// Hard limit on the running time.
    pub seconds: u32,
    /// Most for the whole order; `None` for nodes x time x price.
    #[serde(with = "optional_amount")]
    pub budget: Option<Credits>,
    /// How it gets its nodes.
    pub how: How,
}

impl Want {
    /// Nodes of all classes.
    pub fn all_nodes(&self) -> u32 {
        let also = self.how.also().iter().map(|also| also.nodes);
        also.fold(self.nodes, u32::saturating_add)
    }
}

/// `GET /prices`: one class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassPrice {
    /// Name.
    pub class: String,
    /// Its id.
    pub id: ClassId,
    /// Virtual processors of a unit.
    pub vcpu: u32,
    /// Memory of a unit in MiB.
    pub memory_mib: u64,
    /// Disk of a unit in MiB.
    pub disk_mib: u64,
    /// Graphics processors of a unit.
    pub gpu: u32,
    /// Units offered.
    pub units_offered: u32,
    /// Units leased.
    pub units_leased: u32,
    /// Lowest reserve per node-hour.
    #[serde(with = "optional_amount")]
    pub reserve: Option<Credits>,
    /// Lowest buy-it-now price per node-hour.
    #[serde(with = "optional_amount")]
    pub buy: Option<Credits>,
    /// Mean price per node-hour of the last clearing that sold something.
    #[serde(with = "optional_amount")]
    pub last: Option<Credits>,
    /// Height of that clearing.
    pub last_height: Option<u64>,
    /// Orders that stand and hold nothing.
    pub waiting: u32,
}

/// How an auction came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AuctionKind {
    /// Cleared at a slot's boundary: every unit that is not firm.
    Boundary,
    /// Cleared between boundaries: free units.
    Free,
    /// A buy-it-now.
    Buy,
    /// A pool shared for a slot.
    Share,
    /// Reservations of a class decided on.
    Reservation,
}

impl AuctionKind {
    /// As in JSON.
    pub fn name(self) -> &'static str {
        match self {
            AuctionKind::Boundary => "boundary",
            AuctionKind::Free => "free",
            AuctionKind::Buy => "buy",
            AuctionKind::Share => "share",
            AuctionKind::Reservation => "reservation",
        }
    }
}

/// `GET /auctions`: one line, newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    /// Paid for the time sold.
    #[serde(with = "amount")]
    pub paid: Credits,
    /// Mean price per node-hour; `None` if nothing was sold.
    #[serde(with = "optional_amount")]
    pub price: Option<Credits>,
}

/// What happened in an auction: the whole input and outcome, as on the ledger.
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
}

impl From<Auction<'_>> for AuctionRecord {
    fn from(auction: Auction<'_>) -> AuctionRecord {
        match auction {
            Auction::Clearing(record) => AuctionRecord::Clearing(record.clone()),
            Auction::Buy(record) => AuctionRecord::Buy(record.clone()),
            Auction::Sharing(record) => AuctionRecord::Sharing(record.clone()),
            Auction::Reservation(record) => AuctionRecord::Reservation(record.clone()),
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
        }
    }
}

/// `GET /auctions/{id}`: the record and what a stranger needs to check it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuctionProof {
    /// Id, as in the summary.
    pub id: String,
    /// Name of the class.
    pub class: String,
    /// The record.
    pub record: AuctionRecord,
    /// Header of its block.
    pub header: Hex,
    /// Certificate of its block.
    pub certificate: Hex,
    /// Validators of its height.
    pub validators: Hex,
    /// An [`super::EffectProof`]: the record is among the effects the header commits to.
    pub proof: Hex,
}
