//! Treats a wish in the ways that all mechanisms share.

use crate::api::types::Wish;
use crate::api::{ApiError, ErrorCode};
use crate::market::desk::Desk;
use crate::order::plan::Ask;
use gridbay_protocol::offer::Primary;
use gridbay_protocol::units::Price;

/// The terms of a wish.
pub(super) fn ask(wish: &Wish) -> Ask {
    Ask {
        nodes: wish.nodes,
        max_price: None,
        seconds: wish.seconds,
        budget: wish.budget,
    }
}

/// The lowest reserve of the class's offers under a mechanism that they sell by.
pub(super) fn reserve(at: &Desk<'_>, sells: impl Fn(&Primary) -> bool) -> Option<Price> {
    let offers = at.state().offers().map(|(_, offer)| offer);
    let of_class = offers.filter(|o| o.active && o.terms.class == at.market.id);
    let selling = of_class.filter(|o| sells(&o.terms.mechanism));
    selling.map(|o| o.terms.reserve).min()
}

/// Nobody sells the class this way.
pub(super) fn unsold(why: impl Into<String>) -> ApiError {
    ApiError::new(ErrorCode::NoMatch, why, "see gridbay offer list")
}

/// A wish that is too large or too long for one way may suit others.
pub(super) fn unsuitable(error: ApiError) -> ApiError {
    match error.code {
        ErrorCode::Usage => ApiError {
            code: ErrorCode::NoMatch,
            ..error
        },
        _ => error,
    }
}
