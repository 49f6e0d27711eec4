//! A webhook: one HTTP request with the alert as its body.

use super::super::outbox::Outcome;
use crate::config::Webhook;
use crate::post::{self, Aim};
use hyper::StatusCode;
use hyper::header::{CONTENT_TYPE, HeaderMap};
use std::path::Path;
use std::time::Duration;

/// Time for names, connection, request and answer.
const PATIENCE: Duration = Duration::from_secs(10);

pub(super) async fn post(hook: &Webhook, authorities: Option<&Path>, json: Vec<u8>) -> Outcome {
    let aim = Aim {
        to: hook.clone(),
        authorities: authorities.map(Path::to_owned),
        setting: "alerts.authorities",
        patience: PATIENCE,
    };
    let headers = HeaderMap::from_iter([(CONTENT_TYPE, post::JSON)]);
    match post::post(&aim, headers, json.into()).await {
        Ok(status) => judged(status),
        Err(why) => Outcome::Failed(why),
    }
}

/// The meaning of an answer for the alert.
fn judged(status: StatusCode) -> Outcome {
    match status.as_u16() {
        200..300 => Outcome::Done,
        300..400 => Outcome::Refused(format!(
            "it answers {status}, and redirects are not followed: name the address itself"
        )),
        408 | 425 | 429 | 500.. => Outcome::Failed(format!("it answers {status}")),
        _ => Outcome::Refused(format!("it answers {status}")),
    }
}

#[cfg(test)]
mod tests;
