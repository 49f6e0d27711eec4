//! A buy: at once, prepaid, not preempted.

use super::{BuyHow, NAME};
use crate::api::types::{Prospect, Wish};
use crate::buy::wish::ask;
use crate::market::desk::{Answer, Desk};
use crate::order::plan::Ask;

/// The prospect of a buy for a wish now.
pub(in crate::buy) fn outlook(at: &Desk<'_>, wish: &Wish) -> Answer<Prospect> {
    at.account()?;
    let any = Ask {
        budget: None,
        ..ask(wish)
    };
    let plan = BuyHow::AT_ONCE.planned(at, &any)?;
    let (free, reach) = (at.market.can_be_bought(), at.market.in_reach());
    let within = wish.budget.is_none_or(|budget| plan.most <= budget);
    let (odds, note) = if !within {
        (Some(0), "the prices asked exceed the budget".to_owned())
    } else if free >= wish.nodes {
        (Some(100), "at once, and kept for the whole time".to_owned())
    } else if reach >= wish.nodes {
        let note = "it would displace bids and pay what they are worth";
        (None, format!("{free} units are free: {note}"))
    } else {
        let note = format!("{reach} can be had now, buys hold the others; --wait waits for units");
        (Some(0), note)
    };
    Ok(Prospect {
        mechanism: NAME.to_owned(),
        likely: plan.likely,
        most: Some(plan.most),
        odds,
        note,
        options: format!("-n {} --buy", wish.nodes),
    })
}
