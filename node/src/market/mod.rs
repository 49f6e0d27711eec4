//! The market: prices, and sellers by a query.

pub(crate) mod class;
mod find;
mod handle;
pub(crate) mod price;
pub(crate) mod routes;
pub(crate) mod types;
