//! Fixed point with 32 bits behind the point (Q32): powers and roots that are the same bits on
//! every machine.
//!
//! A number `x` stands for `x / 2^32`. Everything is unsigned and rounds down. Powers have
//! exponents in sixteenths, so that roots of roots suffice:
//!
//! 1. `x^(e/16)`: multiply `e / 16` times by `x`;
//! 2. for the bits 8, 4, 2, 1 of `e`: take the root of the root so far, and multiply by it if the
//!    bit is set.
//!
//! Callers keep products below 2^128: a factor of 2^82 (money of 2^50 micro-credits) times one of
//! 2^46 just does.

/// One.
pub const ONE: u128 = 1 << 32;
/// The largest number whose root can be taken.
pub const ROOT_MAX: u128 = u128::MAX >> 32;

/// The product, rounded down.
///
/// # Panics
/// The product exceeds 2^96: a fault of the caller, which must bound its factors.
#[must_use]
pub fn mul(x: u128, y: u128) -> u128 {
    (x * y) >> 32
}

/// The square root, rounded down. `x` is at most [`ROOT_MAX`].
#[must_use]
pub fn sqrt(x: u128) -> u128 {
    debug_assert!(x <= ROOT_MAX);
    root(x << 32)
}

/// Cells of [`SEEDS`]: a number with its two leading bits not both zero has 128 to 511 as its
/// leading nine bits.
const CELLS: usize = 384;

/// `2^95 / sqrt(t)` for the middle `t` of each cell.
const SEEDS: [u64; CELLS] = {
    let mut seeds = [0; CELLS];
    let mut cell = 0;
    while cell < CELLS {
        let middle = (2 * (cell as u128 + 128) + 1) << 54;
        // Below 2^64, for the middle exceeds 2^62.
        seeds[cell] = ((1u128 << 127) / (middle << 64).isqrt()) as u64;
        cell += 1;
    }
    seeds
};

/// The square root of an integer, rounded down: what `isqrt` gives, in a third of its time, for it
/// is where clearings with powers spend theirs.
///
/// 1. Shift `n` by an even number of bits into `2^124..2^126`; the root of that, shifted back by
///    half, is the root.
/// 2. From the table take `y`, near `2^95 / sqrt(t)` for the leading 64 bits `t`, with an error of
///    about 2^-9 of it. Two steps of Newton, `y * (3 - t y^2) / 2`, leave less than 2^-34.
/// 3. `t * y` is the root as closely; the rest `n - root^2`, divided by `2 root`, corrects it to
///    within a few units.
/// 4. Count these units off exactly.
fn root(n: u128) -> u128 {
    if n == 0 || n >> 126 != 0 {
        return n.isqrt();
    }
    let shift = (n.leading_zeros() - 2) & !1;
    let n = n << shift;
    let top = (n >> 62) as u64;
    let mut y = SEEDS[(top >> 55) as usize - 128];
    for _ in 0..2 {
        let square = high(high(y, y), top);
        let next = (wide(y) * wide((3 << 62) - square)) >> 63;
        // At the smallest `top` the exact value is 2^64.
        y = u64::try_from(next).unwrap_or(u64::MAX);
    }
    let mut root = high(top, y);
    // Both terms are below 2^127, and their difference below 2^93.
    let rest = n as i128 - (wide(root) * wide(root)) as i128;
    let step = (i128::from((rest >> 32) as i64) * i128::from(y >> 32)) >> 63;
    root = root.wrapping_add_signed(step as i64);
    let mut rest = n as i128 - (wide(root) * wide(root)) as i128;
    while rest < 0 {
        root -= 1;
        rest += i128::from(2 * root + 1);
    }
    while rest > i128::from(2 * root) {
        rest -= i128::from(2 * root + 1);
        root += 1;
    }
    wide(root) >> (shift / 2)
}

/// Products of two such numbers need no check for overflow.
fn wide(x: u64) -> u128 {
    u128::from(x)
}

/// The upper half of a product.
fn high(x: u64, y: u64) -> u64 {
    ((wide(x) * wide(y)) >> 64) as u64
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
            // One times a number is the number, without a wide product.
            power = if power == ONE { root } else { mul(power, root) };
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
    fn roots_are_those_of_isqrt() {
        let mut numbers = vec![0, 1, u128::MAX, u128::MAX - 1];
        for bit in 0..128 {
            numbers.extend([1u128 << bit, (1 << bit) - 1, (1 << bit) + 1]);
        }
        // The ends of every cell of the table, in both parities of the shift.
        for cell in 128..=512u128 {
            for bits in [0, 30, 77, 116, 117] {
                let end = cell << bits;
                numbers.extend([end, end - 1, end | ((1 << bits) - 1)]);
            }
        }
        let mut state = 1u128;
        for count in 0..60_000 {
            state = state
                .wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645)
                .wrapping_add(0x5851_f42d_4c95_7f2d_1405_7b7e_f767_814f);
            let number = state >> (count % 128);
            let square = number.isqrt() * number.isqrt();
            numbers.extend([number, square, square.saturating_sub(1), square + 1]);
        }
        for number in numbers {
            assert_eq!(root(number), number.isqrt(), "{number}");
        }
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
