//! The market: prices, and sellers by a query.

pub(crate) mod again;
mod class;
pub(crate) mod desk;
mod find;
mod handle;
pub(crate) mod odds;
pub(crate) mod price;
pub(crate) mod routes;
pub(crate) mod types;

pub(crate) use class::*;
