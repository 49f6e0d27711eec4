//! The networks of the leases that have tasks on this machine: between the core, which knows the
//! members, the supervisors, which have the devices, and the data plane.
//!
//! 1. The data plane starts with the first network.
//! 2. A network is opened when the buyer's node first tells of it, under a key of its own that this
//!    node never uses again and keeps in memory alone. Told of another member with that key, it
//!    takes a new one: the other has copied it, and the buyer's node heard that one first.
//! 3. A device comes when its job runs. One whose network is not open yet waits for it.
//! 4. Where the node is a member as the buyer's or a guest's, it has no device: its owner's
//!    connections are made by the node itself ([`dial`](Clusters::dial)).
//! 5. A node behind a NAT has others tell it from where they see it (`mirrors`).
//! 6. Where no datagram passes, a stream of the overlay carries them (`streams`).
//! 7. A device leaves with its job, and a network when its lease has no task here any more, or when
//!    the node ends: keys are erased, and nothing is answered.

mod dial;
pub(crate) mod mirrors;
mod places;
pub(crate) mod reach;
mod relay;
pub(crate) mod streams;

use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use gridbay_core::agent::RunId;
use gridbay_core::cluster::{Card, Cluster, Member, is_task};
use gridbay_core::presence::Presence;
use gridbay_core::relay::{Purse, Tickets};
use gridbay_protocol::ids::{LeaseId, NetworkId};
use gridbay_vnet::engine::{
    self, Attachment, Engine, EngineConfig, EngineError, LeaseNet, LeaseStatus, User,
};
use gridbay_vnet::keys::Secret;

use places::Around;
use streams::Streams;

/// The networks. Cheap to clone.
#[derive(Clone)]
pub struct Clusters(Arc<Mutex<Inner>>);

struct Inner {
    network: NetworkId,
    port: u16,
    engine: Option<Engine>,
    open: BTreeMap<LeaseId, Own>,
    devices: BTreeMap<RunId, Device>,
    /// What it carries for others.
    relayed: BTreeMap<(Purse, LeaseId), Vec<Tickets>>,
    streams: Streams,
    around: Around,
    /// Told when a network is opened, or carried for others.
    begun: Arc<Notify>,
}

/// This node's own part in a network.
struct Own {
    secret: Secret,
    ranks: Vec<u32>,
    /// The others, as they were last told.
    members: Vec<Member>,
    /// Its place as a user's.
    user: Option<Arc<User>>,
}

/// A job's device, and its place in the data plane once it has one.
struct Device {
    device: OwnedFd,
    attached: Option<Attachment>,
}

impl Clusters {
    /// None open yet. Packets are taken at `port`; 0, or where that is taken, at a free one.
    pub fn new(network: NetworkId, port: u16) -> Clusters {
        Clusters(Arc::new(Mutex::new(Inner {
            network,
            port,
            engine: None,
            open: BTreeMap::new(),
            devices: BTreeMap::new(),
            relayed: BTreeMap::new(),
            streams: Streams::default(),
            around: Around::default(),
            begun: Arc::default(),
        })))
    }

    /// Told when a network is opened, or carried for others.
    fn begun(&self) -> Arc<Notify> {
        Arc::clone(&self.lock().begun)
    }

    /// Whether this node is in no network, carries none, and has no stream of one.
    fn are_none(&self) -> bool {
        let inner = self.lock();
        inner.open.is_empty() && inner.relayed.is_empty() && inner.streams.are_none()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens a network, or changes its members: this node's card in it, and how it reaches the
    /// others. `hosts` are the addresses at which this machine is reached, best first.
    ///
    /// # Errors
    /// The data plane cannot start, or the members contradict one another.
    pub fn connect(
        &self,
        cluster: &Cluster,
        hosts: &[std::net::IpAddr],
    ) -> Result<Presence, EngineError> {
        let mut inner = self.lock();
        inner.around = Around::of(hosts);
        let port = inner.engine()?.local_addr()?.port();
        let public = inner.open(cluster)?;
        inner.begun.notify_one();
        inner.attach_all(&cluster.lease);
        let places = places::of(hosts, port);
        let outside = mirrors::agreed(&inner.engine()?.seen()).map(|at| at.to_string());
        let outside = outside.filter(|at| !places.contains(at));
        let card = Card {
            public,
            places,
            outside,
        };
        Ok(Presence {
            card,
            reach: reach::of(&inner.engine()?.status(&cluster.lease)?),
        })
    }

    /// Closes a network.
    pub fn disconnect(&self, lease: &LeaseId) {
        let mut inner = self.lock();
        inner.open.remove(lease);
        if let Some(engine) = &inner.engine {
            engine.close(lease);
        }
    }

    /// Takes the device of a job that runs.
    pub fn attach(&self, job: RunId, device: OwnedFd) {
        let mut inner = self.lock();
        let device = Device {
            device,
            attached: None,
        };
        inner.devices.insert(job, device);
        inner.attach_all(&job.lease);
    }

    /// Lets go of the device of a job that has ended.
    pub fn detach(&self, job: &RunId) {
        self.lock().devices.remove(job);
    }

    /// The UDP port of this node's data plane, which runs from now on.
    ///
    /// # Errors
    /// It cannot start.
    pub fn port(&self) -> io::Result<u16> {
        Ok(self.lock().engine()?.local_addr()?.port())
    }

    /// Asks another node's data plane from where it sees this one's.
    fn mirror(&self, at: SocketAddr) {
        let asked = self.lock().engine().and_then(|engine| engine.mirror(at));
        if let Err(error) = asked {
            tracing::debug!(%at, %error, "a mirror is not asked");
        }
    }

    /// The mirrors that answered lately, with what they see.
    fn seen(&self) -> Vec<(SocketAddr, SocketAddr)> {
        let inner = self.lock();
        inner.engine.as_ref().map(Engine::seen).unwrap_or_default()
    }

    /// Where the data plane is seen from outside, if that is known.
    fn outside(&self) -> Option<SocketAddr> {
        mirrors::agreed(&self.seen())
    }

    /// This machine's addresses have changed.
    fn moved(&self) {
        if let Some(engine) = &self.lock().engine {
            engine.moved();
        }
    }

    /// The networks that this node is in.
    pub fn all(&self) -> Vec<(LeaseId, LeaseStatus)> {
        let inner = self.lock();
        let Some(engine) = &inner.engine else {
            return Vec::new();
        };
        let open = inner.open.keys();
        open.filter_map(|lease| Some((*lease, engine.status(lease).ok()?)))
            .collect()
    }

    /// A network as this node sees it; `None` if it is in none of that lease.
    pub fn status(&self, lease: &LeaseId) -> Option<LeaseStatus> {
        self.lock().engine.as_ref()?.status(lease).ok()
    }
}

impl Inner {
    fn engine(&mut self) -> io::Result<&Engine> {
        if self.engine.is_none() {
            self.engine = Some(bind(self.port)?);
        }
        // Set a line before.
        self.engine
            .as_ref()
            .ok_or(io::ErrorKind::NotConnected.into())
    }

    /// The public key of this node in the network, which is open now with these members.
    fn open(&mut self, cluster: &Cluster) -> Result<[u8; 32], EngineError> {
        let (lease, network) = (cluster.lease, self.network);
        let members = self.members_of(&cluster.others);
        let copied = |own: &Own| {
            let public = own.secret.public();
            cluster.others.iter().any(|m| m.card.public == public)
        };
        let same = |own: &&mut Own| own.ranks == cluster.ranks && !copied(own);
        if let Some(own) = self.open.get_mut(&lease).filter(same) {
            let public = own.secret.public();
            own.members.clone_from(&cluster.others);
            self.engine()?.set_members(&lease, &members)?;
            return Ok(public);
        }
        // With other ranks of its own the network is opened anew, under the key it has.
        let secret = match self.open.remove(&lease).filter(|own| !copied(own)) {
            Some(own) => own.secret,
            None => Secret::random().map_err(io::Error::other)?,
        };
        let net = LeaseNet {
            lease,
            network,
            own: cluster.ranks.clone(),
            secret: secret.clone(),
            psk: Secret::new(cluster.secret),
            members,
        };
        let of_lease = |(job, device): (&RunId, &mut Device)| {
            if job.lease == lease {
                device.attached = None;
            }
        };
        self.devices.iter_mut().for_each(of_lease);
        let engine = self.engine()?;
        engine.close(&lease);
        engine.open(&net)?;
        let users = cluster.ranks.iter().find(|rank| !is_task(**rank));
        let user = users.map(|rank| engine.attach_user(&lease, *rank));
        let user = user.transpose()?.map(Arc::new);
        let public = secret.public();
        let ranks = cluster.ranks.clone();
        let own = Own {
            secret,
            ranks,
            members: cluster.others.clone(),
            user,
        };
        self.open.insert(lease, own);
        Ok(public)
    }

    /// Members with the ways to them.
    fn members_of(&self, members: &[Member]) -> Vec<engine::Member> {
        let member = |member: &Member| engine::Member {
            public: member.card.public,
            ranks: member.ranks.clone(),
            candidates: places::candidates(member, self.around, |peer| self.streams.at(peer)),
        };
        members.iter().map(member).collect()
    }

    /// Attaches the devices of a lease that wait.
    fn attach_all(&mut self, lease: &LeaseId) {
        let (Some(engine), Some(own)) = (&self.engine, self.open.get(lease)) else {
            return;
        };
        let waiting = |(job, device): &(&RunId, &mut Device)| {
            job.lease == *lease && own.ranks.contains(&job.task) && device.attached.is_none()
        };
        for (job, device) in self.devices.iter_mut().filter(waiting) {
            let attached = device.device.try_clone().map_err(EngineError::from);
            match attached.and_then(|copy| engine.attach(lease, job.task, copy)) {
                Ok(attached) => device.attached = Some(attached),
                Err(error) => tracing::warn!(%job, %error, "a job without its network"),
            }
        }
    }
}

/// IPv4 alone where the kernel has nothing else.
fn bind(port: u16) -> io::Result<Engine> {
    let any = |ip: std::net::IpAddr, port| EngineConfig::new(SocketAddr::new(ip, port));
    let at = |port| any(Ipv6Addr::UNSPECIFIED.into(), port);
    match Engine::bind(&at(port)) {
        Err(error) if error.raw_os_error() == Some(libc::EAFNOSUPPORT) => {
            Engine::bind(&any(Ipv4Addr::UNSPECIFIED.into(), port))
        }
        Err(error) if error.kind() == io::ErrorKind::AddrInUse && port > 0 => {
            tracing::warn!(port, "cluster.port is taken, another one serves");
            Engine::bind(&at(0))
        }
        bound => bound,
    }
}

#[cfg(test)]
mod tests;
