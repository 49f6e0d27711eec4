//! A listener that serves a bounded number of connections at once; more wait in the system's queue.

use axum::serve::Listener;
use nix::unistd::geteuid;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Whether the other end of a connection is welcome.
pub(super) trait Peer {
    /// Looked at once, after accepting.
    fn is_welcome(&self) -> bool;
}

impl Peer for UnixStream {
    /// The same user, or root: the mode of the socket says so too, but a mode can be changed.
    fn is_welcome(&self) -> bool {
        let ours = geteuid().as_raw();
        self.peer_cred()
            .is_ok_and(|peer| peer.uid() == ours || peer.uid() == 0)
    }
}

impl Peer for TcpStream {
    fn is_welcome(&self) -> bool {
        self.peer_addr().is_ok_and(|peer| peer.ip().is_loopback())
    }
}

/// A listener with a bound.
pub(super) struct Limited<L> {
    inner: L,
    free: Arc<Semaphore>,
}

impl<L> Limited<L> {
    pub(super) fn new(inner: L, connections: usize) -> Limited<L> {
        let free = Arc::new(Semaphore::new(connections));
        Limited { inner, free }
    }
}

impl<L: Listener<Io: Peer>> Listener for Limited<L> {
    type Io = Held<L::Io>;
    type Addr = L::Addr;

    async fn accept(&mut self) -> (Self::Io, L::Addr) {
        let permit = Arc::clone(&self.free).acquire_owned().await;
        let permit = permit.expect("the semaphore is never closed");
        loop {
            let (io, address) = self.inner.accept().await;
            if io.is_welcome() {
                let _permit = permit;
                return (Held { io, _permit }, address);
            }
        }
    }
    fn local_addr(&self) -> io::Result<L::Addr> {
        self.inner.local_addr()
    }
}

/// A connection that counts until it is dropped.
pub(super) struct Held<Io> {
    io: Io,
    _permit: OwnedSemaphorePermit,
}

impl<Io: AsyncRead + Unpin> AsyncRead for Held<Io> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(cx, buf)
    }
}

impl<Io: AsyncWrite + Unpin> AsyncWrite for Held<Io> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(cx, buf)
    }
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}
