//! The setting `attributes`: the node's statements about itself for those that look for sellers.
//!
//! `site`, `arch` and `os` have those names; any other name is the owner's own, and queries know it
//! with `x.` before it. `arch` and `os` are found out where they are not set.

use super::raw::{ConfigError, RawConfig};
use super::read::read;
use crate::ui::is_unseen;
use gridbay_core::query::attribute::{NAME_CHARS, OWN, name_is_valid};
use gridbay_protocol::limits;
use std::collections::BTreeMap;
use toml::Value;

/// Attributes that may be set.
const MOST: usize = 16;
/// Characters of a value.
const VALUE_CHARS: usize = 64;
/// Names without `x.`.
const FIXED: [&str; 3] = ["site", "arch", "os"];

/// The attributes that the node adds about its sandbox.
const OF_THE_SANDBOX: usize = 2;

const _: () = assert!(MOST + FIXED.len() + OF_THE_SANDBOX <= limits::ADVERT_ATTRIBUTES);
const _: () = assert!(VALUE_CHARS <= limits::ADDRESS_CHARS && NAME_CHARS < VALUE_CHARS);

pub(super) fn check(raw: &RawConfig) -> Result<BTreeMap<String, String>, ConfigError> {
    let mut all = found_out();
    all.extend(read(raw, "attributes", attributes)?);
    Ok(all)
}

/// As packages name them, which is what most people write.
fn found_out() -> BTreeMap<String, String> {
    let arch = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    let os = std::env::consts::OS;
    [("arch", arch), ("os", os)]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into()
}

fn attributes(value: &Value) -> Result<BTreeMap<String, String>, String> {
    let table = value
        .as_table()
        .ok_or("want a table, as in { site = \"cs.example.edu\" }")?;
    if table.len() > MOST {
        return Err(format!("want {MOST} attributes at most"));
    }
    table.iter().map(|(name, value)| one(name, value)).collect()
}

fn one(name: &str, value: &Value) -> Result<(String, String), String> {
    let bare = name.strip_prefix(OWN).unwrap_or(name);
    if !name_is_valid(bare) {
        return Err(format!(
            "`{name}`: want a letter, then letters, digits, _ and -, all small, {NAME_CHARS} at most"
        ));
    }
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Integer(number) => number.to_string(),
        Value::Boolean(on) => on.to_string(),
        _ => {
            return Err(format!(
                "`{name}`: want a text, a whole number, true or false"
            ));
        }
    };
    let length = text.chars().count();
    if !(1..=VALUE_CHARS).contains(&length) || text.len() > limits::ADDRESS_CHARS {
        return Err(format!("`{name}`: want 1 to {VALUE_CHARS} characters"));
    }
    if text.chars().any(is_unseen) {
        return Err(format!("`{name}`: want characters that can be shown"));
    }
    let name = match FIXED.contains(&name) {
        true => name.to_owned(),
        false => format!("{OWN}{bare}"),
    };
    Ok((name, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(text: &str) -> Result<BTreeMap<String, String>, String> {
        attributes(&Value::Table(toml::from_str(text).unwrap()))
    }

    #[test]
    fn own_names_get_their_prefix_and_values_become_texts() {
        let said = checked("site = \"cs.example.edu\"\ngpu-model = \"A100\"\necc = true\nn = 3");
        let pairs = [
            ("site", "cs.example.edu"),
            ("x.ecc", "true"),
            ("x.gpu-model", "A100"),
            ("x.n", "3"),
        ];
        let expected = pairs.map(|(k, v)| (k.to_owned(), v.to_owned())).into();
        assert_eq!(said, Ok(expected));
    }

    #[test]
    fn what_is_out_of_bounds_is_refused() {
        let long = format!("a = \"{}\"", "b".repeat(65));
        let many: String = (0..17).map(|n| format!("a{n} = 1\n")).collect();
        for bad in [
            "Site = \"a\"",
            "a = \"\"",
            "a = \"\\u0007\"",
            "a = 1.5",
            &long,
            &many,
        ] {
            assert!(checked(bad).is_err(), "{bad}");
        }
    }
}
