//! Sharing out a pot: floors first, the rest by weights.

use gridbay_protocol::apportion::by_largest_remainder;

/// The offers' parts of a pot, and the rest that nobody has earned.
pub(crate) struct Payout {
    pub(crate) shares: Vec<u64>,
    pub(crate) unearned: u64,
}

/// Shares out `total`: to each its floor, and the rest by weights; by the floors if all weights are
/// zero; to nobody if these are zero too.
///
/// A total below the sum of the floors is shared by the floors. A settled pot never is (see
/// `slot`), but sellers that get a little less are better than a network that stops for good.
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
    use super::above_floors;

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
