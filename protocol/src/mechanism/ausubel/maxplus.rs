//! (max, +) arithmetic on tables "best value with capacity c".
//!
//! A bidder that takes nothing or `head ..` units, each further unit worth no more than the one
//! before, is added to a table by [`spread`]: plainly when there are few choices, else by divide
//! and conquer over monotone maxima, O(m log m) however many choices there are.

use crate::mechanism::meter;

/// An exact sum: `i64` where all sums provably fit, else `i128`.
///
/// Additions wrap, so that loops over tables stay free of branches. The caller proves that
/// nothing can wrap; see `exact::solve`.
pub(super) trait Sum: Copy + Ord {
    const ZERO: Self;
    /// Below every value that occurs; never an operand.
    const NONE: Self;
    fn of(value: u128) -> Self;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn get(self) -> u128;
}

macro_rules! sum {
    ($int:ty) => {
        impl Sum for $int {
            const ZERO: Self = 0;
            const NONE: Self = <$int>::MIN;
            fn of(value: u128) -> Self {
                Self::try_from(value).expect("the caller chose a width that fits")
            }
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            fn get(self) -> u128 {
                u128::try_from(self).expect("differences taken here are never negative")
            }
        }
    };
}
sum!(i64);
sum!(i128);

/// Up to so many choices the plain loop is faster.
pub(super) const PLAIN_CHOICES: usize = 24;

/// `out[c] = max(out[c], max over k of base[c - (head + k)] + worth[k])` for all c >= head.
///
/// `worth` is concave and not empty; `base` and `out` have one length.
pub(super) fn spread<N: Sum>(base: &[N], head: usize, worth: &[N], out: &mut [N]) {
    if worth.len() <= PLAIN_CHOICES {
        for (units, &value) in (head..).zip(worth) {
            meter::steps(out.len().saturating_sub(units));
            for (best, &rest) in out.iter_mut().skip(units).zip(base) {
                *best = (*best).max(rest.plus(value));
            }
        }
    } else if head < out.len() {
        let last = out.len() - 1;
        Spread {
            base,
            head,
            worth,
            out,
        }
        .rows((head, last), (0, last - head));
    }
}

/// The divide and conquer of [`spread`]: the smallest best remainder `j = c - units` never falls
/// when c rises, because `worth` is concave (the matrix `base[j] + worth[c - head - j]` is
/// inverse Monge, also with the cells outside its band at minus infinity).
struct Spread<'a, N> {
    base: &'a [N],
    head: usize,
    worth: &'a [N],
    out: &'a mut [N],
}

impl<N: Sum> Spread<'_, N> {
    /// Solves the rows (capacities) of an inclusive range, whose best remainders lie in `rest`.
    fn rows(&mut self, (first, last): (usize, usize), (low, high): (usize, usize)) {
        let row = first + (last - first) / 2;
        let surplus = row - self.head;
        let from = low.max((surplus + 1).saturating_sub(self.worth.len()));
        let (mut best, mut at) = (N::NONE, from);
        for rest in from..=high.min(surplus) {
            meter::steps(1);
            let value = self.base[rest].plus(self.worth[surplus - rest]);
            if value > best {
                (best, at) = (value, rest);
            }
        }
        self.out[row] = self.out[row].max(best);
        if first < row {
            self.rows((first, row - 1), (low, at));
        }
        if row < last {
            self.rows((row + 1, last), (at, high));
        }
    }
}

/// The most that two tables give when they share one capacity: `max of a[c] + b[cap - c]` over
/// `from <= c <= min(cap, a.len() - 1)`.
pub(super) fn best_split<N: Sum>(a: &[N], b: &[N], from: usize, cap: usize) -> N {
    let to = cap.min(a.len() - 1);
    if from > to {
        return N::NONE;
    }
    meter::steps(to - from + 1);
    let theirs = b[cap - to..=cap - from].iter().rev();
    let sums = a[from..=to].iter().zip(theirs).map(|(&x, &y)| x.plus(y));
    sums.fold(N::NONE, N::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn both_ways_to_spread_agree(
            mut base in prop::collection::vec(0i64..60, 1..90),
            head in 1usize..20,
            start in 0i64..40,
            mut steps in prop::collection::vec(0i64..9, 25..60),
        ) {
            base.sort_unstable();
            steps.sort_unstable_by(|a, b| b.cmp(a));
            let mut worth = vec![start];
            worth.extend(steps.iter().scan(start, |sum, step| { *sum += step; Some(*sum) }));
            let mut fast = base.clone();
            spread(&base, head, &worth, &mut fast);
            let slow: Vec<i64> = (0..base.len()).map(|c| {
                let choices = (head..).zip(&worth).take_while(|(units, _)| *units <= c);
                choices.map(|(units, w)| base[c - units] + w).fold(base[c], i64::max)
            }).collect();
            prop_assert_eq!(fast, slow);
        }
    }
}
