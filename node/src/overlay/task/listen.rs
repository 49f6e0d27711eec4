//! The listeners: how they are opened at the start and closed at the end.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use futures::StreamExt;
use libp2p::multiaddr::Protocol;
use libp2p::swarm::SwarmEvent;
use libp2p::{Multiaddr, PeerId};

use super::Task;
use crate::overlay::error::StartError;

/// How long a port may still be held by a predecessor that has just ended.
const LISTEN_PATIENCE: Duration = Duration::from_secs(5);
/// How long connections may take to end in order.
const FAREWELL: Duration = Duration::from_millis(500);
/// How long we wait for a closed UDP port to become free. Where a QUIC handshake was under way it
/// takes 3 s, for which [`LISTEN_PATIENCE`] allows.
const PORT_PATIENCE: Duration = Duration::from_millis(500);
const POLL: Duration = Duration::from_millis(20);

impl Task {
    /// Opens every listener and waits until each has an address.
    pub(super) async fn listen(&mut self, addresses: &[Multiaddr]) -> Result<(), StartError> {
        let deadline = Instant::now() + LISTEN_PATIENCE;
        for address in addresses {
            let listener = loop {
                match self.swarm.listen_on(address.clone()) {
                    Ok(listener) => break listener,
                    Err(_) if Instant::now() < deadline => tokio::time::sleep(POLL).await,
                    Err(error) => {
                        let source = Box::new(error);
                        return Err(StartError::Listen {
                            address: address.clone(),
                            source,
                        });
                    }
                }
            };
            self.reach.on_asked(listener);
        }
        let opened = async {
            while self.reach.unopened() > 0 {
                let event = self.swarm.select_next_some().await;
                self.on_swarm_event(event);
            }
        };
        if tokio::time::timeout(LISTEN_PATIENCE, opened).await.is_err() {
            let missing = self.reach.unopened();
            return Err(StartError::ListenTimeout {
                missing,
                waited: LISTEN_PATIENCE,
            });
        }
        Ok(())
    }

    /// Closes listeners and connections in order, then waits until the ports are free.
    pub(super) async fn farewell(mut self) {
        let addresses = self.reach.listening();
        let mut open: HashSet<_> = self.reach.listeners().into_iter().collect();
        for listener in &open {
            self.swarm.remove_listener(*listener);
        }
        let connected: Vec<PeerId> = self.swarm.connected_peers().copied().collect();
        for peer in connected {
            // An error means that it left by itself.
            let _gone = self.swarm.disconnect_peer_id(peer);
        }
        let closed = async {
            while self.swarm.network_info().num_peers() > 0 || !open.is_empty() {
                let event = self.swarm.select_next_some().await;
                if let SwarmEvent::ListenerClosed { listener_id, .. } = event {
                    open.remove(&listener_id);
                }
            }
        };
        let _late = tokio::time::timeout(FAREWELL, closed).await;
        drop(self);
        let deadline = Instant::now() + PORT_PATIENCE;
        for address in addresses.iter().filter_map(udp_socket) {
            while std::net::UdpSocket::bind(address).is_err() && Instant::now() < deadline {
                tokio::time::sleep(POLL).await;
            }
        }
    }
}

/// The UDP socket behind a QUIC listener's address.
fn udp_socket(address: &Multiaddr) -> Option<std::net::SocketAddr> {
    let mut parts = address.iter();
    let host = match parts.next()? {
        Protocol::Ip4(ip) => ip.into(),
        Protocol::Ip6(ip) => ip.into(),
        _ => return None,
    };
    match parts.next()? {
        Protocol::Udp(port) => Some(std::net::SocketAddr::new(host, port)),
        _ => None,
    }
}
