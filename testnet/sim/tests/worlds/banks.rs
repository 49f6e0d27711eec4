//! Worlds under each of the bank's policies: every invariant holds, and the bank does its work.

use gridbay_sim::cover::Cover;
use gridbay_sim::plan::{Bank, Plan};
use gridbay_sim::run;

/// Two worlds, one calm and one with the faults and liars of its seed.
fn reasons(bank: Bank, seed: u64) -> Vec<&'static str> {
    let mut cover = Cover::default();
    for plan in [Plan::calm(seed, 4), Plan::draw(seed)] {
        let plan = Plan {
            bank,
            active_ms: 20_000,
            calm_ms: 10_000,
            ..plan
        };
        let outcome = run::run(&plan, None, Default::default());
        assert_eq!(outcome.broken, None, "seed {seed}");
        cover.add(&outcome.cover);
    }
    let reasons = cover.seen.keys().filter(|(kind, _)| *kind == "Reason");
    reasons.map(|(_, reason)| *reason).collect()
}

#[test]
fn mirage_shares_what_was_paid() {
    let seen = reasons(Bank::Mirage, 5);
    for reason in ["Revenue", "Profit", "Tax", "Relief"] {
        assert!(seen.contains(&reason), "{reason}: {seen:?}");
    }
    // A provider keeps the pay of its contracts. The ledger's random model checks that units earn
    // nothing.
}

#[test]
fn bellagio_taxes_what_was_earned() {
    let seen = reasons(Bank::Bellagio, 6);
    for reason in ["Earning", "Tax", "Relief"] {
        assert!(seen.contains(&reason), "{reason}: {seen:?}");
    }
    assert!(!seen.contains(&"Profit"), "{seen:?}");
}

#[test]
fn every_fourth_seed_or_so_draws_each() {
    let drawn = |bank| {
        (0..200)
            .filter(|seed| Plan::draw(*seed).bank == bank)
            .count()
    };
    assert!(drawn(Bank::Mirage) > 25 && drawn(Bank::Bellagio) > 25);
    assert!(drawn(Bank::Owners) > 60);
}
