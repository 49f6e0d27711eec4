//! How much work a planning takes at the most.
//!
//! A step is one look at one job in one place, or one interval of its prices. For n jobs:
//!
//! | part | steps |
//! |---|---|
//! | preparation, order by deadline | `n * (1 + log2(HORIZON) + 2)` |
//! | `exact`: each set of jobs is entered once, and each job is looked at thrice in it | `3 n * 2^n` |
//! | its prices by interval, no more than a sixteenth of the sets | `n * (2^n / 16 + 1)` |
//! | reading its order off | `3 n^2` |
//! | `local`: rebuilding two starts | `2 n^2` |
//! | its moves from three starts, each after a look at every job in every place | `3 * (n + MOVES * (n^2 + n))` |
//!
//! All of it twice: without the new job and with it.

use super::{EXACT_JOBS, HORIZON, Input, JOBS, local};
use crate::mechanism::meter::{sum, wide};

/// Steps at the most; see the module.
pub(super) fn bound<K>(input: &Input<K>) -> u64 {
    let jobs = input.jobs.len();
    sum([of(jobs), of(jobs + usize::from(input.new.is_some()))])
}

fn of(jobs: usize) -> u64 {
    if jobs > JOBS {
        return 0;
    }
    let n = wide(jobs);
    let preparation = n * u64::from(HORIZON.ilog2() + 3);
    if jobs <= EXACT_JOBS {
        let sets = 1 << n;
        return preparation + n * (3 * sets + sets / 16 + 1) + 3 * n * n;
    }
    preparation + 2 * n * n + 3 * (n + wide(local::MOVES) * (n * n + n))
}
