//! Chance for specimens and other orders: the same numbers from the same seed, on every machine.

use crate::splitmix::splitmix64;

/// Draws numbers below a bound (SplitMix64, enough to spread small test cases).
pub(super) fn dice(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut state = seed;
    move |below| splitmix64(&mut state) % below
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
