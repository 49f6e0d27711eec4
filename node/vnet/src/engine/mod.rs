//! The shell: one UDP socket, and threads that carry packets between it and the devices.
//!
//! 1. One thread receives for all leases, one ticks for all, and one reads each attached device.
//! 2. A lease is unknown until it is opened, and again once it is closed: nothing is sent, answered
//!    or written for it, its keys are erased, its devices closed. Who has dropped out of the
//!    members is as unknown.
//! 3. All state that is looked up is under read locks for the length of the look-up.

mod api;
mod device;
mod inbox;
mod lease;
mod mirror;
mod port;
mod relay;
mod rx;
mod socket;
mod status;
mod timer;
mod tx;
mod user;

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, LockResult, Mutex, PoisonError, RwLock};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use gridbay_protocol::ids::LeaseId;
use nix::sys::eventfd::{EfdFlags, EventFd};

pub use api::{Attachment, EngineError, LeaseNet, MEMBERS_MAX, Member};
pub use status::{LeaseStatus, PairStatus, Volume};
pub use user::User;

use crate::drops::{Counters, Drops};
use crate::mirror::Mirror;
use crate::path::Time;
use crate::relay::Relay;
pub use crate::user::Listener;
use lease::{Lease, Pair};
use socket::Socket;

/// How an engine is set up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineConfig {
    /// Where datagrams are received. `[::]` takes IPv4 as well.
    pub bind: SocketAddr,
    /// Bytes of the socket's buffers; the kernel may give less.
    pub buffer: usize,
}

impl EngineConfig {
    /// With the usual buffers.
    pub fn new(bind: SocketAddr) -> EngineConfig {
        let buffer = 8 << 20;
        EngineConfig { bind, buffer }
    }
}

/// The data plane of a node. Dropping it closes all leases and ends its threads.
pub struct Engine {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

/// What the threads share.
struct Shared {
    socket: Socket,
    sessions: RwLock<Sessions>,
    leases: RwLock<HashMap<LeaseId, Arc<Lease>>>,
    relay: Mutex<Relay>,
    mirror: Mutex<Mirror>,
    /// Of what belongs to no lease.
    drops: Counters,
    /// Whether a datagram ever came from another machine.
    lit: AtomicBool,
    started: Instant,
    stopped: AtomicBool,
    wake: EventFd,
}

type Sessions = crate::session::Sessions<Arc<Lease>, Arc<Pair>>;

impl Shared {
    fn now(&self) -> Time {
        self.started.elapsed()
    }

    fn is_stopped(&self) -> bool {
        self.stopped.load(Relaxed)
    }

    /// Readable once the engine stops.
    fn wake(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }
}

/// What a lock holds; a panic elsewhere leaves nothing half changed that would matter here.
fn held<T>(lock: LockResult<T>) -> T {
    lock.unwrap_or_else(PoisonError::into_inner)
}

impl Engine {
    /// Opens the socket and starts the threads.
    pub fn bind(config: &EngineConfig) -> io::Result<Engine> {
        let socket = Socket::bind(config.bind, config.buffer)?;
        let seed = getrandom::u32().map_err(io::Error::other)?;
        let shared = Arc::new(Shared {
            socket,
            sessions: RwLock::new(Sessions::new(seed)),
            leases: RwLock::default(),
            relay: Mutex::default(),
            mirror: Mutex::default(),
            drops: Counters::default(),
            lit: AtomicBool::new(false),
            started: Instant::now(),
            stopped: AtomicBool::new(false),
            wake: EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)?,
        });
        let mut engine = Engine {
            shared,
            threads: Vec::new(),
        };
        for (name, work) in [
            ("vnet-rx", rx::run as fn(&Shared)),
            ("vnet-timer", timer::run),
        ] {
            let shared = engine.shared.clone();
            let thread = thread::Builder::new().name(name.into());
            engine.threads.push(thread.spawn(move || work(&shared))?);
        }
        Ok(engine)
    }

    /// Where datagrams are received.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.shared.socket.address()
    }

    /// Whether no datagram ever came from another machine.
    pub fn is_dark(&self) -> bool {
        !self.shared.lit.load(Relaxed)
    }

    /// Drops of what belongs to no open lease.
    pub fn drops(&self) -> Drops {
        self.shared.drops.read()
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        for lease in self.leases() {
            self.close(&lease);
        }
        self.shared.stopped.store(true, Relaxed);
        self.shared.wake.write(1).ok();
        for thread in self.threads.drain(..) {
            thread.join().ok();
        }
    }
}
