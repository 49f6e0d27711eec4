//! How much work an auction takes at the most.
//!
//! A step is one look at one type of one job: its pull and its part of the split. Each job has one
//! look per type at the start, one in each pass of each round, and one at the end for its shares:
//!
//! ```text
//! jobs * types * (rounds * passes + 2)
//! ```

use super::Input;
use crate::mechanism::meter::{product, sum, wide};

/// Steps at the most; see the module.
pub(super) fn bound<K>(input: &Input<K>) -> u64 {
    let terms = &input.terms;
    let looks = product(&[terms.max_rounds.into(), terms.inner.into()]);
    product(&[wide(input.jobs.len()), wide(terms.types), sum([looks, 2])])
}
