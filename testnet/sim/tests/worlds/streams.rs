//! Streams that stall, nodes that read slowly and classes that overtake one another: each alone, in
//! worlds that are calm otherwise; and a house that floods while others hand in a few entries.

use gridbay_sim::cover::Cover;
use gridbay_sim::fault::{Fault, Timed};
use gridbay_sim::plan::Plan;
use gridbay_sim::run;

/// A calm world with these faults, each from its second on; what occurred in it.
fn world(faults: Vec<(u64, Fault)>, crowd: bool) -> Cover {
    let timed = |(s, fault)| Timed {
        at: s * 1_000,
        fault,
    };
    let plan = Plan {
        active_ms: 20_000,
        calm_ms: 12_000,
        faults: faults.into_iter().map(timed).collect(),
        crowd,
        ..Plan::calm(11, 4)
    };
    let outcome = run::run(&plan, None, Default::default());
    assert_eq!(outcome.broken, None, "{:?}", plan.faults);
    assert!(outcome.yields.blocks >= 50, "{:?}", outcome.yields);
    outcome.cover
}

fn count(cover: &Cover, what: &str) -> u64 {
    cover.counts.get(what).copied().unwrap_or(0)
}

#[test]
fn what_a_stalled_stream_holds_is_late_and_not_lost() {
    let stall = |from, to, ms| Fault::Stall { from, to, ms };
    let faults = vec![
        (3, stall(0, 1, 2_000)),
        (4, stall(1, 0, 5_000)),
        // Beyond the end of the active phase.
        (18, stall(2, 4, 9_000)),
    ];
    let cover = world(faults, false);
    assert_eq!(count(&cover, "stalled stream"), 3);
    assert!(count(&cover, "message held") > 50, "{cover}");
    assert_eq!(count(&cover, "message lost"), 0);
}

#[test]
fn a_slow_reader_delays_and_drops_and_recovers() {
    let slow = |node, per_s, ms| Fault::Reader { node, per_s, ms };
    let faults = vec![
        (3, slow(1, 2, 8_000)),
        (12, slow(2, 40, 3_000)),
        (19, slow(4, 2, 9_000)),
    ];
    let cover = world(faults, false);
    assert_eq!(count(&cover, "slow reader"), 3);
    assert!(count(&cover, "message read slowly") > 100, "{cover}");
    assert!(count(&cover, "message without room") > 0, "{cover}");
}

#[test]
fn classes_that_overtake_one_another_do_no_harm() {
    let overtake = |a, b, late| {
        let between = [a, b];
        let ms = 6_000;
        Fault::Overtake { between, late, ms }
    };
    let faults = vec![
        (3, overtake(0, 1, [800, 0, 0, 0])),
        (5, overtake(2, 3, [0, 900, 100, 1_500])),
        (19, overtake(1, 2, [100, 0, 400, 0])),
    ];
    let cover = world(faults, false);
    assert_eq!(count(&cover, "classes reordered"), 3);
    assert!(count(&cover, "message that overtakes") > 50, "{cover}");
}

#[test]
fn a_house_that_floods_keeps_no_other_waiting() {
    let cover = world(vec![], true);
    let deeds = |what| cover.deeds.get(what).copied().unwrap_or(0);
    assert_eq!((deeds("flood"), deeds("entry in a flood")), (4, 4));
    let entries = cover.seen.get(&("EntryBody", "Transfer"));
    assert!(entries.is_some_and(|n| *n > 4_000), "{entries:?}");
}
