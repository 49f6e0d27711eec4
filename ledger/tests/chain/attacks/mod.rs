//! Attacks on the whole market, beyond one clearing, one a file: the gain that each hopes for, and
//! why it fails.

mod buy_against_bids;
mod compensation_pump;
mod complaining_buyer;
mod deliverer_of_nothing;
mod empty_accounts;
mod fake_units;
mod last_mover;
mod refund_above_price;
mod reserve_chase;
mod shill;
mod taken_back;
