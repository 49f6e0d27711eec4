//! Planted faults, which the tests of this project must find, or be too weak.
//!
//! 1. A `fault` is a patch in `testnet/sim/planted/` that breaks one rule, at one place.
//! 2. It is planted in a copy of the sources, the `tree`. The product holds no fault.
//! 3. The patched program is built, and `judge`d: its `finder` of the last hunt, seeds of the
//!    simulator, then the tests of the packages, until something fails that does not fail without
//!    the fault.
//!
//! The copy and its build folder are kept from one fault to the next, so that cargo builds anew
//! only what depends on the patched file.

pub(crate) mod fault;
pub(crate) mod finder;
pub(crate) mod judge;
pub(crate) mod tree;

pub use fault::{Fault, FaultError};
