//! A reservation: all nodes together, ahead of time.
//!
//! A winner pays its bid, and the least legal bid is the posted price of its node-slots. Others'
//! bids for the same slots are sealed, so odds are given only where they are zero: too few units,
//! too long a time, or a budget below that price.

use super::{Ahead, NAME, Start};
use crate::api::types::{Prospect, Wish};
use crate::buy::wish::{ask, unsuitable};
use crate::market::desk::{Answer, Desk};
use crate::offer::named::offer_meant;
use crate::order::plan::{Ask, Said};

/// As soon as there is room, on any offers.
const ANY: Ahead = Ahead {
    groups: Vec::new(),
    from: Start::In(0),
    until: None,
    channels: None,
};

/// The prospect of a reservation for a wish now.
pub(in crate::buy) fn outlook(at: &Desk<'_>, wish: &Wish) -> Answer<Prospect> {
    at.account()?;
    let (market, nodes) = (&at.market, wish.nodes);
    let any = Ask {
        budget: None,
        ..ask(wish)
    };
    let plan = ANY
        .planned(market, &any, &|offer| offer_meant(at.state(), offer))
        .map_err(unsuitable)?;
    let (ahead, starts) = (market.reservable(), market.policy.reservation.starts);
    let within = wish.budget.is_none_or(|budget| plan.most <= budget);
    let (odds, note) = match (within, ahead >= nodes) {
        (_, false) => (
            Some(0),
            format!("{ahead} units are sold under reservation, {nodes} are wanted"),
        ),
        (false, true) => (Some(0), "the posted price exceeds the budget".to_owned()),
        (true, true) => (
            None,
            format!(
                "all together, to start within {starts} slots; pays what it bids, this at the least"
            ),
        ),
    };
    Ok(Prospect {
        mechanism: NAME.to_owned(),
        likely: match plan.said {
            Said::Least(posted) => Some(posted),
            _ => None,
        },
        most: Some(plan.most),
        odds,
        note,
        options: format!("-n {nodes} --reserve"),
    })
}
