//! What sellers earn.

use crate::money::post;
use crate::work::Work;
use gridbay_protocol::ids::{AccountId, OrderId};
use gridbay_protocol::payment::{Purse, Reason};
use gridbay_protocol::planted::{self, Planted};
use gridbay_protocol::units::Credits;

/// Pays what was earned to its seller, or to the bank where revenue is shared by all.
///
/// # Panics
/// If `from` does not hold it: whoever calls has seen to that.
pub(crate) fn earn(
    work: &mut Work<'_>,
    from: Purse,
    seller: AccountId,
    amount: Credits,
    order: Option<OrderId>,
) {
    let pools = work.constitution.policy.bank.pools_revenue();
    let (to, reason) = match pools && !planted::is(Planted::RevenueKept) {
        true => (Purse::Bank, Reason::Revenue),
        false => (Purse::Account(seller), Reason::Earning),
    };
    post(work, from, to, amount, reason, order).expect("what was earned lies ready");
}
