//! Connections of this machine's owner into a lease's network, of which the node is a member.

use super::Clusters;
use gridbay_protocol::ids::LeaseId;
use gridbay_vnet::engine::User;
use std::io;
use std::net::SocketAddr;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::UnixStream;

/// How long the other end may take.
const WITHIN: Duration = Duration::from_secs(10);

impl Clusters {
    /// Connects to a member of a network that this node attends: a stream of what is inside.
    ///
    /// # Errors
    /// `NotConnected` if this node attends no such network, and those of
    /// [`User::connect`](gridbay_vnet::engine::User::connect).
    pub async fn dial(&self, lease: &LeaseId, to: SocketAddr) -> io::Result<UnixStream> {
        let user = self.user(lease).ok_or(io::ErrorKind::NotConnected)?;
        let connect = tokio::task::spawn_blocking(move || {
            let stream = user.connect(to, WITHIN)?;
            stream.set_nonblocking(true)?;
            Ok::<_, io::Error>(stream)
        });
        UnixStream::from_std(connect.await.map_err(io::Error::other)??)
    }

    /// The rank, of these, that this node has in a network.
    pub(crate) fn guest(&self, lease: &LeaseId, of: &Range<u32>) -> Option<u32> {
        let inner = self.lock();
        let own = inner.open.get(lease)?;
        own.ranks.iter().copied().find(|rank| of.contains(rank))
    }

    /// This node's own place in a network that it attends.
    fn user(&self, lease: &LeaseId) -> Option<Arc<User>> {
        let inner = self.lock();
        inner.open.get(lease).and_then(|own| own.user.clone())
    }
}
