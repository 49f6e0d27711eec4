//! Ways to gain by gaming the whole market, not one clearing: what each would bring, and why it
//! does not. One a file.

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
