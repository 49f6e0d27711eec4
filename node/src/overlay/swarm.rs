//! Construction of the swarm: transports, protocols, bounds.

use std::num::NonZeroUsize;
use std::time::Duration;

use libp2p::core::upgrade::Version;
use libp2p::identity::Keypair;
use libp2p::kad::store::{MemoryStore, MemoryStoreConfig};
use libp2p::request_response::{self, ProtocolSupport};
use libp2p::{
    Swarm, SwarmBuilder, allow_block_list, connection_limits, identify, kad, noise, ping, tcp,
    yamux,
};

use super::behaviour::Behaviour;
use super::codec::FrameCodec;
use super::config::{Limits, OverlayConfig, Tuning};
use super::error::StartError;
use super::gossip::{self, Topic};
use super::names::Names;

/// A connection that no protocol uses is closed after this long. Longer than any pause between
/// messages, since neither requests nor pings count as use.
const IDLE_CONNECTION: Duration = Duration::from_secs(600);
const PING_INTERVAL: Duration = Duration::from_secs(5);
const PING_TIMEOUT: Duration = Duration::from_secs(10);
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(10);

/// Builds the swarm; nothing listens or dials yet. `incarnation` differs from run to run, so that
/// others notice a restart behind a connection that they believe alive.
pub(crate) fn build(
    config: &OverlayConfig,
    keys: &Keypair,
    names: &Names,
    topics: &[Topic],
    incarnation: u64,
) -> Result<Swarm<Behaviour>, StartError> {
    let tuning = &config.tuning;
    let behaviour = behaviour(config, keys, names, topics, incarnation)?;
    let refuse = |reason: String| StartError::Settings { reason };
    let swarm = SwarmBuilder::with_existing_identity(keys.clone())
        .with_tokio()
        .with_tcp(
            tcp::Config::default().nodelay(true),
            noise::Config::new,
            yamux::Config::default,
        )
        .map_err(|e| refuse(e.to_string()))?
        .with_quic_config(|mut quic| {
            quic.handshake_timeout = tuning.handshake;
            quic.keep_alive_interval = tuning.keep_alive;
            quic.max_idle_timeout = u32::try_from(tuning.idle.as_millis()).unwrap_or(u32::MAX);
            quic
        })
        .with_behaviour(|_| behaviour)
        .map_err(|e| refuse(e.to_string()))?
        .with_swarm_config(|swarm| {
            swarm
                .with_idle_connection_timeout(IDLE_CONNECTION)
                .with_substream_upgrade_protocol_override(Version::V1Lazy)
                .with_smart_dial()
                .with_max_negotiating_inbound_streams(2 * config.limits.streams)
        })
        .with_connection_timeout(tuning.handshake * 2)
        .build();
    Ok(swarm)
}

fn behaviour(
    config: &OverlayConfig,
    keys: &Keypair,
    names: &Names,
    topics: &[Topic],
    incarnation: u64,
) -> Result<Behaviour, StartError> {
    let limits = &config.limits;
    let tuning = &config.tuning;
    let agent = format!("gridbay/{} {incarnation:016x}", env!("CARGO_PKG_VERSION"));
    let identify = identify::Config::new(names.identify(), keys.public())
        .with_agent_version(agent)
        // What others claim about themselves must pass `addresses` before we dial it.
        .with_cache_size(0);
    Ok(Behaviour {
        limits: connection_limits::Behaviour::new(connection_limits(limits)),
        blocked: allow_block_list::Behaviour::default(),
        identify: identify::Behaviour::new(identify),
        ping: ping::Behaviour::new(
            ping::Config::new()
                .with_interval(PING_INTERVAL)
                .with_timeout(PING_TIMEOUT),
        ),
        kad: kademlia(keys, names),
        gossip: gossip::build(keys, names, topics, tuning)?,
        request: frames(
            names.request(),
            limits.max_request,
            limits.max_response,
            limits,
            tuning,
        ),
        direct: frames(names.direct(), limits.max_direct, 0, limits, tuning),
    })
}

fn connection_limits(limits: &Limits) -> connection_limits::ConnectionLimits {
    connection_limits::ConnectionLimits::default()
        .with_max_established(Some(limits.connections))
        // A quarter is left to connections of our own choice, against being surrounded.
        .with_max_established_incoming(Some(limits.connections - limits.connections / 4))
        .with_max_established_per_peer(Some(limits.connections_per_peer))
        .with_max_pending_incoming(Some(limits.pending_connections))
        .with_max_pending_outgoing(Some(limits.pending_connections))
}

fn frames(
    protocol: libp2p::StreamProtocol,
    max_request: usize,
    max_response: usize,
    limits: &Limits,
    tuning: &Tuning,
) -> request_response::Behaviour<FrameCodec> {
    request_response::Behaviour::with_codec(
        FrameCodec {
            max_request,
            max_response,
        },
        [(protocol, ProtocolSupport::Full)],
        request_response::Config::default()
            .with_request_timeout(tuning.request)
            .with_max_concurrent_streams(limits.streams),
    )
}

/// Kademlia as a phone book only: we decide who enters it, and nobody stores records with us.
fn kademlia(keys: &Keypair, names: &Names) -> kad::Behaviour<MemoryStore> {
    let local = keys.public().to_peer_id();
    let store = MemoryStore::with_config(
        local,
        MemoryStoreConfig {
            max_records: 256,
            max_value_bytes: 4 << 10,
            max_providers_per_key: 8,
            max_provided_keys: 16,
        },
    );
    let mut config = kad::Config::new(names.kad());
    config
        .set_kbucket_inserts(kad::BucketInserts::Manual)
        .set_record_filtering(kad::StoreInserts::FilterBoth)
        .set_caching(kad::Caching::Disabled)
        .disjoint_query_paths(true)
        .set_parallelism(NonZeroUsize::new(3).expect("three is not zero"))
        .set_query_timeout(LOOKUP_TIMEOUT)
        .set_max_packet_size(16 << 10)
        .set_periodic_bootstrap_interval(None);
    let mut kad = kad::Behaviour::with_config(local, store, config);
    // Never left to itself: it would take a relay circuit for a public address. On a LAN everybody
    // serves; with NAT traversal, clients wait for a confirmed address of their own.
    kad.set_mode(Some(kad::Mode::Server));
    kad
}
