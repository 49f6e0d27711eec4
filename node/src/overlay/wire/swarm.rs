//! Construction of the swarm: protocols and their bounds.

use std::num::NonZeroUsize;
use std::time::Duration;

use libp2p::core::upgrade::Version;
use libp2p::identity::Keypair;
use libp2p::kad::store::{MemoryStore, MemoryStoreConfig};
use libp2p::request_response::{self, ProtocolSupport};
use libp2p::swarm::behaviour::toggle::Toggle;
use libp2p::{
    Swarm, allow_block_list, autonat, connection_limits, dcutr, identify, kad, mdns,
    memory_connection_limits, ping, relay, upnp,
};

use super::behaviour::Behaviour;
use super::codec::{FrameCodec, Intake};
use super::foreign::Refused;
use super::gossip::{self, Topic};
use super::transport::{self, Guards};
use crate::overlay::config::{Limits, OverlayConfig, RelayLimits, Tuning};
use crate::overlay::dht::table::ANSWER_BYTES;
use crate::overlay::error::StartError;
use crate::overlay::lines;
use crate::overlay::names::Names;
use crate::overlay::packets::{self, Incoming};
use crate::overlay::peers::gate::{self, Doors};
use crate::overlay::peers::metered::{Above, Metered};
use crate::overlay::reach::discreet::Discreet;
use gridbay_core::overlay as numbers;
use gridbay_protocol::limits::NODE_RECORD_BYTES;

/// A connection that no protocol uses is closed after this long. Longer than any pause between
/// messages, since neither requests nor pings count as use.
const IDLE_CONNECTION: Duration = Duration::from_secs(600);
/// Life of what providers say in the DHT.
const PROVIDERS_LIVE: Duration = Duration::from_secs(3600);

/// Builds the swarm; nothing listens or dials yet. Where the node is `local` all that traverses
/// NATs is left out. Also the streams that others will open.
pub(crate) fn build(
    config: &OverlayConfig,
    keys: &Keypair,
    names: &Names,
    topics: &[Topic],
    local: bool,
    guards: Guards,
) -> Result<(Swarm<Behaviour>, Incoming), StartError> {
    let tuning = &config.tuning;
    let (transport, relayed) = transport::build(keys, tuning, guards)?;
    let (packets, incoming) = packets::Behaviour::new(names.packets());
    let behaviour = behaviour(config, keys, names, topics, local, relayed, packets)?;
    let settings = libp2p::swarm::Config::with_tokio_executor()
        .with_idle_connection_timeout(IDLE_CONNECTION)
        // Saves a round trip, but a writer that drops a stream without waiting for an answer is
        // often not heard.
        .with_substream_upgrade_protocol_override(Version::V1Lazy)
        .with_smart_dial()
        .with_max_negotiating_inbound_streams(2 * config.limits.streams);
    let me = keys.public().to_peer_id();
    Ok((Swarm::new(transport, behaviour, me, settings), incoming))
}

/// This node's name for itself; it differs from run to run.
fn agent() -> Result<String, StartError> {
    let incarnation = getrandom::u64().map_err(|e| StartError::Settings {
        reason: format!("no randomness: {e}"),
    })?;
    Ok(format!(
        "gridbay/{} {incarnation:016x}",
        env!("CARGO_PKG_VERSION")
    ))
}

fn behaviour(
    config: &OverlayConfig,
    keys: &Keypair,
    names: &Names,
    topics: &[Topic],
    local: bool,
    relayed: relay::client::Behaviour,
    packets: packets::Behaviour,
) -> Result<Behaviour, StartError> {
    let (limits, tuning) = (&config.limits, &config.tuning);
    let me = keys.public().to_peer_id();
    let far = !local;
    let refused = Refused::default();
    let identify = identify::Config::new(names.identify(), keys.public())
        .with_agent_version(agent()?)
        // `discreet` decides what of ours is of use to each peer.
        .with_hide_listen_addrs(true)
        // Addresses that others claim must pass `addresses` before they are dialled.
        .with_cache_size(0);
    Ok(Behaviour {
        memory: memory_connection_limits::Behaviour::with_max_percentage(
            f64::from(limits.memory_percent.min(100)) / 100.0,
        ),
        relayed,
        relaying: config
            .relay
            .filter(|_| far)
            .map(|limits| relaying(me, &limits))
            .into(),
        punch: far.then(|| dcutr::Behaviour::new(me)).into(),
        probe: far.then(autonat::v2::client::Behaviour::default).into(),
        probing: far.then(autonat::v2::server::Behaviour::default).into(),
        upnp: (far && config.upnp)
            .then(upnp::tokio::Behaviour::default)
            .into(),
        lan: lan(far && config.mdns, me),
        observed: crate::overlay::reach::observed::Behaviour::default(),
        gate: gate::Behaviour::new(Doors::new(limits, tuning)),
        limits: connection_limits::Behaviour::new(connection_limits(limits)),
        blocked: allow_block_list::Behaviour::default(),
        identify: Discreet::new(identify::Behaviour::new(identify)),
        ping: ping::Behaviour::new(
            ping::Config::new()
                .with_interval(tuning.ping)
                .with_timeout(if far { tuning.ping } else { tuning.ping * 2 }),
        ),
        kad: Metered::new(
            kademlia(keys, names, limits),
            limits.quotas.dht,
            Above::Counted,
            limits.all(),
        ),
        gossip: Metered::new(
            gossip::build(keys, names, topics, limits, tuning, refused.clone())?,
            limits.quotas.gossip_frames,
            Above::Dropped,
            limits.all(),
        )
        .blaming(refused),
        packets,
        request: frames(
            names.request(),
            limits.max_request,
            limits.max_response,
            limits,
            tuning,
        ),
        lines: one_way(names, limits, tuning),
    })
}

/// One-way messages.
fn one_way(names: &Names, limits: &Limits, tuning: &Tuning) -> lines::Behaviour {
    let intake = || Intake::new(limits.max_direct, limits, tuning);
    lines::Behaviour::new(names.lines(), [intake(), intake()], tuning.request)
}

/// Looks for peers on the LAN. A machine without multicast has none.
fn lan(wanted: bool, me: libp2p::PeerId) -> Toggle<mdns::tokio::Behaviour> {
    let started = wanted.then(|| mdns::tokio::Behaviour::new(mdns::Config::default(), me));
    match started.transpose() {
        Ok(lan) => lan.into(),
        Err(error) => {
            tracing::info!(%error, "no discovery on the LAN");
            None.into()
        }
    }
}

/// Relays for others once `traverse` says so. Left to itself it would as soon as it has a place at
/// a relay.
fn relaying(me: libp2p::PeerId, limits: &RelayLimits) -> relay::Behaviour {
    let config = relay::Config {
        max_reservations: limits.places,
        max_circuits: limits.circuits,
        max_circuits_per_peer: limits.circuits_per_peer,
        max_circuit_bytes: limits.circuit_bytes,
        max_circuit_duration: limits.circuit_time,
        ..relay::Config::default()
    };
    let mut relaying = relay::Behaviour::new(me, config);
    relaying.set_status(Some(relay::Status::Disable));
    relaying
}

/// The limits beside the gate: connections of one peer, and dials.
fn connection_limits(limits: &Limits) -> connection_limits::ConnectionLimits {
    connection_limits::ConnectionLimits::default()
        .with_max_established_per_peer(Some(limits.connections_per_peer))
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
        FrameCodec::new(max_request, max_response, limits, tuning),
        [(protocol, ProtocolSupport::Full)],
        request_response::Config::default()
            .with_request_timeout(tuning.request)
            .with_max_concurrent_streams(limits.streams),
    )
}

/// Kademlia: we decide which peers enter the table (`table`) and what is kept for others
/// (`records`).
fn kademlia(keys: &Keypair, names: &Names, limits: &Limits) -> kad::Behaviour<MemoryStore> {
    let local = keys.public().to_peer_id();
    let store = MemoryStore::with_config(
        local,
        MemoryStoreConfig {
            max_records: limits.records,
            max_value_bytes: NODE_RECORD_BYTES,
            max_providers_per_key: 20,
            max_provided_keys: limits.records,
        },
    );
    let mut config = kad::Config::new(names.kad());
    config
        .set_kbucket_inserts(kad::BucketInserts::Manual)
        .set_record_filtering(kad::StoreInserts::FilterBoth)
        .set_caching(kad::Caching::Disabled)
        .disjoint_query_paths(true)
        .set_parallelism(NonZeroUsize::new(numbers::PARALLELISM).expect("it is not zero"))
        .set_query_timeout(numbers::LOOKUP_TIMEOUT)
        .set_max_packet_size(ANSWER_BYTES)
        // Owners publish anew by themselves, signed; see `records`.
        .set_publication_interval(None)
        .set_replication_interval(None)
        .set_provider_record_ttl(Some(PROVIDERS_LIVE))
        .set_provider_publication_interval(None)
        .set_periodic_bootstrap_interval(None);
    let mut kad = kad::Behaviour::with_config(local, store, config);
    // Never left to itself: it would take a circuit for a public address; `traverse` decides.
    kad.set_mode(Some(kad::Mode::Client));
    kad
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The model of the overlay counts with these numbers; libp2p's own settings must agree with
    /// them.
    #[test]
    fn the_shared_numbers_are_those_that_the_node_runs_by() {
        let (limits, far) = (Limits::default(), Tuning::wide_area());
        assert_eq!(kad::K_VALUE.get(), numbers::K);
        assert_eq!(gossip::MESH, numbers::MESH);
        assert_eq!(far.handshake * 2, numbers::DIAL_TIMEOUT);
        assert_eq!(limits.connections as usize, numbers::CONNECTIONS);
        assert_eq!(
            [far.redial_first, far.redial_max, far.idle, far.ping],
            [
                numbers::REDIAL_FIRST,
                numbers::REDIAL_MAX,
                numbers::IDLE,
                numbers::PING
            ]
        );
        assert_eq!(
            [
                limits.wanted_peers,
                limits.known_peers,
                limits.lookups,
                limits.records
            ],
            [
                numbers::WANTED_PEERS,
                numbers::KNOWN_PEERS,
                numbers::LOOKUPS,
                numbers::RECORDS
            ]
        );
        assert!(limits.wanted_peers < numbers::roomy(numbers::CONNECTIONS));
    }
}
