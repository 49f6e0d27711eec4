//! A handful of calm worlds, so that a workload that has gone to sleep is noticed at once. A batch
//! covers every variant.

use gridbay_sim::cover::{Cover, DEEDS};
use gridbay_sim::plan::Plan;
use gridbay_sim::run;

/// Seeds of the worlds.
const SEEDS: std::ops::Range<u64> = 1..9;
/// The one with hires.
const HIRES: u64 = 8;
/// The one in which jobs keep their progress.
const PROGRESS: u64 = 7;

/// Deeds that take more worlds.
const LATE: [&str; 4] = [
    "account closed",
    "contract closed",
    "entry in a flood",
    "flood",
];

/// A calm plan somewhat shorter than usual: long enough to count.
fn short(seed: u64) -> Plan {
    Plan {
        active_ms: 35_000,
        calm_ms: 5_000,
        hires: seed == HIRES,
        progress: seed == PROGRESS,
        ..Plan::calm(seed, 4)
    }
}

#[test]
fn calm_worlds_count_and_the_market_is_exercised() {
    let mut cover = Cover::default();
    for seed in SEEDS {
        let outcome = run::run(&short(seed), None, Default::default());
        assert_eq!(outcome.broken, None, "seed {seed}");
        assert!(outcome.yields.count(), "seed {seed}: {:?}", outcome.yields);
        cover.add(&outcome.cover);
    }
    let seen = |kind: &str| cover.seen.keys().filter(|(k, _)| *k == kind).count();
    // The rare ones need more worlds than a quick test has time for.
    let least = [
        ("Refusal", 12),
        ("EntryBody", 9),
        ("Reason", 8),
        ("OrderEnd", 5),
        ("LeaseEnd", 4),
    ];
    for (kind, least) in least {
        assert!(seen(kind) >= least, "{kind}: {}\n{cover}", seen(kind));
    }
    let kept = ("Effect", "KeepCheckpoint");
    assert!(cover.seen.contains_key(&kept), "{cover}");
    let idle = DEEDS.iter().filter(|what| !cover.deeds.contains_key(*what));
    let idle: Vec<_> = idle.filter(|what| !LATE.contains(what)).collect();
    assert!(idle.is_empty(), "{idle:?}\n{cover}");
}
