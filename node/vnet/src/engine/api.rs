//! What the node asks of its engine: leases opened, changed, closed, and devices attached.

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, RwLock};
use std::thread;

use boringtun::noise::rate_limiter::RateLimiter;
use gridbay_protocol::ids::{LeaseId, NetworkId};

use super::lease::{Lease, Members, Pair};
use super::port::Port;
use super::{Engine, Shared, held, tx};
use crate::address::Plan;
use crate::drops::Counters;
use crate::keys::{Secret, handshake_tag};
use crate::path::Candidate;
use crate::route::{RouteError, Routes};

/// Members of a lease besides this node at the most.
pub const MEMBERS_MAX: usize = 1022;

/// Another member of a lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its X25519 key for this lease.
    pub public: [u8; 32],
    /// Its ranks.
    pub ranks: Vec<u32>,
    /// Where it may be reached.
    pub candidates: Vec<Candidate>,
}

/// A lease that is to be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseNet {
    /// Its id.
    pub lease: LeaseId,
    /// The network it is of.
    pub network: NetworkId,
    /// Ranks of this node.
    pub own: Vec<u32>,
    /// This node's X25519 key for this lease, used for no other one.
    pub secret: Secret,
    /// What only members know.
    pub psk: Secret,
    /// The others.
    pub members: Vec<Member>,
}

/// Why the engine does not do what it is asked.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// It was opened before.
    #[error("lease {0} is open already")]
    AlreadyOpen(LeaseId),
    /// It was never opened, or is closed.
    #[error("lease {0} is not open")]
    NotOpen(LeaseId),
    /// Ranks clash, or have no address.
    #[error(transparent)]
    Route(#[from] RouteError),
    /// A member's key is degenerate, this node's own, or there twice.
    #[error("a member's key cannot be used")]
    BadKey,
    /// Too many members, or pairs in all leases together.
    #[error("too many members")]
    TooMany,
    /// The rank is not this node's, or has a device.
    #[error("rank {0} cannot be attached")]
    NotAttachable(u32),
    /// The device or a thread.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// A device that is attached to a rank; dropping it detaches and closes the device.
#[must_use = "dropping it detaches the device"]
pub struct Attachment {
    pub(super) lease: Arc<Lease>,
    port: Arc<Port>,
}

impl Attachment {
    /// Whether packets still pass: neither was the lease closed, nor has the device gone.
    pub fn is_open(&self) -> bool {
        self.port.is_open()
    }
}

impl Drop for Attachment {
    fn drop(&mut self) {
        self.port.stop();
        let mut ports = held(self.lease.ports.write());
        let same = |port: &Arc<Port>| Arc::ptr_eq(port, &self.port);
        if ports.get(&self.port.rank).is_some_and(same) {
            ports.remove(&self.port.rank);
        }
    }
}

impl Engine {
    /// Opens a lease. From now on its members are answered and reached.
    pub fn open(&self, net: &LeaseNet) -> Result<(), EngineError> {
        let public = net.secret.public();
        let lease = Arc::new(Lease {
            id: net.lease,
            plan: Plan::new(&net.network, &net.lease),
            own: net.own.clone(),
            secret: net.secret.clone(),
            public,
            psk: net.psk.clone(),
            tag: handshake_tag(&net.psk, &public),
            limiter: Arc::new(RateLimiter::new(&public.into(), limit(net.members.len()))),
            members: RwLock::default(),
            ports: RwLock::default(),
            drops: Counters::default(),
        });
        {
            let mut leases = held(self.shared.leases.write());
            if leases.contains_key(&net.lease) {
                return Err(EngineError::AlreadyOpen(net.lease));
            }
            leases.insert(net.lease, lease.clone());
        }
        if let Err(error) = change(&self.shared, &lease, &net.members) {
            self.close(&net.lease);
            return Err(error);
        }
        held(self.shared.sessions.write()).add_lease(lease.tag, lease);
        Ok(())
    }

    /// Sets the members of an open lease. Those that were there keep their sessions and learn new
    /// candidates; those that are not named any more lose theirs at once. On an error nothing
    /// changes.
    pub fn set_members(&self, lease: &LeaseId, members: &[Member]) -> Result<(), EngineError> {
        change(&self.shared, &self.lease(lease)?, members)
    }

    /// Attaches the device of one of this node's ranks, which the engine owns from now on.
    pub fn attach(
        &self,
        lease: &LeaseId,
        rank: u32,
        device: OwnedFd,
    ) -> Result<Attachment, EngineError> {
        let port = Port::device_of(rank, device)?;
        self.plug(lease, port, |shared, lease, port| {
            tx::run(&shared, &lease, &port);
        })
    }

    /// Enters a port under its rank, and starts the thread that carries packets away from it.
    pub(super) fn plug(
        &self,
        lease: &LeaseId,
        port: Port,
        run: impl FnOnce(Arc<Shared>, Arc<Lease>, Arc<Port>) + Send + 'static,
    ) -> Result<Attachment, EngineError> {
        let lease = self.lease(lease)?;
        let (rank, port) = (port.rank, Arc::new(port));
        {
            let mut ports = held(lease.ports.write());
            let taken = ports.get(&rank).is_some_and(|port| port.is_open());
            if taken || !lease.own.contains(&rank) {
                return Err(EngineError::NotAttachable(rank));
            }
            ports.insert(rank, port.clone());
        }
        let attachment = Attachment {
            lease: lease.clone(),
            port: port.clone(),
        };
        let shared = self.shared.clone();
        let thread = thread::Builder::new().name(format!("vnet-tx{rank}"));
        let mine = port.clone();
        port.keep(thread.spawn(move || run(shared, lease, mine))?);
        // The lease may have been closed meanwhile.
        let open = held(self.shared.leases.read()).contains_key(&attachment.lease.id);
        if open {
            Ok(attachment)
        } else {
            Err(EngineError::NotOpen(attachment.lease.id))
        }
    }

    /// Closes a lease: keys erased, devices closed, nothing answered any more. Unknown ones are
    /// closed already.
    pub fn close(&self, lease: &LeaseId) {
        let Some(lease) = held(self.shared.leases.write()).remove(lease) else {
            return;
        };
        held(self.shared.sessions.write()).remove_lease(&lease.tag);
        let members = std::mem::take(&mut *held(lease.members.write()));
        for pair in &members.pairs {
            part(&self.shared, pair);
        }
        let ports: Vec<_> = held(lease.ports.write()).drain().collect();
        for (_, port) in ports {
            port.stop();
        }
    }

    /// The open leases.
    pub fn leases(&self) -> Vec<LeaseId> {
        held(self.shared.leases.read()).keys().copied().collect()
    }

    /// This node's own addresses have changed: all ways are probed anew.
    pub fn moved(&self) {
        let now = self.shared.now();
        let leases: Vec<_> = held(self.shared.leases.read()).values().cloned().collect();
        for lease in leases {
            for pair in &lease.members().pairs {
                pair.path(&self.shared, |path| path.hurry(now));
            }
        }
    }

    pub(super) fn lease(&self, lease: &LeaseId) -> Result<Arc<Lease>, EngineError> {
        let leases = held(self.shared.leases.read());
        leases
            .get(lease)
            .cloned()
            .ok_or(EngineError::NotOpen(*lease))
    }
}

/// Handshakes that a lease answers in a second before it asks for cookies. Each is counted twice:
/// to find its sender, and by its session.
fn limit(members: usize) -> u64 {
    100 + 8 * members as u64
}

/// Replaces the members of a lease.
fn change(shared: &Shared, lease: &Arc<Lease>, members: &[Member]) -> Result<(), EngineError> {
    let keys: BTreeSet<_> = members.iter().map(|member| member.public).collect();
    if members.len() > MEMBERS_MAX {
        return Err(EngineError::TooMany);
    }
    if keys.len() < members.len() || keys.contains(&lease.public) {
        return Err(EngineError::BadKey);
    }
    let mut current = held(lease.members.write());
    let old: HashMap<_, _> = current
        .pairs
        .iter()
        .map(|pair| (pair.public, pair))
        .collect();
    let mut sessions = held(shared.sessions.write());
    let (mut pairs, mut fresh) = (Vec::new(), Vec::new());
    let made = members.iter().try_for_each(|member| {
        let pair = match old.get(&member.public) {
            Some(pair) => (*pair).clone(),
            None => {
                let number = sessions.number().ok_or(EngineError::TooMany)?;
                let seed = getrandom::u64().map_err(io::Error::other)?;
                let pair = Pair::new(lease, member.public, number, seed);
                let pair = Arc::new(pair.ok_or(EngineError::BadKey)?);
                sessions.add_pair(number, pair.probe_tag, pair.clone());
                fresh.push(pair.clone());
                pair
            }
        };
        pairs.push(pair);
        Ok::<_, EngineError>(())
    });
    let numbered = pairs.iter().zip(members);
    let numbered = numbered.map(|(pair, member)| (pair.number, &member.ranks[..]));
    let routes = made.and_then(|()| Ok(Routes::new(&lease.plan, &lease.own, numbered)?));
    let routes = match routes {
        Ok(routes) => routes,
        Err(error) => {
            for pair in &fresh {
                pair.close();
                sessions.remove_pair(pair.number as u32, &pair.probe_tag);
            }
            return Err(error);
        }
    };
    let stays = |pair: &&Arc<Pair>| keys.contains(&pair.public);
    let gone = current.pairs.iter().filter(|pair| !stays(pair)).cloned();
    let gone: Vec<_> = gone.collect();
    drop(old);
    *current = Arc::new(Members {
        routes,
        pairs: pairs.clone(),
    });
    drop((sessions, current));
    gone.iter().for_each(|pair| part(shared, pair));
    let now = shared.now();
    for (pair, member) in pairs.iter().zip(members) {
        *held(pair.ranks.write()) = member.ranks.clone();
        pair.path(shared, |path| {
            path.announce(&member.candidates, now);
            path.tick(now);
        });
    }
    Ok(())
}

/// Forgets a pair and erases its keys.
fn part(shared: &Shared, pair: &Pair) {
    pair.close();
    held(shared.sessions.write()).remove_pair(pair.number as u32, &pair.probe_tag);
}
