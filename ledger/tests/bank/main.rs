//! The bank: its books against a plain model, its rules on any holdings, and how fast an account
//! recovers.

#![allow(clippy::unwrap_used)]

mod books;
mod model;
mod recovery;
mod rules;
