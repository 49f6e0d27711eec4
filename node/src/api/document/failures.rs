//! The failures that an operation can end in, by their status: from the codes themselves, so that
//! none is told with another status than it is sent with.

use super::Told;
use crate::api::ErrorCode;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Name of the shared answer of a status.
fn name(status: u16) -> String {
    format!("Failure{status}")
}

/// Codes by their status.
fn by_status(codes: impl IntoIterator<Item = ErrorCode>) -> BTreeMap<u16, Vec<ErrorCode>> {
    let mut all: BTreeMap<u16, Vec<ErrorCode>> = BTreeMap::new();
    for code in codes {
        all.entry(code.status().as_u16()).or_default().push(code);
    }
    all
}

/// The shared answers: one for each status.
pub(super) fn shared() -> Map<String, Value> {
    let answer = |(status, codes): (u16, Vec<ErrorCode>)| {
        let names: Vec<_> = codes.iter().map(|code| code.name()).collect();
        let schema = json!({"allOf": [
            {"$ref": "#/components/schemas/ApiError"},
            {"type": "object", "properties": {"code": {"enum": names}}},
        ]});
        let answer = json!({
            "description": format!("Failed: {}.", names.join(" or ")),
            "content": {"application/json": {"schema": schema}},
        });
        (name(status), answer)
    };
    by_status(ErrorCode::ALL).into_iter().map(answer).collect()
}

/// References to those that an operation can end in.
pub(super) fn of(told: &Told) -> Map<String, Value> {
    let answer = |(status, _): (u16, _)| {
        let place = format!("#/components/responses/{}", name(status));
        (status.to_string(), json!({"$ref": place}))
    };
    let codes = ErrorCode::ALL
        .into_iter()
        .filter(|code| can_end(told, *code));
    by_status(codes).into_iter().map(answer).collect()
}

fn can_end(told: &Told, code: ErrorCode) -> bool {
    let changes = told.method != "get";
    let reads = changes || !told.parameters.is_empty();
    match code {
        ErrorCode::Usage | ErrorCode::NotFound => reads,
        ErrorCode::TooLarge => changes,
        ErrorCode::TooSlow => told.body.is_some(),
        ErrorCode::NoMatch | ErrorCode::Outbid | ErrorCode::InsufficientFunds => changes,
        ErrorCode::Conflict => changes,
        // Addresses that are there are not told with methods that they do not take.
        ErrorCode::WrongMethod => false,
        ErrorCode::Unreachable
        | ErrorCode::Timeout
        | ErrorCode::Unauthorised
        | ErrorCode::Refused
        | ErrorCode::Halted
        | ErrorCode::Internal
        | ErrorCode::WrongHost
        | ErrorCode::Busy
        | ErrorCode::TooMany => true,
    }
}
