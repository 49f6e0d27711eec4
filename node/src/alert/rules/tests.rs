//! Tests of the rules: where each begins, and where it is over.

use super::*;
use gridbay_protocol::units::Credits;

fn limits() -> AlertLimits {
    AlertLimits {
        balance: "10".parse::<Credits>().unwrap(),
        lease_end_ms: 600_000,
        after_ms: 1_000,
    }
}

fn calm() -> Facts {
    Facts {
        now_ms: 1_000_000,
        account: Some(("aa".to_owned(), 50_000_000)),
        block: (7, 1_000_000),
        pace: (250, 10_000),
        peers: 2,
        validators: vec![("bb".to_owned(), "beta".to_owned(), true)],
        ..Facts::default()
    }
}

fn found(facts: &Facts) -> Vec<(AlertKind, String, Level)> {
    let mut watch = Watch::default();
    watch.note(facts);
    let all = standing(facts, &limits(), &watch, Some(&BTreeMap::new()));
    let short = |s: Standing| (s.kind, s.subject, s.level);
    all.into_iter().map(short).collect()
}

#[test]
fn a_calm_node_has_nothing_to_tell() {
    assert_eq!(found(&calm()), []);
    assert_eq!(found(&Facts::default()), [], "before it has an account");
}

#[test]
fn a_balance_is_low_below_the_limit_and_over_a_fifth_above() {
    for (micros, level) in [
        (9_999_999, Some(Level::On)),
        (-5, Some(Level::On)),
        (10_000_000, Some(Level::Between)),
        (11_999_999, Some(Level::Between)),
        (12_000_000, None),
    ] {
        let account = Some(("aa".to_owned(), micros));
        let facts = Facts { account, ..calm() };
        let want = level.map(|level| (AlertKind::LowBalance, "aa".to_owned(), level));
        assert_eq!(found(&facts), Vec::from_iter(want), "{micros}");
    }
}

#[test]
fn a_job_that_loses_leases_is_told_until_it_has_nodes_again() {
    let order = |lost, waits| OrderFact {
        job: "j".to_owned(),
        name: "sweep".to_owned(),
        lost,
        waits,
    };
    let known = BTreeMap::from([("j".to_owned(), 1)]);
    let none = BTreeMap::new();
    let level = |order, lost| preempted(&order, lost).map(|standing| standing.level);
    assert_eq!(level(order(2, false), Some(&known)), Some(Level::On));
    assert_eq!(level(order(1, true), Some(&known)), Some(Level::Between));
    assert_eq!(level(order(1, false), Some(&known)), None);
    assert_eq!(level(order(0, true), Some(&known)), None);
    assert_eq!(level(order(1, false), Some(&none)), Some(Level::On));
    assert_eq!(level(order(3, false), None), None, "the first look");
}

#[test]
fn a_lease_is_told_before_its_end() {
    let lease = |left_ms| LeaseFact {
        lease: format!("{left_ms}"),
        name: "sweep".to_owned(),
        left_ms,
    };
    let leases = [0, 599_999, 600_000, 719_999, 720_000].map(lease).to_vec();
    let levels: Vec<_> = found(&Facts { leases, ..calm() })
        .into_iter()
        .map(|(_, _, level)| level)
        .collect();
    assert_eq!(
        levels,
        [Level::On, Level::On, Level::Between, Level::Between]
    );
}

#[test]
fn a_node_alone_is_told_once_and_missing_validators_one_by_one() {
    let validators = vec![
        ("bb".to_owned(), "beta".to_owned(), false),
        ("cc".to_owned(), "gamma".to_owned(), true),
    ];
    let facts = Facts {
        validators,
        ..calm()
    };
    let about = |subject: &str| vec![(AlertKind::Unreachable, subject.to_owned(), Level::On)];
    assert_eq!(found(&facts), about("bb"));
    assert_eq!(found(&Facts { peers: 0, ..facts }), about("network"));
    let founder = Facts {
        peers: 0,
        validators: vec![],
        ..calm()
    };
    assert_eq!(found(&founder), [], "it is its own network");
}

#[test]
fn blocks_are_late_slow_or_fast_or_none_of_these() {
    let subject = |watch: &Watch, now_ms| {
        let facts = Facts { now_ms, ..calm() };
        blocks(&facts, watch).map(|s| (s.subject, s.level))
    };
    let mut watch = Watch::default();
    watch.note(&calm());
    for (still, level) in [
        (15_000, None),
        (15_001, Some(Level::Between)),
        (30_001, Some(Level::On)),
    ] {
        let want = level.map(|level| ("late".to_owned(), level));
        assert_eq!(subject(&watch, 1_000_000 + still), want, "{still}");
    }
    for (apart, want) in [
        (199, Some(("fast", Level::On))),
        (201, Some(("fast", Level::Between))),
        (225, None),
        (12_000, None),
        (12_001, Some(("slow", Level::Between))),
        (15_001, Some(("slow", Level::On))),
    ] {
        let mut watch = Watch::default();
        for n in 0..=16 {
            let block = (n, n * apart);
            watch.note(&Facts { block, ..calm() });
        }
        let want = want.map(|(subject, level)| (subject.to_owned(), level));
        assert_eq!(subject(&watch, 1_000_000), want, "{apart}");
    }
}

#[test]
fn a_trouble_is_told_in_its_own_words() {
    let troubles = vec![("disk", "it is full".to_owned(), "free some".to_owned())];
    let facts = Facts { troubles, ..calm() };
    let all = standing(&facts, &limits(), &Watch::default(), None);
    let trouble = all.iter().find(|s| s.kind == AlertKind::Trouble).unwrap();
    assert_eq!(
        (trouble.subject.as_str(), trouble.what.as_str()),
        ("disk", "it is full")
    );
}
