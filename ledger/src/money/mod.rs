//! Money: what purses hold, what of it can be spent, and how it moves.

pub(crate) mod funds;
mod post;
pub(crate) mod purse;
mod share_out;

pub(crate) use share_out::{Payout, above_floors};
