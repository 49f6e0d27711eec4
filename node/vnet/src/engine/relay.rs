//! The engine as a relay: frames with a known ticket are sent on, in runs as they came.

use std::net::SocketAddr;

use super::socket::RUN;
use super::{Engine, Shared, held};
use crate::drops::Drop;
use crate::relay::{Allowance, Grant, Purse, Relayed};
use crate::wire;

/// This node as a relay.
impl Engine {
    /// Sets what grants that draw on a purse may carry, see [`crate::relay::Relay::allow`].
    pub fn relay_allow(&self, purse: Purse, allowance: Allowance) {
        held(self.shared.relay.lock()).allow(purse, allowance);
    }

    /// Ends an allowance.
    pub fn relay_disallow(&self, purse: &Purse) {
        held(self.shared.relay.lock()).disallow(purse);
    }

    /// Bytes that are left of an allowance in its period.
    pub fn relay_left(&self, purse: &Purse) -> u64 {
        held(self.shared.relay.lock()).left(purse)
    }

    /// Admits two ends to this node as their relay; false if a ticket is taken.
    pub fn relay_admit(&self, grant: Grant) -> bool {
        held(self.shared.relay.lock()).admit(grant)
    }

    /// Ends a grant.
    pub fn relay_revoke(&self, grant: &Grant) -> Option<Relayed> {
        held(self.shared.relay.lock()).revoke(grant)
    }

    /// What went through under a grant.
    pub fn relayed(&self, grant: &Grant) -> Option<Relayed> {
        held(self.shared.relay.lock()).relayed(grant)
    }
}

/// A run that is being put together.
#[derive(Default)]
pub(super) struct Forward {
    to: Option<SocketAddr>,
    bytes: Vec<u8>,
    size: usize,
    count: usize,
    /// The last one was shorter, so nothing may follow it.
    closed: bool,
}

impl Forward {
    /// Takes a frame of someone with a ticket.
    pub(super) fn take(&mut self, shared: &Shared, frame: &[u8], source: SocketAddr) {
        let Some((ticket, content)) = wire::read_relayed(frame).filter(|(_, c)| !c.is_empty())
        else {
            shared.drops.add(Drop::Malformed, 1);
            return;
        };
        let to = held(shared.relay.lock()).forward(&ticket, source, content.len());
        match to {
            Err(_) => shared.drops.add(Drop::Ticket, 1),
            Ok(None) => {}
            Ok(Some(to)) => self.add(shared, to, content),
        }
    }

    fn add(&mut self, shared: &Shared, to: SocketAddr, content: &[u8]) {
        let fits = self.to == Some(to)
            && !self.closed
            && content.len() <= self.size
            && self.count < shared.socket.run()
            && self.bytes.len() + content.len() <= RUN.1;
        if !fits {
            self.flush(shared);
            self.to = Some(to);
            self.size = content.len();
        }
        self.bytes.extend_from_slice(content);
        self.count += 1;
        self.closed = content.len() < self.size;
    }

    /// Sends what there is.
    pub(super) fn flush(&mut self, shared: &Shared) {
        if let Some(to) = self.to.take() {
            shared.socket.send_run(to, &self.bytes, self.size);
        }
        self.bytes.clear();
        self.count = 0;
        self.closed = false;
    }
}
