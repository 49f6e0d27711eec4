//! Admits connections so that others can always still connect.
//!
//! 1. *Kept* peers (bootstrap, validators, those that the owner trusts) have slots of their own:
//!    [`Doors::kept`] connections that nobody else can take, and none of the following holds for
//!    them. Everybody else is a *stranger*.
//! 2. Strangers have [`Doors::strangers`] connections, of which at most [`Doors::inbound`] were
//!    made by them: the rest is left to those that we choose to dial, against being surrounded.
//! 3. One *origin* has at most [`Doors::origin`] of the inbound ones, [`Doors::origin_pending`] of
//!    those being made, and may begin [`Doors::arrivals`]. An origin is a network of 24 bits of
//!    IPv4 or 48 of IPv6, since so much has one owner; where addresses are private it is one host.
//!    Connections through relays have no origin of their own and count for strangers only.
//! 4. Connections being made have [`Doors::pending`] slots in all. One that says nothing is cut off
//!    by the timeouts of the transports.
//! 5. The first packet of QUIC may name any address as its source. So callers over QUIC count apart
//!    from those over TCP in steps 3 and 4 until they have shown who they are, and take at most
//!    half of the slots: forged packets keep nobody out who falls back to TCP.
//! 6. No circuit is dialled to a peer with which there is a direct connection, whoever asks for it;
//!    AutoNAT's server tries any address that it is told. The peer would take the direct one for
//!    dead and close it, with all that goes over it (`reach::moved`, step 5).
//!
//! The rules are plain data ([`Doors`], [`Gate`]); [`Behaviour`] puts them between the swarm and
//! callers.

use std::collections::{BTreeSet, HashMap};
use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::task::{Context, Poll};
use std::time::Instant;

use libp2p::core::transport::PortUse;
use libp2p::core::{ConnectedPoint, Endpoint};
use libp2p::swarm::behaviour::{ConnectionClosed, ConnectionEstablished, ListenFailure};
use libp2p::swarm::{
    ConnectionDenied, ConnectionId, FromSwarm, NetworkBehaviour, THandler, THandlerInEvent,
    THandlerOutEvent, ToSwarm, dummy,
};
use libp2p::{Multiaddr, PeerId};

use super::rates::{Rate, Rates};
use crate::overlay::config::{Limits, Tuning};
use crate::overlay::reach::addresses::{ip, is_circuit, is_global, is_quic};

/// Origins whose arrivals are remembered.
const ORIGINS: usize = 4096;

/// How many may come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Doors {
    /// Connections with kept peers.
    pub(crate) kept: usize,
    /// Connections with strangers.
    pub(crate) strangers: usize,
    /// Of these, made by them.
    pub(crate) inbound: usize,
    /// Of these, by one origin; `None` where all nodes share one.
    pub(crate) origin: Option<usize>,
    /// Inbound connections being made.
    pub(crate) pending: usize,
    /// Of these, by one origin.
    pub(crate) origin_pending: usize,
    /// How often one origin may begin.
    pub(crate) arrivals: Rate,
}

impl Doors {
    pub(crate) fn new(limits: &Limits, tuning: &Tuning) -> Self {
        let inbound = limits.connections - limits.connections / 4;
        let share = limits.connections_per_origin as usize;
        Self {
            kept: limits.kept_connections as usize,
            strangers: limits.connections as usize,
            inbound: inbound as usize,
            origin: tuning.ip_colocation.then_some(share),
            pending: limits.pending_inbound as usize,
            origin_pending: limits.pending_inbound as usize / 4,
            arrivals: limits.arrivals,
        }
    }
}

/// Why somebody was not let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refusal {
    /// Too many connections are being made.
    #[error("too many connections are being made")]
    Pending,
    /// Its origin is making too many, too often, or has enough.
    #[error("its network has as many connections as one network may have")]
    Origin,
    /// Strangers have all their slots.
    #[error("all slots for strangers are taken")]
    Full,
}

/// Why a circuit is not dialled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the peer is connected directly")]
pub(crate) struct Beside;

/// Whom connections belong to as far as their address tells.
pub(crate) fn origin(address: &Multiaddr) -> Option<IpAddr> {
    let host = ip(address).filter(|_| !is_circuit(address))?;
    Some(match host {
        host if !is_global(host) => host,
        IpAddr::V4(host) => {
            let [a, b, c, _] = host.octets();
            Ipv4Addr::new(a, b, c, 0).into()
        }
        IpAddr::V6(host) => {
            let [a, b, c, ..] = host.segments();
            Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0).into()
        }
    })
}

/// Where a call comes from, before it is known whose it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Caller {
    origin: Option<IpAddr>,
    /// Whether its address is only claimed yet.
    claimed: bool,
}

impl Caller {
    fn at(address: &Multiaddr) -> Caller {
        Caller {
            origin: origin(address),
            claimed: is_quic(address),
        }
    }
}

#[derive(Debug)]
struct Standing {
    peer: PeerId,
    origin: Option<IpAddr>,
    inbound: bool,
    direct: bool,
}

/// The rules and what stands.
#[derive(Debug)]
pub(crate) struct Gate {
    doors: Doors,
    kept: BTreeSet<PeerId>,
    pending: HashMap<ConnectionId, Caller>,
    standing: HashMap<ConnectionId, Standing>,
    /// By origin, and whether that is only claimed.
    arrivals: Rates<(IpAddr, bool)>,
}

impl Gate {
    pub(crate) fn new(doors: Doors) -> Self {
        Self {
            doors,
            kept: BTreeSet::new(),
            pending: HashMap::new(),
            standing: HashMap::new(),
            arrivals: Rates::new(ORIGINS),
        }
    }

    /// Whether a peer has slots of its own from now on.
    pub(crate) fn keep(&mut self, peer: PeerId, kept: bool) {
        if kept {
            self.kept.insert(peer);
        } else {
            self.kept.remove(&peer);
        }
    }

    /// Connections with strangers.
    pub(crate) fn strangers(&self) -> usize {
        self.strange().count()
    }

    /// Slots for strangers that are free.
    pub(crate) fn free(&self) -> usize {
        self.doors.strangers.saturating_sub(self.strangers())
    }

    fn strange(&self) -> impl Iterator<Item = &Standing> {
        self.standing
            .values()
            .filter(|s| !self.kept.contains(&s.peer))
    }

    /// Somebody calls: steps 3 to 5, before it costs a handshake.
    fn may_begin(&mut self, id: ConnectionId, from: Caller, now: Instant) -> Result<(), Refusal> {
        let claimed = self.pending.values().filter(|other| other.claimed).count();
        if self.pending.len() >= self.doors.pending
            || (from.claimed && claimed >= self.doors.pending / 2)
        {
            return Err(Refusal::Pending);
        }
        if let (Some(origin), Some(_)) = (from.origin, self.doors.origin) {
            let others = self.pending.values().filter(|other| **other == from);
            let place = (origin, from.claimed);
            if others.count() >= self.doors.origin_pending
                || !self.arrivals.take(place, 1, self.doors.arrivals, now)
            {
                return Err(Refusal::Origin);
            }
        }
        self.pending.insert(id, from);
        Ok(())
    }

    /// It has shown who it is: steps 1 to 3.
    fn may_enter(
        &mut self,
        id: ConnectionId,
        peer: &PeerId,
        from: Option<IpAddr>,
    ) -> Result<(), Refusal> {
        self.pending.remove(&id);
        if self.has_own_slot(peer) {
            return Ok(());
        }
        let (mut all, mut inbound, mut same) = (0, 0, 0);
        for other in self.strange() {
            all += 1;
            inbound += usize::from(other.inbound);
            same += usize::from(other.inbound && from.is_some() && other.origin == from);
        }
        if all >= self.doors.strangers || inbound >= self.doors.inbound {
            return Err(Refusal::Full);
        }
        match self.doors.origin {
            Some(share) if same >= share => Err(Refusal::Origin),
            _ => Ok(()),
        }
    }

    /// We have reached somebody: steps 1 and 2.
    fn may_be_reached(&self, peer: &PeerId) -> Result<(), Refusal> {
        if self.has_own_slot(peer) || self.free() > 0 {
            Ok(())
        } else {
            Err(Refusal::Full)
        }
    }

    /// We are about to reach somebody: step 6.
    fn may_dial(&self, peer: &PeerId, addresses: &[Multiaddr]) -> Result<(), Beside> {
        let mut standing = self.standing.values();
        let beside = !addresses.is_empty() && addresses.iter().all(is_circuit);
        if beside && standing.any(|s| s.direct && s.peer == *peer) {
            return Err(Beside);
        }
        Ok(())
    }

    fn has_own_slot(&self, peer: &PeerId) -> bool {
        let kept = self.standing.len() - self.strangers();
        self.kept.contains(peer) && kept < self.doors.kept
    }
}

/// The gate before the swarm.
#[derive(Debug)]
pub(crate) struct Behaviour {
    pub(crate) gate: Gate,
}

impl Behaviour {
    pub(crate) fn new(doors: Doors) -> Self {
        Self {
            gate: Gate::new(doors),
        }
    }
}

impl NetworkBehaviour for Behaviour {
    type ConnectionHandler = dummy::ConnectionHandler;
    type ToSwarm = Infallible;

    fn handle_pending_inbound_connection(
        &mut self,
        id: ConnectionId,
        _: &Multiaddr,
        remote: &Multiaddr,
    ) -> Result<(), ConnectionDenied> {
        let begun = self.gate.may_begin(id, Caller::at(remote), Instant::now());
        begun.map_err(ConnectionDenied::new)
    }

    fn handle_established_inbound_connection(
        &mut self,
        id: ConnectionId,
        peer: PeerId,
        _: &Multiaddr,
        remote: &Multiaddr,
    ) -> Result<THandler<Self>, ConnectionDenied> {
        let entered = self.gate.may_enter(id, &peer, origin(remote));
        entered.map_err(ConnectionDenied::new)?;
        Ok(dummy::ConnectionHandler)
    }

    fn handle_pending_outbound_connection(
        &mut self,
        _: ConnectionId,
        peer: Option<PeerId>,
        addresses: &[Multiaddr],
        _: Endpoint,
    ) -> Result<Vec<Multiaddr>, ConnectionDenied> {
        let may = peer.map_or(Ok(()), |peer| self.gate.may_dial(&peer, addresses));
        may.map_err(ConnectionDenied::new)?;
        Ok(Vec::new())
    }

    fn handle_established_outbound_connection(
        &mut self,
        _: ConnectionId,
        peer: PeerId,
        _: &Multiaddr,
        _: Endpoint,
        _: PortUse,
    ) -> Result<THandler<Self>, ConnectionDenied> {
        let reached = self.gate.may_be_reached(&peer);
        reached.map_err(ConnectionDenied::new)?;
        Ok(dummy::ConnectionHandler)
    }

    fn on_swarm_event(&mut self, event: FromSwarm<'_>) {
        match event {
            FromSwarm::ConnectionEstablished(ConnectionEstablished {
                peer_id,
                connection_id,
                endpoint,
                ..
            }) => {
                let standing = Standing {
                    peer: peer_id,
                    origin: origin(endpoint.get_remote_address()),
                    inbound: matches!(endpoint, ConnectedPoint::Listener { .. }),
                    direct: !endpoint.is_relayed(),
                };
                self.gate.standing.insert(connection_id, standing);
            }
            FromSwarm::ConnectionClosed(ConnectionClosed { connection_id, .. }) => {
                self.gate.standing.remove(&connection_id);
            }
            FromSwarm::ListenFailure(ListenFailure { connection_id, .. }) => {
                self.gate.pending.remove(&connection_id);
            }
            _ => {}
        }
    }

    fn on_connection_handler_event(
        &mut self,
        _: PeerId,
        _: ConnectionId,
        event: THandlerOutEvent<Self>,
    ) {
        match event {}
    }

    fn poll(&mut self, _: &mut Context<'_>) -> Poll<ToSwarm<Self::ToSwarm, THandlerInEvent<Self>>> {
        Poll::Pending
    }
}

#[cfg(test)]
mod tests;
