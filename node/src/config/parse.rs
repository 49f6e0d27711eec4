//! Texts that people write: durations, sizes, amounts, addresses.

use gridbay_protocol::limits;
use gridbay_protocol::units::Credits;
use libp2p::Multiaddr;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use std::time::Duration;

/// Longest duration, days.
const DAYS: u64 = 10_000;

/// A duration: a whole number with `ms`, `s`, `m`, `h` or `d`; parts may follow one another from
/// large to small (`1h30m`), a bare number is seconds. At most 10,000 days.
pub fn duration(text: &str) -> Result<Duration, String> {
    const DAY_MS: u64 = 86_400_000;
    let wrong = || format!("`{text}` is no duration: write 90s, 30m, 1h30m or 2d");
    let bounded = |ms: Option<u64>| {
        ms.filter(|ms| *ms <= DAYS * DAY_MS)
            .ok_or_else(|| format!("`{text}` is too long: {DAYS}d at the most"))
    };
    const UNITS: [(&str, u64); 5] = [
        ("d", DAY_MS),
        ("h", 3_600_000),
        ("m", 60_000),
        ("s", 1_000),
        ("ms", 1),
    ];
    if let Ok(seconds) = text.parse::<u64>() {
        return bounded(seconds.checked_mul(1_000)).map(Duration::from_millis);
    }
    let (mut rest, mut total, mut smallest) = (text, 0u64, u64::MAX);
    while !rest.is_empty() {
        let (count, after) = leading_number(rest).ok_or_else(wrong)?;
        let end = after
            .find(|c: char| c.is_ascii_digit())
            .unwrap_or(after.len());
        let (unit, next) = after.split_at(end);
        let (_, ms) = UNITS.iter().find(|u| u.0 == unit).ok_or_else(wrong)?;
        if *ms >= smallest {
            return Err(wrong());
        }
        smallest = *ms;
        let part = count.checked_mul(*ms);
        total = bounded(part.and_then(|part| total.checked_add(part)))?;
        rest = next;
    }
    if text.is_empty() {
        return Err(wrong());
    }
    Ok(Duration::from_millis(total))
}

/// A size in bytes: a whole number, bare or with `KiB`, `MiB`, `GiB`, `TiB` (powers of 1,024) or
/// `kB`, `MB`, `GB`, `TB` (powers of 1,000).
pub fn size(text: &str) -> Result<u64, String> {
    let wrong = || format!("`{text}` is no size: write 512MiB or 4GiB");
    let (count, unit) = leading_number(text).ok_or_else(wrong)?;
    let factor: u64 = match unit.trim_start() {
        "" | "B" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        "TiB" => 1 << 40,
        "kB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "TB" => 1_000_000_000_000,
        _ => return Err(wrong()),
    };
    count.checked_mul(factor).ok_or_else(wrong)
}

/// An amount of credits.
pub fn credits(text: &str) -> Result<Credits, String> {
    text.parse().map_err(|error| format!("`{text}`: {error}"))
}

/// A part of a whole in millionths: a number from 0 to 1 with at most six decimals.
pub fn part(text: &str) -> Result<u32, String> {
    let parsed: Option<Credits> = text.parse().ok();
    let millionths = parsed.and_then(|p| u32::try_from(p.micros()).ok());
    millionths
        .filter(|p| *p <= 1_000_000)
        .ok_or_else(|| format!("`{text}` is no part of a whole: write 0.25 or 1"))
}

/// A network address in multiaddr form.
pub fn address(text: &str) -> Result<Multiaddr, String> {
    let wrong = || format!("`{text}` is no address: write /ip4/192.0.2.7/udp/7411/quic-v1");
    if text.len() > limits::ADDRESS_CHARS {
        return Err(wrong());
    }
    text.parse().map_err(|_| wrong())
}

/// Credits in a configuration: text (`"2.5"`) or a whole number. Floats would be rounded before
/// anybody could check them.
pub(crate) fn credits_value<'de, D: Deserializer<'de>>(d: D) -> Result<Credits, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Form {
        Text(String),
        Whole(u64),
    }
    match Form::deserialize(d) {
        Ok(Form::Text(text)) => credits(&text).map_err(D::Error::custom),
        Ok(Form::Whole(number)) => credits(&number.to_string()).map_err(D::Error::custom),
        Err(_) => Err(D::Error::custom("want credits in quotes, as in \"2.5\"")),
    }
}

/// As [`credits_value`] for a field that may be absent.
pub(crate) fn optional_credits<'de, D: Deserializer<'de>>(
    d: D,
) -> Result<Option<Credits>, D::Error> {
    credits_value(d).map(Some)
}

fn leading_number(text: &str) -> Option<(u64, &str)> {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    digits.parse().ok().map(|n| (n, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        for (text, ms) in [
            ("90", 90_000),
            ("0", 0),
            ("1500ms", 1_500),
            ("30m", 1_800_000),
            ("1h30m", 5_400_000),
            ("2d", 172_800_000),
            ("1d1h1m1s1ms", 90_061_001),
        ] {
            assert_eq!(duration(text), Ok(Duration::from_millis(ms)), "{text}");
        }
        for bad in [
            "", "m", "-1s", "1.5h", "30m1h", "1h1h", "5w", " 5s", "5 s", "1h30",
        ] {
            assert!(duration(bad).is_err(), "{bad:?}");
        }
        assert_eq!(duration("10000d"), duration("864000000"));
        for long in ["10001d", "864000001", "99999999999999d", "10000d1ms"] {
            let told = duration(long).unwrap_err();
            assert_eq!(told, format!("`{long}` is too long: 10000d at the most"));
        }
    }

    #[test]
    fn sizes() {
        for (text, bytes) in [
            ("0", 0),
            ("512", 512),
            ("4GiB", 4 << 30),
            ("1 MiB", 1 << 20),
            ("3kB", 3_000),
        ] {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        for bad in ["", "GiB", "-1", "1.5GiB", "4gib", "99999999TiB", "4G"] {
            assert!(size(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn addresses() {
        assert!(address("/ip4/127.0.0.1/udp/0/quic-v1").is_ok());
        assert!(address("127.0.0.1:80").is_err());
        assert!(address(&format!("/dns/{}", "a".repeat(300))).is_err());
    }
}
