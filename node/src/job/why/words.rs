//! The words of an explanation: one sentence, and changes that would help.

use super::Facts;
use crate::api::types::{JobReason, JobState};
use crate::job::dropped::REMEDY;
use gridbay_core::told::told;
use gridbay_protocol::units::Credits;

/// State and reason in one sentence.
pub(super) fn summary(f: &Facts) -> String {
    f.words.sentence.clone().unwrap_or_else(|| of_all(f))
}

/// The outcomes that any order can have.
fn of_all(f: &Facts) -> String {
    let class = &f.class;
    match (f.state, f.reason) {
        (JobState::Queued, _) => match &f.refusal {
            Some(word) => format!("The ledger does not take its order yet: {}.", wrong(word)),
            None => "The order is on its way to the ledger.".into(),
        },
        (_, Some(JobReason::NoUnits)) => {
            let units = if f.fewest == 1 { "unit" } else { "units" };
            let count = |units: u32| match units {
                0 => "none is".to_owned(),
                1 => "1 is".to_owned(),
                more => format!("{more} are"),
            };
            let (fewest, offered) = (f.fewest, f.offered);
            if offered >= fewest {
                let free = count(f.free);
                return format!(
                    "It needed {fewest} {units} of {class} at least, and too few were free: of \
                     {offered} offered, {free} free now."
                );
            }
            let offered = count(offered);
            format!("It needs {fewest} {units} of {class} at least, and {offered} offered.")
        }
        (JobState::Bidding | JobState::Requeued, _) => of_waiting(f),
        (JobState::Won, _) => "It has a lease; its sellers are asked to start it.".into(),
        (JobState::Staging, _) => "Its sellers fetch its files.".into(),
        (JobState::Running, _) => {
            let (ranks, begun, done) = f.ranks;
            let ended = match f.collecting {
                0 => String::new(),
                1 => "; 1 has ended, and its output is fetched".to_owned(),
                more => format!("; {more} have ended, and their output is fetched"),
            };
            format!("It runs: of {ranks} ranks {begun} have begun and {done} are done{ended}.")
        }
        (JobState::Ending, _) => "Its user ended it; its lease ends with its slot.".into(),
        (JobState::Done, _) => "Every rank ended with 0.".into(),
        (JobState::Cancelled, _) => "It was cancelled.".into(),
        (_, Some(reason)) => of_end(f, reason),
        (state, None) => format!("It is {}.", state.name()),
    }
}

/// Why it ended, where the state alone does not say it.
fn of_end(f: &Facts, reason: JobReason) -> String {
    match reason {
        JobReason::ExitCode => "A rank ended with a code other than 0.".into(),
        JobReason::TimeLimit => "A rank reached its time limit.".into(),
        JobReason::DiskLimit => {
            "A rank held more on the disk than its unit has; what it wrote was removed.".into()
        }
        JobReason::Lost => "Ranks were lost with their hosts too often.".into(),
        JobReason::LeaseEnded => "All slots of the order were used before it ended.".into(),
        JobReason::Preempted => {
            "Another buy took its units for a surcharge: it has that, and what it had not used."
                .into()
        }
        JobReason::Disputed => {
            "Its seller did not serve it: the slot complained of was paid back. Run it again."
                .into()
        }
        JobReason::Undelivered => {
            "Its seller did not deliver it, and what was locked came back. Run it again.".into()
        }
        JobReason::TimedOut => "It stood for its whole patience without units.".into(),
        JobReason::Unfunded => {
            format!(
                "{} were needed for the next slot and could not be locked.",
                f.needed
            )
        }
        JobReason::TooDear => {
            format!("The units cost more than {} per node-hour.", f.limit)
        }
        JobReason::NotOpened => "Its bid did not reach the ledger in its round.".into(),
        JobReason::Refused => {
            let word = f.refusal.as_deref().unwrap_or("refused");
            format!("The ledger did not take its order: {}.", wrong(word))
        }
        JobReason::Outbid => format!(
            "Others bid more than {} per node-hour, or sellers asked more.",
            f.limit
        ),
        JobReason::NoUnits => "Too few units were offered.".into(),
        JobReason::Staging => "A file that it needs could not be brought to its seller.".into(),
        JobReason::Unserved => {
            "Its share of the pool came out below a unit, or the pool sold nothing.".into()
        }
        JobReason::NotSigned => "The provider of its contract did not sign in time.".into(),
        JobReason::Settled => "Its contract was settled before it was requested.".into(),
        JobReason::NoGain | JobReason::NoRoom | JobReason::Unstaked => {
            "Its seller did not take it into the plan.".into()
        }
        JobReason::Missed => "Its seller did not do it by its hard deadline.".into(),
        JobReason::Cancelled => "It was cancelled.".into(),
        // These are of orders that still stand.
        JobReason::Sealed | JobReason::Booked | JobReason::Paused => {
            format!("It is {}: {}.", f.state.name(), reason.name())
        }
    }
}

/// The fault that a refusal's word stands for, and the word.
fn wrong(word: &str) -> String {
    match told(word) {
        None => word.to_owned(),
        Some(told) => {
            let mut letters = told.wrong().chars();
            let first = letters.next().into_iter().flat_map(char::to_lowercase);
            first.chain(letters).collect::<String>() + &format!(" ({word})")
        }
    }
}

/// What a bid lacks, in figures: what sellers ask, or else what the last clearing took.
fn outbid(f: &Facts) -> String {
    let limit = f.limit;
    if let Some(asked) = f.asked.filter(|asked| *asked > limit) {
        return format!("Sellers ask {asked} per node-hour, and it bids {limit}.");
    }
    match (f.lost.and_then(|lost| lost.would_win), f.last) {
        (Some(price), _) if price > limit => {
            format!("Outbid: {price} per node-hour would have won, and it bids {limit}.")
        }
        (_, Some(last)) if last > limit => {
            format!("Outbid: others paid {last} per node-hour, and it bids {limit}.")
        }
        // Fewer units were left than it can use, or it was amended since.
        _ => format!("Outbid: others took the units, and it bids {limit} per node-hour."),
    }
}

/// For one that competes, or competes again.
fn of_waiting(f: &Facts) -> String {
    match (f.state, f.reason) {
        (JobState::Bidding, Some(JobReason::Sealed)) => match &f.refusal {
            Some(word) => format!(
                "The bid is sealed, and the ledger does not take its opening yet: {}.",
                wrong(word)
            ),
            None => format!(
                "The bid is sealed; it is opened and competes in round {}.",
                f.round + 1
            ),
        },
        (JobState::Bidding | JobState::Requeued, Some(JobReason::Outbid)) => outbid(f),
        (JobState::Bidding, _) => format!("It waits for the close of round {}.", f.round),
        (JobState::Requeued, Some(JobReason::Preempted)) => {
            "A buy-it-now took its units; it competes again in every round.".into()
        }
        (JobState::Requeued, Some(JobReason::Undelivered)) => {
            "A seller did not deliver; it competes again in every round.".into()
        }
        (JobState::Requeued, Some(JobReason::Disputed)) => {
            "A seller did not serve it, and the slot was paid back; it competes again in every round.".into()
        }
        (_, _) => "It lost its lease and competes again in every round.".into(),
    }
}

/// The change that would help.
pub(super) fn remedies(f: &Facts) -> Vec<String> {
    let mut remedies = Vec::new();
    if f.dropped > 0 {
        remedies.push(REMEDY.into());
    }
    if f.state == JobState::Done || f.state == JobState::Cancelled {
        return remedies;
    }
    if f.offered < f.fewest {
        remedies.push(match f.offered {
            0 => "ask for another class: gridbay market prices".into(),
            offered => format!("ask for at most {offered} nodes, or for another class"),
        });
        if f.fewest == f.nodes && f.nodes > 1 && !f.prepaid {
            remedies.push(format!(
                "make it divisible, so that fewer nodes are of use: --array {0} for -n {0}",
                f.nodes
            ));
        }
    }
    match &f.words.remedies {
        Some(own) => remedies.extend(own.iter().cloned()),
        None => of_reason(f, &mut remedies),
    }
    if !f.prepaid && !f.state.is_final() && f.budget.saturating_sub(f.paid) < f.needed {
        let another = f.paid.checked_add(f.needed).unwrap_or(f.needed);
        remedies.push(match &f.amendable {
            Some(id) => format!(
                "raise the budget, which does not cover another slot: gridbay bid amend {id} \
                 --max-price {} --budget {another}",
                f.limit
            ),
            None => format!(
                "the budget does not cover another slot: submit it again with --budget {another} \
                 or more"
            ),
        });
    }
    remedies
}

/// The least price at which it is likely to win, if anything tells one. Meeting what sellers ask is
/// enough where nobody bids against it; others' bids have to be passed.
fn winning(f: &Facts) -> Option<Credits> {
    let past = |last: Credits| last.share_ceil(11, 10).unwrap_or(last);
    let known = f.lost.and_then(|lost| lost.would_win);
    known.or_else(|| {
        f.asked
            .max(f.last.filter(|last| *last >= f.limit).map(past))
    })
}

/// The change that would make a bid win, or a buy cheap enough.
fn of_price(f: &Facts, remedies: &mut Vec<String>) {
    let price = winning(f).filter(|price| *price > f.limit);
    match (&f.amendable, price) {
        (Some(id), Some(price)) => remedies.push(format!(
            "raise its bid: gridbay bid amend {id} --max-price {price}"
        )),
        (Some(_), None) => remedies.push(format!(
            "see what would have won: gridbay bid suggest --class {} -n {}",
            f.class, f.nodes
        )),
        (None, price) => {
            let price = price.map_or(String::new(), |p| format!(" of {p} or more"));
            remedies.push(format!(
                "submit it again with a higher price limit{price}: --max-price"
            ));
            if !f.prepaid {
                remedies.push("or buy now, if units are for sale that way: --buy".into());
            }
        }
    }
}

/// The change that would remove the reason of its state.
fn of_reason(f: &Facts, remedies: &mut Vec<String>) {
    match f.reason {
        Some(JobReason::Outbid | JobReason::TooDear | JobReason::TimedOut) => {
            of_price(f, remedies);
        }
        Some(JobReason::Unfunded) => {
            let more = "have money transferred to the account (gridbay ledger balance), or submit \
                        it again with a higher --budget";
            remedies.push(more.into());
        }
        Some(JobReason::LeaseEnded | JobReason::TimeLimit) => {
            remedies.push("submit it again with more time: --time".into());
        }
        Some(JobReason::DiskLimit) => {
            remedies.push("submit it again on a class with more disk: --disk".into());
        }
        Some(JobReason::ExitCode) => {
            remedies.push(format!("read its logs: gridbay job logs {}", f.job))
        }
        Some(JobReason::Refused) => {
            let hint = f.refusal.as_deref().and_then(told).map(|told| told.hint);
            remedies.push(hint.unwrap_or("submit it again").into());
        }
        Some(JobReason::Staging) => {
            remedies.push("submit it again once its files can be reached".into());
        }
        Some(reason) if f.state.is_final() => {
            remedies.push(again(reason).into());
        }
        _ => {
            let hint = f.refusal.as_deref().and_then(told).map(|told| told.hint);
            remedies.extend(hint.map(str::to_owned));
        }
    }
}

/// The next try after an end that nothing of its own terms caused.
fn again(reason: JobReason) -> &'static str {
    match reason {
        JobReason::NoUnits => "submit it again when more is free: gridbay market prices",
        JobReason::Preempted => "submit it again, or bid where no buy may take its units",
        JobReason::Unserved => "submit it again with a higher rate, or to another pool",
        _ => "submit it again",
    }
}
