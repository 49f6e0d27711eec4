//! Sharing an amount by weights, to the last micro-credit: largest remainders.

use crate::planted::{self, Planted};

/// Shares of `total` in proportion to `weights`: each `floor(total * w / W)`, then one more for the largest
/// remainders, ties to the smaller index, until the sum is `total`. All zeros if the weights are: the caller keeps
/// the amount then.
#[must_use]
pub fn by_largest_remainder(total: u64, weights: &[u64]) -> Vec<u64> {
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

#[cfg(test)]
mod tests {
    use super::by_largest_remainder;

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
}
