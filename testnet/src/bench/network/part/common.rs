//! What all parts know of one another.

use super::super::turn::Turn;
use crate::say;
use gridbay_protocol::ids::{LeaseId, NetworkId};
use gridbay_vnet::address::{Plan, RankAddress};
use serde::{Deserialize, Serialize};

pub(super) const NETWORK: NetworkId = NetworkId([1; 32]);
pub(super) const LEASE: LeaseId = LeaseId([2; 32]);
/// Of flows, of questions for the count, of datagrams.
pub(super) const PORTS: [u16; 3] = [5201, 5202, 5203];

/// What a source found.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(in super::super) struct Report {
    /// Of the flow, as they arrived.
    pub(super) bytes: u64,
    /// From the first byte to the last.
    pub(super) seconds: f64,
    pub(super) idle_ms: Option<f64>,
    pub(super) loaded_ms: Option<f64>,
    /// Datagrams that arrived in a second.
    pub(super) small: Option<f64>,
}

impl Report {
    /// Prints it.
    pub(super) fn tell(&self) -> anyhow::Result<()> {
        say::line(&format!("report {}", serde_json::to_string(self)?));
        Ok(())
    }

    /// Of the flow, in Mbit/s.
    pub(in super::super) fn mbit(&self) -> f64 {
        self.bytes.max(1) as f64 * 8e-6 / self.seconds
    }

    /// With the seconds of CPU that the tool took meanwhile.
    pub(in super::super) fn turn(&self, cpu: f64) -> Turn {
        let bytes = self.bytes.max(1) as f64;
        Turn {
            mbit: self.mbit(),
            cpu_per_gb: cpu / (bytes * 1e-9),
            idle_ms: self.idle_ms.unwrap_or(f64::NAN),
            loaded_ms: self.loaded_ms.unwrap_or(f64::NAN),
            small: self.small.unwrap_or(f64::NAN),
        }
    }
}

/// The addresses of the rank at an end.
pub(in super::super) fn inner(rank: u32) -> RankAddress {
    let address = Plan::new(&NETWORK, &LEASE).rank(rank);
    address.unwrap_or(RankAddress {
        v4: std::net::Ipv4Addr::UNSPECIFIED,
        v6: std::net::Ipv6Addr::UNSPECIFIED,
    })
}
