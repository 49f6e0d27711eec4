//! A bag of tasks by a deadline: whether some seller's plan would take it now, and the price.
//!
//! The wish becomes as many tasks of a slot as it has node-slots, done by the time named, or within
//! four times its length; the soft deadline lies half-way. It pays the budget, or twice the lowest
//! reserve, and half of that when late.

use super::{DeadlineHow, DeadlineQuote, NAME};
use crate::api::types::{Prospect, Wish};
use crate::api::{ApiError, ErrorCode};
use crate::buy::wish::{reserve, unsold};
use crate::market::desk::{Answer, Desk};
use crate::order::plan::{Ask, Said};
use gridbay_protocol::limits;
use gridbay_protocol::mechanism::deadline::Shape;
use gridbay_protocol::offer::Primary;
use gridbay_protocol::units::Credits;

/// The prospect of a job by a deadline for a wish now.
pub(in crate::buy) fn outlook(at: &Desk<'_>, wish: &Wish) -> Answer<Prospect> {
    at.account()?;
    let market = &at.market;
    let slot_ms = market.policy.slot_ms().max(1);
    let plans = |mechanism: &Primary| matches!(mechanism, Primary::Deadline(_));
    let reserve = reserve(at, plans).ok_or_else(|| {
        unsold(format!(
            "nobody takes jobs by deadlines in class {}",
            market.name
        ))
    })?;
    let slots = (u64::from(wish.seconds) * 1_000).div_ceil(slot_ms);
    let tasks = u64::from(wish.nodes).saturating_mul(slots);
    let (Ok(tasks), true) = (u32::try_from(tasks), slot_ms >= 1_000) else {
        return Err(too_large());
    };
    if tasks > limits::ORDER_UNITS {
        return Err(too_large());
    }
    let least = reserve.times(u64::from(tasks) * 2).unwrap_or(Credits::MAX);
    let pay = wish.budget.unwrap_or(least);
    let hard = wish
        .within_seconds
        .unwrap_or(wish.seconds.saturating_mul(4))
        .max(1);
    let how = DeadlineHow {
        soft_seconds: hard.div_ceil(2),
        hard_seconds: hard,
        pay,
        late_pay: pay.share_floor(1, 2).unwrap_or(Credits::ZERO),
        shape: Shape::Linear,
        offer: None,
        seller: None,
    };
    let ask = Ask {
        nodes: tasks,
        max_price: None,
        seconds: u32::try_from(slot_ms / 1_000).unwrap_or(u32::MAX),
        budget: None,
    };
    let plan = how.planned(at, &ask)?;
    let Said::Deadline(said) = plan.said else {
        return Err(too_large());
    };
    Ok(Prospect {
        mechanism: NAME.to_owned(),
        likely: said.price,
        most: Some(pay),
        odds: Some(if said.refused.is_none() { 100 } else { 0 }),
        note: note(&said),
        options: format!(
            "--array {tasks} --time {}s --soft {}s --hard {hard}s --pay {pay}",
            ask.seconds,
            hard.div_ceil(2)
        ),
    })
}

fn note(said: &DeadlineQuote) -> String {
    match (&said.refused, said.done_seconds) {
        (Some(why), _) => why.clone(),
        (None, Some(seconds)) => format!(
            "its seller would take it now and be done after {seconds} s; late it costs less, then nothing"
        ),
        (None, None) => "its seller would take it now".to_owned(),
    }
}

fn too_large() -> ApiError {
    ApiError::new(
        ErrorCode::NoMatch,
        "more tasks than an order may have",
        "ask for fewer nodes or less time",
    )
}
