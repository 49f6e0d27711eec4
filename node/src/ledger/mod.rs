//! The ledger: balances, transfers, statements, blocks.

mod awaited;
pub(crate) mod blocks;
pub(crate) mod handle;
pub(crate) mod routes;
mod transfer;
pub(crate) mod types;
