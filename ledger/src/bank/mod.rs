//! The bank: it distributes revenue and taxes idle money.
//!
//! Rules of Bellagio's and Mirage's bank (AuYoung, 3.2.2, 3.3.2 and 3.4.2) as functions of the
//! accounts' holdings. They know neither ids nor purses: a caller lists [`Holding`]s, ascending by
//! account id, and gets back amounts in the same order, which it posts between the accounts and the
//! treasury. [`Bank`] keeps small books of its own in memory and obeys the same functions; cases
//! told in JSON run on it.
//!
//! Every rule keeps these promises:
//!
//! 1. Money is conserved: as much leaves accounts and treasury as reaches them.
//! 2. Money is taken only from an account's available money, and never more than its excess above
//!    its base.
//! 3. Money that cannot be shared out for want of shares stays in the treasury.
//! 4. All amounts are integers; the last micro-credits go by largest remainders, ties to the
//!    smaller account id.
//!
//! The bank publishes [`supply`] (how much money there is, how fast it turns over) and [`index`]
//! (the price of a class compared with its first period).
//!
//! The ledger calls the rules in `turn`. It keeps their data about accounts in `savings`, and the
//! published figures in `figures`.

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
