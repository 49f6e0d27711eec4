//! The bank: who gets the revenue, and what happens to money that lies idle.
//!
//! Rules of Bellagio's and Mirage's bank (AuYoung, 3.2.2, 3.3.2 and 3.4.2) as functions of what
//! accounts hold. They know neither ids nor purses: a caller lists [`Holding`]s, ascending by
//! account id, and gets back amounts in the same order, which it posts between the accounts and the
//! treasury. [`Bank`] keeps small books of its own in memory and obeys the same functions; cases
//! told in JSON run on it.
//!
//! What always holds, in every rule:
//!
//! 1. Money is conserved: what leaves accounts and treasury is what reaches accounts and treasury.
//! 2. Nothing is taken but from an account's available money, and never more than it has above its
//!    base.
//! 3. What cannot be shared out for want of shares stays in the treasury.
//! 4. Integers only; the last micro-credits go by largest remainders, ties to the smaller account
//!    id.
//!
//! What the bank publishes is in [`supply`] (how much money there is, how fast it turns over) and
//! in [`index`] (what a class costs compared with its first period).
//!
//! The ledger calls the rules in `turn`, keeps what they need to know of accounts in `savings`, and
//! what is published in `figures`.

mod books;
mod clear;
pub(crate) mod due;
mod earn;
pub(crate) mod figures;
mod holding;
pub mod index;
pub(crate) mod savings;
pub mod supply;
mod sweep;
mod tax;
pub(crate) mod turn;

pub use crate::record::{Epoch, Prices, Savings, Sweep, Way};
pub use books::{Account, Bank, BankError, Bid};
pub use clear::{Revenue, Winner, by_owners, profits};
pub(crate) use earn::earn;
pub use holding::{Gifts, Holding};
pub use tax::{Levy, Tax, even_out, levy, tax};
