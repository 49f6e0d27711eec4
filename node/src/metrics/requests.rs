//! Requests of the API: how many, what became of them, how long they took.

use super::histogram::Histogram;
use super::text::Text;
use axum::http::StatusCode;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Bounds of the time to the head of an answer. Some questions wait for a block.
const TIMES: &[u64] = &[
    1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000,
    5_000_000, 10_000_000, 30_000_000,
];

/// Requests of the API.
#[derive(Debug)]
pub(super) struct Requests {
    times: Histogram,
    /// By noun and outcome: as many as there are addresses, whatever callers ask for.
    counts: Mutex<BTreeMap<(String, &'static str), u64>>,
}

impl Default for Requests {
    fn default() -> Requests {
        Requests {
            times: Histogram::new(TIMES),
            counts: Mutex::default(),
        }
    }
}

impl Requests {
    /// A request to an address was answered so after so long.
    pub(super) fn answered(&self, route: Option<&str>, status: StatusCode, took: Duration) {
        self.times.observe(took);
        let counts = self.counts.lock();
        let mut counts = counts.unwrap_or_else(PoisonError::into_inner);
        let key = (noun(route).to_owned(), outcome(status));
        *counts.entry(key).or_default() += 1;
    }

    pub(super) fn metrics(&self, text: &mut Text) {
        text.times("gridbay_api_request_duration_seconds", &self.times);
        let counts = self.counts.lock();
        let counts = counts.unwrap_or_else(PoisonError::into_inner).clone();
        let name = "gridbay_api_requests_total";
        text.head(name);
        for ((noun, outcome), count) in counts {
            text.labelled(name, [("noun", &noun), ("outcome", outcome)], count);
        }
    }
}

/// The noun of an address: its first word that tells something.
fn noun(route: Option<&str>) -> &str {
    let Some(route) = route else {
        return "unknown";
    };
    let route = route.strip_prefix("/api/v1").unwrap_or(route);
    let mut words = route.split('/').filter(|word| !word.is_empty());
    words.next().unwrap_or("unknown")
}

fn outcome(status: StatusCode) -> &'static str {
    match status {
        status if status.is_server_error() => "failed",
        status if status.is_client_error() => "refused",
        _ => "answered",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_counts_for_its_noun() {
        let requests = Requests::default();
        for (route, status) in [
            (Some("/api/v1/jobs/{id}/why"), 200),
            (Some("/api/v1/jobs"), 202),
            (Some("/api/v1/jobs"), 422),
            (Some("/metrics"), 200),
            (None, 404),
            (Some("/api/v1/ledger/transfer"), 503),
        ] {
            let status = StatusCode::from_u16(status).unwrap();
            requests.answered(route, status, Duration::from_millis(3));
        }
        let mut text = Text::default();
        requests.metrics(&mut text);
        for line in [
            "gridbay_api_request_duration_seconds_count 6",
            "gridbay_api_requests_total{noun=\"jobs\",outcome=\"answered\"} 2",
            "gridbay_api_requests_total{noun=\"jobs\",outcome=\"refused\"} 1",
            "gridbay_api_requests_total{noun=\"ledger\",outcome=\"failed\"} 1",
            "gridbay_api_requests_total{noun=\"metrics\",outcome=\"answered\"} 1",
            "gridbay_api_requests_total{noun=\"unknown\",outcome=\"refused\"} 1",
        ] {
            assert!(text.0.lines().any(|l| l == line), "{line} in {}", text.0);
        }
    }
}
