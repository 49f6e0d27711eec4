//! SplitMix64 (Steele, Lea and Flood 2014): numbers that look random and that a seed decides.
//!
//! Specimens of mechanisms, the simulator, tests and benchmarks draw from it. Regression seeds and
//! vectors depend on its numbers, so they stay the same for ever. Nothing secret may come from it.

/// Advances a state, whose first value is the seed, and gives its next 64 bits.
pub fn splitmix64(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_those_of_the_reference_implementation() {
        let mut state = 1_234_567;
        let drawn: [u64; 3] = std::array::from_fn(|_| splitmix64(&mut state));
        assert_eq!(
            drawn,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
    }
}
