//! The document as a whole.

use super::{Told, failures, mend};
use crate::api::{ApiError, idempotency, scope};
use serde_json::{Map, Value, json};
use utoipa::{PartialSchema as _, ToSchema as _};

const ABOUT: &str = "The interface of one gridbay node for programs of its owner: over the unix \
    socket of its data folder, and over HTTP on this machine if api.listen is set. Amounts are \
    decimal text in credits, prices are credits per node-hour, ids and keys are lower-case hex, \
    times end in _ms and count milliseconds since 1970. Absent values are null. A failure is an \
    object with code, message, hint and details.";

pub(super) fn whole(all: &[Told]) -> Value {
    let mut paths: Map<String, Value> = Map::new();
    for told in all {
        let path = paths
            .entry(told.path.replace("{*", "{"))
            .or_insert_with(|| json!({}));
        path[told.method] = operation(told);
    }
    let mut document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "gridbay",
            "version": env!("CARGO_PKG_VERSION"),
            "description": ABOUT,
            "license": {"name": env!("CARGO_PKG_LICENSE"), "identifier": env!("CARGO_PKG_LICENSE")},
        },
        "servers": [{"url": "/api/v1"}],
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": schemas(all),
            "responses": failures::shared(),
            "securitySchemes": {"token": {
                "type": "http",
                "scheme": "bearer",
                "description": "Over HTTP alone: a token of gridbay token create whose scope reaches the one \
                    named, or the content of api.token from the data folder, which may do all.",
            }},
        },
    });
    mend::mend(&mut document);
    document
}

fn operation(told: &Told) -> Value {
    let mut parameters = told.parameters.clone();
    if told.method == "post" {
        parameters.push(key());
    }
    let mut answers = told.answers.clone();
    answers.extend(failures::of(told));
    let mut operation = json!({
        "operationId": id(told),
        "tags": [told.tag],
        "summary": told.about,
        "security": [{"token": [scope::needed(told.method, told.path).name()]}],
        "parameters": parameters,
        "responses": answers,
    });
    if let Some(body) = &told.body {
        operation["requestBody"] = body.clone();
    }
    operation
}

/// As in `post_jobs_id_cancel`.
fn id(told: &Told) -> String {
    let name = |c: char| if c.is_ascii_alphanumeric() { c } else { ' ' };
    let path: String = told.path.chars().map(name).collect();
    let words: Vec<_> = path.split_whitespace().collect();
    format!("{}_{}", told.method, words.join("_"))
}

fn key() -> Value {
    let about = "The same key gives the same answer, and what is asked is done once.";
    json!({
        "name": idempotency::HEADER,
        "in": "header",
        "required": false,
        "description": about,
        "schema": {
            "type": "string",
            "minLength": idempotency::LENGTH.start(),
            "maxLength": idempotency::LENGTH.end(),
            "pattern": "^[!-~]+$",
        },
    })
}

fn schemas(all: &[Told]) -> Map<String, Value> {
    let error = serde_json::to_value(ApiError::schema()).map(|s| ("ApiError".to_owned(), s));
    let mut more = Vec::new();
    ApiError::schemas(&mut more);
    let more = more
        .into_iter()
        .filter_map(|(name, schema)| Some((name, serde_json::to_value(schema).ok()?)));
    let told = all.iter().flat_map(|told| told.schemas.iter().cloned());
    told.chain(error).chain(more).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::{checkpoint, job, limits};
    use std::collections::BTreeMap;

    #[test]
    fn no_two_types_have_one_name_in_the_document() {
        let routes = crate::routes::v1();
        let mut known: BTreeMap<&str, &Value> = BTreeMap::new();
        for (name, schema) in routes.told().iter().flat_map(|told| &told.schemas) {
            let first = known.entry(name).or_insert(schema);
            assert_eq!(*first, schema, "{name}");
        }
        assert!(known.len() > 100, "{}", known.len());
    }

    #[test]
    fn every_reference_leads_somewhere() {
        fn walk(at: &Value, whole: &Value) {
            match at {
                Value::Object(map) => {
                    if let Some(Value::String(place)) = map.get("$ref") {
                        let found = whole.pointer(place.trim_start_matches('#'));
                        assert!(found.is_some(), "{place}");
                    }
                    map.values().for_each(|value| walk(value, whole));
                }
                Value::Array(list) => list.iter().for_each(|value| walk(value, whole)),
                _ => {}
            }
        }
        let document = crate::routes::v1().document();
        walk(&document, &document);
        assert_eq!(document["openapi"], "3.1.0");
    }

    #[test]
    fn told_bounds_are_those_of_the_code() {
        let document = crate::routes::v1().document();
        let bound = |schema: &str, field: &str, word: &str| {
            let of = &document["components"]["schemas"][schema]["properties"][field];
            of[word].as_u64().unwrap()
        };
        for schema in ["Want", "Wish", "BidWish"] {
            let most = u64::from(limits::ORDER_UNITS);
            assert_eq!(bound(schema, "nodes", "maximum"), most, "{schema}");
        }
        let most = u64::from(limits::OFFER_UNITS);
        assert_eq!(bound("OfferRequest", "units", "maximum"), most);
        for list in ["argv", "env", "inputs", "outputs"] {
            assert_eq!(bound("JobRequest", list, "maxItems"), job::JOB_ITEMS as u64);
        }
        assert_eq!(
            bound("InputFile", "path", "maxLength"),
            job::JOB_TEXT as u64
        );
        assert_eq!(bound("InputFile", "bytes", "maximum"), job::INPUT_BYTES);
        let query = bound("FindRequest", "query", "maxLength");
        assert_eq!(query, gridbay_core::query::QUERY_BYTES as u64);
        let seconds = ["minimum", "maximum"].map(|word| {
            ["grace_seconds", "every_seconds"].map(|field| bound("Checkpoint", field, word) as u32)
        });
        let (grace, every) = (checkpoint::GRACE_SECONDS, checkpoint::EVERY_SECONDS);
        assert_eq!(seconds[0], [*grace.start(), *every.start()]);
        assert_eq!(seconds[1], [*grace.end(), *every.end()]);
    }

    #[test]
    fn operations_are_named_apart() {
        let routes = crate::routes::v1();
        let mut names: Vec<_> = routes.told().iter().map(id).collect();
        let all = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
