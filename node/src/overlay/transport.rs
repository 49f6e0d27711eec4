//! The transports: QUIC, TCP and circuits through relays, with the two things that no protocol goes around: where may be dialled
//! ([`Scope`]), and how much a peer may ask ([`Meters`]).

use libp2p::core::Transport as _;
use libp2p::core::muxing::StreamMuxerBox;
use libp2p::core::transport::Boxed;
use libp2p::core::transport::timeout::TransportTimeout;
use libp2p::core::upgrade::Version;
use libp2p::identity::Keypair;
use libp2p::{PeerId, dns, noise, quic, relay, tcp, yamux};

use super::config::{OverlayConfig, Tuning};
use super::error::StartError;
use super::meter::Meters;
use super::names::Names;
use super::scope::{Gated, Scope};

/// Bytes that a peer may send over QUIC before we have read them, on a stream and in all: as much as a path of 100 ms needs
/// for 80 MB/s, and no more, since a hostile peer makes us hold it.
const QUIC_STREAM: u32 = 8 << 20;
const QUIC_CONNECTION: u32 = 8 << 20;

/// What no protocol goes around; shared with the task.
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
        .multiplex(yamux::Config::default())
        .map(|(peer, muxer), _| (peer, StreamMuxerBox::new(muxer)));
    let quic = quic::tokio::Transport::new(quic_config(keys, tuning))
        .map(|(peer, muxer), _| (peer, StreamMuxerBox::new(muxer)));
    let direct = Gated {
        inner: tcp.or_transport(quic).map(|either, _| either.into_inner()),
        scope: scope.clone(),
    };
    // What a name stands for passes the gate within.
    let direct = Gated {
        inner: dns::tokio::Transport::system(direct).map_err(|e| refuse(e.to_string()))?,
        scope,
    };
    let (circuits, relayed) = relay::client::new(keys.public().to_peer_id());
    let circuits = circuits
        .upgrade(Version::V1Lazy)
        .authenticate(noise)
        .multiplex(yamux::Config::default())
        .map(|(peer, muxer), _| (peer, StreamMuxerBox::new(muxer)));
    let all = circuits
        .or_transport(direct)
        .map(|either, _| either.into_inner())
        .map(move |(peer, muxer), _| (peer, meters.around(peer, muxer)));
    let all = TransportTimeout::new(all, tuning.handshake * 2).boxed();
    Ok((all, relayed))
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
