//! A device that is attached to a lease.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread::JoinHandle;

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::eventfd::{EfdFlags, EventFd};

use crate::tun::{self, Offloads};

/// See the module. Two are equal if they are the same.
pub(super) struct Port {
    pub(super) rank: u32,
    pub(super) offloads: Offloads,
    device: RwLock<Option<Arc<OwnedFd>>>,
    wake: EventFd,
    stop: AtomicBool,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Port {
    pub(super) fn new(rank: u32, device: OwnedFd) -> io::Result<Port> {
        let offloads = tun::take(&device)?;
        let flags = OFlag::from_bits_truncate(fcntl(&device, FcntlArg::F_GETFL)?);
        fcntl(&device, FcntlArg::F_SETFL(flags | OFlag::O_NONBLOCK))?;
        Ok(Port {
            rank,
            offloads,
            device: RwLock::new(Some(Arc::new(device))),
            wake: EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)?,
            stop: AtomicBool::new(false),
            thread: Mutex::new(None),
        })
    }

    /// The device, unless it is closed.
    pub(super) fn device(&self) -> Option<Arc<OwnedFd>> {
        let device = self.device.read();
        device.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether packets still pass.
    pub(super) fn is_open(&self) -> bool {
        let device = self.device.read();
        device.unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Writes a packet with the kernel's header; whether the device took it.
    pub(super) fn write(&self, packet: &[u8]) -> bool {
        let device = self.device.read().unwrap_or_else(PoisonError::into_inner);
        let written = device.as_ref().map(|fd| nix::unistd::write(fd, packet));
        matches!(written, Some(Ok(_)))
    }

    /// Waits for a packet to read, or for the port to be stopped.
    pub(super) fn wait(&self, device: &OwnedFd) {
        let mut fds = [
            PollFd::new(device.as_fd(), PollFlags::POLLIN),
            PollFd::new(self.wake.as_fd(), PollFlags::POLLIN),
        ];
        poll(&mut fds, PollTimeout::NONE).ok();
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stop.load(Relaxed)
    }

    /// Keeps the thread that reads the device.
    pub(super) fn keep(&self, thread: JoinHandle<()>) {
        let mut slot = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        *slot = Some(thread);
    }

    /// Closes the device; the reading thread's copy goes with it.
    pub(super) fn close(&self) {
        let mut device = self.device.write().unwrap_or_else(PoisonError::into_inner);
        *device = None;
    }

    /// Ends the reading thread and closes the device. Must not be called by that thread.
    pub(super) fn stop(&self) {
        self.stop.store(true, Relaxed);
        self.wake.write(1).ok();
        let mut slot = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(thread) = slot.take() {
            thread.join().ok();
        }
        self.close();
    }
}

/// A port by identity.
#[derive(Clone)]
pub(super) struct Same(pub(super) Arc<Port>);

impl PartialEq for Same {
    fn eq(&self, other: &Same) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
