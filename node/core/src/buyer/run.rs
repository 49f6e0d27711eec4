//! One run of a task at a seller, as its buyer sees it, and the place where it runs.

use super::attempts::AttemptEnd;
use crate::agent::{Phase, RunId};
use gridbay_protocol::ids::{LeaseId, OfferId};
use gridbay_protocol::keys::PublicKey;

/// Units of an offer in a lease, and the node that delivers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The lease.
    pub lease: LeaseId,
    /// The only task that may run there; `None` for any.
    pub task: Option<u32>,
    /// The offer.
    pub offer: OfferId,
    /// Its node.
    pub node: PublicKey,
    /// Units.
    pub units: u32,
}

/// A run in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Its id at the seller.
    pub job: RunId,
    /// The offer whose unit it uses.
    pub offer: OfferId,
    /// The seller's node.
    pub node: PublicKey,
    /// Whether the seller has agreed to it.
    pub accepted: bool,
    /// Whether a start or a fetch is on its way, and until when to wait for the answer.
    pub asked_until_ms: u64,
    /// Starts refused or not answered so far.
    pub refusals: u32,
    /// When the seller was last heard of it; 0 before.
    pub heard_ms: u64,
    /// Where it stands, by the last report.
    pub phase: Phase,
    /// Standard output held.
    pub stdout: u64,
    /// Standard error held.
    pub stderr: u64,
    /// Bytes of output that its seller did not keep.
    pub dropped: u64,
    /// When it was first heard that it ended by itself; 0 before.
    pub(super) ended_ms: u64,
    /// Whether its output files are being fetched.
    pub fetching: bool,
    /// How often its seller did not give them.
    pub unfetched: u32,
    /// They are not asked for again before.
    pub fetch_from_ms: u64,
    /// When it is asked for its progress.
    pub(super) asking: Asking,
    /// Whether that was for the last time.
    pub(super) last_asked: bool,
}

/// The asking of a run for its progress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Asking {
    /// Not again before; 0 if it was not seen running yet.
    pub(super) from_ms: u64,
    /// When it was asked, milliseconds since 1970, while the answer is on its way.
    pub(super) since_wall_ms: Option<u64>,
}

impl Run {
    /// One that nobody was asked for yet.
    pub(super) fn new(job: RunId, place: &Place) -> Run {
        Run {
            job,
            offer: place.offer,
            node: place.node,
            accepted: false,
            asked_until_ms: 0,
            refusals: 0,
            heard_ms: 0,
            phase: Phase::Unknown,
            stdout: 0,
            stderr: 0,
            dropped: 0,
            ended_ms: 0,
            fetching: false,
            unfetched: 0,
            fetch_from_ms: 0,
            asking: Asking::default(),
            last_asked: false,
        }
    }
}

/// The changes by a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Nothing that matters beyond the output appended.
    None,
    /// It ended and all of its output is held: files come next.
    OutputComplete,
    /// The seller lost or stopped it.
    Lost(AttemptEnd),
}
