//! What the node relays of leases' networks: `cluster.relay`, `cluster.relay-bytes`,
//! `cluster.free-relay`.

use super::read::{read, size, text};
use super::{ConfigError, RawConfig, net};
use toml::Value;

/// Bytes in a day for each account where a node gives them without its owner's word.
pub const FREE_DAY: u64 = 64 << 20;

/// What the node relays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RelayConfig {
    /// Bytes in a slot for each leased unit; 0 for none.
    pub unit_slot: u64,
    /// Bytes in a day for each account that pays nothing, if the owner says how many.
    pub free_day: Option<u64>,
}

pub(super) fn check(raw: &RawConfig) -> Result<RelayConfig, ConfigError> {
    let sells = read(raw, "cluster.relay", net::switch)?;
    let bytes = read(raw, "cluster.relay-bytes", size)?;
    Ok(RelayConfig {
        unit_slot: if sells { bytes } else { 0 },
        free_day: read(raw, "cluster.free-relay", free)?,
    })
}

fn free(value: &Value) -> Result<Option<u64>, String> {
    match text(value)?.as_str() {
        "auto" => Ok(None),
        "off" => Ok(Some(0)),
        _ => size(value).map(Some),
    }
}
