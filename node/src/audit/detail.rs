//! The fields of a request's body that its line in the log may have.

use crate::ui::is_unseen;
use axum::Form;
use axum::body::Bytes;
use axum::extract::{FromRequest as _, Request};
use axum::http::{Method, header};
use gridbay_protocol::units::Credits;
use serde_json::Value;
use std::collections::BTreeMap;

/// Names of fields that tell what an action is about and hold no secret. Programs, their arguments
/// and environments, notes, tokens and keys are not among them.
const NAMES: [&str; 31] = [
    "amount",
    "budget",
    "buy",
    "class",
    "endowment",
    "internet",
    "jobs",
    "label",
    "mark",
    "max_price",
    "mechanism",
    "name",
    "network",
    "node",
    "nodes",
    "notice_seconds",
    "order",
    "peer",
    "project",
    "reserve",
    "role",
    "scope",
    "seconds",
    "setting",
    "to",
    "transfers",
    "units",
    "user",
    "valid_seconds",
    "value",
    "want",
];
/// Characters of a value at the most.
const CHARS: usize = 80;
/// Bytes of all fields of a line at the most, so that lines with many long ones do not push older
/// lines out of the log.
const BYTES: usize = 1_024;
/// Tells how many fields there was no room for.
const LEFT_OUT: &str = "fields_left_out";

/// The fields of a body of JSON. Those within a known field, such as what a job wants, are named
/// behind it.
pub(super) fn of(body: &[u8]) -> BTreeMap<String, String> {
    let mut found = Vec::new();
    if let Ok(Value::Object(fields)) = serde_json::from_slice(body) {
        for (name, value) in fields.iter().filter(|(name, _)| known(name)) {
            match value {
                Value::Object(inner) => {
                    let inner = inner.iter().filter(|(name, _)| known(name));
                    found.extend(inner.filter_map(|(under, value)| {
                        Some((format!("{name}.{under}"), text(value)?))
                    }));
                }
                Value::Array(list) if name == "transfers" => {
                    found.push((name.clone(), together(list)));
                }
                value => found.extend(text(value).map(|text| (name.clone(), text))),
            }
        }
    }
    few(found)
}

/// The fields of a form; none of a body that is no form.
pub(super) async fn of_form(body: Bytes) -> BTreeMap<String, String> {
    let form = Request::builder()
        .method(Method::POST)
        .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
        .body(body.into());
    let Ok(form) = form else {
        return BTreeMap::new();
    };
    let read = Form::<Vec<(String, String)>>::from_request(form, &()).await;
    of_fields(read.map(|Form(fields)| fields).unwrap_or_default())
}

/// The fields of a form that was read elsewhere.
pub(super) fn of_fields(fields: Vec<(String, String)>) -> BTreeMap<String, String> {
    let known = fields.into_iter().filter(|(name, _)| known(name));
    few(known.map(|(name, value)| (name, shown(&value))).collect())
}

/// As many of the fields as a line has room for, the shortest first, so that one with much in it
/// hides no other.
fn few(mut found: Vec<(String, String)>) -> BTreeMap<String, String> {
    let bytes = |(name, value): &(String, String)| name.len() + value.len();
    found.sort_by_key(bytes);
    let (mut kept, mut room, all) = (BTreeMap::new(), BYTES, found.len());
    for field in found {
        let Some(rest) = room.checked_sub(bytes(&field)) else {
            break;
        };
        room = rest;
        kept.insert(field.0, field.1);
    }
    if kept.len() < all {
        kept.insert(LEFT_OUT.to_owned(), (all - kept.len()).to_string());
    }
    kept
}

fn known(name: &str) -> bool {
    NAMES.contains(&name)
}

/// Many transfers in a few words: each has its own line in the ledger's history.
fn together(list: &[Value]) -> String {
    let amounts = list.iter().filter_map(|one| one.get("amount")?.as_str());
    let sum = Credits::sum(amounts.filter_map(|text| text.parse().ok()));
    let sum = sum.map_or_else(|| "?".to_owned(), |sum| sum.to_string());
    format!("{}, of {sum} together", list.len())
}

fn text(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Bool(yes) => yes.to_string(),
        Value::Null | Value::Array(_) | Value::Object(_) => return None,
    };
    Some(shown(&text))
}

/// A value as a line has it: short, and without characters that take six bytes to write down.
fn shown(text: &str) -> String {
    let seen = |c: char| if is_unseen(c) { '?' } else { c };
    text.chars().take(CHARS).map(seen).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_secret_is_left_out() {
        let body = br#"{
            "name": "sweep", "argv": ["prog", "--password", "x1"], "env": [["KEY", "x2"]],
            "want": {"nodes": 4, "max_price": "2", "how": {"token": "x3"}, "secret": "x4"},
            "memo": "x5", "token": "x6", "internet": true, "to": null
        }"#;
        let found = of(body);
        let pairs: Vec<_> = found
            .iter()
            .map(|(k, v)| (k.as_str(), v.as_str()))
            .collect();
        assert_eq!(
            pairs,
            [
                ("internet", "true"),
                ("name", "sweep"),
                ("want.max_price", "2"),
                ("want.nodes", "4"),
            ]
        );
        assert!(of(b"[1]").is_empty() && of(b"").is_empty());
        let many = br#"{"transfers": [{"to": "a", "amount": "1.5", "memo": "x7"},
            {"to": "b", "amount": "2"}, {"amount": 3}, 4]}"#;
        assert_eq!(of(many)["transfers"], "4, of 3.5 together");
        let long = format!("{{\"name\": \"{}\"}}", "ä".repeat(200));
        assert_eq!(of(long.as_bytes())["name"].chars().count(), CHARS);
    }

    #[test]
    fn long_fields_make_no_long_line_and_hide_no_short_one() {
        let long = "\u{1}".repeat(CHARS);
        let inner: BTreeMap<_, _> = NAMES.iter().map(|name| (*name, &long)).collect();
        let mut body = serde_json::json!({"want": inner, "how": inner, "amount": "5"});
        for name in NAMES
            .iter()
            .filter(|name| !["want", "amount"].contains(name))
        {
            body[name] = serde_json::json!(inner);
        }
        let found = of(body.to_string().as_bytes());
        let line = serde_json::to_string(&found).unwrap();
        assert!(line.len() < 2 * BYTES, "{} bytes", line.len());
        assert_eq!((&found["amount"][..], found.len() > 5), ("5", true));
        let left: usize = found[LEFT_OUT].parse().unwrap();
        let all = (NAMES.len() - 1) * NAMES.len() + 1;
        assert_eq!(left + found.len() - 1, all, "{found:?}");
    }

    #[tokio::test]
    async fn a_form_has_the_same_fields_as_json() {
        let form = "to=beta&amount=2.5&memo=x1&token=x2&key=x3&argv=x4&label=a%20b%01";
        let found = of_form(form.into()).await;
        let pairs: Vec<_> = found
            .iter()
            .map(|(k, v)| (k.as_str(), v.as_str()))
            .collect();
        let told = [("amount", "2.5"), ("label", "a b?"), ("to", "beta")];
        assert_eq!(pairs, told);
        assert!(of_form("{}".into()).await.is_empty());
    }
}
