//! What a federation decides about its mechanisms; part of the genesis.

pub mod ausubel;
pub mod buy;
