//! The data partition at boot: what it is, and what becomes of it.
//!
//! 1. The device is looked at ([`probe`]): the first 4 MiB, the last MiB, the places of ext4's
//!    superblocks, and blocks spread over all of it.
//! 2. All zero: it is blank, and formatted with quotas of projects.
//! 3. A superblock at its place: `e2fsck -p` checks it. Codes 0 to 3 are fine, others are refused.
//! 4. Neither: it is refused and left as it is. It may hold keys, and a damaged superblock is not
//!    blank.
//! 5. A power cut while it is formatted leaves neither, or copies of the superblock alone, which
//!    mkfs writes before the first one. So a stamp with the file system's id is written first and
//!    removed afterwards, to a place that mkfs leaves alone. It counts only where there is no
//!    superblock and no copy with another id: what a job writes into its files, which does not know
//!    the id, cannot make a used partition blank.
//! 6. It is mounted, grown to its device, and gets its two folders. A reset that was asked for
//!    erases their contents ([`reset`]).
//! 7. The node's folder gets quotas for the disk of jobs ([`quota`]), those that are not there yet.
//!    Where there can be none, that is said, and the node watches the disk alone.
//! 8. Whatever happens is written down for the agent, and the boot goes on.

pub mod prepare;
pub mod probe;
pub mod quota;
pub mod report;
pub mod reset;

use crate::state::Fault;
use probe::Facts;

/// What becomes of the partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Plan {
    /// Format it.
    Format,
    /// Check its file system.
    Check,
    /// Leave it alone.
    Refuse(Fault),
}

/// Steps 2 to 5.
pub fn plan(facts: &Facts) -> Plan {
    if facts.superblock.is_some() {
        return Plan::Check;
    }
    if facts.copy {
        return Plan::Refuse(Fault::new(
            "the data partition's first superblock is damaged; nothing was changed",
            "copy the disk, then try on the copy: e2fsck -b 32768 on the partition gridbay-data",
        ));
    }
    if facts.blank || facts.stamp {
        return Plan::Format;
    }
    Plan::Refuse(Fault::new(
        "the data partition holds something that is no ext4 file system; nothing was changed",
        "keep a copy of the disk if it held keys; an empty data disk begins anew",
    ))
}

/// Step 3: what an exit code of e2fsck means; `None` stands for one that did not end in time.
pub fn checked(exit: Option<i32>) -> Result<(), Fault> {
    match exit {
        Some(0..=3) => Ok(()),
        _ => Err(Fault::new(
            format!(
                "the data partition's file system is damaged (e2fsck -p ended with {}); nothing \
                 was mounted",
                exit.map_or("no code".to_owned(), |code| code.to_string())
            ),
            "copy the disk, then try on the copy: e2fsck -f, and e2fsck -b 32768 if it finds no \
             superblock",
        )),
    }
}

#[cfg(test)]
mod tests;
