//! The ledger: balances, transfers, statements, blocks.

mod awaited;
pub(crate) mod blocks;
pub(crate) mod desk;
pub(crate) mod handle;
pub(crate) mod landing;
mod look;
pub(crate) mod proof;
pub(crate) mod routes;
pub(crate) mod statement;
mod transfer;
pub(crate) mod types;
