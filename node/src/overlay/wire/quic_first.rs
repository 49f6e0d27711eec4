//! TCP waits for QUIC: where a peer is dialled over both, a connection over TCP begins
//! [`HEAD_START`] after the one over QUIC at the earliest, or when that has failed.
//!
//! The swarm staggers its dials too: by as much on the Internet, but in private networks by 30 ms.
//! Where machines are busy, a handshake takes longer than that: both ends then made nearly every
//! connection twice and threw one away.

use std::collections::HashMap;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use libp2p::core::transport::{DialOpts, ListenerId, Transport, TransportError, TransportEvent};
use libp2p::multiaddr::Protocol;
use libp2p::{Multiaddr, PeerId};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::overlay::reach::addresses::is_quic;

/// Of QUIC before TCP.
const HEAD_START: Duration = Duration::from_millis(250);

/// A transport that knows both, and the dials over QUIC that are under way.
pub(crate) struct QuicFirst<T> {
    inner: T,
    /// When each began; the channel is closed by the end of its dial.
    under_way: HashMap<PeerId, watch::Receiver<Instant>>,
}

impl<T> QuicFirst<T> {
    pub(crate) fn new(inner: T) -> Self {
        Self {
            inner,
            under_way: HashMap::new(),
        }
    }

    /// Takes note of a dial over QUIC, which is under way while the answer lives.
    fn begin(&mut self, peer: PeerId) -> watch::Sender<Instant> {
        self.under_way.retain(|_, dial| dial.has_changed().is_ok());
        let (dial, under_way) = watch::channel(Instant::now());
        self.under_way.insert(peer, under_way);
        dial
    }
}

/// The peer that is to be at an address.
fn peer_of(address: &Multiaddr) -> Option<PeerId> {
    match address.iter().last() {
        Some(Protocol::P2p(peer)) => Some(peer),
        _ => None,
    }
}

impl<T> Transport for QuicFirst<T>
where
    T: Transport + Unpin,
    T::Dial: Send + 'static,
    T::Output: 'static,
    T::Error: 'static,
{
    type Output = T::Output;
    type Error = T::Error;
    type ListenerUpgrade = T::ListenerUpgrade;
    type Dial = BoxFuture<'static, Result<T::Output, T::Error>>;

    fn listen_on(
        &mut self,
        id: ListenerId,
        address: Multiaddr,
    ) -> Result<(), TransportError<Self::Error>> {
        self.inner.listen_on(id, address)
    }

    fn remove_listener(&mut self, id: ListenerId) -> bool {
        self.inner.remove_listener(id)
    }

    fn dial(
        &mut self,
        address: Multiaddr,
        options: DialOpts,
    ) -> Result<Self::Dial, TransportError<Self::Error>> {
        let (peer, quic) = (peer_of(&address), is_quic(&address));
        let dial = self.inner.dial(address, options)?;
        let Some(peer) = peer else {
            return Ok(dial.boxed());
        };
        if quic {
            let under_way = self.begin(peer);
            return Ok(dial.inspect(move |_| drop(under_way)).boxed());
        }
        match self.under_way.get(&peer).cloned() {
            None => Ok(dial.boxed()),
            Some(mut quic) => Ok(async move {
                let until = *quic.borrow() + HEAD_START;
                let _failed_or_late = tokio::time::timeout_at(until, quic.changed()).await;
                dial.await
            }
            .boxed()),
        }
    }

    fn poll(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<TransportEvent<Self::ListenerUpgrade, Self::Error>> {
        Pin::new(&mut self.get_mut().inner).poll(context)
    }
}

#[cfg(test)]
mod tests {
    use libp2p::core::Endpoint;
    use libp2p::core::transport::PortUse;

    use super::super::fake::{Dial, Fake};
    use super::*;

    type Blocked = Fake<fn(Multiaddr) -> Dial>;

    /// QUIC never gets through, TCP does at once.
    fn blocked() -> QuicFirst<Blocked> {
        QuicFirst::new(Fake(|address| match is_quic(&address) {
            true => std::future::pending().boxed(),
            false => std::future::ready(Ok(())).boxed(),
        }))
    }

    fn dial(transport: &mut QuicFirst<Blocked>, at: &str, peer: PeerId) -> Dial {
        let options = DialOpts {
            role: Endpoint::Dialer,
            port_use: PortUse::New,
        };
        let address = format!("/ip4/198.51.100.7/{at}/p2p/{peer}");
        transport.dial(address.parse().unwrap(), options).unwrap()
    }

    /// How long a dial takes that gets through.
    async fn time_of(dial: Dial) -> Duration {
        let begun = Instant::now();
        dial.await.unwrap();
        begun.elapsed()
    }

    #[tokio::test]
    async fn tcp_begins_when_quic_has_had_its_head_start_or_failed() {
        let mut transport = blocked();
        let (both, other) = (PeerId::random(), PeerId::random());
        let begun = Instant::now();
        let quic = dial(&mut transport, "udp/7411/quic-v1", both);
        let tcp = dial(&mut transport, "tcp/7411", both);
        let mut late = dial(&mut transport, "tcp/7411", both);
        time_of(tcp).await;
        assert!(begun.elapsed() >= HEAD_START);
        assert!(
            (&mut late).now_or_never().is_some(),
            "the swarm had it wait"
        );
        let alone = dial(&mut transport, "tcp/7411", other);
        assert!(
            time_of(alone).await < HEAD_START,
            "nobody dials it over QUIC"
        );
        let tcp = dial(&mut transport, "tcp/7411", both);
        drop(quic);
        assert!(time_of(tcp).await < HEAD_START, "QUIC has failed");
    }

    #[tokio::test]
    async fn dials_that_have_ended_are_forgotten() {
        let mut transport = blocked();
        for _ in 0..9 {
            drop(dial(&mut transport, "udp/7411/quic-v1", PeerId::random()));
        }
        assert_eq!(transport.under_way.len(), 1, "the last one");
    }
}
