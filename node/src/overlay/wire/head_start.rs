//! One transport waits for the other: where a peer is dialled over both, a connection over TCP
//! begins [`HEAD_START`] after the one over QUIC at the earliest, or when that has failed. On this
//! machine QUIC waits for TCP, and longer: there nobody drops packets without a word, so a
//! connection over TCP that is not there yet is only late.
//!
//! The swarm staggers its dials too: by as much on the Internet, but in private networks by 30 ms,
//! and TCP always after QUIC. Where machines are busy, a handshake takes longer than that: both
//! ends then made nearly every connection twice and threw one away.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use libp2p::core::transport::{DialOpts, ListenerId, Transport, TransportError, TransportEvent};
use libp2p::multiaddr::Protocol;
use libp2p::{Multiaddr, PeerId};
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use crate::overlay::reach::addresses::{is_first_choice, is_loopback};

/// Of the transport of first choice before the other.
const HEAD_START: Duration = Duration::from_millis(250);
/// The same on this machine.
const HEAD_START_HERE: Duration = Duration::from_secs(2);

/// When the dials of first choice that are under way began; the channel is closed by a dial's end.
type UnderWay = Arc<Mutex<HashMap<PeerId, watch::Receiver<Instant>>>>;

/// A transport that knows both, and the dials of first choice that are under way.
pub(crate) struct HeadStart<T> {
    inner: T,
    under_way: UnderWay,
}

impl<T> HeadStart<T> {
    pub(crate) fn new(inner: T) -> Self {
        let under_way = UnderWay::default();
        Self { inner, under_way }
    }

    /// Takes note of a dial of first choice, which is under way while the answer lives.
    fn begin(&mut self, peer: PeerId) -> watch::Sender<Instant> {
        // Each change leaves the map whole.
        let mut all = self
            .under_way
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        all.retain(|_, dial| dial.has_changed().is_ok());
        let (dial, under_way) = watch::channel(Instant::now());
        all.insert(peer, under_way);
        dial
    }
}

/// Waits until a dial to a peer has had its head start, or has ended, or does not exist.
async fn let_ahead(under_way: UnderWay, peer: PeerId, time: Duration) {
    let first = {
        let all = under_way.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(&peer).cloned()
    };
    if let Some(mut first) = first {
        let until = *first.borrow() + time;
        let _failed_or_late = timeout_at(until, first.changed()).await;
    }
}

/// The peer that is to be at an address.
fn peer_of(address: &Multiaddr) -> Option<PeerId> {
    match address.iter().last() {
        Some(Protocol::P2p(peer)) => Some(peer),
        _ => None,
    }
}

impl<T> Transport for HeadStart<T>
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
        let (peer, first) = (peer_of(&address), is_first_choice(&address));
        let time = match is_loopback(&address) {
            true => HEAD_START_HERE,
            false => HEAD_START,
        };
        let dial = self.inner.dial(address, options)?;
        let Some(peer) = peer else {
            return Ok(dial.boxed());
        };
        if first {
            let under_way = self.begin(peer);
            return Ok(dial.inspect(move |_| drop(under_way)).boxed());
        }
        // Both are begun before either is polled, in any order.
        let ahead = let_ahead(Arc::clone(&self.under_way), peer, time);
        Ok(ahead.then(|()| dial).boxed())
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

    const QUIC: &str = "/ip4/198.51.100.7/udp/7411/quic-v1";
    const TCP: &str = "/ip4/198.51.100.7/tcp/7411";
    const QUIC_HERE: &str = "/ip4/127.0.0.1/udp/7411/quic-v1";
    const TCP_HERE: &str = "/ip4/127.0.0.1/tcp/7411";

    /// The first choice never gets through, the other does at once.
    fn blocked() -> HeadStart<Blocked> {
        HeadStart::new(Fake(|address| match is_first_choice(&address) {
            true => std::future::pending().boxed(),
            false => std::future::ready(Ok(())).boxed(),
        }))
    }

    fn dial(transport: &mut HeadStart<Blocked>, at: &str, peer: PeerId) -> Dial {
        let options = DialOpts {
            role: Endpoint::Dialer,
            port_use: PortUse::New,
        };
        let address = format!("{at}/p2p/{peer}");
        transport.dial(address.parse().unwrap(), options).unwrap()
    }

    /// How long a dial takes that gets through.
    async fn time_of(dial: Dial) -> Duration {
        let begun = Instant::now();
        dial.await.unwrap();
        begun.elapsed()
    }

    #[tokio::test]
    async fn one_begins_when_the_other_has_had_its_head_start_or_failed() {
        for (first, second, time) in [
            (QUIC, TCP, HEAD_START),
            (TCP_HERE, QUIC_HERE, HEAD_START_HERE),
        ] {
            let mut transport = blocked();
            let (both, other) = (PeerId::random(), PeerId::random());
            // As the swarm does: both before either is polled, and QUIC before TCP.
            let waiting = dial(&mut transport, second, both);
            let under_way = dial(&mut transport, first, both);
            let late = dial(&mut transport, second, both);
            assert!(time_of(waiting).await >= time);
            assert!(time_of(late).await < time, "the swarm had it wait");
            let alone = dial(&mut transport, second, other);
            assert!(time_of(alone).await < time, "nobody dials the first");
            let waiting = dial(&mut transport, second, both);
            drop(under_way);
            assert!(time_of(waiting).await < time, "the first has failed");
        }
    }

    #[tokio::test]
    async fn dials_that_have_ended_are_forgotten() {
        let mut transport = blocked();
        for _ in 0..9 {
            drop(dial(&mut transport, QUIC, PeerId::random()));
        }
        let known = transport.under_way.lock().unwrap().len();
        assert_eq!(known, 1, "the last one");
    }
}
