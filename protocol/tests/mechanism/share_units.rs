//! Whole units and payments of proportional shares, on random pools.

use std::collections::BTreeMap;

use gridbay_protocol::mechanism::share::units::{Pool, Sold, Stock, WHOLE_PPM, sell};
use gridbay_protocol::mechanism::share::{Input, Job, Outcome, Terms, Utility, clear};
use proptest::prelude::*;

fn stock() -> impl Strategy<Value = Stock> {
    let units = prop_oneof![0u64..40, Just(u64::MAX)];
    let minimum = prop_oneof![Just(0u64), 1u64..2_000, Just(u64::MAX)];
    (units, minimum).prop_map(|(units, minimum)| Stock { units, minimum })
}

fn jobs() -> impl Strategy<Value = Vec<Job<u64>>> {
    let budget = prop_oneof![0u64..10_000, 0u64..1 << 50];
    let job = (budget, any::<bool>(), prop::collection::vec(0u32..5, 3));
    prop::collection::vec(job, 0..9).prop_map(|jobs| {
        let job = |(id, (budget, log, weights))| Job {
            id,
            budget,
            utility: if log { Utility::Log } else { Utility::Linear },
            weights,
        };
        (0..).zip(jobs).map(job).collect()
    })
}

/// Restates what a sale must satisfy for one type.
fn assert_sound(pool: &Pool, outcome: &Outcome<u64>, sold: &Sold<u64>, kind: usize, users: u64) {
    let Stock { units, minimum } = pool.stocks[kind];
    let (mut total, mut paid) = (0u128, 0u128);
    let mut of_user: BTreeMap<u64, u128> = BTreeMap::new();
    for (award, sale) in outcome.awards.iter().zip(&sold.sales) {
        assert_eq!(award.id, sale.id);
        let (got, pay) = (u128::from(sale.units[kind]), u128::from(sale.pay[kind]));
        let part = u128::from(award.parts[kind]);
        assert!(pay <= part && pay >= got * u128::from(minimum));
        assert!(got > 0 || pay == 0);
        // Nobody gets more than one unit above the share.
        let exact = u128::from(units) * u128::from(award.shares[kind]);
        let shares: u128 = outcome
            .awards
            .iter()
            .map(|a| u128::from(a.shares[kind]))
            .sum();
        assert!(got * shares < exact + shares || shares == 0);
        total += got;
        paid += pay;
        *of_user.entry(award.id % users).or_default() += got;
    }
    assert_eq!(total + u128::from(sold.kept[kind]), u128::from(units));
    assert_eq!(paid, sold.earned[kind]);
    for held in of_user.values() {
        assert!(held * u128::from(WHOLE_PPM) <= u128::from(units) * u128::from(pool.cap_ppm));
    }
    let open = pool.cap_ppm == WHOLE_PPM && minimum == 0;
    if open && outcome.awards.iter().any(|a| a.shares[kind] > 0) {
        assert_eq!(sold.kept[kind], 0);
    }
}

proptest! {
    #[test]
    fn sales_are_sound(
        stocks in prop::collection::vec(stock(), 3),
        cap_ppm in prop_oneof![Just(WHOLE_PPM), 0..=WHOLE_PPM],
        jobs in jobs(),
        sixteenths in 0u32..=16,
        users in 1u64..5,
    ) {
        let terms = Terms { sixteenths, max_rounds: 10, ..Terms::usual(3) };
        let outcome = clear(&Input { terms, jobs }).unwrap();
        let pool = Pool { stocks, cap_ppm };
        let sold = sell(&pool, &outcome, |id| id % users).unwrap();
        for kind in 0..3 {
            assert_sound(&pool, &outcome, &sold, kind, users);
        }
        prop_assert_eq!(sold, sell(&pool, &outcome, |id| id % users).unwrap());
    }

    #[test]
    fn a_job_stops_only_at_its_share_its_cap_or_its_budget(
        units in 1u64..200, minimum in 1u64..50, budget in 0u64..20_000, cap_ppm in 0..=WHOLE_PPM,
    ) {
        let job = Job { id: 7, budget, utility: Utility::Linear, weights: vec![1] };
        let outcome = clear(&Input { terms: Terms::usual(1), jobs: vec![job] }).unwrap();
        let pool = Pool { stocks: vec![Stock { units, minimum }], cap_ppm };
        let sold = sell(&pool, &outcome, |id| *id).unwrap();
        let got = sold.sales[0].units[0];
        let capped = units * u64::from(cap_ppm) / 1_000_000;
        let share = if budget == 0 { 0 } else { units };
        prop_assert_eq!(got, capped.min(share).min(budget / minimum));
    }
}
