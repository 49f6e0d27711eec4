//! Why a peer may open a stream, as its first bytes say, and how many there may be.

use std::time::Duration;

use gridbay_protocol::ids::LeaseId;
use gridbay_vnet::path::Ticket;

/// What datagrams have before a stream is opened.
pub(super) const WAIT: Duration = Duration::from_secs(3);
/// Time without a way that leads over it, after which a stream ends.
pub(super) const UNUSED: Duration = Duration::from_secs(30);
/// Streams that this node opens at the most.
pub(super) const OPENED: usize = 64;
/// Streams that it lets in at the most.
pub(super) const LET_IN: usize = 128;
/// Streams that one buyer's grants let in.
pub(super) const PER_PURSE: usize = 32;
/// Streams that members of one lease may have opened here.
pub(super) const PER_LEASE: usize = 64;
/// Time without a datagram of its opener, probes among them, after which a member's stream ends.
pub(super) const MUTE: Duration = Duration::from_secs(60);
/// Relays of a pair to which a stream is opened at the most.
pub(in crate::cluster) const RELAYS: usize = 2;
/// First bytes of a stream.
pub(super) const HEAD: usize = 33;

/// Why a peer may open a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pass {
    /// It is a member of this lease's network.
    Member(LeaseId),
    /// It has this ticket.
    Relay(Ticket),
}

named! {
    /// Why a peer's stream is not let in.
    pub enum Refusal {
        /// Too many others are about to say why they may.
        Crowded = "crowded",
        /// It is no member of a network here, and has no ticket that counts.
        Stranger = "stranger",
        /// So many streams stand as may, and no share has more than its own.
        Full = "full",
        /// So many of its lease stand as may.
        LeaseFull = "lease_full",
        /// So many of its ticket's buyer stand as may.
        PurseFull = "purse_full",
    }
}

impl Pass {
    pub(super) fn bytes(&self) -> [u8; HEAD] {
        let mut bytes = [0; HEAD];
        match self {
            Pass::Member(lease) => {
                bytes[0] = 1;
                bytes[1..].copy_from_slice(&lease.0);
            }
            Pass::Relay(ticket) => {
                bytes[0] = 2;
                bytes[1..1 + ticket.len()].copy_from_slice(ticket);
            }
        }
        bytes
    }

    pub(super) fn read(bytes: &[u8; HEAD]) -> Option<Pass> {
        let (kind, rest) = bytes.split_first()?;
        match kind {
            1 => Some(Pass::Member(LeaseId(rest.try_into().ok()?))),
            2 => {
                let (ticket, zeros) = rest.split_first_chunk()?;
                let sound = zeros.iter().all(|byte| *byte == 0);
                sound.then_some(Pass::Relay(*ticket))
            }
            _ => None,
        }
    }
}
