//! Configuration: from texts with an origin to checked, typed values.
//!
//! [`schema`] lists the settings, [`raw`] collects the values with their places, and the rest of
//! the node sees [`Config`]: parsed, in range, paths resolved.

mod alerts;
mod attributes;
mod device;
mod example;
mod home;
mod net;
mod outbound;
mod owner;
pub mod parse;
mod provider;
pub mod raw;
mod read;
mod relay;
pub mod schema;
mod solver;
mod traces;

pub use alerts::{AlertLimits, AlertsConfig, Webhook};
pub use example::{example, named};
pub use home::{Home, Taken};
pub use net::NetConfig;
pub use owner::OwnerConfig;
pub use provider::{PolicyName, ProviderConfig, ProviderError};
pub use raw::{ConfigError, Origin, RawConfig, Sources};
pub use solver::SolverConfig;
pub use traces::TracesConfig;

use crate::executor::{Link, Outbound};
use gridbay_protocol::class::name_is_valid;
use gridbay_protocol::limits;
use gridbay_protocol::offer::Primary;
use gridbay_protocol::units::Credits;
use libp2p::Multiaddr;
use read::{addresses, duration, loopback, read, size, socket, socket_or_off, text};
pub use relay::{FREE_DAY, RelayConfig};
use schema::KEYS;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
use toml::Value;

/// A node's checked configuration.
#[derive(Clone, Debug)]
pub struct Config {
    /// Data folder.
    pub home: Home,
    /// Name for people.
    pub name: String,
    /// Addresses to listen on.
    pub listen: Vec<Multiaddr>,
    /// More nodes to start from; each ends in `/p2p/<id>`.
    pub bootstrap: Vec<Multiaddr>,
    /// How it is reached, and what it relays.
    pub net: NetConfig,
    /// The API.
    pub api: ApiConfig,
    /// Who controls it from afar.
    pub owner: OwnerConfig,
    /// The alerts that it sends its owner.
    pub alerts: AlertsConfig,
    /// The collector of traces, if there is one.
    pub traces: Option<TracesConfig>,
    /// Log filter.
    pub log: String,
    /// Between SIGTERM and SIGKILL.
    pub grace: Duration,
    /// The same at the most, for jobs that keep their progress.
    pub longest_grace: Duration,
    /// Socket of the launcher that starts jobs, if this node may not.
    pub launcher: Option<PathBuf>,
    /// How far jobs that ask for it get out of this machine.
    pub outbound: Outbound,
    /// Whether strangers' jobs run also where this machine cannot isolate them.
    pub unisolated: bool,
    /// UDP port for the private networks of leases; 0 for a free one.
    pub cluster_port: u16,
    /// What jobs' devices in those networks are; `None` for the best that this machine has.
    pub link: Option<Link>,
    /// What it carries for others' networks.
    pub relay: RelayConfig,
    /// The node's statements about itself, by the names that adverts use.
    pub attributes: BTreeMap<String, String>,
    /// Offers to set at the start.
    pub offers: Vec<OfferConfig>,
    /// On what terms it runs batches of jobs under contract, if it does.
    pub provider: Option<ProviderConfig>,
    /// The solver that looks for better allocations of reservations, if there is one.
    pub solver: Option<SolverConfig>,
    /// This node's own bounds.
    pub limits: NodeLimits,
}

/// Where the API listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiConfig {
    /// Unix socket, absolute.
    pub socket: PathBuf,
    /// Loopback TCP.
    pub listen: Option<SocketAddr>,
    /// Connections served at once by each listener, 1 to 10,000.
    pub connections: usize,
}

/// One offer of `offers`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OfferConfig {
    /// Name of the class.
    pub class: String,
    /// Units, at least 1.
    pub units: u32,
    /// Least credits per unit-hour.
    #[serde(deserialize_with = "parse::credits_value")]
    pub reserve: Credits,
    /// Buy-it-now credits per unit-hour.
    #[serde(default, deserialize_with = "parse::optional_credits")]
    pub buy: Option<Credits>,
    /// Seconds of notice before units are taken back; never if absent.
    #[serde(default)]
    pub notice: Option<u32>,
    /// Mechanism they are sold under first.
    #[serde(default)]
    pub mechanism: Primary,
}

/// Bounds of one node's own resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeLimits {
    /// Bytes of one staged file.
    pub content: u64,
    /// Bytes of all staged and returned files.
    pub stored: u64,
    /// Bytes kept of one stream of one rank.
    pub output: u64,
}

/// One line of `config show`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    /// The setting.
    pub key: String,
    /// Its value as text.
    pub value: String,
    /// Where it comes from.
    pub origin: Origin,
}

impl Config {
    /// Reads and checks everything.
    pub fn load(home: Home, sources: &Sources) -> Result<Config, ConfigError> {
        let raw = RawConfig::read(&home, sources)?;
        Config::check(home, &raw)
    }
    /// Checks raw values.
    pub fn check(home: Home, raw: &RawConfig) -> Result<Config, ConfigError> {
        Ok(Config {
            name: read(raw, "name", |v| {
                text(v).and_then(|name| {
                    name_is_valid(&name).then_some(name).ok_or_else(|| {
                        format!("want 1 to {} letters without spaces", limits::NAME_CHARS)
                    })
                })
            })?,
            listen: read(raw, "listen", |v| addresses(v, 1))?,
            bootstrap: read(raw, "bootstrap", |v| addresses(v, 0))?,
            net: net::check(raw)?,
            api: ApiConfig {
                socket: read(raw, "api.socket", |v| socket(v, &home))?,
                listen: read(raw, "api.listen", loopback)?,
                connections: read(raw, "api.connections", |v| match v.as_integer() {
                    Some(n @ 1..=10_000) => Ok(n as usize),
                    _ => Err("want a number from 1 to 10000".into()),
                })?,
            },
            owner: owner::check(raw)?,
            alerts: alerts::check(raw, &home)?,
            traces: traces::check(raw, &home)?,
            log: read(raw, "log", text)?,
            grace: read(raw, "grace", duration)?,
            longest_grace: read(raw, "jobs.longest-grace", duration)?,
            offers: read(raw, "offers", |v| {
                v.clone()
                    .try_into()
                    .map_err(|e: toml::de::Error| e.message().to_owned())
            })?,
            launcher: read(raw, "jobs.launcher", |v| socket_or_off(v, &home))?,
            outbound: read(raw, "jobs.outbound", outbound::policy)?,
            unisolated: read(raw, "jobs.unisolated", net::switch)?,
            cluster_port: read(raw, "cluster.port", net::port)?,
            link: read(raw, "cluster.device", device::link)?,
            relay: relay::check(raw)?,
            attributes: attributes::check(raw)?,
            provider: provider::check(raw)?,
            solver: solver::check(raw)?,
            limits: NodeLimits {
                content: read(raw, "limits.content", size)?,
                stored: read(raw, "limits.stored", size)?,
                output: read(raw, "limits.output", size)?,
            },
            home,
        })
    }
    /// Lines of `config show`; checks the values on the way.
    pub fn show(home: &Home, sources: &Sources) -> Result<Vec<Shown>, ConfigError> {
        let raw = RawConfig::read(home, sources)?;
        Config::check(home.clone(), &raw)?;
        let shown = |key: &schema::Key| {
            let (value, origin) = raw.get(key.name);
            Shown {
                key: key.name.to_owned(),
                value: match value {
                    Value::String(text) => text.clone(),
                    other => other.to_string(),
                },
                origin,
            }
        };
        Ok(KEYS.iter().map(shown).collect())
    }
}
