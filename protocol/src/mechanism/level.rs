//! Level earnings: shares the buyers' payments among the units sold.
//!
//! Every unit has a floor (its reserve, or its buy price). One level p is sought such that every
//! unit earns `max(floor, p)` and the sum equals the payments:
//!
//! 1. p is the greatest integer at which the sum does not exceed the total.
//! 2. The rest is less than one micro-credit for each unit at the level (floor <= p). It is handed
//!    out in offer order, one micro-credit per such unit, until it is spent. So a unit at the level
//!    earns p or p + 1, every other one exactly its floor.

/// Units of one offer that are to be paid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sold<O> {
    /// The offer.
    pub offer: O,
    /// How many units, 0 or more.
    pub units: u32,
    /// Least earning of each unit, micro-credits.
    pub floor: u64,
}

/// Earnings of each entry of `sold`, in the order of `sold`; they add up to `total`.
///
/// `None` if `total` is less than the sum of the floors, or if there is money but no unit.
/// The remainder goes by offer id, whatever the order of the list.
#[must_use]
pub fn earnings<O: Ord>(sold: &[Sold<O>], total: u128) -> Option<Vec<u128>> {
    let mut by_floor: Vec<&Sold<O>> = sold.iter().filter(|s| s.units > 0).collect();
    by_floor.sort_unstable_by_key(|s| s.floor);
    let owed: u128 = by_floor.iter().map(|s| at(s, 0)).sum();
    if total < owed {
        return None;
    }
    let Some((level, mut rest)) = water_level(&by_floor, total, owed) else {
        return (total == 0).then(|| vec![0; sold.len()]);
    };
    let mut order: Vec<usize> = (0..sold.len()).collect();
    order.sort_by(|&a, &b| {
        let key = |i: usize| (&sold[i].offer, sold[i].floor, sold[i].units);
        key(a).cmp(&key(b))
    });
    let mut earned = vec![0; sold.len()];
    for index in order {
        let entry = &sold[index];
        earned[index] = at(entry, level);
        if u128::from(entry.floor) <= level {
            let extra = rest.min(u128::from(entry.units));
            earned[index] += extra;
            rest -= extra;
        }
    }
    Some(earned)
}

/// The earning of an entry at a level.
fn at<O>(sold: &Sold<O>, level: u128) -> u128 {
    u128::from(sold.units) * level.max(u128::from(sold.floor))
}

/// The level and what it leaves over; `None` without units. Entries come by rising floor.
///
/// The water covers the entries with the lowest floors: one more is covered as long as its floor
/// does not exceed the level that the entries before it would reach alone.
fn water_level<O>(by_floor: &[&Sold<O>], total: u128, owed: u128) -> Option<(u128, u128)> {
    let (mut units, mut dry) = (0u128, owed);
    let mut found = None;
    for entry in by_floor {
        if found.is_some_and(|(level, _)| level < u128::from(entry.floor)) {
            break;
        }
        units += u128::from(entry.units);
        dry -= at(entry, 0);
        let water = total - dry;
        found = Some((water / units, water % units));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sold(list: &[(u8, u32, u64)]) -> Vec<Sold<u8>> {
        list.iter()
            .map(|&(offer, units, floor)| Sold {
                offer,
                units,
                floor,
            })
            .collect()
    }

    #[test]
    fn low_reserves_are_lifted_first() {
        assert_eq!(
            earnings(&sold(&[(1, 2, 10), (2, 1, 40)]), 90),
            Some(vec![50, 40])
        );
        assert_eq!(
            earnings(&sold(&[(1, 2, 10), (2, 1, 40)]), 125),
            Some(vec![84, 41])
        );
    }

    #[test]
    fn the_remainder_goes_by_offer_whatever_the_order() {
        assert_eq!(
            earnings(&sold(&[(2, 2, 0), (1, 1, 0)]), 11),
            Some(vec![7, 4])
        );
        assert_eq!(
            earnings(&sold(&[(1, 1, 0), (2, 2, 0)]), 11),
            Some(vec![4, 7])
        );
    }

    #[test]
    fn too_little_money_or_nothing_to_pay_for() {
        assert_eq!(earnings(&sold(&[(1, 2, 10)]), 19), None);
        assert_eq!(earnings(&sold(&[(1, 0, 10)]), 1), None);
        assert_eq!(earnings(&sold(&[(1, 0, 10)]), 0), Some(vec![0]));
        assert_eq!(earnings::<u8>(&[], 0), Some(vec![]));
    }

    #[test]
    fn the_largest_numbers_do_not_overflow() {
        let list = sold(&[(1, u32::MAX, u64::MAX), (2, u32::MAX, 0)]);
        let total = 3 * u128::from(u32::MAX) * u128::from(u64::MAX);
        let earned = earnings(&list, total).unwrap();
        assert_eq!(earned.iter().sum::<u128>(), total);
    }

    proptest! {
        #[test]
        fn every_unit_is_at_the_level_or_at_its_floor(
            list in prop::collection::vec((0u8..20, 1u32..6, 0u64..50), 1..8),
            surplus in 0u128..400,
        ) {
            let list = sold(&list);
            let owed: u128 = list.iter().map(|s| u128::from(s.units) * u128::from(s.floor)).sum();
            let earned = earnings(&list, owed + surplus).unwrap();
            prop_assert_eq!(earned.iter().sum::<u128>(), owed + surplus);
            // Independent oracle: raise the level by one until the money no longer suffices.
            let need = |p: u64| -> u128 {
                list.iter().map(|s| u128::from(s.units) * u128::from(s.floor.max(p))).sum()
            };
            let level = (0..).take_while(|&p| need(p) <= owed + surplus).last().unwrap();
            for (entry, earned) in list.iter().zip(&earned) {
                let least = u128::from(entry.units) * u128::from(entry.floor.max(level));
                let most = if entry.floor <= level { u128::from(entry.units) } else { 0 };
                prop_assert!(least <= *earned && *earned <= least + most);
            }
        }
    }
}
