//! A job's state and reason, from what the agent and the ledger say.
//!
//! | the order is | its tasks | state |
//! |---|---|---|
//! | over | all done | done, or failed if one did not end with 0 |
//! | over | not all done | cancelled, failed or expired, by the word of its end |
//! | nowhere yet | | queued |
//! | sealed, unopened, or standing and never leased | | bidding |
//! | standing after a lease | | requeued |
//! | booked ahead | | won, because booked |
//! | leased | asked for, being staged, begun | won, staging, running |
//! | leased and cancelled | | preempting |
//! | a proposed contract | | bidding |
//! | a signed contract | as if leased | as if leased |

use crate::api::types::{JobReason, JobState};
use gridbay_core::agent::Phase;
use gridbay_core::buyer::order::{OrderAgent, Seen};
use gridbay_core::buyer::{Finish, Terms};
use gridbay_ledger::State;
use gridbay_protocol::job::JobExit;

/// What decides state and reason.
#[derive(Clone, Debug)]
pub(in crate::backend) struct Situation {
    /// Set when the buyer's side is over.
    pub(in crate::backend) finish: Option<Finish>,
    /// Where the ledger has the order.
    pub(in crate::backend) seen: Seen,
    /// Whether the user has cancelled it.
    pub(in crate::backend) cancelling: bool,
    /// Why the ledger ended the order or its last lease.
    pub(in crate::backend) last_end: Option<String>,
    /// Leases lost so far.
    pub(in crate::backend) lost: u32,
    /// Whether its bid took part in a clearing.
    pub(in crate::backend) has_competed: bool,
    /// Whether one of its classes has fewer units than it needs.
    pub(in crate::backend) too_few: bool,
    /// How the tasks that are done ended.
    pub(in crate::backend) exits: Vec<JobExit>,
    /// Phases of the runs that are under way.
    pub(in crate::backend) phases: Vec<Phase>,
}

/// The situation of an order.
pub(in crate::backend) fn situation(state: &State, agent: &OrderAgent) -> Situation {
    let on_ledger = agent.id.and_then(|id| state.order(&id));
    let order = agent.order();
    let class = order.class;
    let needed = match &order.terms {
        Terms::Sealed { min, .. } => vec![(class, *min)],
        Terms::Buy { parts, .. } => parts.iter().map(|part| (part.class, part.units)).collect(),
        Terms::Deadline { .. } | Terms::Contract(_) | Terms::Share { .. } => vec![(class, 1)],
        Terms::Reserve(reserve) => vec![(class, reserve.groups.iter().map(|g| g.units).sum())],
    };
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
        too_few: needed
            .iter()
            .any(|(class, units)| state.supply(class).0 < *units),
        exits: agent.tasks.records.iter().filter_map(|t| t.done).collect(),
        phases: agent.tasks.runs.values().map(|r| r.phase).collect(),
    }
}

impl Situation {
    /// State and reason.
    pub(in crate::backend) fn judge(&self) -> (JobState, Option<JobReason>) {
        match &self.finish {
            Some(Finish::Done) => match self.exits.iter().find_map(failure) {
                None => (JobState::Done, None),
                Some(reason) => (JobState::Failed, Some(reason)),
            },
            Some(Finish::Cancelled) => (JobState::Cancelled, Some(JobReason::Cancelled)),
            Some(Finish::Refused(_)) => (JobState::Failed, Some(JobReason::Refused)),
            Some(Finish::Ended(word)) => ended(word),
            None => self.under_way(),
        }
    }

    fn under_way(&self) -> (JobState, Option<JobReason>) {
        let cancelled = self.cancelling.then_some(JobReason::Cancelled);
        let last = self.last_end.as_deref().and_then(reason);
        match self.seen {
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
            Seen::Running(_) if self.cancelling => (JobState::Preempting, cancelled),
            Seen::Running(_) => (self.at_work(), None),
            Seen::Proposed => (JobState::Bidding, cancelled.or(Some(JobReason::NotSigned))),
            Seen::Contract if self.cancelling => (JobState::Preempting, cancelled),
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
fn ended(word: &str) -> (JobState, Option<JobReason>) {
    let state = match word {
        "lost" => JobState::Failed,
        "cancelled" | "exit" => JobState::Cancelled,
        _ => JobState::Expired,
    };
    (state, reason(word))
}

/// The reason that an agent's word for an end stands for.
fn reason(word: &str) -> Option<JobReason> {
    Some(match word {
        "not_opened" | "waived" | "excused" => JobReason::NotOpened,
        "unfunded" => JobReason::Unfunded,
        "cancelled" | "exit" => JobReason::Cancelled,
        "timed_out" => JobReason::TimedOut,
        "no_units" => JobReason::NoUnits,
        "too_dear" => JobReason::TooDear,
        "time_used_up" => JobReason::LeaseEnded,
        "outbid" => JobReason::Outbid,
        "preempted" | "evicted" => JobReason::Preempted,
        "undelivered" => JobReason::Undelivered,
        "unserved" => JobReason::Unserved,
        "disputed" => JobReason::Disputed,
        "lost" => JobReason::Lost,
        "no_gain" => JobReason::NoGain,
        "no_room" => JobReason::NoRoom,
        "unstaked" => JobReason::Unstaked,
        "paused" => JobReason::Paused,
        "missed" => JobReason::Missed,
        "not_signed" => JobReason::NotSigned,
        "settled" => JobReason::Settled,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_core::buyer::order::{lease_end_word, order_end_word};
    use gridbay_protocol::effect::OrderEnd;
    use gridbay_protocol::ids::LeaseId;
    use gridbay_protocol::lease::LeaseEnd;

    fn fresh() -> Situation {
        Situation {
            finish: None,
            seen: Seen::Absent,
            cancelling: false,
            last_end: None,
            lost: 0,
            has_competed: false,
            too_few: false,
            exits: vec![],
            phases: vec![],
        }
    }
    const LEASED: Seen = Seen::Running(LeaseId([7; 32]));

    fn check(table: &[(Situation, JobState, Option<JobReason>)]) {
        for (situation, state, reason) in table {
            assert_eq!(situation.judge(), (*state, *reason), "{situation:?}");
        }
    }

    #[test]
    fn states_on_the_way() {
        let table = [
            (fresh(), JobState::Queued, None),
            (
                Situation {
                    seen: Seen::Sealed(3),
                    ..fresh()
                },
                JobState::Bidding,
                Some(JobReason::Sealed),
            ),
            (
                Situation {
                    seen: Seen::Standing,
                    ..fresh()
                },
                JobState::Bidding,
                None,
            ),
            (
                Situation {
                    seen: Seen::Standing,
                    has_competed: true,
                    ..fresh()
                },
                JobState::Bidding,
                Some(JobReason::Outbid),
            ),
            (
                Situation {
                    seen: Seen::Standing,
                    too_few: true,
                    has_competed: true,
                    ..fresh()
                },
                JobState::Bidding,
                Some(JobReason::NoUnits),
            ),
            (
                Situation {
                    seen: Seen::Standing,
                    lost: 1,
                    last_end: Some("preempted".into()),
                    ..fresh()
                },
                JobState::Requeued,
                Some(JobReason::Preempted),
            ),
            (
                Situation {
                    seen: Seen::Booked(9),
                    has_competed: true,
                    ..fresh()
                },
                JobState::Won,
                Some(JobReason::Booked),
            ),
        ];
        check(&table);
    }

    #[test]
    fn states_of_a_lease() {
        let running = Phase::Running { started_ms: 5 };
        let table = [
            (
                Situation {
                    seen: LEASED,
                    ..fresh()
                },
                JobState::Won,
                None,
            ),
            (
                Situation {
                    seen: LEASED,
                    phases: vec![Phase::Unknown, Phase::Staging],
                    ..fresh()
                },
                JobState::Staging,
                None,
            ),
            (
                Situation {
                    seen: LEASED,
                    phases: vec![Phase::Staging, running],
                    ..fresh()
                },
                JobState::Running,
                None,
            ),
            (
                Situation {
                    seen: LEASED,
                    exits: vec![JobExit::Code(0)],
                    ..fresh()
                },
                JobState::Running,
                None,
            ),
            (
                Situation {
                    seen: LEASED,
                    cancelling: true,
                    phases: vec![running],
                    ..fresh()
                },
                JobState::Preempting,
                Some(JobReason::Cancelled),
            ),
        ];
        check(&table);
    }

    #[test]
    fn states_under_contract() {
        let seen = |seen| Situation { seen, ..fresh() };
        let table = [
            (
                seen(Seen::Proposed),
                JobState::Bidding,
                Some(JobReason::NotSigned),
            ),
            (seen(Seen::Contract), JobState::Won, None),
            (
                Situation {
                    phases: vec![Phase::Running { started_ms: 5 }],
                    ..seen(Seen::Contract)
                },
                JobState::Running,
                None,
            ),
            (
                Situation {
                    cancelling: true,
                    ..seen(Seen::Contract)
                },
                JobState::Preempting,
                Some(JobReason::Cancelled),
            ),
        ];
        check(&table);
    }

    #[test]
    fn final_states() {
        let over = |finish| Situation {
            finish: Some(finish),
            ..fresh()
        };
        let done = |exits: &[JobExit]| Situation {
            exits: exits.to_vec(),
            ..over(Finish::Done)
        };
        let ended = |word: &str| over(Finish::Ended(word.into()));
        let table = [
            (done(&[JobExit::Code(0); 2]), JobState::Done, None),
            (
                done(&[JobExit::Code(0), JobExit::Code(3)]),
                JobState::Failed,
                Some(JobReason::ExitCode),
            ),
            (
                done(&[JobExit::Signal(9)]),
                JobState::Failed,
                Some(JobReason::ExitCode),
            ),
            (
                done(&[JobExit::TimeLimit]),
                JobState::Failed,
                Some(JobReason::TimeLimit),
            ),
            (
                done(&[JobExit::DiskLimit]),
                JobState::Failed,
                Some(JobReason::DiskLimit),
            ),
            (
                over(Finish::Cancelled),
                JobState::Cancelled,
                Some(JobReason::Cancelled),
            ),
            (ended("lost"), JobState::Failed, Some(JobReason::Lost)),
            (
                ended("time_used_up"),
                JobState::Expired,
                Some(JobReason::LeaseEnded),
            ),
            (
                ended("timed_out"),
                JobState::Expired,
                Some(JobReason::TimedOut),
            ),
            (ended("ended"), JobState::Expired, None),
            (
                ended("not_signed"),
                JobState::Expired,
                Some(JobReason::NotSigned),
            ),
            (
                ended("settled"),
                JobState::Expired,
                Some(JobReason::Settled),
            ),
            (
                over(Finish::Refused("x".into())),
                JobState::Failed,
                Some(JobReason::Refused),
            ),
        ];
        check(&table);
        assert!(table.iter().all(|(_, state, _)| state.is_final()));
    }

    #[test]
    fn every_word_of_the_ledger_has_a_reason() {
        for end in [
            OrderEnd::NotOpened,
            OrderEnd::Unfunded,
            OrderEnd::Cancelled,
            OrderEnd::TimedOut,
            OrderEnd::NoUnits,
            OrderEnd::Short(gridbay_protocol::ids::ClassId([1; 32])),
            OrderEnd::TooDear,
            OrderEnd::Evicted,
            OrderEnd::Waived,
            OrderEnd::Excused,
            OrderEnd::NoGain,
            OrderEnd::NoRoom,
            OrderEnd::Unstaked,
            OrderEnd::Missed,
        ] {
            assert!(reason(order_end_word(end)).is_some(), "{end:?}");
        }
        for end in [
            LeaseEnd::Exit,
            LeaseEnd::Expired,
            LeaseEnd::Outbid,
            LeaseEnd::Preempted,
            LeaseEnd::Unfunded,
            LeaseEnd::Undelivered,
            LeaseEnd::Paused,
            LeaseEnd::Unserved,
            LeaseEnd::Disputed,
        ] {
            assert!(reason(lease_end_word(end)).is_some(), "{end:?}");
        }
    }
}
