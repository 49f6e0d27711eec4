//! The engine as a relay: frames with a known ticket are sent on, in runs as they came.

use std::net::SocketAddr;
use std::sync::PoisonError;

use super::Shared;
use super::socket::RUN;
use crate::drops::Drop;
use crate::wire;

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
        let relay = shared.relay.lock();
        let mut relay = relay.unwrap_or_else(PoisonError::into_inner);
        let to = relay.forward(&ticket, source, content.len());
        drop(relay);
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
