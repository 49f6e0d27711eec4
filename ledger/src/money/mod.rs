//! Money: the balances of purses, the part that can be spent, and postings between them.

pub(crate) mod funds;
mod post;
pub(crate) mod purse;
mod share_out;

pub(crate) use share_out::{Payout, above_floors};
