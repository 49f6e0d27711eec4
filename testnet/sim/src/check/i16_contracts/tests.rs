//! Tests of the checker's reports.

use super::*;
use gridbay_protocol::ids::ClassId;
use gridbay_protocol::units::Credits;

const CONTRACT: OrderId = OrderId([9; 32]);
const JOB: OrderId = OrderId([1; 32]);

fn micros(n: u64) -> Credits {
    Credits::from_micros(n).unwrap()
}
/// Two jobs of 100 each; the first took a slot more than its value holds, the second has two slots
/// to its credit.
fn live() -> Live {
    let terms = ContractTerms {
        provider: AccountId([2; 32]),
        class: ClassId([7; 32]),
        first: 0,
        last: 5,
        jobs: 2,
        job: JobTerms {
            units: 1,
            slots: 2,
            value: micros(100),
            hold: 3,
            decay: 4,
            penalty: micros(30),
        },
        alpha_ppm: 1_500_000,
        beta16: 16,
        stands_until: 9,
    };
    let job = Job {
        number: 1,
        arrival: 4,
        slots: 2,
    };
    Live {
        client: AccountId([1; 32]),
        terms,
        signed: true,
        closed: false,
        requested: 2,
        sums: Sums {
            completed: 1,
            earned: 75,
            owed: 0,
        },
        open: BTreeMap::from([(JOB, job)]),
        escrow: 0,
        bond: 0,
        paid: 0,
        damages: 0,
    }
}
fn record(after: u64, done: bool, pays: u64, owes: u64) -> JobRecord {
    JobRecord {
        contract: CONTRACT,
        job: JOB,
        number: 1,
        arrival: 4,
        after,
        done,
        pays: micros(pays),
        owes: micros(owes),
    }
}
fn decide(record: &JobRecord, slot: u64, change: impl Fn(&mut Live)) -> Result<(), String> {
    let mut contracts = Contracts::default();
    let mut live = live();
    change(&mut live);
    contracts.live.insert(CONTRACT, live);
    contracts.decided(record, slot, slot + 1)
}

#[test]
fn powers_are_those_of_real_numbers() {
    let mut terms = live().terms;
    for beta16 in [0, 4, 13, 16, 32, 77] {
        terms.beta16 = beta16;
        let found = aggregate(&terms, 3, 7) as f64 / ONE as f64;
        let real = 1.5 * (3.0_f64 / 7.0).powf(f64::from(beta16) / 16.0);
        assert!((found - real).abs() < 1e-8, "{beta16}: {found} {real}");
    }
    assert_eq!(aggregate(&terms, 7, 7), ONE * 3 / 2);
}

#[test]
fn a_job_that_is_decided_wrongly_is_reported() {
    assert_eq!(
        patience(&live().terms.job),
        8,
        "130 of 100 lost after 5.2 slots"
    );
    assert_eq!(decide(&record(3, true, 100, 0), 7, |_| ()), Ok(()));
    assert_eq!(decide(&record(5, true, 50, 0), 9, |_| ()), Ok(()));
    assert_eq!(decide(&record(8, true, 0, 25), 12, |_| ()), Ok(()));
    assert_eq!(decide(&record(9, false, 0, 30), 12, |_| ()), Ok(()));
    let wrong = [
        decide(&record(5, true, 51, 0), 9, |_| ()),
        decide(&record(5, true, 50, 1), 9, |_| ()),
        decide(&record(4, true, 75, 0), 9, |_| ()),
        decide(&record(9, true, 0, 30), 13, |_| ()),
        decide(&record(9, false, 0, 30), 11, |_| ()),
        decide(&record(9, false, 0, 29), 12, |_| ()),
        decide(&record(3, true, 100, 0), 7, |live| live.open.clear()),
        decide(&record(3, true, 100, 0), 7, |live| {
            live.open.get_mut(&JOB).unwrap().slots = 1;
        }),
    ];
    for (i, verdict) in wrong.iter().enumerate() {
        assert!(verdict.is_err(), "{i}");
    }
}

#[test]
fn a_settlement_that_does_not_follow_is_reported() {
    let settle = |change: fn(&mut Live, &mut Settlement)| {
        let mut live = Live {
            open: BTreeMap::new(),
            sums: Sums {
                owed: 30,
                ..live().sums
            },
            paid: 56,
            damages: 30,
            ..live()
        };
        let mut settled = Settlement {
            contract: CONTRACT,
            client: live.client,
            provider: live.terms.provider,
            alpha_ppm: 1_500_000,
            beta16: 16,
            requested: 2,
            completed: 1,
            earned: micros(75),
            pays: micros(56),
            owed: micros(30),
        };
        change(&mut live, &mut settled);
        settlement(&live, &settled, 3)
    };
    assert_eq!(settle(|_, _| ()), Ok(()));
    let wrong = [
        settle(|_, s| s.pays = micros(57)),
        settle(|_, s| s.owed = micros(0)),
        settle(|_, s| s.completed = 2),
        settle(|live, _| live.paid = 55),
        settle(|live, _| live.damages = 0),
        settle(|live, _| live.escrow = 1),
        settle(|live, _| live.bond = -1),
        settle(|live, _| live.signed = false),
        settle(|live, s| (live.requested, s.requested) = (1, 1)),
    ];
    for (i, verdict) in wrong.iter().enumerate() {
        assert!(verdict.is_err(), "{i}");
    }
}
