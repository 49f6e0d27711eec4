//! Places for whole nodes on a lab's hosts.

use super::{Kind, Lab};
use crate::network::Seat;
use crate::network::cli::both_transports;

/// The port of a node, where each has a host of its own.
pub(super) const PORT: u16 = 7411;

impl Lab {
    /// A host as a place for a node of a network: [`crate::network::Plan::seats`]. It is reached
    /// from anywhere where its network is `open` and has to find out elsewhere. The network must
    /// end before the lab does.
    ///
    /// # Errors
    /// There is no such host.
    pub fn seat(&self, host: &str) -> anyhow::Result<Seat> {
        let (link, _) = self.host(host)?;
        let open = link.network.kind == Kind::Open;
        let addresses = self.addresses(host)?.into_iter();
        let reached = addresses
            .filter(|address| open && address.is_ipv4())
            .flat_map(|address| both_transports(&address.to_string(), PORT));
        Ok(Seat {
            namespace: Some(self.path(host)?),
            listen: both_transports("0.0.0.0", PORT).to_vec(),
            reached: reached.collect(),
        })
    }
}
