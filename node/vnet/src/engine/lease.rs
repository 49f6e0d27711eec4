//! An open lease, and its pairs of members.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use boringtun::noise::rate_limiter::RateLimiter;
use boringtun::noise::{Tunn, TunnResult};
use boringtun::x25519::PublicKey;
use gridbay_protocol::ids::LeaseId;

use super::Shared;
use super::port::Port;
use crate::address::Plan;
use crate::drops::Counters;
use crate::keys::{Secret, handshake_tag};
use crate::path::{Path, PathKeys, Time, Via};
use crate::route::Routes;
use crate::session::Tag;
use crate::wire;

/// Long enough for every frame that a session makes of its own accord.
pub(super) const FRAME: usize = 256;

pub(super) struct Lease {
    pub(super) id: LeaseId,
    pub(super) plan: Plan,
    pub(super) own: Vec<u32>,
    pub(super) secret: Secret,
    pub(super) public: [u8; 32],
    pub(super) psk: Secret,
    /// What handshakes with us carry.
    pub(super) tag: Tag,
    pub(super) limiter: Arc<RateLimiter>,
    pub(super) members: RwLock<Arc<Members>>,
    pub(super) ports: RwLock<HashMap<u32, Arc<Port>>>,
    pub(super) drops: Counters,
}

/// Who belongs to a lease, as one snapshot.
#[derive(Default)]
pub(super) struct Members {
    pub(super) routes: Routes,
    pub(super) pairs: Vec<Arc<Pair>>,
}

impl Members {
    pub(super) fn by_number(&self, number: usize) -> Option<&Arc<Pair>> {
        self.pairs.iter().find(|pair| pair.number == number)
    }

    pub(super) fn by_public(&self, public: &[u8; 32]) -> Option<&Arc<Pair>> {
        self.pairs.iter().find(|pair| pair.public == *public)
    }
}

impl Lease {
    pub(super) fn members(&self) -> Arc<Members> {
        let members = self.members.read();
        members.unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn port(&self, rank: u32) -> Option<Arc<Port>> {
        let ports = self.ports.read().unwrap_or_else(PoisonError::into_inner);
        ports.get(&rank).cloned()
    }
}

/// Bytes and packets inside the sessions of a pair, in one direction.
#[derive(Default)]
pub(super) struct Traffic {
    pub(super) packets: AtomicU64,
    pub(super) bytes: AtomicU64,
}

impl Traffic {
    pub(super) fn add(&self, packets: u64, bytes: u64) {
        self.packets.fetch_add(packets, Relaxed);
        self.bytes.fetch_add(bytes, Relaxed);
    }
}

/// This node and one other member of a lease.
pub(super) struct Pair {
    pub(super) lease: Arc<Lease>,
    /// In the lease's routes and, engine-wide, in the table of sessions.
    pub(super) number: usize,
    pub(super) public: [u8; 32],
    pub(super) ranks: RwLock<Vec<u32>>,
    pub(super) probe_tag: Tag,
    hello_tag: Tag,
    /// None once the member is removed or the lease closed: nothing is sealed or opened any more.
    noise: Mutex<Option<Box<Tunn>>>,
    pub(super) path: Mutex<Path>,
    pub(super) sent: Traffic,
    pub(super) received: Traffic,
    pub(super) drops: Counters,
}

impl Pair {
    /// A pair without sessions and paths; none if the member's key is a degenerate one.
    pub(super) fn new(
        lease: &Arc<Lease>,
        public: [u8; 32],
        number: u32,
        seed: u64,
    ) -> Option<Pair> {
        let shared = lease.secret.agree(public)?;
        let keys = PathKeys::new(shared.bytes(), lease.psk.bytes(), lease.public, public);
        let noise = Tunn::new(
            lease.secret.x25519(),
            PublicKey::from(public),
            Some(*lease.psk.bytes()),
            None,
            number,
            Some(lease.limiter.clone()),
        );
        Some(Pair {
            lease: lease.clone(),
            number: number as usize,
            public,
            ranks: RwLock::default(),
            probe_tag: keys.own_tag(),
            hello_tag: handshake_tag(&lease.psk, &public),
            noise: Mutex::new(Some(Box::new(noise))),
            path: Mutex::new(Path::new(keys, seed)),
            sent: Traffic::default(),
            received: Traffic::default(),
            drops: Counters::default(),
        })
    }

    /// Does something with the session, if there still is one.
    pub(super) fn noise<T>(&self, work: impl FnOnce(&mut Tunn) -> T) -> Option<T> {
        let mut noise = self.noise.lock().unwrap_or_else(PoisonError::into_inner);
        noise.as_deref_mut().map(work)
    }

    /// Erases the keys.
    pub(super) fn close(&self) {
        let mut noise = self.noise.lock().unwrap_or_else(PoisonError::into_inner);
        *noise = None;
    }

    /// Does something with the path, sends what it asks for, and begins a handshake once there is a
    /// first way.
    pub(super) fn path<T>(&self, shared: &Shared, work: impl FnOnce(&mut Path) -> T) -> T {
        let mut path = self.path.lock().unwrap_or_else(PoisonError::into_inner);
        let before = path.active().is_some();
        let result = work(&mut path);
        let begins = !before && path.active().is_some();
        let outputs = path.take_outputs();
        drop(path);
        for output in outputs {
            shared.socket.send(&output.via, &output.bytes);
        }
        if begins {
            self.begin(shared);
        }
        result
    }

    /// Bytes of a packet that the way in use takes at the most, once that is known.
    pub(super) fn bound(&self) -> Option<u16> {
        let path = self.path.lock().unwrap_or_else(PoisonError::into_inner);
        path.bound()
    }

    /// The way in use, for something that is sent now.
    pub(super) fn sending(&self, now: Time) -> Option<Via> {
        let mut path = self.path.lock().unwrap_or_else(PoisonError::into_inner);
        path.sending(now)
    }

    /// One of the two begins, the other follows within moments or begins itself.
    fn begin(&self, shared: &Shared) {
        let mut frame = [0; FRAME];
        let first = self.lease.public < self.public;
        let bytes = self.noise(|noise| {
            let waits = noise.time_since_last_handshake().is_none();
            match (waits && first).then(|| noise.format_handshake_initiation(&mut frame, true)) {
                Some(TunnResult::WriteToNetwork(bytes)) => bytes.len(),
                _ => 0,
            }
        });
        self.send(shared, &frame[..bytes.unwrap_or(0)]);
    }

    /// What the session asks for as time passes.
    pub(super) fn tick(&self, shared: &Shared) {
        let mut frame = [0; FRAME];
        let bytes = self.noise(|noise| match noise.update_timers(&mut frame) {
            TunnResult::WriteToNetwork(bytes) => bytes.len(),
            _ => 0,
        });
        self.send(shared, &frame[..bytes.unwrap_or(0)]);
    }

    /// Sends a frame of the session's own on the way in use, if there is one.
    pub(super) fn send(&self, shared: &Shared, frame: &[u8]) {
        let Some(kind) = frame.first() else {
            return;
        };
        if let Some(via) = self.sending(shared.now()) {
            if *kind == wire::INITIATION {
                shared
                    .socket
                    .send(&via, &wire::hello(&self.hello_tag, frame));
            } else {
                shared.socket.send(&via, frame);
            }
        }
    }

    /// Since the last handshake.
    pub(super) fn handshake_age(&self) -> Option<Duration> {
        self.noise(|noise| noise.time_since_last_handshake())?
    }
}
