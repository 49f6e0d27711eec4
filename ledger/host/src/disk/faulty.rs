//! The faults of a disk in memory, and when they strike.
//!
//! A [`FaultPlan`] counts the operations of a [`super::MemDisk`] and makes some of them fail, as
//! real disks do: an error of input or output, a full disk, a sync that fails and forgets, no power
//! any more.

use super::DiskError;
use std::io;

/// Kinds of operations on a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    /// Reading, measuring, listing.
    Read,
    /// Appending. One that fails leaves half of its bytes behind.
    Append,
    /// Writing in place.
    Rewrite,
    /// Syncing.
    Sync,
    /// Renaming.
    Rename,
    /// Cutting.
    Truncate,
    /// Removing.
    Remove,
}

/// The faults planned. By default there are none; the parts can be combined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FaultPlan {
    /// The operation that fails with an error of input or output: its kind, and how many of that
    /// kind succeed before.
    pub fail: Option<(Operation, u64)>,
    /// Whether all further operations of that kind fail, too.
    pub lasting: bool,
    /// Whether a failed sync forgets the bytes that it should have written: reading still shows
    /// them, and later syncs succeed without them.
    pub forgetful: bool,
    /// Bytes that can still be appended before the disk is full.
    pub room: Option<u64>,
    /// Operations, reading not counted, before every operation fails: the power is gone.
    /// [`super::MemDisk::crash`] or [`super::MemDisk::crash_torn`] decides which bytes are lost
    /// with it.
    pub power: Option<u64>,
}

impl FaultPlan {
    /// The plan in which the operation of a kind fails once, after `before` of them.
    pub fn once(operation: Operation, before: u64) -> FaultPlan {
        FaultPlan {
            fail: Some((operation, before)),
            ..FaultPlan::default()
        }
    }
    /// The plan in which a sync fails once, after `before` of them, and forgets.
    pub fn forgetful_sync(before: u64) -> FaultPlan {
        FaultPlan {
            forgetful: true,
            ..FaultPlan::once(Operation::Sync, before)
        }
    }
    /// The plan in which the disk is full after `room` more bytes.
    pub fn full_after(room: u64) -> FaultPlan {
        FaultPlan {
            room: Some(room),
            ..FaultPlan::default()
        }
    }
    /// The plan in which the power is gone after `operations` more.
    pub fn power_for(operations: u64) -> FaultPlan {
        FaultPlan {
            power: Some(operations),
            ..FaultPlan::default()
        }
    }
}

/// How an operation fails.
#[derive(Debug)]
pub(super) struct Strike {
    error: io::Error,
    /// Bytes of an append that are written nevertheless.
    pub(super) written: usize,
    /// Whether a sync forgets what it should have written.
    pub(super) forgets: bool,
}

impl Strike {
    pub(super) fn on(self, operation: &'static str, file: &str) -> DiskError {
        DiskError {
            operation,
            file: file.to_owned(),
            source: self.error,
        }
    }
}

impl FaultPlan {
    /// Counts an operation with `bytes` to append; says how it fails if it does.
    pub(super) fn strike(&mut self, operation: Operation, bytes: usize) -> Option<Strike> {
        let strike = |error, written, forgets| {
            Some(Strike {
                error,
                written,
                forgets,
            })
        };
        if let Some(left) = &mut self.power
            && (*left == 0 || operation != Operation::Read)
        {
            match left.checked_sub(1) {
                Some(rest) => *left = rest,
                None => return strike(io::Error::other("the power is gone"), 0, false),
            }
        }
        if let Some((kind, before)) = &mut self.fail
            && *kind == operation
        {
            match before.checked_sub(1) {
                Some(rest) => *before = rest,
                None => {
                    let forgets = self.forgetful && operation == Operation::Sync;
                    if !self.lasting {
                        self.fail = None;
                    }
                    return strike(io::Error::other("input/output error"), bytes / 2, forgets);
                }
            }
        }
        if let Some(room) = &mut self.room
            && operation == Operation::Append
        {
            let fits = usize::try_from(*room).unwrap_or(usize::MAX).min(bytes);
            *room -= fits as u64;
            if fits < bytes {
                return strike(io::ErrorKind::StorageFull.into(), fits, false);
            }
        }
        None
    }
}
