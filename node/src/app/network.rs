//! Between the overlay and the core thread.

use super::acquaintances;
use crate::body::ask::{key_of, peer_of};
use crate::body::{ADVERTS_TOPIC, BodyGone, BodyHandle, Message, Sent, Tools};
use crate::config::Config;
use crate::keys::NodeKeys;
use crate::overlay::{
    self, Event, Limits, Mark, Multiaddr, OverlayConfig, OverlayHandle, PeerId, TopicConfig,
    TransportSeed, Tuning, Verdict,
};
use crate::owner::Asked;
use crate::store::marks::MarkBook;
use anyhow::Context as _;
use gridbay_core::agent::{REPLY_BYTES, REQUEST_BYTES};
use gridbay_core::input::Input;
use gridbay_core::steer::wire::is_question;
use gridbay_host::limits::SYNC_MESSAGE_BYTES;
use gridbay_protocol::genesis::{Genesis, Member};
use gridbay_protocol::ids::NetworkId;
use gridbay_protocol::invitation::{Bootstrap, Invitation};
use gridbay_protocol::keys::PublicKey;
use gridbay_protocol::limits::ADVERT_BYTES;
use std::net::IpAddr;
use tokio::sync::mpsc;

/// Founders named in an invitation at the most.
const FOUNDERS: usize = 8;

/// The addresses at which this machine is reached, also by way of its router.
pub(super) fn own_hosts(net: &OverlayHandle) -> impl Fn() -> Vec<IpAddr> + Send + Sync + 'static {
    let net = net.clone();
    move || {
        let (own, known) = (net.addresses(), net.whereabouts());
        let all = own.iter().chain(&known.external);
        let direct = all.filter(|address| !overlay::is_circuit(address));
        direct.filter_map(overlay::ip).chain(known.seen).collect()
    }
}

/// Nodes to start from: configured ones, the inviter's, the founders'.
pub(super) fn bootstrap_peers(
    config: &Config,
    invitation: Option<&Invitation>,
    genesis: Option<&Genesis>,
) -> Vec<(PeerId, Multiaddr)> {
    let mut peers: Vec<_> = config
        .bootstrap
        .iter()
        .filter_map(overlay::split_peer)
        .collect();
    let invited = invitation
        .iter()
        .flat_map(|i| &i.bootstrap)
        .map(|b| (b.node, &b.addresses));
    let founders = genesis
        .iter()
        .flat_map(|g| &g.members)
        .filter_map(|m| m.validator.as_ref().map(|v| (v.node, &m.addresses)));
    for (node, addresses) in invited.chain(founders) {
        let Some(peer) = peer_of(&node) else { continue };
        let parsed = addresses.iter().filter_map(|a| a.parse::<Multiaddr>().ok());
        peers.extend(parsed.map(|address| (peer, address)));
    }
    peers
}

/// The founders' nodes, for invitations.
pub(super) fn founders(genesis: &Genesis) -> Vec<Bootstrap> {
    let of_member = |m: &Member| {
        let node = m.validator.as_ref()?.node;
        Some(Bootstrap {
            node,
            addresses: m.addresses.clone(),
        })
    };
    genesis
        .members
        .iter()
        .filter_map(of_member)
        .take(FOUNDERS)
        .collect()
}

/// Where the genesis says that this node is, but for what its owner says with `external` too.
pub(super) fn promised(genesis: &Genesis, node: PublicKey, config: &Config) -> Vec<Multiaddr> {
    let own = |m: &&Member| m.validator.as_ref().is_some_and(|v| v.node == node);
    let addresses = genesis
        .members
        .iter()
        .filter(own)
        .flat_map(|m| &m.addresses);
    addresses
        .filter_map(|a| a.parse().ok())
        .filter(|address| !config.net.external.contains(address))
        .collect()
}

/// Starts the overlay and waits until its listeners are up. A founder is reached where the genesis
/// says.
pub(super) async fn start(
    config: &Config,
    keys: &NodeKeys,
    network: NetworkId,
    bootstrap: Vec<(PeerId, Multiaddr)>,
    marks: &MarkBook,
) -> anyhow::Result<(OverlayHandle, mpsc::Receiver<Event>)> {
    let own = peer_of(&keys.node());
    let (ours, bootstrap): (Vec<_>, Vec<_>) = bootstrap
        .into_iter()
        .partition(|(peer, _)| Some(*peer) == own);
    let founded = ours.into_iter().map(|(_, address)| address);
    let config = OverlayConfig {
        bootstrap,
        known: acquaintances::read(&config.home),
        external: config.net.external.iter().cloned().chain(founded).collect(),
        relay: config.net.relay,
        blocked: marks.with(Mark::Blocked),
        trusted: marks.with(Mark::Trusted),
        mdns: config.net.mdns,
        upnp: config.net.upnp,
        topics: vec![TopicConfig::new(ADVERTS_TOPIC, ADVERT_BYTES)],
        limits: Limits {
            max_request: REQUEST_BYTES,
            max_response: REPLY_BYTES,
            max_direct: SYNC_MESSAGE_BYTES,
            ..Limits::default()
        },
        ..OverlayConfig::new(
            TransportSeed(keys.transport.seed()),
            *network.as_bytes(),
            config.listen.clone(),
            tuning(&config.listen),
        )
    };
    overlay::start(config)
        .await
        .context("cannot start the overlay")
}

/// A node that listens on this machine alone has all its peers on it; any other may be far from its
/// peers.
fn tuning(listen: &[Multiaddr]) -> Tuning {
    let here = |address: &Multiaddr| {
        let text = address.to_string();
        text.starts_with("/ip4/127.") || text.starts_with("/ip6/::1/")
    };
    if listen.iter().all(here) {
        Tuning::local()
    } else {
        Tuning::wide_area()
    }
}

/// Stays connected to the other validators; if this is the node of none, some of them rest
/// ([`crate::anchors`]), but not those that the settings name.
pub(super) fn keep_validators(
    tools: &Tools,
    genesis: &Genesis,
    own: PublicKey,
    named: &[Multiaddr],
) {
    let net = &tools.overlay;
    let mut kept = Vec::new();
    for member in &genesis.members {
        let Some(validator) = member.validator.as_ref().filter(|v| v.node != own) else {
            continue;
        };
        let addresses = member.addresses.iter().filter_map(|a| a.parse().ok());
        let Some(peer) = peer_of(&validator.node) else {
            continue;
        };
        if let Err(error) = net.keep(peer, addresses.collect()) {
            tracing::warn!(member = member.name, %error, "cannot keep a validator connected");
        }
        kept.push(peer);
    }
    let of_own = |member: &Member| member.validator.as_ref().is_some_and(|v| v.node == own);
    if !genesis.members.iter().any(of_own) {
        let named: Vec<_> = named.iter().filter_map(overlay::split_peer).collect();
        kept.retain(|peer| named.iter().all(|(named, _)| named != peer));
        tokio::spawn(tools.anchors.clone().attend(net.clone(), kept));
    }
}

/// Carries events of the overlay to the core thread, until either ends. Questions of nodes that
/// would control this one go to `owners` instead: they are answered in any state of the core.
pub(super) async fn carry(
    mut events: mpsc::Receiver<Event>,
    handle: BodyHandle,
    net: OverlayHandle,
    owners: mpsc::Sender<Asked>,
) {
    let mut dropped = 0u64;
    while let Some(event) = events.recv().await {
        let Some(event) = to_owners(event, &owners, &net) else {
            continue;
        };
        match take(event, &handle, &net).await {
            Ok(()) | Err(BodyGone::Halted) => {}
            Err(BodyGone::Stopped) => return,
            Err(BodyGone::Busy) => {
                dropped += 1;
                if dropped.is_power_of_two() {
                    tracing::warn!(dropped, "messages of peers dropped: the node is behind");
                }
            }
        }
    }
}

/// Hands on a question of an owner's; the event, if it is another one.
fn to_owners(event: Event, owners: &mpsc::Sender<Asked>, net: &OverlayHandle) -> Option<Event> {
    let (peer, request, bytes) = match event {
        Event::Request { peer, id, bytes } if is_question(&bytes) => (peer, id, bytes),
        other => return Some(other),
    };
    let asked = key_of(&peer).map(|from| Asked {
        from,
        request,
        bytes,
    });
    let taken = asked.is_some_and(|asked| owners.try_send(asked).is_ok());
    if !taken {
        let _gone = net.refuse(request);
    }
    None
}

async fn take(event: Event, handle: &BodyHandle, net: &OverlayHandle) -> Result<(), BodyGone> {
    match event {
        Event::Listening { address } => tracing::info!(%address, "listening"),
        Event::PeerConnected { peer } => {
            if let Some(key) = key_of(&peer) {
                handle.deliver(Input::PeerUp(key)).await;
            }
        }
        Event::PeerDisconnected { peer } => {
            if let Some(key) = key_of(&peer) {
                handle.deliver(Input::PeerDown(key)).await;
            }
        }
        Event::Message { id, via, bytes, .. } => {
            let via = key_of(&via).map(|key| *key.as_bytes());
            hand_on(Message::Advert { id, via, bytes }, handle, net)?;
        }
        Event::Direct { peer, bytes } => {
            if let Some(from) = key_of(&peer) {
                hand_on(Message::Input(Input::Host { from, bytes }), handle, net)?;
            }
        }
        Event::Request { peer, id, bytes } => match key_of(&peer) {
            Some(from) => {
                let request = id;
                let asked = Message::Asked {
                    request,
                    from,
                    bytes,
                };
                hand_on(asked, handle, net)?;
            }
            None => {
                let _gone = net.refuse(id);
            }
        },
    }
    Ok(())
}

/// Hands a message of a peer to the core. If it is dropped, or others are for it, those are
/// answered now.
fn hand_on(message: Message, handle: &BodyHandle, net: &OverlayHandle) -> Result<(), BodyGone> {
    let (unheard, gone) = match handle.try_send(message) {
        Sent::Kept => return Ok(()),
        Sent::Dropped(unheard) => (unheard, BodyGone::Busy),
        Sent::Refused(unheard) => (vec![unheard], BodyGone::Busy),
        Sent::Closed(unheard) => (vec![unheard], BodyGone::Stopped),
    };
    for message in unheard {
        let _gone = match message {
            Message::Advert { id, .. } => net.report(id, Verdict::Ignore),
            Message::Asked { request, .. } => net.refuse(request),
            _ => Ok(()),
        };
    }
    Err(gone)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_fit_the_place() {
        let on = |texts: &[&str]| {
            let listen: Vec<Multiaddr> = texts.iter().map(|t| t.parse().unwrap()).collect();
            tuning(&listen)
        };
        assert_eq!(
            on(&["/ip4/127.0.0.1/tcp/0", "/ip6/::1/udp/0/quic-v1"]),
            Tuning::local()
        );
        assert_eq!(
            on(&["/ip4/127.0.0.1/tcp/0", "/ip4/0.0.0.0/tcp/1"]),
            Tuning::wide_area()
        );
    }
}
