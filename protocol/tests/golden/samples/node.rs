//! A record of the DHT.

use super::{NETWORK, key};
use gridbay_protocol::node_record::{NodeRecord, SignedNodeRecord};

/// A record with a direct address and a circuit.
pub(crate) fn record() -> SignedNodeRecord {
    let node = key(20);
    let relay = "12D3KooWPjceQrSwdWXPyLLeABRXmuqt69Rg3sBYbU1Nft9HyQ6X";
    let record = NodeRecord {
        node: node.public(),
        sequence: 1_700_000_000_123,
        expires: 1_700_001_800,
        addresses: vec![
            "/ip4/192.0.2.1/udp/7411/quic-v1".to_owned(),
            format!("/ip4/198.51.100.7/tcp/7411/p2p/{relay}/p2p-circuit"),
        ],
    };
    SignedNodeRecord::new(&NETWORK, record, &node)
}
