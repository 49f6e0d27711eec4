use super::keep::{Keeping, Left};
use super::scenario::{REQUEST_UNITS, Scenario};
use super::{Figures, Point, point};

fn keeping() -> Keeping {
    Keeping {
        every_ms: 300_000,
        grace_ms: 20_000,
        write_ms: 2_000,
        transfer_ms: 8_000,
        start_ms: 0,
    }
}

fn scenario(bids: u32) -> Scenario {
    Scenario {
        seed: 7,
        days: 3,
        load: 83.3,
        bids,
        hours: 3.0,
    }
}

#[test]
fn all_busy_time_is_work_or_a_cost() {
    let Point { kept, baseline, .. } = point(&scenario(50), &keeping());
    for figures in [kept, baseline] {
        let parts = figures.useful + figures.cost() + figures.saving;
        assert_eq!(figures.busy(), parts, "{figures:?}");
        assert!(
            figures.preemptions > 10 && figures.done > 100,
            "{figures:?}"
        );
        assert!(figures.utilisation() > 60.0 && figures.utilisation() <= 100.0);
    }
    // With checkpoints nothing but moving costs, without them nothing but the work done again.
    assert!(kept.lost == 0 && kept.leaving > 0 && kept.returning > 0);
    assert!(baseline.leaving + baseline.returning + baseline.saving == 0);
    assert!(baseline.cost() > 2 * kept.cost(), "{kept:?} {baseline:?}");
}

#[test]
fn who_all_buy_preempt_nobody() {
    let Point { kept, baseline, .. } = point(&scenario(0), &keeping());
    let nothing = |figures: &Figures| (figures.preemptions, figures.cost(), figures.busy_bids);
    assert_eq!([nothing(&kept), nothing(&baseline)], [(0, 0, 0); 2]);
}

#[test]
fn a_seed_is_a_result() {
    assert_eq!(
        point(&scenario(30), &keeping()),
        point(&scenario(30), &keeping())
    );
}

#[test]
fn requests_are_as_the_paper_has_them() {
    let requests = Scenario {
        days: 60,
        ..scenario(30)
    }
    .draw();
    assert!(requests.is_sorted_by_key(|r| r.at_ms));
    assert!(
        requests
            .iter()
            .all(|r| (1..=REQUEST_UNITS).contains(&r.units))
    );
    let count = requests.len() as f64;
    let mean = |sum: f64| sum / count;
    let hours = mean(
        requests
            .iter()
            .map(|r| r.work_ms as f64 / 3_600_000.0)
            .sum(),
    );
    assert!((2.9..3.1).contains(&hours), "{hours}");
    let bids: Vec<u64> = requests.iter().filter_map(|r| r.bid).collect();
    assert!((0.28..0.32).contains(&(bids.len() as f64 / count)));
    assert!(bids.iter().all(|bid| (1..20_000).contains(bid)));
    let price = bids.iter().sum::<u64>() / bids.len() as u64;
    // Normal(8, 4), cut at 0 and at 20.
    assert!((8_000..8_450).contains(&price), "{price}");
}

#[test]
fn what_is_left_follows_from_grace_interval_and_link() {
    let keeps = keeping();
    // Told in time, with its files over in 32 s.
    let left = Left {
        kept: 100_000,
        lost: 0,
        leaving: 2_000,
        here: 34_000,
    };
    assert_eq!(keeps.leaves(4, 100_000), left);
    // A state that the grace does not suffice for: the last one that had come counts.
    let slow = Keeping {
        write_ms: 30_000,
        ..keeps
    };
    for (ran, kept, lost) in [
        (329_000, 0, 300_000),
        (361_000, 0, 331_000),
        (362_000, 300_000, 32_000),
        (400_000, 300_000, 70_000),
    ] {
        let left = slow.leaves(4, ran);
        assert_eq!((left.kept, left.lost), (kept, lost), "{ran}");
        assert_eq!((left.leaving, left.here), (20_000, 0), "{ran}");
    }
    // Too many ranks for the time that a checkpoint has.
    assert_eq!(keeps.leaves(38, 200_000).kept, 0);
    // Nothing kept, nothing left.
    assert_eq!(Keeping::nothing(&keeps).leaves(4, 9_000).lost, 9_000);
}

#[test]
fn running_takes_its_work_and_the_writing_between() {
    let keeps = keeping();
    for work in [1, 299_999, 300_000, 300_001, 900_000, 1_234_567] {
        let runs = keeps.runs(work);
        assert_eq!(keeps.worked(runs).0, work);
        assert!(keeps.worked(runs - 1).0 < work, "{work}");
    }
    assert_eq!(keeps.runs(300_001) - 300_001, 2_000);
    assert_eq!(keeps.returns(4, true, 5_000), 37_000);
    assert_eq!(keeps.returns(4, false, 0), 0);
}
