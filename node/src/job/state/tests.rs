//! The state and the reason of each situation.

use super::*;
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
        collects: false,
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
                collects: true,
                last_end: Some(End::TimeUsedUp),
                ..fresh()
            },
            JobState::Running,
            None,
        ),
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
                last_end: Some(End::Preempted),
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
            JobState::Ending,
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
            JobState::Ending,
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
    let ended = |end| over(Finish::Ended(end));
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
        (ended(End::Lost), JobState::Failed, Some(JobReason::Lost)),
        (
            ended(End::TimeUsedUp),
            JobState::Expired,
            Some(JobReason::LeaseEnded),
        ),
        (
            ended(End::TimedOut),
            JobState::Expired,
            Some(JobReason::TimedOut),
        ),
        (ended(End::Ended), JobState::Expired, None),
        (ended(End::Other("x".into())), JobState::Expired, None),
        (
            ended(End::NotSigned),
            JobState::Expired,
            Some(JobReason::NotSigned),
        ),
        (
            ended(End::Settled),
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
fn every_end_on_the_ledger_has_a_reason() {
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
        assert!(reason(&End::from(end)).is_some(), "{end:?}");
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
        assert!(reason(&End::from(end)).is_some(), "{end:?}");
    }
}
