//! Rankings of bids, all compared without division and with ties by (time, id).

use std::cmp::Ordering;

use super::Orders;
use super::prepare::Lot;

/// A ranking; the greater figure comes first.
#[derive(Debug, Clone, Copy)]
enum Base {
    /// Value / size.
    Density,
    /// Value.
    Value,
    /// Value / sqrt(size).
    Root,
}

/// Positions in `lots` by each ranking of a policy.
pub(super) fn rankings<K: Ord, N>(lots: &[Lot<'_, K, N>], orders: Orders) -> Vec<Vec<usize>> {
    let bases: &[Base] = match orders {
        Orders::Density => &[Base::Density],
        Orders::Three => &[Base::Density, Base::Value, Base::Root],
    };
    let ranking = |&base: &Base| {
        let mut order: Vec<usize> = (0..lots.len()).collect();
        order.sort_by(|&a, &b| {
            let (a, b) = (&lots[a], &lots[b]);
            let figures = figure(base, b, a).cmp(&figure(base, a, b));
            figures.then_with(|| tie(a, b))
        });
        order
    };
    bases.iter().map(ranking).collect()
}

fn tie<K: Ord, N>(a: &Lot<'_, K, N>, b: &Lot<'_, K, N>) -> Ordering {
    (a.bid.time, &a.bid.id).cmp(&(b.bid.time, &b.bid.id))
}

/// The figure of `a` times what makes the figures of `a` and `b` whole numbers, as (high, low).
fn figure<K, N>(base: Base, a: &Lot<'_, K, N>, b: &Lot<'_, K, N>) -> (u128, u64) {
    let value = u128::from(a.bid.value);
    match base {
        // 3.2.1 p. 31: b_i / (s_i * l_i); the other two are of B.4.
        Base::Density => wide(value, b.size),
        Base::Value => wide(value, 1),
        Base::Root => wide(value * value, b.size),
    }
}

/// A product of up to 192 bits: what is above the lowest 64 bits, and these.
fn wide(a: u128, b: u64) -> (u128, u64) {
    let low = (a & u128::from(u64::MAX)) * u128::from(b);
    let high = (a >> 64) * u128::from(b) + (low >> 64);
    (high, low as u64)
}

/// An order of attempt: the `front`-th of a ranking first, the others behind it.
pub(super) fn with_front(ranking: &[usize], front: usize) -> impl Iterator<Item = usize> {
    // 3.2.1 p. 31: the orderings of the top k; B.2, 3.
    let first = ranking.get(front).copied();
    let others = ranking.iter().enumerate();
    let others = others.filter(move |(place, _)| *place != front);
    first.into_iter().chain(others.map(|(_, &lot)| lot))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_products_carry() {
        assert_eq!(wide(3, 5), (0, 15));
        assert_eq!(wide(u128::from(u64::MAX), 2), (1, u64::MAX - 1));
        // (2^128 - 1) * (2^64 - 1) = 2^192 - 2^128 - 2^64 + 1
        assert_eq!(wide(u128::MAX, u64::MAX), (u128::MAX - (1 << 64), 1));
    }

    #[test]
    fn the_front_moves_alone() {
        let order: Vec<usize> = with_front(&[4, 2, 7, 1], 2).collect();
        assert_eq!(order, [7, 4, 2, 1]);
        assert_eq!(with_front(&[], 0).count(), 0);
    }
}
