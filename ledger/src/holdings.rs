//! What every account has open, counted by kind, so that nobody has to look for it in all records:
//! a seller has so many offers and no more, and an account is closed that has nothing open.
//!
//! A record counts for its holders from [`enter`] to [`leave`]. Neither its holders nor its kind
//! change in between.

use crate::offer::Offer;
use crate::order::{Order, Unopened};
use crate::pot::Pot;
use crate::retention::Retained;
use crate::work::Work;
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

/// A record that somebody has open.
pub(crate) trait Held {
    /// Whose it is, and as what; an account as often as it counts.
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

/// How much of a kind an account has open.
pub(crate) fn count(work: &Work<'_>, account: &AccountId, kind: Holding) -> u32 {
    let counted = work.tables.holdings.get(&(*account, kind));
    counted.copied().unwrap_or(0)
}

/// A kind of which an account has something open.
pub(crate) fn any(work: &Work<'_>, account: &AccountId) -> Option<Holding> {
    let mut kinds = Holding::ALL.into_iter();
    kinds.find(|kind| count(work, account, *kind) > 0)
}

/// A record that is new.
pub(crate) fn enter(work: &mut Work<'_>, record: &impl Held) {
    for place in record.holders() {
        let before = count(work, &place.0, place.1);
        work.tables.holdings.insert(place, before.saturating_add(1));
    }
}

/// A record that is gone.
pub(crate) fn leave(work: &mut Work<'_>, record: &impl Held) {
    for place in record.holders() {
        let left = count(work, &place.0, place.1).saturating_sub(1);
        if left == 0 {
            work.tables.holdings.remove(&place);
        } else {
            work.tables.holdings.insert(place, left);
        }
    }
}
