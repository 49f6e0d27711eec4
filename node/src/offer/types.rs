//! Offers: as an owner sets them, and as the ledger has them.

use crate::api::types::{amount, optional_amount};
use gridbay_protocol::ids::{AccountId, OfferId};
use gridbay_protocol::offer::Primary;
use gridbay_protocol::units::Credits;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// `PUT /offers`: sets an offer of this node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OfferRequest {
    /// Number of the offer; `None` changes this node's only offer of the class or makes a new one.
    pub label: Option<u32>,
    /// Name of the class.
    pub class: String,
    /// Units.
    #[schema(minimum = 1, maximum = 4096)]
    pub units: u32,
    /// Least price per node-hour.
    #[serde(with = "amount")]
    pub reserve: Credits,
    /// Buy-it-now price per node-hour.
    #[serde(default, with = "optional_amount")]
    pub buy: Option<Credits>,
    /// Seconds of notice before units are taken back; never if `None`.
    pub notice_seconds: Option<u32>,
    /// Mechanism they are sold under first: `"ausubel"`, or an object with its name and terms.
    #[serde(default)]
    pub mechanism: Primary,
}

/// An offer on the ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Offer {
    /// Its id.
    pub offer: OfferId,
    /// Seller's number of it.
    pub label: u32,
    /// Seller.
    pub account: AccountId,
    /// Its name, if it is a member.
    #[serde(default)]
    pub name: Option<String>,
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
    /// Whether this node holds it back while it drains or its disk is short of room, and sets it
    /// again by itself.
    pub held_back: bool,
}
