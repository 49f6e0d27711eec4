//! Updates of the appliance's system: written beside the running one, tried, taken or left.
//!
//! The disk has two systems, a and b: each a root partition, and a kernel and an initial RAM disk
//! in the boot partition. The boot loader's environment (`env`) says which one works and which
//! one is on trial.
//!
//! An update ([`manifest`]) is written in this order ([`install`]). After each step stands what a
//! power cut leaves in it.
//!
//! 1. Header and signature are checked, then the hash of every part, then what [`check`] tells.
//!    *Nothing was written: the running system starts.*
//! 2. Where the environment does not name the running system as the one that works, it is made to.
//!    *One sector, the old one or the new one: the running system starts, or the one before it,
//!    which has not been touched.*
//! 3. The root partition of the other slot is written and synchronised. *The environment names the
//!    running system and no trial: the running system starts. The other one is in pieces, and the
//!    boot loader comes to it only if the running system's own kernel cannot be read.*
//! 4. Kernel and initial RAM disk of the other slot are written and synchronised. They are files of
//!    a fixed size that are written in place: no cluster is taken or given back, so neither the
//!    file system nor the running system's files can be harmed. *As before.*
//! 5. All three are read back from the disk and held against the signed hashes. *As before.*
//! 6. The environment gets `trial` and `tries=2` by one write in place. *The running system starts,
//!    or the new one: both are whole.*
//!
//! A failure in any step ends the update where a cut would.
//!
//! The boot loader takes one of the tries away before it starts the new system, and starts it only
//! if that was saved. So a new system that does not start, hangs or does not become ready is left
//! after two tries, whatever it does. What the agent does about it is in [`trial`]; the kernel's
//! `panic=10`, systemd's watchdog and `gridbay-trial.timer` end systems that come to no agent.
//!
//! The running system's slot is never written: its root partition is mounted, and the other's is
//! opened for itself alone, which the kernel refuses for a mounted one.

pub mod check;
pub mod env;
pub mod install;
pub mod keys;
pub mod manifest;
pub mod offered;
pub mod record;
pub mod slot;
pub mod trial;

#[cfg(test)]
mod tests;
