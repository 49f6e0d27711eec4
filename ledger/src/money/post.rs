//! [`View::post`], the one function that moves money.
//!
//! Where the bank taxes savings, every movement of money also updates them (see `bank::savings`).

use super::funds::require;
use super::purse::balance;
use crate::bank::{figures, savings};
use crate::refusal::Refusal;
use crate::view::right::{self, Has};
use crate::view::{Money, View};
use gridbay_protocol::effect::Effect;
use gridbay_protocol::ids::OrderId;
use gridbay_protocol::payment::{Posting, Purse, Reason};
use gridbay_protocol::units::Credits;

impl<R: Has<right::Money>> View<'_, '_, R> {
    /// Moves `amount` and records the posting. Nothing moves, and nothing is recorded, if the
    /// amount is zero or the purse debited cannot bear it.
    pub(crate) fn post(
        &mut self,
        from: Purse,
        to: Purse,
        amount: Credits,
        reason: Reason,
        order: Option<OrderId>,
    ) -> Result<(), Refusal> {
        if amount == Credits::ZERO || from == to {
            return Ok(());
        }
        let at = &mut self.money();
        savings::before(at, &from, &to);
        require(at, from, amount)?;
        let credited = balance(at, &to)
            .checked_add_unsigned(amount.micros())
            .ok_or(Refusal::Overflow)?;
        let debited = balance(at, &from) - amount.micros() as i64;
        set(at, from, debited);
        set(at, to, credited);
        at.emit(Effect::Posting(Posting {
            from,
            to,
            amount,
            reason,
            order,
        }));
        figures::posted(at, reason, amount);
        savings::after(at, &from, &to, amount);
        Ok(())
    }
}

fn set(at: &mut Money<'_, '_>, purse: Purse, balance: i64) {
    if balance == 0 {
        at.purses().remove(&purse);
    } else {
        at.purses().insert(purse, balance);
    }
}
