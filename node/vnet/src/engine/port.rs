//! Where a rank is attached to a lease: a device, or a stack in this process.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread::JoinHandle;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::eventfd::{EfdFlags, EventFd};

use super::device::Device;
use super::inbox::Inbox;
use crate::tun::Offloads;

/// See the module. Two are equal if they are the same.
pub(super) struct Port {
    pub(super) rank: u32,
    pub(super) offloads: Offloads,
    end: End,
    wake: Arc<EventFd>,
    stop: AtomicBool,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// What is behind a port.
enum End {
    Device(RwLock<Option<Arc<Device>>>),
    Stack(Inbox),
}

impl Port {
    /// The port of a device.
    pub(super) fn device_of(rank: u32, device: OwnedFd) -> io::Result<Port> {
        let (device, offloads) = Device::take(device)?;
        let end = End::Device(RwLock::new(Some(Arc::new(device))));
        Port::new(rank, offloads, end)
    }

    /// The port of a stack in this process.
    pub(super) fn stack_of(rank: u32) -> io::Result<Port> {
        let offloads = Offloads {
            tcp: true,
            udp: false,
        };
        Port::new(rank, offloads, End::Stack(Inbox::default()))
    }

    fn new(rank: u32, offloads: Offloads, end: End) -> io::Result<Port> {
        let flags = EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK;
        Ok(Port {
            rank,
            offloads,
            end,
            wake: Arc::new(EventFd::from_flags(flags)?),
            stop: AtomicBool::new(false),
            thread: Mutex::new(None),
        })
    }

    /// The device, unless it is closed or there is none.
    pub(super) fn device(&self) -> Option<Arc<Device>> {
        match &self.end {
            End::Device(device) => {
                let device = device.read().unwrap_or_else(PoisonError::into_inner);
                device.clone()
            }
            End::Stack(_) => None,
        }
    }

    /// Packets that wait for the stack.
    pub(super) fn take(&self) -> Vec<Vec<u8>> {
        match &self.end {
            End::Device(_) => Vec::new(),
            End::Stack(inbox) => inbox.take(),
        }
    }

    /// Whether packets of TCP from here may be cut smaller than their sender made them: a stack
    /// does not learn what a way takes.
    pub(super) fn may_be_cut(&self) -> bool {
        matches!(self.end, End::Stack(_))
    }

    /// Readable once something waits for the stack, or the port is stopped.
    pub(super) fn wake(&self) -> Arc<EventFd> {
        self.wake.clone()
    }

    /// Whether packets still pass.
    pub(super) fn is_open(&self) -> bool {
        match &self.end {
            End::Device(_) => self.device().is_some(),
            End::Stack(inbox) => inbox.is_open(),
        }
    }

    /// Writes a packet with the kernel's header; whether it was taken.
    pub(super) fn write(&self, packet: &[u8]) -> bool {
        match &self.end {
            End::Device(device) => {
                let device = device.read().unwrap_or_else(PoisonError::into_inner);
                let written = device.as_ref().map(|device| device.write(packet));
                matches!(written, Some(Ok(())))
            }
            End::Stack(inbox) => {
                let pushed = inbox.push(packet);
                if pushed == Some(true) {
                    self.wake.write(1).ok();
                }
                pushed.is_some()
            }
        }
    }

    /// Waits for a packet to read, or for the port to be stopped.
    pub(super) fn wait(&self, device: &Device) {
        let mut fds = [
            PollFd::new(device.as_fd(), PollFlags::POLLIN),
            PollFd::new(self.wake.as_fd(), PollFlags::POLLIN),
        ];
        poll(&mut fds, PollTimeout::NONE).ok();
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stop.load(Relaxed)
    }

    /// Keeps the thread that reads the device or moves the stack.
    pub(super) fn keep(&self, thread: JoinHandle<()>) {
        let mut slot = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        *slot = Some(thread);
    }

    /// Closes the device; the reading thread's copy goes with it.
    pub(super) fn close(&self) {
        match &self.end {
            End::Device(device) => {
                let mut device = device.write().unwrap_or_else(PoisonError::into_inner);
                *device = None;
            }
            End::Stack(inbox) => inbox.close(),
        }
    }

    /// Ends the thread and closes the device. Must not be called by that thread.
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
