//! The market mechanisms against oracles that restate their rules, and against vectors.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod ausubel_oracle;
mod contract_book;
mod contract_jobs;
mod contract_oracle;
mod deadline_oracle;
mod deadline_rules;
mod deadline_support;
mod dice;
mod mirage;
mod mirage_iterative;
mod mirage_rolling_window;
mod mirage_sandwich;
mod mirage_underbidding;
mod placement;
mod posted_oracle;
mod reservation_hint;
mod reservation_limits;
mod reservation_markets;
mod reservation_naive;
mod reservation_oracle;
mod sellers_oracle;
mod share_oracle;
mod share_units;
mod sponsor_oracle;
mod strategy;
mod support;
