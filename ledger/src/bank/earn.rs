//! What sellers earn.

use crate::view::Money;
use gridbay_protocol::ids::{AccountId, OrderId};
use gridbay_protocol::payment::{Purse, Reason};
use gridbay_protocol::units::Credits;

/// Pays what was earned to its seller, or to the bank where revenue is shared by all.
///
/// # Panics
/// If `from` does not hold it: whoever calls has seen to that.
pub(crate) fn earn(
    at: &mut Money<'_, '_>,
    from: Purse,
    seller: AccountId,
    amount: Credits,
    order: Option<OrderId>,
) {
    let pools = at.constitution.policy.bank.pools_revenue();
    let (to, reason) = match pools {
        true => (Purse::Bank, Reason::Revenue),
        false => (Purse::Account(seller), Reason::Earning),
    };
    at.post(from, to, amount, reason, order)
        .expect("what was earned lies ready");
}
