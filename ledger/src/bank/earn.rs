//! The earnings of sellers.

use crate::view::Money;
use gridbay_protocol::ids::{AccountId, OrderId};
use gridbay_protocol::payment::{Purse, Reason};
use gridbay_protocol::units::Credits;

/// Pays what was earned to its seller, or to the bank where revenue is shared by all.
///
/// # Panics
/// If `from` does not hold the amount, which is a fault of the caller.
pub(crate) fn earn(
    at: &mut Money<'_, '_>,
    from: Purse,
    seller: AccountId,
    amount: Credits,
    order: Option<OrderId>,
) {
    let shared = at.constitution.policy.bank.shares_revenue();
    let (to, reason) = match shared {
        true => (Purse::Bank, Reason::Revenue),
        false => (Purse::Account(seller), Reason::Earning),
    };
    at.post(from, to, amount, reason, order)
        .expect("what was earned lies ready");
}
