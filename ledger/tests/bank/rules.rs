//! The rules on any holdings: with debts, arrears and sums at the end of the range.

use super::model::apportion;
use gridbay_ledger::bank::{Holding, by_owners, even_out, levy, profits, tax};
use gridbay_protocol::bank::Redistribution;
use proptest::collection::vec;
use proptest::prelude::*;

/// Up to twelve accounts whose money fits together with a treasury.
fn holdings() -> impl Strategy<Value = Vec<Holding>> {
    let scale = prop_oneof![Just(100i64), Just(1 << 30), Just(1 << 58)];
    scale.prop_flat_map(|most| {
        let money = most as u64;
        let holding = (
            -most / 4..most,
            0..money / 2,
            0..2 * money,
            prop_oneof![0..4u64, any::<u64>()],
            prop_oneof![Just(0), 0..money],
        );
        let holding = holding.prop_map(|(available, frozen, base, shares, arrears)| Holding {
            available,
            frozen,
            base,
            shares,
            arrears,
        });
        vec(holding, 0..12)
    })
}

fn total(holding: &Holding) -> i128 {
    i128::from(holding.available) + i128::from(holding.frozen)
}

fn mode() -> impl Strategy<Value = Redistribution> {
    prop_oneof![Just(Redistribution::All), Just(Redistribution::Deficit)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn a_tax_conserves_and_keeps_its_promises(
        holdings in holdings(),
        treasury in prop_oneof![Just(0), 0..1_000u64, 0..1u64 << 60],
        ppm in prop_oneof![Just(0), Just(50_000), 0..=1_000_000u32],
        mode in mode(),
    ) {
        let moved = tax(treasury, &holdings, ppm, mode);
        let taken: u128 = moved.levies.iter().map(|l| u128::from(l.taken)).sum();
        let given: u128 = moved.given.iter().map(|g| u128::from(*g)).sum();
        prop_assert_eq!(u128::from(treasury) + taken, u128::from(moved.treasury) + given);
        for ((holding, levy), given) in holdings.iter().zip(&moved.levies).zip(&moved.given) {
            let base = i128::from(holding.base);
            let left = total(holding) - i128::from(levy.taken);
            prop_assert!(i128::from(levy.taken) <= i128::from(holding.available.max(0)));
            prop_assert!(levy.taken == 0 || left >= base, "taxed below the base");
            if mode == Redistribution::Deficit {
                let after = left + i128::from(*given);
                prop_assert!(*given == 0 || after <= base, "lifted above the base");
            }
        }
        if mode == Redistribution::Deficit && moved.treasury > 0 {
            let wants = holdings.iter().zip(&moved.given).any(|(h, g)| h.shares > 0 && *g < h.gap());
            prop_assert!(!wants, "money is left while an account with shares lacks some");
        }
    }

    #[test]
    fn what_is_due_is_taken_or_owed(holding in holdings(), ppm in 0..=1_000_000u32) {
        for holding in holding {
            let due = levy(&holding, ppm);
            let excess = (total(&holding) - i128::from(holding.base)).max(0);
            let old = i128::from(holding.arrears).min(excess);
            let fresh = (excess - old) * i128::from(ppm) / 1_000_000;
            prop_assert_eq!(i128::from(due.taken) + i128::from(due.owed), old + fresh);
            // A bid does not change what is due, only when it is taken.
            let thawed = Holding {
                available: holding.available + holding.frozen as i64,
                frozen: 0,
                ..holding
            };
            let sooner = levy(&thawed, ppm);
            prop_assert_eq!(due.taken + due.owed, sooner.taken + sooner.owed);
        }
    }

    #[test]
    fn shares_are_largest_remainders(holdings in holdings(), treasury in any::<u64>()) {
        let shares: Vec<u64> = holdings.iter().map(|h| h.shares >> 4).collect();
        let weights: Vec<i128> = shares.iter().map(|s| i128::from(*s)).collect();
        let owners = by_owners(treasury >> 1, &shares);
        let expect = apportion(i128::from(treasury >> 1), &weights);
        prop_assert_eq!(owners.given.iter().map(|g| i128::from(*g)).collect::<Vec<_>>(), expect);
        let all = profits(treasury, &holdings);
        let given: u128 = all.given.iter().map(|g| u128::from(*g)).sum();
        prop_assert_eq!(given + u128::from(all.treasury), u128::from(treasury));
        prop_assert!(all.treasury == 0 || holdings.iter().all(|h| h.shares == 0));
    }
}

/// Shares that halve from account to account, each in need of one micro-credit but the last: the
/// most passes there are.
#[test]
fn the_slowest_evening_out_ends() {
    let holding = |index: u32| Holding {
        base: if index == 63 { u64::MAX } else { 1 },
        shares: 1 << (63 - index),
        ..Holding::default()
    };
    let holdings: Vec<Holding> = (0..64).map(holding).collect();
    let gifts = even_out(u64::MAX, &holdings);
    assert_eq!(gifts.given[..63], [1; 63]);
    assert_eq!((gifts.given[63], gifts.treasury), (u64::MAX - 63, 0));
}

#[test]
fn nobody_is_not_a_fault() {
    assert_eq!(even_out(5, &[]).treasury, 5);
    assert_eq!(profits(5, &[]).treasury, 5);
    assert_eq!(tax(5, &[], 50_000, Redistribution::All).treasury, 5);
    assert_eq!(by_owners(5, &[]).treasury, 5);
}
