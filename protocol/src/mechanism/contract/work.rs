//! How much work the clearing of a book takes at the most.
//!
//! A step is one look at one period of supply or one contract. With P periods, N contracts and M of
//! them offered:
//!
//! 1. Whether a contract fits takes a walk over all others and all periods, and over the points
//!    where they begin and end: `fit = 3 (P + N)`.
//! 2. An offered contract is weighed against its cost (P) and tried. If it does not fit, each
//!    other one is tried in its place at up to `2 (P + N)` overloads, and if it makes room there
//!    its stake is reckoned up over all periods, as is the candidate's worth: `P + fit + N * 2
//!    (P + N) + (N + 1) P`.
//! 3. In the end each contract that does not stand is tried once more: `N * fit`.
//!
//! ```text
//! M * (P + fit + 2 N (P + N) + (N + 1) P) + N * fit
//! ```

use super::Input;
use super::limits::{CONTRACTS_MAX, PERIODS_MAX};
use crate::mechanism::meter::{product, sum, wide};

/// Steps at the most; see the module.
pub(super) fn bound<K>(input: &Input<K>) -> u64 {
    let contracts = input.signed.len().saturating_add(input.offered.len());
    let periods = input.provider.supply.len();
    if contracts > CONTRACTS_MAX || periods > PERIODS_MAX {
        return 0;
    }
    let (offered, n, p) = (wide(input.offered.len()), wide(contracts), wide(periods));
    let fit = 3 * (p + n);
    let decision = sum([p, fit, product(&[2, n, p + n]), (n + 1) * p]);
    sum([product(&[offered, decision]), n * fit])
}
