//! Puts right what the derived schemas cannot say.
//!
//! 1. An object that takes no other names cannot be one of several parts of another (`allOf`): the
//!    parts become one object.
//! 2. Whole numbers get the bounds of their size.
//! 3. Descriptions are for people who do not read the sources: links to types become plain names,
//!    and what is absent is `null`.

use serde_json::{Map, Value, json};

pub(super) fn mend(document: &mut Value) {
    let schemas = document["components"]["schemas"].clone();
    walk(document, &schemas);
}

fn walk(at: &mut Value, schemas: &Value) {
    match at {
        Value::Object(map) => {
            if let Some(whole) = joined(map, schemas) {
                *map = whole;
            }
            bound(map);
            if let Some(Value::String(text)) = map.get_mut("description") {
                *text = plain(text);
            }
            map.values_mut().for_each(|value| walk(value, schemas));
        }
        Value::Array(list) => list.iter_mut().for_each(|value| walk(value, schemas)),
        _ => {}
    }
}

/// Step 1: the object of all parts; `None` of what is no such object.
fn joined(map: &Map<String, Value>, schemas: &Value) -> Option<Map<String, Value>> {
    let parts = map.get("allOf")?.as_array()?;
    let resolve = |part: &Value| match part["$ref"].as_str() {
        Some(place) => schemas[place.rsplit('/').next()?].as_object().cloned(),
        None => part.as_object().cloned(),
    };
    let parts: Vec<_> = parts.iter().map(resolve).collect::<Option<_>>()?;
    let mut whole = map.clone();
    whole.remove("allOf");
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for part in parts {
        if part.get("type")? != "object" {
            return None;
        }
        if let Some(own) = part.get("properties").and_then(Value::as_object) {
            properties.extend(own.clone());
        }
        let own = part.get("required").and_then(Value::as_array);
        required.extend(own.into_iter().flatten().cloned());
        for (name, value) in part {
            if !["properties", "required"].contains(&name.as_str()) {
                whole.entry(name).or_insert(value);
            }
        }
    }
    whole.insert("properties".to_owned(), Value::Object(properties));
    whole.insert("required".to_owned(), Value::Array(required));
    Some(whole)
}

/// Step 2.
fn bound(map: &mut Map<String, Value>) {
    if map.get("minimum").and_then(Value::as_i64) < Some(0) {
        return;
    }
    let most = match map.get("format").and_then(Value::as_str) {
        Some("int32" | "uint32") => u64::from(u32::MAX),
        Some("int64" | "uint64") => u64::MAX,
        _ => return,
    };
    map.entry("maximum").or_insert(json!(most));
    // The formats know no numbers without a sign.
    map.remove("format");
}

/// Step 3.
fn plain(text: &str) -> String {
    let mut told = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("[`") {
        let Some((name, behind)) = after.split_once("`]") else {
            break;
        };
        told.push_str(before);
        told.push_str(name.rsplit("::").next().unwrap_or(name));
        // The address of a link that has one.
        let address = behind.strip_prefix('(').and_then(|b| b.split_once(')'));
        rest = address.map_or(behind, |(_, behind)| behind);
    }
    told.push_str(rest);
    told.replace("`None`", "`null`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_take_no_other_names_become_one_object() {
        let closed = json!({"type": "object", "properties": {"a": {}}, "required": ["a"],
            "additionalProperties": false});
        let tag = json!({"type": "object", "properties": {"tag": {}}, "required": ["tag"]});
        let mut document = json!({
            "components": {"schemas": {"Closed": closed}},
            "x": {"allOf": [{"$ref": "#/components/schemas/Closed"}, tag]},
        });
        mend(&mut document);
        let whole = json!({"type": "object", "properties": {"a": {}, "tag": {}},
            "required": ["a", "tag"], "additionalProperties": false});
        assert_eq!(document["x"], whole);
    }

    #[test]
    fn whole_numbers_have_the_bounds_of_their_size() {
        let mut number = json!({"type": "integer", "format": "int32", "minimum": 0});
        walk(&mut number, &json!({}));
        assert_eq!(
            number,
            json!({"type": "integer", "minimum": 0, "maximum": 4_294_967_295_u64})
        );
        let mut signed = json!({"type": "integer", "format": "int32"});
        walk(&mut signed, &json!({}));
        assert_eq!(signed["format"], "int32");
    }

    #[test]
    fn links_become_plain_names() {
        for (said, told) in [
            ("As in [`PeerLine::name`].", "As in name."),
            (
                "An [`EffectProof`](crate::a::EffectProof): x [`y`",
                "An EffectProof: x [`y`",
            ),
            ("Plain [1], or `None`.", "Plain [1], or `null`."),
        ] {
            assert_eq!(plain(said), told);
        }
    }
}
