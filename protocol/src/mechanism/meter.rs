//! How much work a clearing takes, counted by this package's own tests.
//!
//! 1. A mechanism states beside its rule how many steps a clearing takes at the most, see
//!    [`Mechanism::bound`](super::Mechanism::bound). A step is one pass of an innermost loop.
//! 2. Its innermost loops report their steps by [`steps`].
//! 3. Only the tests of this package count, each thread for itself. In every other build [`steps`]
//!    is empty and [`count`] finds nothing.

#[cfg(test)]
use std::cell::Cell;

#[cfg(test)]
thread_local! {
    static STEPS: Cell<u64> = const { Cell::new(0) };
}

/// Reports so many steps.
#[cfg(test)]
pub(super) fn steps(count: usize) {
    STEPS.with(|steps| steps.set(steps.get().saturating_add(count as u64)));
}

/// Reports so many steps: to nobody in this build.
#[cfg(not(test))]
#[inline(always)]
pub(super) const fn steps(_count: usize) {}

/// What `work` gives, and the steps that it took: none unless this package is tested.
pub(super) fn count<T>(work: impl FnOnce() -> T) -> (T, u64) {
    #[cfg(test)]
    {
        let before = STEPS.replace(0);
        let done = work();
        (done, STEPS.replace(before))
    }
    #[cfg(not(test))]
    (work(), 0)
}

/// A number of things as a factor of a bound.
pub(super) const fn wide(count: usize) -> u64 {
    count as u64
}

/// A product of factors, at most the largest number.
pub(super) fn product(factors: &[u64]) -> u64 {
    factors
        .iter()
        .fold(1, |all, factor| all.saturating_mul(*factor))
}

/// A sum of terms, at most the largest number.
pub(super) fn sum(terms: impl IntoIterator<Item = u64>) -> u64 {
    terms.into_iter().fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_count_for_the_work_that_takes_them() {
        let (inner, all) = count(|| {
            steps(3);
            let (_, inner) = count(|| steps(usize::MAX));
            steps(4);
            inner
        });
        assert_eq!((inner, all), (u64::MAX, 7));
        assert_eq!(count(|| ()).1, 0);
    }
}
