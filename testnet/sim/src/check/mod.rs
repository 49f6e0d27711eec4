//! Checkers: one invariant each, looking at every event. None of them calls the code that it
//! checks.
//!
//! A checker is a file and a line in [`all`], or, of one mechanism, in the table of
//! `crate::ways`.

mod ahead;
mod broken;
mod fact;
mod i01_conservation;
mod i02_agreement;
mod i03_append_only;
mod i04_exactly_once;
pub(crate) mod i05_buys;
pub(crate) mod i05_clearing;
pub(crate) mod i05_posted;
mod i06_inclusion;
mod i07_secrecy;
mod i08_exclusive;
mod i09_one_statement;
mod i10_evidence;
mod i11_bounds;
mod i11_budgets;
mod i12_liveness;
mod i13_recovery;
mod i14_determinism;
mod i16_books;
pub(crate) mod i16_contracts;
mod i16_delivery;
pub(crate) mod i16_plans;
mod i17_pace;
mod i18_beacon;
mod i19_keys;
mod i19_members;
mod i20_progress;
mod i21_relays;
mod i22_fair;
pub mod judge;
mod naive;
mod pools;
mod sight;

pub use broken::Broken;
pub use fact::Fact;
pub use i14_determinism::same;
pub use sight::{Check, Sight};

use crate::ways;

/// All checkers, fresh, by their ids.
pub fn all() -> Vec<Box<dyn Check>> {
    let mut all: Vec<Box<dyn Check>> = vec![
        Box::<i01_conservation::Conservation>::default(),
        Box::<i02_agreement::Agreement>::default(),
        Box::<i03_append_only::AppendOnly>::default(),
        Box::<i04_exactly_once::ExactlyOnce>::default(),
        Box::<i06_inclusion::Inclusion>::default(),
        Box::<i07_secrecy::Secrecy>::default(),
        Box::<i08_exclusive::Exclusive>::default(),
        Box::<i09_one_statement::OneStatement>::default(),
        Box::<i10_evidence::Convictions>::default(),
        Box::<i11_bounds::Bounds>::default(),
        Box::<i11_budgets::Budgets>::default(),
        Box::<i12_liveness::Liveness>::default(),
        Box::<i13_recovery::Recovery>::default(),
        Box::<i16_books::Books>::default(),
        Box::<i16_delivery::Delivery>::default(),
        Box::<i17_pace::LongRun>::default(),
        Box::<i18_beacon::Reveals>::default(),
        Box::<i19_members::Members>::default(),
        Box::<i19_keys::Keys>::default(),
        Box::<i20_progress::Progress>::default(),
        Box::<i21_relays::Relays>::default(),
        Box::<i22_fair::Fair>::default(),
    ];
    all.extend(ways::checks());
    // By their numbers; who is first to object is named.
    all.sort_by_key(|check| (check.id().len(), check.id()));
    all
}
