//! Fixed point with 32 bits behind the point (Q32): powers and roots that are the same bits on every machine.
//!
//! A number `x` stands for `x / 2^32`. Everything is unsigned and rounds down. Powers have exponents in
//! sixteenths, so that roots of roots suffice:
//!
//! 1. `x^(e/16)`: multiply `e / 16` times by `x`;
//! 2. for the bits 8, 4, 2, 1 of `e`: take the root of the root so far, and multiply by it if the bit is set.
//!
//! Callers keep products below 2^128: a factor of 2^82 (money of 2^50 micro-credits) times one of 2^46 just does.

/// One.
pub const ONE: u128 = 1 << 32;
/// The largest number whose root can be taken.
pub const ROOT_MAX: u128 = u128::MAX >> 32;

/// The product, rounded down.
///
/// # Panics
/// It exceeds 2^96, a fault of the caller, who bounds what he multiplies.
#[must_use]
pub fn mul(x: u128, y: u128) -> u128 {
    (x * y) >> 32
}

/// The square root, rounded down. `x` is at most [`ROOT_MAX`].
#[must_use]
pub fn sqrt(x: u128) -> u128 {
    debug_assert!(x <= ROOT_MAX);
    (x << 32).isqrt()
}

/// `x` to the power of `sixteenths / 16`; 1 for the power 0, also of 0.
#[must_use]
pub fn pow16(x: u128, sixteenths: u32) -> u128 {
    let mut power = ONE;
    for _ in 0..sixteenths / 16 {
        power = mul(power, x);
    }
    let mut root = x;
    for bit in [8, 4, 2, 1] {
        if sixteenths.is_multiple_of(2 * bit) {
            break;
        }
        root = sqrt(root);
        if sixteenths & bit != 0 {
            power = mul(power, root);
        }
    }
    power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_powers_and_roots() {
        assert_eq!(pow16(3 * ONE, 32), 9 * ONE);
        assert_eq!(pow16(9 * ONE, 8), 3 * ONE);
        assert_eq!(pow16(256 * ONE, 2), 2 * ONE);
        assert_eq!(pow16(65_536 * ONE, 1), 2 * ONE);
        assert_eq!(pow16(4 * ONE, 24), 8 * ONE);
        assert_eq!((pow16(0, 0), pow16(0, 5)), (ONE, 0));
        assert_eq!(sqrt(2 * ONE), 6_074_000_999);
    }

    #[test]
    fn the_largest_budget_fits() {
        let budget = ((1u128 << 50) - 1) << 32;
        for e in 0..=16 {
            let power = pow16(budget, e);
            assert!(power <= budget && pow16(power, 16) == power);
        }
    }

    #[test]
    #[expect(clippy::float_arithmetic, reason = "an independent oracle")]
    fn powers_are_close_to_those_of_floats() {
        for n in 1..200u32 {
            for e in 0..=40 {
                let x = f64::from(n) / 7.0;
                let exact = x.powf(f64::from(e) / 16.0);
                let fixed = pow16(u128::from(n) * ONE / 7, e) as f64 / ONE as f64;
                assert!((fixed - exact).abs() <= exact.max(1.0) * 1e-7, "{x}^{e}");
            }
        }
    }
}
