//! Text that people and scripts write: amounts, ids, JSON, paths.

use crate::golden::{self, Family};
use crate::{Target, Verdict, decoder};
use gridbay_core::key::OrderKey;
use gridbay_protocol::class::{Class, ClassKey, name_is_valid};
use gridbay_protocol::genesis::Genesis;
use gridbay_protocol::ids::{AccountId, ClassId};
use gridbay_protocol::job::{JobSpec, path_is_inside};
use gridbay_protocol::keys::PublicKey;
use gridbay_protocol::units::{Credits, Price};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;
use std::path::{Component, Path};

pub(crate) const CREDITS: Target = decoder(
    "credits_text",
    "text as an amount of credits: agrees with decimal arithmetic, and reads back as it is shown",
    credits,
    || {
        texts(&[
            "10",
            "0.005555",
            "1.5",
            "9223372036854.775807",
            "0",
            "007.50",
        ])
    },
);
pub(crate) const IDS: Target = decoder(
    "id_text",
    "text as an id, a key or an order's local name: shown in one form, and that form reads back",
    ids,
    || {
        let key = crate::ledgers::key(3).public().to_hex();
        let id = ClassId([0xab; 32]).to_hex();
        texts(&[&key, &id, &id.to_uppercase(), "0123456789abcdef"])
    },
);
pub(crate) const JSON: Target = decoder(
    "json",
    "JSON of the local API's types (job, class key, class, amounts): what is read writes and reads back",
    json,
    jsons,
);
pub(crate) const PATHS: Target = decoder(
    "paths",
    "text as a path of a job's file: one that counts as inside names no other place to the system",
    paths,
    || texts(&["a", "a/b", ".hidden", "out/result.csv", "a..b/c"]),
);

fn texts(all: &[&str]) -> Vec<Vec<u8>> {
    all.iter().map(|text| text.as_bytes().to_vec()).collect()
}

/// Reads an amount with nothing but decimal digits in wide arithmetic.
fn decimal(text: &str) -> Option<u64> {
    let (whole, rest) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |part: &str| {
        let plain = !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        plain.then(|| part.trim_start_matches('0').to_owned())
    };
    let (whole, _) = (digits(whole)?, digits(rest)?);
    if rest.len() > 6 || whole.len() > 20 {
        return None;
    }
    let number = |text: &str| text.parse::<u128>().unwrap_or(0);
    let micros = number(&whole) * 1_000_000 + number(&format!("{rest:0<6}"));
    u64::try_from(micros).ok().filter(|n| *n <= i64::MAX as u64)
}

fn credits(bytes: &[u8]) -> Verdict {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return Verdict::Refused;
    };
    let read = text.parse::<Credits>().ok();
    assert_eq!(read.map(Credits::micros), decimal(text), "{text:?}");
    let Some(amount) = read else {
        return Verdict::Refused;
    };
    assert_eq!(amount.to_string().parse(), Ok(amount), "as shown");
    for slot_ms in [1, 2_000, 3_600_000, u64::MAX] {
        if let Some(price) = Price::from_hourly(amount, slot_ms) {
            assert!(price <= Price::MAX);
            price.hourly(slot_ms);
        }
    }
    Verdict::Accepted
}

fn ids(bytes: &[u8]) -> Verdict {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return Verdict::Refused;
    };
    let lower = text.to_ascii_lowercase();
    let id = text.parse::<AccountId>().ok();
    if let Some(id) = id {
        assert_eq!(id.to_hex(), lower);
        assert!(lower.starts_with(&id.to_string()));
    }
    let key = text.parse::<PublicKey>().ok();
    if let Some(key) = key {
        assert_eq!(key.to_hex(), lower);
        assert_eq!(PublicKey::from_bytes(key.as_bytes()), Ok(key));
        assert!(id.is_some(), "a key is 32 bytes too");
    }
    let order = text.parse::<OrderKey>().ok();
    if let Some(order) = order {
        assert_eq!(order.to_string(), lower);
    }
    Verdict::of(id.is_some() || order.is_some())
}

/// JSON of a job, a class and an amount.
fn jsons() -> Vec<Vec<u8>> {
    let jobs = golden::values::<JobSpec>(Family::Job);
    let classes = golden::values::<Genesis>(Family::Genesis).remove(0).classes;
    let keys = classes.iter().map(|class| json_of(&class.key));
    let (jobs, all) = (jobs.iter().map(json_of), classes.iter().map(json_of));
    jobs.chain(keys)
        .chain(all)
        .chain([json_of(&Credits::MAX)])
        .collect()
}

fn json_of<T: Serialize>(value: &T) -> Vec<u8> {
    serde_json::to_vec(value).expect("values of the API are JSON")
}

fn reads_back<T>(bytes: &[u8], probe: impl FnOnce(&T)) -> bool
where
    T: Serialize + DeserializeOwned + PartialEq + Debug,
{
    let Ok(value) = serde_json::from_slice::<T>(bytes) else {
        return false;
    };
    let again: Option<T> = serde_json::from_slice(&json_of(&value)).ok();
    assert_eq!(again.as_ref(), Some(&value));
    probe(&value);
    true
}

fn json(bytes: &[u8]) -> Verdict {
    let job = reads_back::<JobSpec>(bytes, |spec| {
        spec.is_valid();
    });
    let key = reads_back::<ClassKey>(bytes, |key| {
        key.id();
    });
    let class = reads_back::<Class>(bytes, |class| {
        assert!(!class.is_valid() || name_is_valid(&class.name));
    });
    let amount = reads_back::<Credits>(bytes, |amount| assert!(*amount <= Credits::MAX));
    Verdict::of(job || key || class || amount)
}

fn paths(bytes: &[u8]) -> Verdict {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return Verdict::Refused;
    };
    if !path_is_inside(text) {
        return Verdict::Refused;
    }
    let path = Path::new(text);
    assert!(path.components().all(|c| matches!(c, Component::Normal(_))));
    assert_eq!(path.components().count(), text.split('/').count());
    assert!(!text.contains('\0'));
    Verdict::Accepted
}
