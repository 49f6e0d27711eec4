//! The settings `alerts.*`: what the node sends alerts of, and by which ways.

use super::home::Home;
use super::parse;
use super::raw::{ConfigError, RawConfig};
use super::read::{duration, read, text};
use gridbay_protocol::units::Credits;
use hyper::Uri;
use std::path::PathBuf;
use std::time::Duration;
use toml::Value;

/// Bytes of a webhook's address at the most.
const ADDRESS: usize = 2_048;
/// Words of a command at the most.
const WORDS: usize = 64;
/// Longest time that may be set.
const LONGEST: Duration = Duration::from_secs(30 * 86_400);

/// The owner's settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlertsConfig {
    /// The address that alerts are posted to.
    pub webhook: Option<Webhook>,
    /// A program and its arguments; empty for none.
    pub command: Vec<String>,
    /// The file that they are appended to as mail.
    pub file: Option<PathBuf>,
    /// File of certificates that webhooks are checked against; the machine's if `None`.
    pub authorities: Option<PathBuf>,
    /// Where alerts begin.
    pub limits: AlertLimits,
}

/// The owner's limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AlertLimits {
    /// A balance below this is low.
    pub balance: Credits,
    /// A lease that ends within so many milliseconds is told.
    pub lease_end_ms: u64,
    /// For how long, in milliseconds, what comes and goes must last before it is told, and anything
    /// must be over before that is.
    pub after_ms: u64,
}

/// An address of HTTP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Webhook {
    /// Whether it is one of HTTPS.
    pub tls: bool,
    /// Name or address of the host, without brackets.
    pub host: String,
    /// Port.
    pub port: u16,
    /// Host and port as written.
    pub authority: String,
    /// Path and query.
    pub target: String,
}

pub(super) fn check(raw: &RawConfig, home: &Home) -> Result<AlertsConfig, ConfigError> {
    let path = |key, none: &str| {
        let given = read(raw, key, |value| match text(value)? {
            name if name.is_empty() => Err(format!("want a file, or {none}")),
            name => Ok(name),
        })?;
        Ok((given != none).then(|| home.path().join(given)))
    };
    let ms = |key| {
        read(raw, key, |value| match duration(value)? {
            time if time > LONGEST => Err("want 30 days at most".to_owned()),
            time => Ok(u64::try_from(time.as_millis()).unwrap_or(u64::MAX)),
        })
    };
    Ok(AlertsConfig {
        webhook: read(raw, "alerts.webhook", |value| match text(value)?.as_str() {
            "off" => Ok(None),
            address => webhook(address).map(Some),
        })?,
        command: read(raw, "alerts.command", words)?,
        file: path("alerts.file", "off")?,
        authorities: path("alerts.authorities", "system")?,
        limits: AlertLimits {
            balance: read(raw, "alerts.balance", |v| parse::credits(&text(v)?))?,
            lease_end_ms: ms("alerts.lease-end")?,
            after_ms: ms("alerts.after")?,
        },
    })
}

fn words(value: &Value) -> Result<Vec<String>, String> {
    let list = value.as_array().ok_or("want a list of words")?;
    let words: Vec<String> = list.iter().map(text).collect::<Result<_, _>>()?;
    let fits = words.len() <= WORDS && words.iter().all(|word| !word.contains('\0'));
    match words.first() {
        Some(program) if program.is_empty() => Err("want a program first".to_owned()),
        _ if fits => Ok(words),
        _ => Err(format!("want {WORDS} words at most, without zero bytes")),
    }
}

/// An address that requests can go to as it is written.
pub(super) fn webhook(address: &str) -> Result<Webhook, String> {
    if address.len() > ADDRESS {
        return Err(format!("want an address of {ADDRESS} bytes at most"));
    }
    let uri: Uri = address
        .parse()
        .map_err(|error| format!("no address like http:// or https://...: {error}"))?;
    let tls = match uri.scheme_str() {
        Some("https") => true,
        Some("http") => false,
        _ => return Err("want off, or an address that begins with http:// or https://".to_owned()),
    };
    let authority = uri.authority().ok_or("want a host")?;
    if authority.as_str().contains('@') {
        return Err("want no user in the address: put a secret into its path".to_owned());
    }
    // Nothing follows the host, or a colon and a port that there is.
    let bare = authority.as_str() == authority.host();
    let port = match (authority.port_u16(), tls) {
        (Some(port), _) => Some(port),
        (None, true) => bare.then_some(443),
        (None, false) => bare.then_some(80),
    };
    let host = authority.host();
    let host = host.trim_start_matches('[').trim_end_matches(']');
    match port {
        Some(port) if port > 0 && !host.is_empty() => Ok(Webhook {
            tls,
            host: host.to_owned(),
            port,
            authority: authority.as_str().to_owned(),
            target: uri
                .path_and_query()
                .map_or("/", |path| path.as_str())
                .to_owned(),
        }),
        _ => Err("want a host, and a port that there is".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_http_or_https_and_has_no_user() {
        let hook = webhook("https://chat.example.org/hooks/x?y=1").unwrap();
        assert!(hook.tls && hook.port == 443 && hook.target == "/hooks/x?y=1");
        let hook = webhook("http://[::1]:8080").unwrap();
        assert!(!hook.tls && hook.port == 8080 && hook.host == "::1");
        assert_eq!(
            (hook.authority.as_str(), hook.target.as_str()),
            ("[::1]:8080", "/")
        );
        for bad in [
            "",
            "chat.example.org/x",
            "ftp://example.org/",
            "file:///etc/passwd",
            "http://",
            "http:///x",
            "http://user:secret@example.org/",
            "http://example.org:0/",
            "http://example.org:/",
            "http://example.org:70000/",
            "http://example.org/a b",
            "http://example.org/\r\nX: y",
            &format!("http://example.org/{}", "x".repeat(ADDRESS)),
        ] {
            assert!(webhook(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_command_is_a_program_and_its_arguments() {
        let list = |words: &[&str]| {
            Value::Array(
                words
                    .iter()
                    .map(|word| Value::String((*word).into()))
                    .collect(),
            )
        };
        assert_eq!(words(&list(&[])), Ok(vec![]));
        assert_eq!(
            words(&list(&["tell", ""])),
            Ok(vec!["tell".into(), String::new()])
        );
        for bad in [&["", "x"][..], &["a\0b"], &["x"; WORDS + 1]] {
            assert!(words(&list(bad)).is_err(), "{bad:?}");
        }
        assert!(words(&Value::Integer(1)).is_err());
    }
}
