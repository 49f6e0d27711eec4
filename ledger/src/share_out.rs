//! Sharing an amount by weights, to the last micro-credit: largest remainders.

use gridbay_protocol::planted::{self, Planted};

/// Shares of `total` in proportion to `weights`: each `floor(total * w / W)`, then one more for the largest
/// remainders, ties to the smaller index, until the sum is `total`. All zeros if the weights are.
///
/// Amounts and weights are below 2^64, so that no product overflows.
pub(crate) fn by_largest_remainder(total: u64, weights: &[u64]) -> Vec<u64> {
    let sum: u128 = weights.iter().map(|w| u128::from(*w)).sum();
    if sum == 0 {
        return vec![0; weights.len()];
    }
    let wide = |w: &u64| u128::from(total) * u128::from(*w);
    // A share is at most the total, so it fits.
    let mut shares: Vec<u64> = weights.iter().map(|w| (wide(w) / sum) as u64).collect();
    let mut missing = total - shares.iter().sum::<u64>();
    let mut by_rest: Vec<usize> = (0..weights.len()).collect();
    by_rest.sort_by_key(|&i| (std::cmp::Reverse(wide(&weights[i]) % sum), i));
    if planted::is(Planted::SettlementOffByOne) {
        by_rest.reverse();
    }
    for index in by_rest {
        if missing == 0 {
            break;
        }
        shares[index] += 1;
        missing -= 1;
    }
    shares
}

/// What offers get of a pot, and what nobody has earned.
pub(crate) struct Payout {
    pub(crate) shares: Vec<u64>,
    pub(crate) unearned: u64,
}

/// Shares out `total`: to each its floor, and the rest by weights; by the floors if all weights are zero; to nobody if
/// these are zero too.
///
/// A total below the sum of the floors is shared by the floors. A settled pot never is (see `slot`), but
/// sellers who get a little less are better than a network that stops for good.
pub(crate) fn above_floors(total: u64, floors: &[u64], weights: &[u64]) -> Payout {
    let owed: u128 = floors.iter().map(|f| u128::from(*f)).sum();
    let owed = u64::try_from(owed).ok();
    let Some(rest) = owed.and_then(|owed| total.checked_sub(owed)) else {
        return Payout {
            shares: by_largest_remainder(total, floors),
            unearned: 0,
        };
    };
    let weights = [weights, floors]
        .into_iter()
        .find(|weights| weights.iter().any(|w| *w > 0));
    let Some(weights) = weights else {
        return Payout {
            shares: floors.to_vec(),
            unearned: rest,
        };
    };
    let above = by_largest_remainder(rest, weights);
    Payout {
        shares: floors.iter().zip(above).map(|(f, a)| f + a).collect(),
        unearned: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::{above_floors, by_largest_remainder};

    #[test]
    fn shares_add_up_and_the_largest_remainders_come_first() {
        assert_eq!(by_largest_remainder(10, &[1, 1, 1]), [4, 3, 3]);
        // 10 * 5/8 = 6.25, 10 * 3/8 = 3.75.
        assert_eq!(by_largest_remainder(10, &[5, 3]), [6, 4]);
        assert_eq!(by_largest_remainder(7, &[0, 0]), [0, 0]);
        let most = [u64::MAX, u64::MAX, 1];
        let shares = by_largest_remainder(u64::MAX, &most);
        assert_eq!(
            shares.iter().map(|s| u128::from(*s)).sum::<u128>(),
            u128::from(u64::MAX)
        );
    }

    #[test]
    fn floors_come_first() {
        let cases = [
            (20, [5, 3], [1, 3], [8, 12], 0),
            (20, [5, 3], [0, 0], [13, 7], 0),
            (8, [5, 3], [0, 9], [5, 3], 0),
            (20, [0, 0], [0, 0], [0, 0], 20),
            // One short, and beyond the range of sums.
            (7, [5, 3], [9, 9], [4, 3], 0),
            (9, [u64::MAX, u64::MAX], [1, 1], [5, 4], 0),
        ];
        for (total, floors, weights, shares, unearned) in cases {
            let payout = above_floors(total, &floors, &weights);
            assert_eq!(
                (&payout.shares[..], payout.unearned),
                (&shares[..], unearned)
            );
            assert_eq!(shares.iter().sum::<u64>() + unearned, total);
        }
    }
}
