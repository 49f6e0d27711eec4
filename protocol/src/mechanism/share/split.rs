//! The two divisions of a job's step, exact and without allocation.

use super::TYPES_MAX;
use crate::fixed::ONE;

/// A number for each resource type; only the first `types` of them count.
pub(super) type Row<T> = [T; TYPES_MAX];

/// `part / whole` in Q32, rounded down; 0 of nothing. `part` is at most `whole`.
pub(super) fn ratio(part: u128, whole: u128) -> u64 {
    debug_assert!(part <= whole && whole < 1 << 96);
    // At most `ONE`.
    (part << 32).checked_div(whole).unwrap_or(0) as u64
}

/// The rest of one, in Q32.
pub(super) fn rest(share: u64) -> u64 {
    ONE as u64 - share
}

/// Splits `total`, below 2^50, by the first `types` weights as `apportion::by_largest_remainder`
/// would, and says whether it could: weights of zero leave `parts` as they are.
///
/// One division serves all parts. With `W` the sum of the weights, `2^k` the smallest power of two
/// above it and `F = floor(total * 2^k / W)`, the number `floor(w * F / 2^k)` is the floor of
/// `total * w / W` or one less; the remainder tells which.
pub(super) fn split(total: u64, weights: &Row<u64>, types: usize, parts: &mut Row<u64>) -> bool {
    let sum: u128 = weights[..types].iter().map(|w| u128::from(*w)).sum();
    if sum == 0 {
        return false;
    }
    // With 8 types the sum is below 2^67, k at most 67, and `factor` at most 2^51.
    let k = u128::BITS - sum.leading_zeros();
    let factor = ((u128::from(total) << k) / sum) as u64;
    let mut remainders: Row<u128> = [0; TYPES_MAX];
    let mut missing = total;
    for index in 0..types {
        let weight = u128::from(weights[index]);
        let mut part = ((weight * u128::from(factor)) >> k) as u64;
        // Both products are below 2^118: what wraps is checks that could not fail.
        let product = u128::from(part).wrapping_mul(sum);
        let mut remainder = (u128::from(total) * weight).wrapping_sub(product);
        if remainder >= sum {
            part += 1;
            remainder -= sum;
        }
        parts[index] = part;
        remainders[index] = remainder;
        missing -= part;
    }
    for _ in 0..missing {
        let mut largest = 0;
        for index in 1..types {
            if remainders[index] > remainders[largest] {
                largest = index;
            }
        }
        parts[largest] += 1;
        remainders[largest] = 0;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::apportion::by_largest_remainder;

    #[test]
    fn parts_are_those_of_largest_remainders() {
        let mut state = 7u64;
        let mut next = || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            state ^ (state >> 29)
        };
        let mut nothing = [9; TYPES_MAX];
        assert!(!split(5, &[0; TYPES_MAX], 3, &mut nothing));
        assert_eq!(nothing, [9; TYPES_MAX]);
        for round in 0..50_000u32 {
            let types = 1 + next() as usize % TYPES_MAX;
            // Small ones tie often, large ones reach the limits.
            let mut weights = [0; TYPES_MAX];
            for weight in &mut weights[..types] {
                *weight = match round % 4 {
                    0 => next() % 4,
                    1 => next() >> (next() % 64),
                    2 => u64::MAX - next() % 2,
                    _ => next(),
                };
            }
            let total = [next() >> 14, (1 << 50) - 1, next() % 20][round as usize % 3];
            let mut parts = [0; TYPES_MAX];
            split(total, &weights, types, &mut parts);
            let expected = by_largest_remainder(total, &weights[..types]);
            assert_eq!(parts[..types], expected, "{total} {weights:?}");
        }
    }

    #[test]
    fn ratios_round_down() {
        assert_eq!(ratio(0, 0), 0);
        assert_eq!(ratio(7, 7), ONE as u64);
        assert_eq!(ratio(1, 3), 1_431_655_765);
        assert_eq!(rest(ratio((1 << 92) - 1, 1 << 92)), 1);
    }
}
