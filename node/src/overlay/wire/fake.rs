//! A transport for tests: what becomes of a dial is said by a function.

use std::future::Ready;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::future::BoxFuture;
use libp2p::Multiaddr;
use libp2p::core::transport::{DialOpts, ListenerId, Transport, TransportError, TransportEvent};

/// A dial under way.
pub(super) type Dial = BoxFuture<'static, io::Result<()>>;

/// Listens nowhere.
pub(super) struct Fake<F>(pub(super) F);

impl<F: FnMut(Multiaddr) -> Dial + Unpin> Transport for Fake<F> {
    type Output = ();
    type Error = io::Error;
    type ListenerUpgrade = Ready<io::Result<()>>;
    type Dial = Dial;

    fn listen_on(
        &mut self,
        _: ListenerId,
        address: Multiaddr,
    ) -> Result<(), TransportError<io::Error>> {
        Err(TransportError::MultiaddrNotSupported(address))
    }

    fn remove_listener(&mut self, _: ListenerId) -> bool {
        false
    }

    fn dial(
        &mut self,
        address: Multiaddr,
        _: DialOpts,
    ) -> Result<Self::Dial, TransportError<io::Error>> {
        Ok((self.0)(address))
    }

    fn poll(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<TransportEvent<Self::ListenerUpgrade, io::Error>> {
        Poll::Pending
    }
}
