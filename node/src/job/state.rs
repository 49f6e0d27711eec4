//! A job's state and reason, from the agent and the ledger.
//!
//! | the order is | its tasks | state |
//! |---|---|---|
//! | over | all done | done, or failed if one did not end with 0 |
//! | over | not all done | cancelled, failed or expired, by its end |
//! | nowhere yet | | queued |
//! | nowhere any more | ended, output to come | running |
//! | sealed, unopened, or standing and never leased | | bidding |
//! | standing after a lease | | requeued |
//! | booked ahead | | won, because booked |
//! | leased | asked for, being staged, begun | won, staging, running |
//! | leased and cancelled | | ending |
//! | a proposed contract | | bidding |
//! | a signed contract | as if leased | as if leased |

use crate::api::types::{JobReason, JobState};
use gridbay_core::agent::Phase;
use gridbay_core::buy::End;
use gridbay_core::buyer::Finish;
use gridbay_core::buyer::order::{OrderAgent, Seen};
use gridbay_ledger::State;
use gridbay_protocol::job::JobExit;

/// The facts that decide state and reason.
#[derive(Clone, Debug)]
pub(crate) struct Situation {
    /// Set when the buyer's side is over.
    pub(crate) finish: Option<Finish>,
    /// Where the ledger has the order.
    pub(crate) seen: Seen,
    /// Whether the user has cancelled it.
    pub(crate) cancelling: bool,
    /// Why the ledger ended the order or its last lease.
    pub(crate) last_end: Option<End>,
    /// Leases lost so far.
    pub(crate) lost: u32,
    /// Whether its bid took part in a clearing.
    pub(crate) has_competed: bool,
    /// Whether one of its classes has fewer units than it needs.
    pub(crate) too_few: bool,
    /// How the tasks that are done ended.
    pub(crate) exits: Vec<JobExit>,
    /// Phases of the runs that are under way.
    pub(crate) phases: Vec<Phase>,
    /// Whether output is still to come of runs that ended.
    pub(crate) collects: bool,
}

/// The situation of an order.
pub(crate) fn situation(state: &State, agent: &OrderAgent) -> Situation {
    let on_ledger = agent.id.and_then(|id| state.order(&id));
    let order = agent.order();
    Situation {
        finish: agent.finish().cloned(),
        seen: agent.seen,
        cancelling: agent.is_cancelling(),
        last_end: agent.last_end.clone(),
        lost: agent.milestones().lost,
        has_competed: on_ledger.is_some_and(|order| {
            let bid = order.bid().and_then(|b| b.rank);
            let reservation = order.reservation().and_then(|r| r.rank);
            bid.or(reservation).is_some()
        }),
        too_few: order
            .needs()
            .iter()
            .any(|(class, units)| state.supply(class).0 < *units),
        exits: agent.tasks.records.iter().filter_map(|t| t.done).collect(),
        phases: agent.tasks.runs.values().map(|r| r.phase).collect(),
        collects: agent.tasks.collecting() > 0,
    }
}

impl Situation {
    /// State and reason.
    pub(crate) fn judge(&self) -> (JobState, Option<JobReason>) {
        match &self.finish {
            Some(Finish::Done) => match self.exits.iter().find_map(failure) {
                None => (JobState::Done, None),
                Some(reason) => (JobState::Failed, Some(reason)),
            },
            Some(Finish::Cancelled) => (JobState::Cancelled, Some(JobReason::Cancelled)),
            Some(Finish::Refused(_)) => (JobState::Failed, Some(JobReason::Refused)),
            Some(Finish::Ended(end)) => ended(end),
            None => self.under_way(),
        }
    }

    fn under_way(&self) -> (JobState, Option<JobReason>) {
        let cancelled = self.cancelling.then_some(JobReason::Cancelled);
        let last = self.last_end.as_ref().and_then(reason);
        match self.seen {
            Seen::Absent if self.collects && !self.cancelling => (JobState::Running, None),
            Seen::Absent => (JobState::Queued, cancelled.or(last)),
            Seen::Sealed(_) => (JobState::Bidding, cancelled.or(Some(JobReason::Sealed))),
            Seen::Unopened => (JobState::Bidding, cancelled.or(Some(JobReason::NotOpened))),
            Seen::Standing => {
                let state = if self.lost > 0 {
                    JobState::Requeued
                } else {
                    JobState::Bidding
                };
                (state, cancelled.or(last).or(self.why_it_stands()))
            }
            Seen::Booked(_) => (JobState::Won, cancelled.or(Some(JobReason::Booked))),
            Seen::Running(_) if self.cancelling => (JobState::Ending, cancelled),
            Seen::Running(_) => (self.at_work(), None),
            Seen::Proposed => (JobState::Bidding, cancelled.or(Some(JobReason::NotSigned))),
            Seen::Contract if self.cancelling => (JobState::Ending, cancelled),
            Seen::Contract => (self.at_work(), None),
        }
    }

    fn why_it_stands(&self) -> Option<JobReason> {
        match (self.too_few, self.has_competed) {
            (true, _) => Some(JobReason::NoUnits),
            (false, true) => Some(JobReason::Outbid),
            (false, false) => None,
        }
    }

    fn at_work(&self) -> JobState {
        let begun = |p: &Phase| matches!(p, Phase::Running { .. } | Phase::Ended { .. });
        if self.phases.iter().any(begun) || !self.exits.is_empty() {
            JobState::Running
        } else if self.phases.contains(&Phase::Staging) {
            JobState::Staging
        } else {
            JobState::Won
        }
    }
}

/// Why an exit is a failure.
fn failure(exit: &JobExit) -> Option<JobReason> {
    match exit {
        JobExit::Code(0) => None,
        JobExit::Code(_) | JobExit::Signal(_) => Some(JobReason::ExitCode),
        JobExit::TimeLimit => Some(JobReason::TimeLimit),
        JobExit::Stopped | JobExit::Lost => Some(JobReason::Lost),
        JobExit::DiskLimit => Some(JobReason::DiskLimit),
    }
}

/// State and reason of an order that ended without all tasks done.
fn ended(end: &End) -> (JobState, Option<JobReason>) {
    let state = match end {
        End::Lost => JobState::Failed,
        End::Cancelled | End::Exit => JobState::Cancelled,
        _ => JobState::Expired,
    };
    (state, reason(end))
}

/// The reason that an end is, if users have a word for it.
fn reason(end: &End) -> Option<JobReason> {
    Some(match end {
        End::NotOpened | End::Waived | End::Excused => JobReason::NotOpened,
        End::Unfunded => JobReason::Unfunded,
        End::Cancelled | End::Exit => JobReason::Cancelled,
        End::TimedOut => JobReason::TimedOut,
        End::NoUnits => JobReason::NoUnits,
        End::TooDear => JobReason::TooDear,
        End::TimeUsedUp => JobReason::LeaseEnded,
        End::Outbid => JobReason::Outbid,
        End::Preempted | End::Evicted => JobReason::Preempted,
        End::Undelivered => JobReason::Undelivered,
        End::Unserved => JobReason::Unserved,
        End::Disputed => JobReason::Disputed,
        End::Lost => JobReason::Lost,
        End::NoGain => JobReason::NoGain,
        End::NoRoom => JobReason::NoRoom,
        End::Unstaked => JobReason::Unstaked,
        End::Paused => JobReason::Paused,
        End::Missed => JobReason::Missed,
        End::NotSigned => JobReason::NotSigned,
        End::Settled => JobReason::Settled,
        End::Served | End::Amended | End::Lapsed | End::Ended | End::Other(_) => return None,
    })
}

#[cfg(test)]
mod tests;
