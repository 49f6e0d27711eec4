//! Configuration: from texts with an origin to checked, typed values.
//!
//! [`schema`] lists the settings, [`raw`] collects what was written where, and [`Config`] is what
//! the rest of the node sees: parsed, in range, paths resolved.

mod attributes;
mod home;
mod net;
pub mod parse;
mod provider;
pub mod raw;
pub mod schema;
mod solver;

pub use home::Home;
pub use net::NetConfig;
pub use provider::{PolicyName, ProviderConfig, ProviderError};
pub use raw::{Origin, RawConfig};
pub use solver::SolverConfig;

use gridbay_protocol::class::name_is_valid;
use gridbay_protocol::limits;
use gridbay_protocol::offer::Primary;
use gridbay_protocol::units::Credits;
use libp2p::Multiaddr;
use schema::KEYS;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
use toml::Value;

/// What settings are read from besides the file.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// The environment.
    pub env: BTreeMap<String, String>,
    /// Values of `--set`: `key=value`.
    pub flags: Vec<String>,
}

impl Sources {
    /// The process's environment and some flags. Variables that are not Unicode are passed over.
    pub fn of_process(flags: Vec<String>) -> Sources {
        let env = std::env::vars_os()
            .filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?)))
            .filter(|(name, _)| name.starts_with("GRIDBAY_"))
            .collect();
        Sources { env, flags }
    }
}

/// Why a configuration is refused.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("cannot read {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file is no TOML.
    #[error("{}, line {line}: {problem}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Line, from 1; 0 if unknown.
        line: usize,
        /// What is wrong.
        problem: String,
    },
    /// No setting has this name.
    #[error("no setting is called {name} ({origin})")]
    UnknownKey {
        /// As written.
        name: String,
        /// Where.
        origin: Origin,
    },
    /// A flag that is not `key=value`.
    #[error("`{0}` is no key=value")]
    NotASetting(String),
    /// A value that cannot be used.
    #[error("{key} ({origin}): {problem}")]
    Value {
        /// The setting.
        key: &'static str,
        /// Where its value was written.
        origin: Origin,
        /// What is wrong.
        problem: String,
    },
}

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
    /// Log filter.
    pub log: String,
    /// Between SIGTERM and SIGKILL.
    pub grace: Duration,
    /// Whether strangers' jobs run also where this machine cannot isolate them.
    pub unisolated: bool,
    /// What the node says of itself, by the names that adverts use.
    pub attributes: BTreeMap<String, String>,
    /// Offers to set at the start.
    pub offers: Vec<OfferConfig>,
    /// On what terms it runs batches of jobs under contract, if it does.
    pub provider: Option<ProviderConfig>,
    /// What looks for better allocations of reservations, if anything does.
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
            log: read(raw, "log", text)?,
            grace: read(raw, "grace", duration)?,
            offers: read(raw, "offers", |v| {
                v.clone()
                    .try_into()
                    .map_err(|e: toml::de::Error| e.message().to_owned())
            })?,
            unisolated: read(raw, "jobs.unisolated", net::switch)?,
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

fn read<T>(
    raw: &RawConfig,
    key: &'static str,
    parse: impl FnOnce(&Value) -> Result<T, String>,
) -> Result<T, ConfigError> {
    let (value, origin) = raw.get(key);
    parse(value).map_err(|problem| ConfigError::Value {
        key,
        origin,
        problem,
    })
}

fn text(value: &Value) -> Result<String, String> {
    let text = value.as_str().ok_or("want text in quotes")?;
    Ok(text.to_owned())
}

fn size(value: &Value) -> Result<u64, String> {
    match value {
        Value::Integer(n) => u64::try_from(*n).map_err(|_| "a size is never negative".into()),
        other => parse::size(&text(other)?),
    }
}

/// A duration, or a number of seconds.
fn duration(value: &Value) -> Result<Duration, String> {
    match value {
        Value::Integer(n) => parse::duration(&n.to_string()),
        value => parse::duration(&text(value)?),
    }
}

/// A duration that is not zero and at most `longest`, for which `too_long` is said.
fn some_time(value: &Value, longest: Duration, too_long: &str) -> Result<Duration, String> {
    match duration(value)? {
        Duration::ZERO => Err("want some time".to_owned()),
        time if time > longest => Err(too_long.to_owned()),
        time => Ok(time),
    }
}

fn addresses(value: &Value, least: usize) -> Result<Vec<Multiaddr>, String> {
    let list = value.as_array().ok_or("want a list of addresses")?;
    if !(least..=limits::ADDRESSES).contains(&list.len()) {
        return Err(format!("want {least} to {} addresses", limits::ADDRESSES));
    }
    list.iter().map(|v| parse::address(&text(v)?)).collect()
}

/// Bytes of a unix socket's path on Linux, without the closing zero.
const SOCKET_PATH_BYTES: usize = 107;

fn socket(value: &Value, home: &Home) -> Result<PathBuf, String> {
    let path = home.path().join(text(value)?);
    let path = std::path::absolute(&path).map_err(|e| e.to_string())?;
    if path.as_os_str().len() > SOCKET_PATH_BYTES {
        return Err(format!(
            "the path has more than {SOCKET_PATH_BYTES} bytes, which a unix socket cannot have"
        ));
    }
    Ok(path)
}

fn loopback(value: &Value) -> Result<Option<SocketAddr>, String> {
    let text = text(value)?;
    if text == "off" || text.is_empty() {
        return Ok(None);
    }
    match text.parse::<SocketAddr>() {
        Ok(address) if address.ip().is_loopback() => Ok(Some(address)),
        _ => Err(format!("`{text}` is neither off nor like 127.0.0.1:7412")),
    }
}
