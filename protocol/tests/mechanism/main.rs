//! The market mechanisms against oracles that restate their rules, and against vectors.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod ausubel_oracle;
mod placement;
mod pool_oracle;
mod share_oracle;
mod share_units;
mod support;
