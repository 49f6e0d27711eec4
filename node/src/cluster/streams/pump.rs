//! Between a stream and the proxy that stands for it.
//!
//! 1. What the data plane sends to the proxy goes into the stream, as much at once as there is. The
//!    kernel's queue of the proxy is what waits while the stream is full; beyond, datagrams are
//!    lost.
//! 2. What comes on the stream goes from the proxy to the data plane, but for questions and answers
//!    about addresses ([`gridbay_vnet::mirror`]): a stream says nothing about those.
//! 3. Everything but probes counts as a sign that the stream is of use; whatever comes, as one that
//!    its opener is there.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use gridbay_vnet::{mirror, path};
use tokio::net::UdpSocket;
use tokio::sync::oneshot;

use crate::overlay::{DATAGRAM_BYTES, Packets, Receiving, Sending};

/// When a stream last carried something that counts, and when anything came on it.
#[derive(Clone, Debug)]
pub(super) struct Activity {
    began: Instant,
    last_ms: Arc<AtomicU64>,
    heard_ms: Arc<AtomicU64>,
}

impl Activity {
    pub(super) fn new(began: Instant) -> Activity {
        Activity {
            began,
            last_ms: Arc::default(),
            heard_ms: Arc::default(),
        }
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn note(&self) {
        self.last_ms.store(self.now_ms(), Relaxed);
    }

    fn hear(&self) {
        self.heard_ms.store(self.now_ms(), Relaxed);
    }

    pub(super) fn heard(&self) -> Instant {
        self.began + Duration::from_millis(self.heard_ms.load(Relaxed))
    }

    pub(super) fn last(&self) -> Instant {
        self.began + Duration::from_millis(self.last_ms.load(Relaxed))
    }
}

/// Carries until the stream ends or its place is given up; says which.
pub(super) async fn run(
    packets: Packets,
    proxy: UdpSocket,
    activity: &Activity,
    end: oneshot::Receiver<()>,
) -> &'static str {
    let (receiving, sending) = packets.split();
    tokio::select! {
        // Also when what would send is dropped.
        _ = end => "here",
        _ = out(&proxy, sending, activity) => "outbound",
        _ = back(receiving, &proxy, activity) => "inbound",
    }
}

/// Rule 1.
async fn out(proxy: &UdpSocket, mut sending: Sending, activity: &Activity) -> io::Result<()> {
    let mut datagram = vec![0; DATAGRAM_BYTES + 1];
    loop {
        proxy.readable().await?;
        while sending.has_room() {
            match proxy.try_recv(&mut datagram) {
                Ok(bytes) => {
                    let datagram = &datagram[..bytes];
                    if passes(datagram) && sending.push(datagram) && counts(datagram) {
                        activity.note();
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                // The data plane was not there for an earlier one.
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {}
                Err(error) => return Err(error),
            }
        }
        sending.flush().await?;
    }
}

/// Rule 2.
async fn back(mut receiving: Receiving, proxy: &UdpSocket, activity: &Activity) -> io::Result<()> {
    loop {
        let datagram = receiving.next().await?;
        if !passes(datagram) {
            continue;
        }
        activity.hear();
        if counts(datagram) {
            activity.note();
        }
        // One that is not taken is lost, as on any way.
        let _lost = proxy.send(datagram).await;
    }
}

fn passes(datagram: &[u8]) -> bool {
    datagram.first().is_some_and(|kind| !mirror::is_word(*kind))
}

/// Rule 3.
fn counts(datagram: &[u8]) -> bool {
    datagram.first().is_some_and(|kind| !path::is_probe(*kind))
}
