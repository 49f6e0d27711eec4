//! The shell of the agent: it looks, performs and tells, and decides nothing.
//!
//! 1. [`places`] says where things are; tests put them elsewhere.
//! 2. [`command`] runs programs, each with a bound on its time and on what it may say.
//! 3. [`files`] reads at most so many bytes of plain files, and writes files whole or not at all.
//! 4. [`disks`], [`system`], `balloon` and [`gridbay`] find out what is there; [`look`] puts it
//!    together.
//! 5. [`perform`] does what a step asked for, and stops at the first failure.
//! 6. [`watch`] is the loop around all of it.
//! 7. [`care`] holds the owner's commands: drain, export, reset.
//! 8. [`update`] holds those around updates, and what the agent does about them.

mod balloon;
pub mod care;
pub mod command;
pub mod disks;
pub mod files;
pub mod gridbay;
pub mod look;
pub mod perform;
pub mod places;
pub mod system;
pub mod update;
pub mod watch;
