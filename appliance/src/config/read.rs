//! Reading `invite.toml`: every key by hand, so that each mistake is told by its key.

use super::value::{address, class, host, key_digits, size};
use super::{Config, ConfigError, Credits, FILE_BYTES, Sell, Token};
use crate::text::{PREFIX, clean};
use toml::{Table, Value};

/// Most addresses to start from.
const ADDRESSES: usize = 16;
/// Longest piece of a file that an error quotes.
const QUOTED: usize = 80;
/// Most units of one offer.
const UNITS: i64 = 100_000;

impl Config {
    /// The settings in a file, or in a text that is an invitation alone.
    pub fn parse(bytes: &[u8]) -> Result<Config, ConfigError> {
        if bytes.len() > FILE_BYTES {
            return Err(ConfigError::TooLarge { most: FILE_BYTES });
        }
        let text = std::str::from_utf8(bytes).map_err(|_| ConfigError::NotText)?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let alone = text.trim();
        if begins_as_token(alone) {
            return Ok(Config {
                invitation: Some(token(alone)?),
                ..Config::default()
            });
        }
        let table: Table = text.parse().map_err(|error| syntax(text, &error))?;
        let mut config = Config::default();
        for (key, value) in &table {
            match key.as_str() {
                "invitation" => config.invitation = Some(token(text_of("invitation", value)?)?),
                "name" => config.name = Some(texted("name", value, host)?),
                "bootstrap" => config.bootstrap = addresses(value)?,
                "owner" => config.owner = Some(texted("owner", value, key_digits)?),
                "reset" => config.reset = Some(texted("reset", value, key_digits)?),
                "sell" => config.sell = sell(value)?,
                _ => return Err(unknown(key)),
            }
        }
        Ok(config)
    }
}

fn begins_as_token(text: &str) -> bool {
    let start = text.get(..PREFIX.len());
    start.is_some_and(|start| start.eq_ignore_ascii_case(PREFIX))
}

fn sell(value: &Value) -> Result<Sell, ConfigError> {
    let table = value
        .as_table()
        .ok_or_else(|| wrong("sell", "want a table"))?;
    let mut sell = Sell::default();
    for (key, value) in table {
        match key.as_str() {
            "class" => sell.class = Some(texted("sell.class", value, class)?),
            "units" => sell.units = Some(count("sell.units", value, 1)?),
            "reserve_vcpu" => sell.reserve_vcpu = count("sell.reserve_vcpu", value, 0)?,
            "reserve_memory" => {
                sell.reserve_memory_mib = texted("sell.reserve_memory", value, size)?;
            }
            "reserve_disk" => {
                sell.reserve_disk_mib = Some(texted("sell.reserve_disk", value, size)?);
            }
            "price" => sell.price = Some(price("sell.price", value)?),
            "buy" => sell.buy = Some(price("sell.buy", value)?),
            "off" => {
                let off = value.as_bool();
                sell.off = off.ok_or_else(|| wrong("sell.off", "want true or false"))?;
            }
            _ => return Err(unknown(&format!("sell.{key}"))),
        }
    }
    match (sell.price, sell.buy) {
        (Some(price), Some(buy)) if buy < price => {
            Err(wrong("sell.buy", "want no less than the price"))
        }
        _ => Ok(sell),
    }
}

fn text_of<'a>(key: &'static str, value: &'a Value) -> Result<&'a str, ConfigError> {
    value
        .as_str()
        .ok_or_else(|| wrong(key, "want text in quotes"))
}

fn texted<T>(
    key: &'static str,
    value: &Value,
    parse: impl FnOnce(&str) -> Result<T, String>,
) -> Result<T, ConfigError> {
    parse(text_of(key, value)?).map_err(|problem| wrong(key, problem))
}

fn token(text: &str) -> Result<Token, ConfigError> {
    Token::new(text).map_err(|problem| wrong("invitation", problem))
}

/// Credits in quotes, or a whole number. A fraction without quotes would be rounded first.
fn price(key: &'static str, value: &Value) -> Result<Credits, ConfigError> {
    match value {
        Value::Integer(number) => Credits::new(&number.to_string()),
        value => Credits::new(text_of(key, value)?),
    }
    .map_err(|problem| wrong(key, problem))
}

fn count(key: &'static str, value: &Value, least: i64) -> Result<u32, ConfigError> {
    let number = value.as_integer().filter(|n| (least..=UNITS).contains(n));
    number
        .and_then(|number| u32::try_from(number).ok())
        .ok_or_else(|| wrong(key, format!("want a whole number from {least} to {UNITS}")))
}

fn addresses(value: &Value) -> Result<Vec<String>, ConfigError> {
    const KEY: &str = "bootstrap";
    let list = value
        .as_array()
        .filter(|list| list.len() <= ADDRESSES)
        .ok_or_else(|| wrong(KEY, format!("want a list of at most {ADDRESSES} addresses")))?;
    list.iter().map(|one| texted(KEY, one, address)).collect()
}

fn wrong(key: &'static str, problem: impl Into<String>) -> ConfigError {
    ConfigError::Value {
        key,
        problem: problem.into(),
    }
}

fn unknown(key: &str) -> ConfigError {
    ConfigError::Unknown {
        key: clean(key, QUOTED),
    }
}

/// The parser's words without the line itself, which may hold the secret.
fn syntax(text: &str, error: &toml::de::Error) -> ConfigError {
    let start = error.span().map_or(0, |span| span.start);
    let before = text.bytes().take(start).filter(|b| *b == b'\n').count();
    ConfigError::Syntax {
        line: before + 1,
        problem: clean(error.message(), QUOTED),
    }
}
