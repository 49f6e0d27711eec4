//! The transports: QUIC, TCP and circuits through relays, with the two things that no protocol goes
//! around: where may be dialled ([`Scope`]), and how much a peer may ask ([`Meters`]).

use std::io;

use libp2p::core::Transport as _;
use libp2p::core::muxing::StreamMuxerBox;
use libp2p::core::transport::Boxed;
use libp2p::core::transport::timeout::TransportTimeout;
use libp2p::core::upgrade::Version;
use libp2p::identity::Keypair;
use libp2p::{PeerId, dns, noise, quic, relay, tcp, yamux};

use super::head_start::HeadStart;
use crate::overlay::config::{OverlayConfig, Tuning};
use crate::overlay::error::StartError;
use crate::overlay::names::Names;
use crate::overlay::peers::meter::Meters;
use crate::overlay::reach::scope::{Gated, Scope};

/// Bytes that a peer may send over QUIC before we have read them, on a stream and in all: as much
/// as a path of 100 ms needs for 80 MB/s, and no more, since a hostile peer makes us hold it.
const QUIC_STREAM: u32 = 8 << 20;
const QUIC_CONNECTION: u32 = 8 << 20;
/// Streams of one connection over TCP, ours included; one more ends the connection. Both request
/// protocols, the DHT, gossip and the small ones have at most some 230 open. Each has a window of
/// 256 KiB that its peer may fill before we have read it.
const TCP_STREAMS: usize = 256;

/// The parts that every protocol passes through; shared with the task.
#[derive(Clone, Debug)]
pub(crate) struct Guards {
    pub(crate) scope: Scope,
    pub(crate) meters: Meters,
}

impl Guards {
    pub(crate) fn new(config: &OverlayConfig, names: &Names) -> Self {
        let limits = &config.limits;
        Self {
            scope: Scope::new(config),
            meters: Meters::new(names, &limits.quotas, limits.all()),
        }
    }
}

/// All transports as one, and what asks relays for circuits.
pub(crate) fn build(
    keys: &Keypair,
    tuning: &Tuning,
    guards: Guards,
) -> Result<(Boxed<(PeerId, StreamMuxerBox)>, relay::client::Behaviour), StartError> {
    let Guards { scope, meters } = guards;
    let refuse = |reason: String| StartError::Settings { reason };
    let noise = noise::Config::new(keys).map_err(|e| refuse(e.to_string()))?;
    let tcp = tcp::tokio::Transport::new(tcp::Config::default().nodelay(true))
        .upgrade(Version::V1Lazy)
        .authenticate(noise.clone())
        .multiplex(yamux_config())
        .map(|(peer, muxer), _| (peer, StreamMuxerBox::new(muxer)));
    let quic = quic::tokio::Transport::new(quic_config(keys, tuning))
        .map(|(peer, muxer), _| (peer, StreamMuxerBox::new(muxer)));
    let direct = tcp.or_transport(quic).map(|either, _| either.into_inner());
    // Outermost, where all dials to a peer are begun at once: names are resolved at leisure.
    let direct = gated(direct, scope).map_err(|e| refuse(e.to_string()))?;
    let direct = HeadStart::new(direct);
    let (circuits, relayed) = relay::client::new(keys.public().to_peer_id());
    let circuits = circuits
        .upgrade(Version::V1Lazy)
        .authenticate(noise)
        .multiplex(yamux_config())
        .map(|(peer, muxer), _| (peer, StreamMuxerBox::new(muxer)));
    let all = circuits
        .or_transport(direct)
        .map(|either, _| either.into_inner())
        .map(move |(peer, muxer), _| (peer, meters.around(peer, muxer)));
    let all = TransportTimeout::new(all, tuning.handshake * 2).boxed();
    Ok((all, relayed))
}

/// A transport that knows names, with a gate before they are resolved and one for what they stand
/// for.
fn gated<T>(inner: T, scope: Scope) -> io::Result<Gated<dns::tokio::Transport<Gated<T>>>> {
    let within = Gated {
        inner,
        scope: scope.clone(),
    };
    let inner = dns::tokio::Transport::system(within)?;
    Ok(Gated { inner, scope })
}

fn yamux_config() -> yamux::Config {
    let mut yamux = yamux::Config::default();
    yamux.set_max_num_streams(TCP_STREAMS);
    yamux
}

fn quic_config(keys: &Keypair, tuning: &Tuning) -> quic::Config {
    let mut quic = quic::Config::new(keys);
    quic.handshake_timeout = tuning.handshake;
    quic.keep_alive_interval = tuning.keep_alive;
    quic.max_idle_timeout = u32::try_from(tuning.idle.as_millis()).unwrap_or(u32::MAX);
    quic.max_stream_data = QUIC_STREAM;
    quic.max_connection_data = QUIC_CONNECTION;
    quic
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use futures::FutureExt as _;
    use libp2p::core::Endpoint;
    use libp2p::core::transport::{DialOpts, PortUse};
    use libp2p::{Multiaddr, PeerId};

    use super::super::fake::Fake;
    use super::*;
    use crate::overlay::config::TransportSeed;

    #[tokio::test]
    async fn what_a_name_stands_for_passes_the_gate_as_well() {
        let listen = vec!["/ip4/0.0.0.0/tcp/7411".parse().unwrap()];
        let seed = TransportSeed([1; 32]);
        let mut config = OverlayConfig::new(seed, [1; 32], listen, Tuning::wide_area());
        // The owner named the name with one port, and so lets it stand for this machine there.
        let named = ["/dns4/localhost/tcp/7411", "/ip4/198.51.100.1/tcp/7411"];
        let contact = |text: &str| (PeerId::random(), text.parse().unwrap());
        config.bootstrap = named.map(contact).to_vec();
        let scope = Scope::new(&config);
        let dialled = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&dialled);
        let writes_down = move |address: Multiaddr| {
            seen.lock().unwrap().push(address);
            std::future::ready(Ok(())).boxed()
        };
        let mut transport = gated(Fake(writes_down), scope.clone()).unwrap();
        let options = DialOpts {
            role: Endpoint::Dialer,
            port_use: PortUse::New,
        };
        let mut dial = |text: &str| transport.dial(text.parse().unwrap(), options);
        dial("/dns4/localhost/tcp/7411").unwrap().await.unwrap();
        let resolved: Multiaddr = "/ip4/127.0.0.1/tcp/7411".parse().unwrap();
        assert_eq!(*dialled.lock().unwrap(), [resolved]);
        assert_eq!(scope.take_refused(), 0);
        // A stranger names it with another: the gate before names are resolved knows the name, and
        // lets it pass.
        let other = dial("/dns4/localhost/tcp/80").unwrap().await;
        assert!(other.is_err(), "refused where the name is an address");
        assert_eq!(dialled.lock().unwrap().len(), 1);
        assert!(scope.take_refused() >= 1);
        assert!(dial("/dns4/other.example/tcp/7411").is_err());
        assert_eq!(scope.take_refused(), 1);
    }
}
