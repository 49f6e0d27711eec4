//! Sharing an amount by weights, to the last micro-credit: largest remainders.

/// Shares of `total` in proportion to `weights`: each `floor(total * w / W)`, then one more for the
/// largest remainders, ties to the smaller index, until the sum is `total`. All zeros if the
/// weights are: the caller keeps the amount then.
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
    for index in by_rest {
        if missing == 0 {
            break;
        }
        shares[index] += 1;
        missing -= 1;
    }
    shares
}

/// The same for amounts beyond 64 bits: weights and total below 2^100, the total at most the sum of
/// the weights. Then no share exceeds its weight.
pub(crate) fn wide(total: u128, weights: &[u128]) -> Vec<u128> {
    let sum: u128 = weights.iter().sum();
    if sum == 0 {
        return vec![0; weights.len()];
    }
    let cut: Vec<(u128, u128)> = weights.iter().map(|&w| mul_div(total, w, sum)).collect();
    let mut shares: Vec<u128> = cut.iter().map(|(share, _)| *share).collect();
    let missing = total - shares.iter().sum::<u128>();
    let mut by_rest: Vec<usize> = (0..weights.len()).collect();
    by_rest.sort_by_key(|&i| (std::cmp::Reverse(cut[i].1), i));
    // Fewer are missing than there are remainders, so each gets one at most.
    for &index in by_rest.iter().take(missing as usize) {
        shares[index] += 1;
    }
    shares
}

/// `a * b` divided by `by`, and the remainder, 16 bits of `b` at a time as on paper. Needs `a <= by
/// < 2^110`.
fn mul_div(a: u128, b: u128, by: u128) -> (u128, u128) {
    let (mut quotient, mut rest) = (0, 0);
    for shift in (0..128).step_by(16).rev() {
        let digit = (b >> shift) & 0xffff;
        rest = (rest << 16) + a * digit;
        quotient = (quotient << 16) + rest / by;
        rest %= by;
    }
    (quotient, rest)
}

#[cfg(test)]
mod tests {
    use super::{by_largest_remainder, mul_div, wide};

    #[test]
    fn wide_shares_are_those_of_narrow_ones_and_stay_below_their_weights() {
        for weights in [
            &[5u64, 3][..],
            &[1, 1, 1],
            &[7, 0, 2, 9, 9, 1],
            &[u64::MAX / 4, 3, u64::MAX / 4],
        ] {
            let broad: Vec<u128> = weights.iter().map(|&w| w.into()).collect();
            let sum: u64 = weights.iter().sum();
            for total in [0, 1, sum / 3, sum / 2 + 1, sum - 1, sum] {
                let narrow = by_largest_remainder(total, weights);
                let shares = wide(total.into(), &broad);
                assert!(
                    shares
                        .iter()
                        .zip(&narrow)
                        .all(|(a, &b)| *a == u128::from(b))
                );
                assert!(
                    shares
                        .iter()
                        .zip(&broad)
                        .all(|(share, weight)| share <= weight)
                );
            }
        }
        assert_eq!(wide(0, &[0, 0]), [0, 0]);
        let far = 1u128 << 99;
        assert_eq!(wide(far, &[far - 1, far - 1, 2]), [far / 2, far / 2 - 1, 1]);
        assert_eq!(mul_div(far - 1, far + 5, far), (far + 3, far - 5));
    }

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
