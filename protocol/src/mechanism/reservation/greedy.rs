//! Attempts: first fit in several orders, and the best of them.

use super::Policy;
use super::calendar::Calendar;
use super::order::{rankings, with_front};
use super::prepare::{Fit, Lot, Prepared};

/// The result of an attempt.
#[derive(Debug)]
pub(super) struct Attempt {
    pub(super) attempt: u32,
    pub(super) total: u128,
    pub(super) fits: Vec<Fit>,
}

/// The attempt of the greatest total, ties to the smaller number. Numbers go on from ranking to
/// ranking.
pub(super) fn best<K: Ord, N>(prepared: &Prepared<'_, K, N>, policy: Policy) -> Attempt {
    let lots = &prepared.lots;
    let fronts = (policy.fronts as usize).min(lots.len()).max(1);
    let all: u128 = lots.iter().map(|lot| u128::from(lot.bid.value)).sum();
    let mut best: Option<Attempt> = None;
    let rankings = rankings(lots, policy.orders);
    let orders = rankings
        .iter()
        .flat_map(|ranking| (0..fronts).map(move |front| with_front(ranking, front)));
    for (attempt, order) in (0u32..).zip(orders) {
        let (total, fits) = fit_all(lots, order, prepared.calendar.copy());
        // 3.2.1 p. 31: the best of the k attempts; B.2, 5.
        if best.as_ref().is_none_or(|best| best.total < total) {
            best = Some(Attempt {
                attempt,
                total,
                fits,
            });
        }
        // No attempt is worth more than all bids together.
        if total == all {
            break;
        }
    }
    best.expect("every policy has at least one attempt")
}

/// One attempt.
fn fit_all<K, N>(
    lots: &[Lot<'_, K, N>],
    order: impl Iterator<Item = usize>,
    mut calendar: Calendar,
) -> (u128, Vec<Fit>) {
    let (mut total, mut fits) = (0, Vec::new());
    for index in order {
        let lot = &lots[index];
        let Some(fit) = first_fit(index, lot, &calendar) else {
            continue;
        };
        let slots = lot.bid.slots;
        calendar.take(fit.nodes.iter().flatten().copied(), fit.start, slots);
        if let Some(channel) = fit.channel {
            calendar.take_channel(channel, fit.start, slots);
        }
        total += u128::from(lot.bid.value);
        fits.push(fit);
    }
    (total, fits)
}

/// The first start with enough nodes and, if one is needed, a channel.
fn first_fit<K, N>(index: usize, lot: &Lot<'_, K, N>, calendar: &Calendar) -> Option<Fit> {
    // 4.3.1 p. 60: greedy first fit; B.2, 4.
    let starts = lot.starts.clone()?;
    let length = lot.bid.slots;
    let runs = calendar.runs(starts.clone(), length);
    let mut free = vec![0; calendar.width()];
    let mut suspect = 0;
    for start in starts {
        let channel = match lot.bid.channels {
            None => None,
            Some(range) => match calendar.free_channel(range.low, range.high, start, length) {
                None => continue,
                found => found,
            },
        };
        runs.free(start, &mut free);
        if !lot.matching.feasible(&free, &mut suspect) {
            continue;
        }
        return Some(Fit {
            lot: index,
            start,
            nodes: lot.matching.pick(&free),
            channel,
        });
    }
    None
}
