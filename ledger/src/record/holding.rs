//! The kinds of records that an account may have open.

use super::{Offer, Order, Pot, Retained, Unopened};
use gridbay_protocol::ids::AccountId;
use serde::{Deserialize, Serialize};

/// Kinds of what an account may have open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Holding {
    /// A live order.
    Order,
    /// A bid that waits for an appeal.
    Unopened,
    /// An offer.
    Offer,
    /// A part in a pot, as buyer or as seller.
    Slot,
    /// Earnings that are held.
    Earnings,
}

impl Holding {
    pub(crate) const ALL: [Holding; 5] = [
        Holding::Order,
        Holding::Unopened,
        Holding::Offer,
        Holding::Slot,
        Holding::Earnings,
    ];
    /// In words, with its article.
    pub(crate) fn what(self) -> &'static str {
        match self {
            Holding::Order => "an order",
            Holding::Unopened => "a bid that waits for an appeal",
            Holding::Offer => "an offer",
            Holding::Slot => "a slot that is not settled",
            Holding::Earnings => "earnings that are held",
        }
    }
}

/// A record that an account has open.
pub(crate) trait Held {
    /// Its holders, and the kind it is to each; an account appears as often as it counts.
    fn holders(&self) -> Vec<(AccountId, Holding)>;
}

impl Held for Order {
    fn holders(&self) -> Vec<(AccountId, Holding)> {
        vec![(self.account, Holding::Order)]
    }
}

impl Held for Unopened {
    fn holders(&self) -> Vec<(AccountId, Holding)> {
        vec![(self.account, Holding::Unopened)]
    }
}

impl Held for Offer {
    fn holders(&self) -> Vec<(AccountId, Holding)> {
        vec![(self.seller, Holding::Offer)]
    }
}

impl Held for Pot {
    fn holders(&self) -> Vec<(AccountId, Holding)> {
        let buyers = self.stakes.iter().map(|stake| stake.account);
        let sellers = self.sold.iter().map(|sold| sold.seller);
        let all = buyers.chain(sellers);
        all.map(|account| (account, Holding::Slot)).collect()
    }
}

impl Held for Retained {
    fn holders(&self) -> Vec<(AccountId, Holding)> {
        vec![(self.seller, Holding::Earnings)]
    }
}
