//! Repeated combinatorial greedy auction of Bellagio and Mirage (AuYoung, 3.2.1 p. 31, 3.3.2
//! p. 39, 3.4.2 p. 43 with eq. 3.1; reference B).
//!
//! Nodes are reserved for a run of slots ahead. A bid wants so many nodes of each of several
//! classes (any sets of named nodes, they may overlap), all of them together for `slots` slots
//! from one start, perhaps with a channel that nobody else has meanwhile. All of it or nothing.
//!
//! 1. `prepare` refuses numbers out of range and passes over void bids: no slot, no class, a class
//!    with quantity 0, a window that ends before it begins, or less money than the reserve for its
//!    node-slots. A value of 0 is legal.
//! 2. `order` ranks bids by value density: value / (nodes * slots), ties by (time, id). A channel
//!    does not count as size. Attempt j moves the j-th densest bid to the front, for
//!    j < min([`Policy::fronts`], bids), at least once. [`Orders::Three`] then does the same from
//!    two more rankings: by value, and by value / sqrt(nodes * slots).
//! 3. `greedy` fits the bids of an attempt one after the other, each at the first start where
//!    `matching` finds nodes and `calendar` the lowest channel of its range. Nodes: class by class
//!    in the bid's order, the lexicographically smallest set that leaves enough for the rest.
//! 4. The attempt of the greatest total wins, ties to the smaller j. Winners pay their bids.
//!
//! `work` bounds the steps of a clearing: attempts x bids x starts x sets of nodes.
//!
//! [`rounds`] repeats it over a rolling window, [`hint`] takes a better allocation from elsewhere.

mod calendar;
mod greedy;
pub mod hint;
mod matching;
mod order;
mod prepare;
pub mod rounds;
mod specimen;
mod types;
pub mod window;
mod work;

use std::fmt::Debug;
use std::marker::PhantomData;

use super::Mechanism;
use super::dice::shuffle;
pub use types::*;

/// Clears one window.
///
/// # Errors
/// The input is beyond a limit of this module, or an id occurs twice.
pub fn clear<K, N>(input: &Input<K, N>) -> Result<Outcome<K, N>, Error<K, N>>
where
    K: Ord + Clone + Debug,
    N: Ord + Clone + Debug,
{
    prepare::check_busy(input)?;
    clear_window(input)
}

/// The same without a bound of the busy lists.
fn clear_window<K, N>(input: &Input<K, N>) -> Result<Outcome<K, N>, Error<K, N>>
where
    K: Ord + Clone + Debug,
    N: Ord + Clone + Debug,
{
    let prepared = prepare::prepare(input)?;
    let best = greedy::best(&prepared, input.policy);
    let mut awards: Vec<Award<K, N>> = best.fits.iter().map(|fit| prepared.award(fit)).collect();
    awards.sort_by(|a, b| a.placement.id.cmp(&b.placement.id));
    Ok(Outcome {
        attempt: Some(best.attempt),
        total: best.total,
        awards,
    })
}

/// The auction as a [`Mechanism`], for bids with ids of type `K` on nodes with ids of type `N`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Reservation<K, N>(PhantomData<fn() -> (K, N)>);

impl<K, N> Reservation<K, N> {
    /// The marker, usable in statics.
    pub const NEW: Self = Reservation(PhantomData);
}

impl<K, N> Mechanism for Reservation<K, N>
where
    K: Ord + Clone + Debug + From<u8> + From<u16>,
    N: Ord + Clone + Debug + From<u8> + From<u16>,
{
    type Input = Input<K, N>;
    type Outcome = Outcome<K, N>;
    type Error = Error<K, N>;

    const NAME: &'static str = "reservation";
    const SUMMARY: &'static str = "so many nodes of these kinds for so long, any time in a window";

    fn clear(input: &Input<K, N>) -> Result<Outcome<K, N>, Error<K, N>> {
        clear(input)
    }

    fn bound(input: &Input<K, N>) -> u64 {
        work::bound(input)
    }

    fn audit(input: &Input<K, N>, outcome: &Outcome<K, N>) -> Result<(), &'static str> {
        hint::audit(input, outcome)
    }

    fn specimen(seed: u64) -> Input<K, N> {
        specimen::draw(seed)
    }

    fn extreme(seed: u64) -> Input<K, N> {
        specimen::extreme(seed)
    }

    fn shuffle(input: &mut Input<K, N>, draw: &mut dyn FnMut(u64) -> u64) {
        shuffle(&mut input.bids, draw);
        shuffle(&mut input.nodes, draw);
        shuffle(&mut input.busy, draw);
        shuffle(&mut input.busy_channels, draw);
    }
}
