//! Protocol and topic names. Each carries the first 16 bytes of the network id, so nodes of two
//! networks have no protocol in common even when they reach one another.

use data_encoding::HEXLOWER;
use libp2p::StreamProtocol;

/// The names of one network.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    network: String,
}

impl Names {
    pub(crate) fn new(network: &[u8; 32]) -> Self {
        Self {
            network: HEXLOWER.encode(&network[..16]),
        }
    }

    /// The protocol version that identify must announce; any other is another network.
    pub(crate) fn identify(&self) -> String {
        format!("/gridbay/{}/1", self.network)
    }

    pub(crate) fn kad(&self) -> StreamProtocol {
        self.protocol("kad")
    }

    pub(crate) fn request(&self) -> StreamProtocol {
        self.protocol("request")
    }

    pub(crate) fn lines(&self) -> StreamProtocol {
        self.protocol("lines")
    }

    pub(crate) fn packets(&self) -> StreamProtocol {
        self.protocol("packets")
    }

    /// Prefix from which gossipsub derives its own versioned protocol names.
    pub(crate) fn gossip(&self) -> String {
        format!("/gridbay/{}/gossip", self.network)
    }

    /// Wire name of a topic.
    pub(crate) fn topic(&self, name: &str) -> String {
        format!("/gridbay/{}/{name}", self.network)
    }

    fn protocol(&self, name: &str) -> StreamProtocol {
        StreamProtocol::try_from_owned(format!("/gridbay/{}/{name}/1", self.network))
            .expect("a protocol name begins with a slash")
    }
}
