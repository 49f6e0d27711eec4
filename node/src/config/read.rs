//! Reading the kinds of values that settings have.

use super::home::Home;
use super::parse;
use super::raw::{ConfigError, RawConfig};
use gridbay_protocol::limits;
use libp2p::Multiaddr;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
use toml::Value;

/// A setting, parsed; a mistake in it is reported with its place.
pub(super) fn read<T>(
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

pub(super) fn text(value: &Value) -> Result<String, String> {
    let text = value.as_str().ok_or("want text in quotes")?;
    Ok(text.to_owned())
}

pub(super) fn size(value: &Value) -> Result<u64, String> {
    match value {
        Value::Integer(n) => u64::try_from(*n).map_err(|_| "a size is never negative".into()),
        other => parse::size(&text(other)?),
    }
}

/// A duration, or a number of seconds.
pub(super) fn duration(value: &Value) -> Result<Duration, String> {
    match value {
        Value::Integer(n) => parse::duration(&n.to_string()),
        value => parse::duration(&text(value)?),
    }
}

/// A duration that is not zero and at most `longest`, for which `too_long` is said.
pub(super) fn some_time(
    value: &Value,
    longest: Duration,
    too_long: &str,
) -> Result<Duration, String> {
    match duration(value)? {
        Duration::ZERO => Err("want some time".to_owned()),
        time if time > longest => Err(too_long.to_owned()),
        time => Ok(time),
    }
}

pub(super) fn addresses(value: &Value, least: usize) -> Result<Vec<Multiaddr>, String> {
    let list = value.as_array().ok_or("want a list of addresses")?;
    if !(least..=limits::ADDRESSES).contains(&list.len()) {
        return Err(format!("want {least} to {} addresses", limits::ADDRESSES));
    }
    list.iter().map(|v| parse::address(&text(v)?)).collect()
}

/// Bytes of a unix socket's path on Linux, without the closing zero.
const SOCKET_PATH_BYTES: usize = 107;

pub(super) fn socket(value: &Value, home: &Home) -> Result<PathBuf, String> {
    let path = home.path().join(text(value)?);
    let path = std::path::absolute(&path).map_err(|e| e.to_string())?;
    if path.as_os_str().len() > SOCKET_PATH_BYTES {
        return Err(format!(
            "the path has more than {SOCKET_PATH_BYTES} bytes, which a unix socket cannot have"
        ));
    }
    Ok(path)
}

/// A socket, or none at all.
pub(super) fn socket_or_off(value: &Value, home: &Home) -> Result<Option<PathBuf>, String> {
    match text(value)?.as_str() {
        "off" | "" => Ok(None),
        _ => socket(value, home).map(Some),
    }
}

pub(super) fn loopback(value: &Value) -> Result<Option<SocketAddr>, String> {
    let text = text(value)?;
    if text == "off" || text.is_empty() {
        return Ok(None);
    }
    match text.parse::<SocketAddr>() {
        Ok(address) if address.ip().is_loopback() => Ok(Some(address)),
        _ => Err(format!("`{text}` is neither off nor like 127.0.0.1:7412")),
    }
}
