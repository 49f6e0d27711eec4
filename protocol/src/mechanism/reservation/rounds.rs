//! The rolling window (3.3.2 p. 39; B.2, 6): an auction per slot, each selling the slots from then
//! on.
//!
//! 1. Round r sells the slots `r .. r + T`, with starts in `r .. r + S`. Bids name slots counted
//!    from round 0, and so do placements.
//! 2. A bid takes part from round `time` on until it wins, or until r is beyond its `latest`.
//! 3. Nodes and channels that were won stay taken.

use std::collections::BTreeSet;
use std::fmt::Debug;

use super::{Bid, Error, Input, Outcome, prepare};

/// Rounds of one run.
pub const ROUNDS: u32 = 1_024;

/// A bid as round `round` sees it, with slots counted from there; `None` if it takes no part.
#[must_use]
pub fn seen_from<K: Clone, N: Clone>(bid: &Bid<K, N>, round: u32) -> Option<Bid<K, N>> {
    let now = i64::from(round);
    if bid.time > u64::from(round) || bid.latest < now {
        return None;
    }
    Some(Bid {
        // A window that was inverted stays so: its beginning is beyond `latest`, which is not past.
        earliest: bid.earliest.max(now) - now,
        latest: bid.latest - now,
        ..bid.clone()
    })
}

/// Clears `rounds` windows one after the other; what `input` calls busy counts from round 0 too.
///
/// # Errors
/// As [`super::clear`], for all bids from the beginning; or more than [`ROUNDS`] rounds.
pub fn run<K, N>(input: &Input<K, N>, rounds: u32) -> Result<Vec<Outcome<K, N>>, Error<K, N>>
where
    K: Ord + Clone + Debug,
    N: Ord + Clone + Debug,
{
    if rounds > ROUNDS {
        return Err(Error::TooManyRounds(rounds));
    }
    prepare::check_busy(input)?;
    prepare::prepare(input)?;
    let mut open: BTreeSet<&K> = input.bids.iter().map(|bid| &bid.id).collect();
    let (mut busy, mut busy_channels) = (input.busy.clone(), input.busy_channels.clone());
    let mut outcomes = Vec::with_capacity(rounds as usize);
    for round in 0..rounds {
        busy.retain(|(_, slot)| *slot >= round);
        busy_channels.retain(|(_, slot)| *slot >= round);
        let bids = input.bids.iter().filter(|bid| open.contains(&bid.id));
        let window = Input {
            busy: busy.iter().map(|(n, s)| (n.clone(), s - round)).collect(),
            busy_channels: busy_channels.iter().map(|(c, s)| (*c, s - round)).collect(),
            bids: bids.filter_map(|bid| seen_from(bid, round)).collect(),
            nodes: input.nodes.clone(),
            ..*input
        };
        let mut outcome = super::clear_window(&window)?;
        for award in &mut outcome.awards {
            let won = &mut award.placement;
            // Bounded by ROUNDS and SLOTS.
            won.start += round;
            open.remove(&won.id);
            let bid = input.bids.iter().find(|bid| bid.id == won.id);
            for slot in won.start..won.start + bid.map_or(0, |bid| bid.slots) {
                busy.extend(won.nodes.iter().flatten().map(|n| (n.clone(), slot)));
                busy_channels.extend(won.channel.map(|channel| (channel, slot)));
            }
        }
        outcomes.push(outcome);
    }
    Ok(outcomes)
}
