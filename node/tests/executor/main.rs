//! The process executor, against real processes: in the tier that this machine offers, and in the
//! plain tier. Run as root and as an ordinary user; both must pass.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]
#![allow(
    clippy::print_stdout,
    reason = "the tier that ran belongs into the test log"
)]

mod bench;
mod device;
mod disk;
mod farewell;
mod isolation;
mod running;
mod survival;
mod tools;
mod web;
mod whole;
