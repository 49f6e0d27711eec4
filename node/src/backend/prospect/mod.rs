//! What each mechanism would do with a wish now, one file a mechanism. Nothing is promised: the figures are those of the
//! ledger at this moment, and of the last clearings.

mod ausubel;
mod buy;
mod contract;
mod deadline;
mod reservation;
mod share;

use super::{Answer, NodeBackend};
use crate::api::types::{How, Prospect, Want, Wish};
use crate::api::{ApiError, ErrorCode};
use gridbay_ledger::State;
use gridbay_protocol::ids::ClassId;
use gridbay_protocol::offer::Primary;
use gridbay_protocol::units::Price;

impl NodeBackend {
    /// What each mechanism would do with a wish, as things stand.
    pub async fn prospects(&self, wish: Wish) -> Answer<Vec<Prospect>> {
        Ok(vec![
            or_why_not("ausubel", self.auction_prospect(&wish).await)?,
            or_why_not("buy", self.buy_prospect(&wish).await)?,
            or_why_not("reservation", self.reservation_prospect(&wish).await)?,
            or_why_not("deadline", self.deadline_prospect(&wish).await)?,
            or_why_not("share", self.share_prospect(&wish).await)?,
            or_why_not("contract", self.contract_prospect(&wish).await)?,
        ])
    }
}

/// A mechanism that cannot serve the wish says why; what is wrong with the wish itself is an error.
fn or_why_not(mechanism: &str, prospect: Answer<Prospect>) -> Answer<Prospect> {
    match prospect {
        Err(ApiError {
            code: ErrorCode::NoMatch | ErrorCode::Refused,
            message,
            hint,
            ..
        }) => Ok(Prospect {
            mechanism: mechanism.to_owned(),
            likely: None,
            most: None,
            odds: Some(0),
            note: format!("{message}; {hint}"),
            options: String::new(),
        }),
        other => other,
    }
}

/// The lowest reserve of a class's offers under a mechanism that they sell by.
fn reserve(state: &State, class: &ClassId, sells: impl Fn(&Primary) -> bool) -> Option<Price> {
    let offers = state.offers().map(|(_, offer)| offer);
    let selling =
        offers.filter(|o| o.active && o.terms.class == *class && sells(&o.terms.mechanism));
    selling.map(|o| o.terms.reserve).min()
}

/// The wish under a mechanism.
fn want(wish: &Wish, how: How) -> Want {
    Want {
        class: wish.class.clone(),
        nodes: wish.nodes,
        max_price: None,
        seconds: wish.seconds,
        budget: wish.budget,
        how,
    }
}
