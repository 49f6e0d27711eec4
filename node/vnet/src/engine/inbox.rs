//! What waits for a stack in this process, as packets wait in a device for the kernel.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes that wait at the most; what is beyond is lost, as in any full queue.
const MOST: usize = 4 << 20;

/// See the module.
#[derive(Default)]
pub(super) struct Inbox(Mutex<Waiting>);

#[derive(Default)]
struct Waiting {
    bytes: usize,
    packets: Vec<Vec<u8>>,
    closed: bool,
}

impl Inbox {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a packet with the kernel's header; none if it is lost, else whether it is the first
    /// one that waits.
    pub(super) fn push(&self, packet: &[u8]) -> Option<bool> {
        let mut waiting = self.waiting();
        if waiting.closed || waiting.bytes + packet.len() > MOST {
            return None;
        }
        waiting.bytes += packet.len();
        waiting.packets.push(packet.to_vec());
        Some(waiting.packets.len() == 1)
    }

    /// All that waits.
    pub(super) fn take(&self) -> Vec<Vec<u8>> {
        let mut waiting = self.waiting();
        waiting.bytes = 0;
        std::mem::take(&mut waiting.packets)
    }

    pub(super) fn close(&self) {
        let mut waiting = self.waiting();
        waiting.closed = true;
        waiting.packets.clear();
    }

    pub(super) fn is_open(&self) -> bool {
        !self.waiting().closed
    }
}
