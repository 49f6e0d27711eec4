//! Why something was dropped, and how often.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A reason to drop a packet or datagram. Each means something different to who reads the status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drop {
    /// A job sent from an address that is not its own.
    SpoofedSource,
    /// A job sent to an address that no member of its lease has, a group's included.
    NoRoute,
    /// A member sent from an address that is not its own.
    PeerSource,
    /// A member sent to an address that is none of ours.
    PeerDestination,
    /// No IP packet was inside.
    NotIp,
    /// A handshake or probe by someone who is no member of the lease.
    Outsider,
    /// A datagram or handshake that came before.
    Replay,
    /// Sealed by none of the session's keys.
    Forged,
    /// A datagram that is nothing this engine knows.
    Malformed,
    /// Its index or tag belongs to no open lease.
    UnknownSession,
    /// The rank that it was for has no device, or the device did not take it.
    NoDevice,
    /// There was no path to the member.
    NoPath,
    /// It was longer than the path takes, and its sender was told.
    TooBig,
    /// Handshakes came faster than they are answered.
    Flood,
    /// A ticket that this relay does not know, or one that is used up.
    Ticket,
}

impl Drop {
    /// All reasons.
    pub const ALL: [Drop; 15] = [
        Drop::SpoofedSource,
        Drop::NoRoute,
        Drop::PeerSource,
        Drop::PeerDestination,
        Drop::NotIp,
        Drop::Outsider,
        Drop::Replay,
        Drop::Forged,
        Drop::Malformed,
        Drop::UnknownSession,
        Drop::NoDevice,
        Drop::NoPath,
        Drop::TooBig,
        Drop::Flood,
        Drop::Ticket,
    ];

    /// The reason in words.
    pub fn text(self) -> &'static str {
        match self {
            Drop::SpoofedSource => "job's wrong source",
            Drop::NoRoute => "no route",
            Drop::PeerSource => "member's wrong source",
            Drop::PeerDestination => "member's wrong destination",
            Drop::NotIp => "no IP packet",
            Drop::Outsider => "outsider",
            Drop::Replay => "replay",
            Drop::Forged => "forged",
            Drop::Malformed => "malformed",
            Drop::UnknownSession => "unknown session",
            Drop::NoDevice => "no device",
            Drop::NoPath => "no path",
            Drop::TooBig => "too big",
            Drop::Flood => "handshake flood",
            Drop::Ticket => "relay ticket",
        }
    }
}

/// Counts by reason, added to by several threads.
#[derive(Debug, Default)]
pub(crate) struct Counters([AtomicU64; Drop::ALL.len()]);

impl Counters {
    pub(crate) fn add(&self, drop: Drop, count: u64) {
        self.0[drop as usize].fetch_add(count, Relaxed);
    }

    pub(crate) fn read(&self) -> Drops {
        Drops(std::array::from_fn(|i| self.0[i].load(Relaxed)))
    }
}

/// Counts by reason at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drops([u64; Drop::ALL.len()]);

impl Drops {
    /// How often for this reason.
    pub fn of(&self, drop: Drop) -> u64 {
        self.0[drop as usize]
    }

    /// The reasons that occurred, with their counts.
    pub fn seen(&self) -> impl Iterator<Item = (Drop, u64)> + '_ {
        let all = Drop::ALL.iter().map(|drop| (*drop, self.of(*drop)));
        all.filter(|(_, count)| *count > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_has_its_own_count() {
        let counters = Counters::default();
        for (index, drop) in Drop::ALL.iter().enumerate() {
            assert_eq!(*drop as usize, index);
            counters.add(*drop, index as u64);
        }
        let seen: Vec<_> = counters.read().seen().collect();
        assert_eq!(seen.len(), Drop::ALL.len() - 1);
        assert!(seen.iter().all(|(drop, count)| *drop as u64 == *count));
    }
}
