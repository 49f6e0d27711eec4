//! The settings `external`, `mdns`, `upnp` and `relay.*`: how this node is reached, and its
//! relaying for nodes that are not.

use super::raw::{ConfigError, RawConfig};
use super::read::{addresses, read, size, some_time, text};
use crate::overlay::RelayLimits;
use libp2p::Multiaddr;
use std::time::Duration;
use toml::Value;

/// Places, and circuits, at the most.
const MOST: i64 = 10_000;
/// Longest time for a circuit that may be given.
const LONGEST: Duration = Duration::from_secs(24 * 3_600);

/// The owner's settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetConfig {
    /// Where others reach this node, as its owner says.
    pub external: Vec<Multiaddr>,
    /// Whether to look for nodes on the LAN.
    pub mdns: bool,
    /// Whether to ask the router to forward ports.
    pub upnp: bool,
    /// The bounds of relaying for others; `None` for no relaying.
    pub relay: Option<RelayLimits>,
}

pub(super) fn check(raw: &RawConfig) -> Result<NetConfig, ConfigError> {
    let places = read(raw, "relay.places", |v| number(v, 0))?;
    let limits = RelayLimits {
        places,
        circuits: read(raw, "relay.circuits", |v| number(v, 1))?,
        circuit_bytes: read(raw, "relay.circuit-bytes", size)?,
        circuit_time: read(raw, "relay.circuit-time", |value| {
            some_time(value, LONGEST, "want a day at most")
        })?,
        ..RelayLimits::default()
    };
    Ok(NetConfig {
        external: read(raw, "external", |v| addresses(v, 0))?,
        mdns: read(raw, "mdns", switch)?,
        upnp: read(raw, "upnp", switch)?,
        relay: (places > 0).then_some(limits),
    })
}

fn number(value: &Value, least: i64) -> Result<usize, String> {
    match value.as_integer() {
        Some(n) if (least..=MOST).contains(&n) => Ok(n as usize),
        _ => Err(format!("want a number from {least} to {MOST}")),
    }
}

pub(super) fn port(value: &Value) -> Result<u16, String> {
    let port = value.as_integer().and_then(|n| u16::try_from(n).ok());
    port.ok_or_else(|| "want a port from 0 to 65535".to_owned())
}

pub(super) fn switch(value: &Value) -> Result<bool, String> {
    match text(value)?.as_str() {
        "on" => Ok(true),
        "off" => Ok(false),
        other => Err(format!("`{other}` is neither on nor off")),
    }
}
