//! Ways to gain by gaming the whole market, not one clearing: what each would bring, and why it does not. One a file.

mod buy_against_bids;
mod compensation_pump;
mod empty_accounts;
mod last_mover;
mod reserve_chase;
mod shill;
