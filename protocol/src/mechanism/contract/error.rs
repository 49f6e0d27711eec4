//! Why an input is refused, and the checks that all lists of jobs and contracts share.

use std::fmt::Debug;

use super::limits::{Field, OutOfRange};

/// Why an input is refused. Duplicates are looked for first, then the smallest guilty id is named.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error<K: Debug> {
    /// Two jobs, or two contracts, have one id.
    #[error("the id {0:?} is there twice")]
    DuplicateId(K),
    /// A contract that ends no later than it starts.
    #[error("contract {0:?} ends no later than it starts")]
    Inverted(K),
    /// A job that arrives only after the time of the schedule.
    #[error("job {0:?} has not arrived yet")]
    NotArrived(K),
    /// A number of a job or contract is out of its range.
    #[error("of {id:?}, {field} is out of range")]
    OutOfRange {
        /// Whose.
        id: K,
        /// Which.
        field: Field,
    },
    /// Two periods of supply overlap.
    #[error("two periods of supply overlap at {at}")]
    SupplyOverlaps {
        /// The start of the later one, ticks.
        at: u64,
    },
    /// A number that belongs to no job and no contract is out of its range.
    #[error(transparent)]
    Setting(#[from] OutOfRange),
}

impl<K: Debug> Error<K> {
    /// Names whose number is out of range.
    pub(super) fn of(id: K) -> impl FnOnce(OutOfRange) -> Self {
        |OutOfRange(field)| Error::OutOfRange { id, field }
    }
}

/// Checks each item in the order of ids, after all ids for duplicates: the answer does not depend
/// on the order.
pub(super) fn check_all<'a, T: 'a, K: Ord + Clone + Debug + 'a>(
    items: impl Iterator<Item = &'a T>,
    id: impl Fn(&'a T) -> &'a K,
    check: impl Fn(&'a T) -> Result<(), Error<K>>,
) -> Result<(), Error<K>> {
    let mut sorted: Vec<&T> = items.collect();
    sorted.sort_unstable_by_key(|item| id(item));
    if let Some(pair) = sorted.windows(2).find(|pair| id(pair[0]) == id(pair[1])) {
        return Err(Error::DuplicateId(id(pair[0]).clone()));
    }
    sorted.into_iter().try_for_each(check)
}
