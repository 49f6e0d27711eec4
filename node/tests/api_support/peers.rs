//! The node that the backend for tests says it is, and its one peer.

use gridbay_node::api::types::{Ourselves, Path, PeerLine};
use gridbay_node::overlay::{Nat, Reach, Router};
use gridbay_protocol::keys::SecretKey;

/// A relay.
pub(super) const RELAY: &str = "12D3KooWEyoppNCUx8Yx66oV9fJnriXwCcXwDDUA2kj6vnc6iDEp";
const PEER: &str = "12D3KooWHdiAxVd8uMQR1hGWXccidmfCwLqcMpGwR6QcTP6QRMuD";

pub(super) fn ourselves() -> Ourselves {
    Ourselves {
        peer: RELAY.to_owned(),
        node: SecretKey::from_seed(&[2; 32]).public(),
        reach: Reach::Private,
        nat: Nat::Cone,
        external: vec![],
        refuted: vec![],
        relays: vec![RELAY.to_owned()],
        router: Router::None,
        places_given: 0,
        circuits: 0,
        direct: 1,
        relayed: 0,
        blocked: vec![],
        trusted: vec![],
    }
}

pub(super) fn peer_line() -> PeerLine {
    PeerLine {
        peer: PEER.to_owned(),
        node: Some(SecretKey::from_seed(&[5; 32]).public()),
        name: Some("ada".to_owned()),
        path: Path::Quic,
        via: None,
        address: "/ip4/192.0.2.7/udp/7411/quic-v1".to_owned(),
        rtt_us: Some(1_234),
        score: 0,
        connections: 1,
        kept: true,
        mesh: true,
        relays: false,
        trusted: false,
    }
}
