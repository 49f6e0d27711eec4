//! Whether a new job is worth its place.

use super::WHOLE_PPM;

/// Whether the gain suffices: at least `min_gain_ppm` of the new job's highest price, and at least
/// one micro-credit. `old` and `new` are the revenues of the plans without and with it, if there
/// are any. Without an old plan there is no new one either, unless the two were found by searches
/// of different strength.
pub(super) fn accepts(old: Option<u128>, new: Option<u128>, pmax: u64, min_gain_ppm: u32) -> bool {
    let Some(new) = new else { return false };
    let Some(old) = old else { return true };
    // Revenues stay below 2^70 and shares of a million below 2^20.
    // 3.1: accepted if the revenue rises; E.4, and E.6 for the least gain.
    let needed = u128::from(pmax) * u128::from(min_gain_ppm);
    new > old && (new - old) * u128::from(WHOLE_PPM) >= needed
}

#[cfg(test)]
mod tests {
    use super::accepts;

    #[test]
    fn the_least_gain_is_exact_and_never_zero() {
        assert!(accepts(Some(10), Some(11), 5, 0) && !accepts(Some(10), Some(10), 5, 0));
        assert!(!accepts(Some(10), Some(9), 5, 0) && !accepts(Some(10), None, 0, 0));
        // 80% of 6 is 4.8: 4 is too little, 5 suffices.
        assert!(
            !accepts(Some(10), Some(14), 6, 800_000) && accepts(Some(10), Some(15), 6, 800_000)
        );
        assert!(!accepts(Some(7), Some(7), 0, 1_000_000) && accepts(None, Some(0), 9, 0));
        let most = u64::MAX >> 1;
        let old = u128::from(most) * 127;
        assert!(accepts(
            Some(old),
            Some(old + u128::from(most)),
            most,
            1_000_000
        ));
    }
}
