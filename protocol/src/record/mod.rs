//! Public records of the market's decisions, one file for each mechanism. A block's effects hold
//! them, and each holds the whole input of its mechanism, so anybody can recompute it.

pub mod ausubel;
pub mod buy;
pub mod contract;
pub mod deadline;
pub mod posted;
pub mod reservation;
pub mod share;
