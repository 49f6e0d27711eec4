//! A federation's policies for its mechanisms; part of the genesis.

pub mod ausubel;
pub mod buy;
