//! The market mechanisms against oracles that restate their rules, and against vectors.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod ausubel_oracle;
mod deadline_oracle;
mod deadline_rules;
mod deadline_support;
mod placement;
mod pool_oracle;
mod support;
