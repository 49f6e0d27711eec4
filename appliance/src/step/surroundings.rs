//! What keeps a node from being ready.
//!
//! The gravest fault is told, in this order:
//!
//! 1. The node's service failed, or is started over and over.
//! 2. The ledger refuses the invitation.
//! 3. The node tells a trouble of its own.
//! 4. No interface has an address for [`UNPLUGGED`] s.
//! 5. The clock stands before the image was made.
//! 6. The node does not answer for [`PATIENCE`] s: it has not got the network's genesis from
//!    another node, or something else is wrong with it.
//! 7. It has no peer for as long.
//! 8. No block came for as long, and no time server was heard.

use super::memory::Memory;
use crate::seen::Seen;
use crate::state::Fault;
use crate::text::clean;

/// So long a machine may be without an address, seconds: as DHCP takes at a boot.
const UNPLUGGED: u64 = 20;
/// So long a node may be without an answer, a peer or a block, seconds.
const PATIENCE: u64 = 60;
/// Restarts in that time which are too many.
const RESTARTS: u32 = 3;
/// Longest text of others that is shown.
const SHOWN: usize = 300;
const LOG: &str = "its owner reads its log: gridbay appliance log NAME";

/// Why the node is not ready, if something is against it.
pub(super) fn fault(memory: &Memory, seen: &Seen, now: u64) -> Option<Fault> {
    let long = |since: Option<u64>| since.is_some_and(|since| now.saturating_sub(since) > PATIENCE);
    service(memory, seen)
        .or_else(|| told(seen))
        .or_else(|| outside(memory, seen, now))
        .or_else(|| {
            if long(memory.silent) && !seen.folder.genesis {
                return Some(Fault::new(
                    "no node of the network was reached",
                    "let UDP and TCP out of this network, or name a node in bootstrap",
                ));
            }
            if long(memory.silent) {
                return Some(Fault::new("the node does not answer", LOG));
            }
            if long(memory.lonely) {
                return Some(Fault::new(
                    "the node has found no peer",
                    match seen.network.route {
                        true => "let UDP out of this network, or name a node in bootstrap",
                        false => {
                            "there is no default route: see to the router, or give \
                                  network.network on the disk"
                        }
                    },
                ));
            }
            let still = long(memory.height.map(|(_, since)| since));
            (still && !seen.clock.synchronised).then(|| {
                Fault::new(
                    "no block comes, and the clock was set by no time server",
                    "let NTP (UDP port 123) out of this network, or set the machine's clock",
                )
            })
        })
}

fn service(memory: &Memory, seen: &Seen) -> Option<Fault> {
    let unit = &seen.unit;
    let reason = unit.result.as_str();
    if unit.active == "failed" {
        return Some(Fault::new(
            format!("the node's service failed: {reason}"),
            LOG,
        ));
    }
    let base = memory.restarts.map_or(0, |(base, _)| base);
    let many = unit.restarts.saturating_sub(base) >= RESTARTS;
    (many && seen.node.is_none()).then(|| {
        Fault::new(
            format!("the node's service ends over and over: {reason}"),
            LOG,
        )
    })
}

fn told(seen: &Seen) -> Option<Fault> {
    let node = seen.node.as_ref()?;
    if let Some(why) = &node.joining {
        return Some(Fault::new(
            format!("the ledger refuses the invitation: {}", clean(why, SHOWN)),
            "put a new invitation on the disk: gridbay invite --image FILE",
        ));
    }
    trouble(seen)
}

/// The first trouble that the node tells.
pub(super) fn trouble(seen: &Seen) -> Option<Fault> {
    let trouble = seen.node.as_ref()?.troubles.first()?;
    Some(Fault::new(
        clean(&trouble.what, SHOWN),
        clean(&trouble.hint, SHOWN),
    ))
}

/// What is wrong with the network and the clock.
pub(super) fn outside(memory: &Memory, seen: &Seen, now: u64) -> Option<Fault> {
    let unplugged = memory.unplugged.map(|since| now.saturating_sub(since));
    if unplugged.is_some_and(|seconds| seconds > UNPLUGGED) {
        return Some(Fault::new(
            "no network interface has an address",
            "see to the cable and to DHCP, or give network.network on the disk",
        ));
    }
    seen.clock.before_image.then(|| {
        Fault::new(
            "the clock stands before the day on which this image was made",
            "set the machine's clock, or let NTP (UDP port 123) out of this network",
        )
    })
}
