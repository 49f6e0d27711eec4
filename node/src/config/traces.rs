//! The settings `traces.*`: the collector that gets traces of orders.

use super::alerts::{Webhook, webhook};
use super::home::Home;
use super::raw::{ConfigError, RawConfig};
use super::read::{read, text};
use std::path::PathBuf;
use toml::Value;

/// The owner's settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TracesConfig {
    /// The address that traces are posted to.
    pub endpoint: Webhook,
    /// Orders of which traces are sent, 1 to 100 percent.
    pub percent: u8,
    /// File of certificates that an address of HTTPS is checked against; the machine's if `None`.
    pub authorities: Option<PathBuf>,
}

/// `None` while the endpoint is `off`.
pub(super) fn check(raw: &RawConfig, home: &Home) -> Result<Option<TracesConfig>, ConfigError> {
    let endpoint = read(raw, "traces.endpoint", address)?;
    let percent = read(raw, "traces.sampled", share)?;
    let authorities = read(raw, "traces.authorities", |value| match text(value)? {
        name if name.is_empty() => Err("want a file, or system".to_owned()),
        name => Ok((name != "system").then(|| home.path().join(name))),
    })?;
    Ok(endpoint.map(|endpoint| TracesConfig {
        endpoint,
        percent,
        authorities,
    }))
}

/// An address with a path: collectors answer at `/v1/traces`, and at `/` with an error.
fn address(value: &Value) -> Result<Option<Webhook>, String> {
    let text = text(value)?;
    if text == "off" {
        return Ok(None);
    }
    let address = webhook(&text)?;
    match address.target.as_str() {
        "/" => Err("want the path as well, as in http://127.0.0.1:4318/v1/traces".to_owned()),
        _ => Ok(Some(address)),
    }
}

fn share(value: &Value) -> Result<u8, String> {
    let percent = value.as_integer().and_then(|n| u8::try_from(n).ok());
    let percent = percent.filter(|percent| (1..=100).contains(percent));
    percent.ok_or_else(|| "want a number from 1 to 100; for none, traces.endpoint off".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Sources};

    fn with(flags: &[&str]) -> Result<Option<TracesConfig>, ConfigError> {
        let dir = tempfile::tempdir().unwrap();
        let sources = Sources {
            flags: flags.iter().map(|flag| (*flag).to_owned()).collect(),
            ..Sources::default()
        };
        Config::load(Home::new(dir.path()), &sources).map(|config| config.traces)
    }

    #[test]
    fn traces_are_off_unless_an_address_is_named() {
        assert_eq!(with(&[]).unwrap(), None);
        assert_eq!(with(&["traces.sampled=5"]).unwrap(), None);
        let flags = [
            "traces.endpoint=http://127.0.0.1:4318/v1/traces",
            "traces.sampled=5",
        ];
        let on = with(&flags).unwrap().unwrap();
        let place = (
            on.endpoint.host.as_str(),
            on.endpoint.port,
            on.endpoint.target.as_str(),
        );
        assert_eq!(place, ("127.0.0.1", 4318, "/v1/traces"));
        assert_eq!((on.percent, on.authorities), (5, None));
    }

    #[test]
    fn what_no_collector_can_be_at_is_refused() {
        for (flag, why) in [
            ("traces.endpoint=http://127.0.0.1:4318", "/v1/traces"),
            ("traces.endpoint=127.0.0.1:4318/v1/traces", "http://"),
            ("traces.endpoint=grpc://127.0.0.1:4317/", "http://"),
            (
                "traces.endpoint=http://ada:secret@127.0.0.1:4318/v1/traces",
                "no user",
            ),
            ("traces.sampled=0", "1 to 100"),
            ("traces.sampled=101", "1 to 100"),
            ("traces.authorities=", "a file"),
        ] {
            let error = with(&[flag]).unwrap_err().to_string();
            assert!(error.contains(why), "{flag}: {error}");
        }
    }
}
