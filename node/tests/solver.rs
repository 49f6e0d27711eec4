//! Solvers that are right, wrong, slow, silent and gone. The stand-ins are shell scripts that this
//! test writes.
//!
//! One offer of two units; in slots 3 and 4 each a small dense reservation (20) keeps out a large
//! one (36). The rule finds 56, the best is 72: columns x1 and x3.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

use gridbay_core::hints::Question;
use gridbay_node::solver::{Better, RunError, Solver, SolverError};
use gridbay_node::trouble::Kind;
use gridbay_protocol::ids::{ClassId, Hash32, OfferId, OrderId};
use gridbay_protocol::lease::Share;
use gridbay_protocol::mechanism::reservation;
use gridbay_protocol::mechanism::reservation::Channels;
use gridbay_protocol::mechanism::reservation::window::WindowPolicy;
use gridbay_protocol::order::Group;
use gridbay_protocol::record::reservation::{BusyUnit, ReservationBid, ReservationRecord};
use gridbay_protocol::units::{Credits, Price};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};
use tempfile::TempDir;

const WINDOW: WindowPolicy = WindowPolicy::MIRAGE;
const LIMIT: Duration = Duration::from_secs(20);

fn bid(n: u8, units: u32, slot: u64, value: u64) -> ReservationBid {
    ReservationBid {
        order: OrderId([n; 32]),
        round: 1,
        rank: Hash32([n; 32]),
        groups: vec![Group {
            units,
            offers: vec![],
        }],
        slots: 1,
        earliest: slot,
        latest: slot,
        value: Credits::from_micros(value).unwrap(),
        channels: None,
    }
}

fn record() -> ReservationRecord {
    ReservationRecord {
        class: ClassId([3; 32]),
        height: 40,
        slot: 3,
        posted: Price(10),
        units: vec![Share {
            offer: OfferId([1; 32]),
            units: 2,
        }],
        busy: vec![],
        channels: vec![],
        bids: vec![
            bid(1, 1, 3, 20),
            bid(2, 2, 3, 36),
            bid(3, 1, 4, 20),
            bid(4, 2, 4, 36),
        ],
        booked: vec![],
        beaten: None,
    }
}

/// A folder with a program that does what the script says; the model is `$5`, the solution goes to
/// `solution.txt`.
fn stand_in(script: &str) -> (TempDir, Solver) {
    let dir = tempfile::tempdir().unwrap();
    let program = dir.path().join("solver.sh");
    fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).unwrap();
    let solver = solver(&program, dir.path());
    (dir, solver)
}

fn solver(program: &Path, folder: &Path) -> Solver {
    Solver::new(program.to_owned(), folder.join("work"), LIMIT)
}

/// A script that answers with these columns.
fn answers(columns: &str) -> String {
    let count = columns.lines().count();
    format!(
        "cat > solution.txt <<END\nModel status\nOptimal\n\n# Primal solution values\nFeasible\nObjective 1\n# Columns {count}\n{columns}\n# Rows 0\nEND"
    )
}

async fn asked(script: &str, limit: Duration) -> Result<Option<Better>, SolverError> {
    let (_dir, solver) = stand_in(script);
    solver.improve(&record(), &WINDOW, limit).await
}

/// The ledger's verdict on a hint.
fn worth(record: &ReservationRecord, better: &Better) -> u128 {
    let input = record.input(&WINDOW);
    let found = reservation::clear(&input).unwrap();
    let taken = better.hint.take(record, &input, &found).unwrap();
    assert_eq!(taken.total, better.worth);
    taken.total
}

#[tokio::test]
async fn a_right_answer_becomes_a_hint() {
    let right = answers("x0 0\nx1 0.9999998\nx2 1e-9\nx3 1");
    let better = asked(&right, LIMIT).await.unwrap().unwrap();
    assert_eq!(worth(&record(), &better), 72);
    assert_eq!(better.hint.placements.len(), 2);
}

#[tokio::test]
async fn a_wrong_or_no_better_answer_is_no_hint() {
    for columns in ["x0 1\nx1 1\nx2 1\nx3 1", "x0 1\nx3 1", "x1 0", "x1 1\nx1 1"] {
        let found = asked(&answers(columns), LIMIT).await;
        assert!(
            matches!(found, Ok(None) | Err(SolverError::Run(RunError::Garbage))),
            "{columns}: {found:?}"
        );
    }
    let none = "printf '# Primal solution values\\nNone\\n' > solution.txt";
    assert!(asked(none, LIMIT).await.unwrap().is_none());
}

#[tokio::test]
async fn a_garbage_answer_is_told() {
    for script in [
        "exit 3",
        "echo no > solution.txt",
        "head -c 100000 /dev/urandom > solution.txt",
        "truncate -s 3G solution.txt",
        "mkfifo solution.txt",
        "ln -s /dev/zero solution.txt",
        "mkdir solution.txt",
        "printf '# Primal solution values\\nFeasible\\n# Columns 1\\nx99 1\\n' > solution.txt",
    ] {
        let found = asked(script, LIMIT).await;
        assert!(
            matches!(found, Err(SolverError::Run(RunError::Garbage))),
            "{script}: {found:?}"
        );
    }
}

#[tokio::test]
async fn a_slow_one_is_killed_with_all_its_processes() {
    let (dir, solver) = stand_in("sleep 600 &\necho $! > child\nwait");
    let limit = Duration::from_millis(400);
    let found = solver.improve(&record(), &WINDOW, limit).await;
    assert!(
        matches!(found, Err(SolverError::Run(RunError::Slow))),
        "{found:?}"
    );
    let child = fs::read_to_string(dir.path().join("work/child")).unwrap();
    let stat = PathBuf::from(format!("/proc/{}/stat", child.trim()));
    let gone = || fs::read_to_string(&stat).map_or(true, |stat| stat.contains(") Z "));
    let until = Instant::now() + Duration::from_secs(10);
    while !gone() && Instant::now() < until {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(gone(), "the child of {child} lives on");
}

#[tokio::test]
async fn without_the_program_nothing_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let solver = solver(&dir.path().join("gone"), dir.path());
    let found = solver.improve(&record(), &WINDOW, LIMIT).await;
    assert!(
        matches!(found, Err(SolverError::Run(RunError::Absent(_)))),
        "{found:?}"
    );
    // The file of a program that is none.
    let text = dir.path().join("text");
    fs::write(&text, "no program").unwrap();
    let solver = self::solver(&text, dir.path());
    assert!(solver.improve(&record(), &WINDOW, LIMIT).await.is_err());
}

#[tokio::test]
async fn what_is_found_is_delivered_and_the_old_question_is_dropped() {
    let (_dir, solver) = stand_in(&answers("x1 1\nx3 1"));
    let found = Mutex::new(Vec::new());
    let deliver = |hint| {
        found.lock().unwrap().push(hint);
        async {}
    };
    solver.seek(question(), deliver).await;
    assert_eq!(found.lock().unwrap().len(), 1);
    tokio::join!(
        solver.seek(question(), deliver),
        solver.seek(question(), deliver),
        solver.seek(question(), deliver),
    );
    assert!(
        found.lock().unwrap().len() == 3,
        "the second was replaced before its turn"
    );
    let late = Question {
        within_ms: 10,
        ..question()
    };
    let before = found.lock().unwrap().len();
    solver.seek(late, deliver).await;
    assert_eq!(found.lock().unwrap().len(), before, "too late to begin");
}

fn question() -> Question {
    Question {
        decisions: vec![record()],
        window: WINDOW,
        within_ms: 60_000,
    }
}

/// The solver's trouble after one more question.
async fn trouble_after(solver: &Solver, question: Question) -> Option<String> {
    solver.seek(question, |_hint| async {}).await;
    solver.trouble().map(|trouble| {
        assert_eq!((trouble.kind, trouble.kind.halts()), (Kind::Solver, false));
        assert!(trouble.since_ms > 0 && trouble.hint.contains("solver.program"));
        trouble.what
    })
}

#[tokio::test]
async fn a_solver_that_does_not_help_is_a_trouble_until_it_does() {
    let dir = tempfile::tempdir().unwrap();
    let program = dir.path().join("solver.sh");
    let solver = solver(&program, dir.path());
    let absent = solver.trouble().expect("known before the first question");
    assert!(absent.what.contains("cannot be started"), "{absent:?}");
    assert!(absent.what.contains("solver.sh"), "{absent:?}");
    let install = |script: &str| {
        let part = dir.path().join("part");
        fs::write(&part, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&part, fs::Permissions::from_mode(0o700)).unwrap();
        fs::rename(&part, &program).unwrap();
    };

    install(&answers("x1 1\nx3 1"));
    assert!(solver.trouble().is_some(), "it has not shown that it works");
    let mut easy = question();
    easy.decisions[0].bids.truncate(1);
    assert!(trouble_after(&solver, easy).await.is_some(), "nor by this");
    assert_eq!(trouble_after(&solver, question()).await, None);
    for (script, says) in [
        ("exit 3".to_owned(), "makes sense"),
        (answers("x0 1\nx1 1\nx2 1\nx3 1"), "makes sense"),
        ("sleep 600".to_owned(), "in time"),
    ] {
        install(&script);
        let mut hasty = question();
        hasty.within_ms = 1_000;
        let what = trouble_after(&solver, hasty).await.expect(says);
        assert!(what.contains(says), "{script}: {what}");
    }
    install(&answers("x1 1"));
    assert_eq!(trouble_after(&solver, question()).await, None, "no better");

    let named = Solver::new("sh".into(), dir.path().join("work"), LIMIT);
    assert!(named.trouble().is_none(), "found by its name");
}

/// Several offers, units that are taken in some slots, groups that overlap, channels.
fn mixed() -> ReservationRecord {
    let offer = |n| OfferId([n; 32]);
    let share = |n, units| Share {
        offer: offer(n),
        units,
    };
    let mut record = record();
    record.units = vec![share(1, 3), share(2, 2), share(3, 2)];
    record.busy = vec![
        BusyUnit {
            offer: offer(1),
            unit: 0,
            first: 5,
            last: 6,
        },
        BusyUnit {
            offer: offer(2),
            unit: 1,
            first: 3,
            last: 4,
        },
    ];
    record.bids = (0..14u8)
        .map(|n| {
            let units = 1 + u32::from(n) % 4;
            let mut bid = bid(n + 1, units, 3 + u64::from(n) % 3, 0);
            bid.slots = 1 + u32::from(n) * 5 % 3;
            bid.latest += u64::from(n) % 4;
            bid.value =
                Credits::from_micros(u64::from(units * bid.slots) * (10 + u64::from(n) * 7 % 11))
                    .unwrap();
            if n % 3 == 0 {
                bid.groups.push(Group {
                    units: 1,
                    offers: vec![offer(1), offer(2)],
                });
                bid.value = bid
                    .value
                    .checked_add(Credits::from_micros(40).unwrap())
                    .unwrap();
            }
            bid.channels = (n % 4 == 1).then_some(Channels { low: 1, high: 2 });
            bid
        })
        .collect();
    record
}

/// With the real program, if this machine has it (`highs` in the path, or named by
/// `GRIDBAY_TEST_HIGHS`).
#[tokio::test]
async fn highs_finds_what_the_rule_misses() {
    let program = std::env::var_os("GRIDBAY_TEST_HIGHS").unwrap_or_else(|| "highs".into());
    let dir = tempfile::tempdir().unwrap();
    let solver = solver(Path::new(&program), dir.path());
    match solver.improve(&record(), &WINDOW, LIMIT).await {
        Err(SolverError::Run(RunError::Absent(_))) => return,
        found => assert_eq!(worth(&record(), &found.unwrap().unwrap()), 72),
    }
    let mixed = mixed();
    let better = solver.improve(&mixed, &WINDOW, LIMIT).await.unwrap();
    let found = reservation::clear(&mixed.input(&WINDOW)).unwrap();
    if let Some(better) = &better {
        assert!(worth(&mixed, better) > found.total);
    }
}
