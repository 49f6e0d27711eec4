//! Chance for specimens and other orders: the same numbers from the same seed, on every machine.

/// Draws numbers below a bound (SplitMix64: a counter through a mixer, enough to spread small test cases).
pub(super) fn dice(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut state = seed;
    move |below| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % below
    }
}

/// Puts a list into any order.
pub(super) fn shuffle<T>(list: &mut [T], draw: &mut dyn FnMut(u64) -> u64) {
    for last in (1..list.len()).rev() {
        list.swap(last, draw(last as u64 + 1) as usize);
    }
}

/// One of several.
pub(super) fn pick<T: Copy>(choices: &[T], draw: &mut dyn FnMut(u64) -> u64) -> T {
    choices[draw(choices.len() as u64) as usize]
}
