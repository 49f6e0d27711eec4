//! The outcomes that only jobs by deadlines can have.

use crate::api::types::{JobReason, JobState, WhyCheck};
use crate::buy::way::{Standing, Words};
use gridbay_core::buy::DeadlineWish;
use gridbay_protocol::effect::OrderEnd;

/// Why a seller does not take a job, in words.
pub(super) fn why_not(end: OrderEnd) -> &'static str {
    match end {
        OrderEnd::NoGain => "it would earn its seller too little beside the jobs it has taken",
        OrderEnd::NoRoom => "its seller has no room for it until the hard deadline",
        OrderEnd::Unstaked => "its seller cannot stake the bond on it",
        _ => "its seller does not take it",
    }
}

/// The change that would help.
pub(super) fn remedy(end: OrderEnd) -> &'static str {
    match end {
        OrderEnd::NoGain => "pay more, or accept a later soft deadline",
        OrderEnd::NoRoom => {
            "accept a later hard deadline, declare less work, or ask another seller"
        }
        OrderEnd::Unstaked => {
            "ask another seller, or offer a lower price: the bond is a part of it"
        }
        _ => "ask another seller",
    }
}

/// The same as a sentence.
fn sentence(end: OrderEnd) -> String {
    let words = why_not(end);
    format!("{}{}.", words[..1].to_uppercase(), &words[1..])
}

/// The outcomes that only jobs by deadlines can have.
pub(super) fn words(wish: &DeadlineWish, at: &Standing<'_>) -> Words {
    let refused = match at.judged.1 {
        Some(JobReason::NoGain) => Some(OrderEnd::NoGain),
        Some(JobReason::NoRoom) => Some(OrderEnd::NoRoom),
        Some(JobReason::Unstaked) => Some(OrderEnd::Unstaked),
        _ => None,
    };
    let other = match at.judged.1 {
        Some(JobReason::Missed) => Some("submit it again, to another seller"),
        _ => None,
    };
    let remedies = refused.map(remedy).or(other);
    Words {
        sentence: refused.map(sentence).or_else(|| of_plan(at)),
        check: Some(promise(wish, at)),
        remedies: remedies.map(|remedy| vec![remedy.to_owned()]),
        ..Words::default()
    }
}

/// The next steps once it is sent to its seller.
fn of_plan(at: &Standing<'_>) -> Option<String> {
    Some(match at.judged {
        (_, Some(JobReason::Paused)) => {
            "Its seller has taken it and gives its nodes of this slot to more urgent jobs.".into()
        }
        (JobState::Requeued, Some(JobReason::Undelivered)) => {
            "Its seller did not deliver in this slot, and still owes the work.".into()
        }
        (_, Some(JobReason::Missed)) => {
            "Its seller failed to do it by its hard deadline: it cost nothing, and the bond came with it."
                .into()
        }
        (JobState::Bidding, None) => {
            let slot = at.slot();
            format!("It asks its seller, who plans at the end of slot {slot}.")
        }
        _ => return None,
    })
}

/// Whether it goes by its seller's plan.
fn promise(wish: &DeadlineWish, at: &Standing<'_>) -> WhyCheck {
    let live = at.agent.id.and_then(|id| at.state.order(&id));
    let taken = live.and_then(|order| order.deadline()?.taken);
    let lease = live.and_then(|order| at.state.lease(&order.lease?));
    WhyCheck {
        condition: "taken by its seller".into(),
        met: taken.is_some() || at.judged.0.is_final(),
        figures: format!(
            "{} of {} node-slots done, {} nodes now, slot {} of soft {} and hard {}",
            taken.map_or(0, |taken| taken.done),
            wish.unit_slots,
            lease.map_or(0, |lease| lease.units()),
            taken.map_or(0, |taken| at.slot().saturating_sub(taken.since)),
            wish.soft,
            wish.hard
        ),
    }
}
