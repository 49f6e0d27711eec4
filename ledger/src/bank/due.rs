//! What an account owes to the running tax, by its savings. Nothing here changes the state.

use super::sweep;
use super::{Holding, Levy, levy};
use crate::money::purse;
use crate::record::Savings;
use crate::work::Work;
use gridbay_protocol::bank::SavingsTax;
use gridbay_protocol::ids::AccountId;
use gridbay_protocol::payment::Purse;

/// The tax, if there is one.
pub(super) fn tax(work: &Work<'_>) -> Option<SavingsTax> {
    work.constitution.policy.bank.tax
}

/// An account as the rules see it.
pub(super) fn holding(work: &Work<'_>, id: &AccountId) -> Holding {
    let savings = of(work, id);
    let standing = work.constitution.standing(id);
    Holding {
        available: purse::balance(work, &Purse::Account(*id)),
        frozen: savings.frozen,
        base: standing.base.micros(),
        shares: standing.shares,
        arrears: savings.arrears,
    }
}

/// The savings record of an account.
pub(super) fn of(work: &Work<'_>, id: &AccountId) -> Savings {
    work.tables.savings.get(id).copied().unwrap_or_default()
}

/// Micro-credits that the tax which runs will take of an account before anything else does.
pub(crate) fn pending(work: &Work<'_>, id: &AccountId) -> u64 {
    due(work, id).map_or(0, |levy| levy.taken)
}

/// The levy that an account owes to the running tax; `None` if it has paid, or no tax runs.
pub(super) fn due(work: &Work<'_>, id: &AccountId) -> Option<Levy> {
    let tax = tax(work)?;
    let awaits = sweep::awaits(work, id) && !of(work, id).levied;
    awaits.then(|| levy(&holding(work, id), tax.ppm))
}
