//! The first-boot agent of the appliance: from a disk with an invitation to a node that sells.
//!
//! The agent names no package of the node. It runs the `gridbay` program and reads its JSON, as an
//! owner's script would.
//!
//! 1. [`data`] decides at boot what becomes of the data partition; it never formats one that might
//!    hold keys.
//! 2. The shell looks around and collects what it finds as plain data, [`seen::Seen`].
//! 3. [`step::step`] turns that into a state, a list of actions, and what to remember. It has no
//!    I/O, clock or randomness.
//! 4. The shell performs the actions, and the next look tells the step what became of them.
//! 5. Each change of state goes to [`status`], to the journal, and through [`screen`] to the
//!    console.
//!
//! [`update`] brings a new system beside the running one, and goes back where it is no better.
//!
//! Whatever comes from a disk, a credential or a program is hostile until it was checked: bounded
//! in size, strict in form, and without control characters once it is shown.

pub mod action;
pub mod config;
pub mod data;
pub mod image;
pub mod node;
pub mod orders;
pub mod screen;
pub mod seen;
pub mod shell;
pub mod state;
pub mod status;
pub mod step;
pub mod text;
pub mod update;
