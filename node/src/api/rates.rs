//! How often the bearer of one token may ask: [`RATE`] times a second, and [`BURST`] times at once
//! after a pause.
//!
//! [`Shares`](super::shares::Shares) bound what a program holds at a time; this bounds what a loop
//! without a pause takes in the long run. The same callers have no bound: those that may do
//! everything, and the web pages.

use super::bearer::Bearer;
use super::limits::{BURST, RATE};
use super::{ApiError, ErrorCode};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Time that one request takes from its bearer's rate.
const STEP: Duration = Duration::from_nanos(1_000_000_000 / RATE as u64);

/// When the requests of each bearer so far are paid for, by the names of tokens. A bearer whose
/// time is over is as one that never asked. Clones are the same.
#[derive(Clone, Default)]
pub(super) struct Rates(Arc<Mutex<BTreeMap<String, Instant>>>);

impl Rates {
    /// Counts a request of a bearer.
    ///
    /// # Errors
    /// It asked too often.
    pub(super) fn count(&self, bearer: Option<&Bearer>) -> Result<(), ApiError> {
        match bearer.and_then(|bearer| bearer.name.as_deref()) {
            Some(name) => self.count_at(name, Instant::now()),
            None => Ok(()),
        }
    }
    fn count_at(&self, name: &str, now: Instant) -> Result<(), ApiError> {
        // Every change leaves the map whole.
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !all.contains_key(name) {
            // Tokens are revoked and users go: what is kept is of those who asked just now.
            all.retain(|_, paid| *paid > now);
        }
        let paid = all.entry(name.to_owned()).or_insert(now);
        let next = (*paid).max(now) + STEP;
        if next > now + STEP * BURST {
            return Err(too_many());
        }
        *paid = next;
        Ok(())
    }
}

fn too_many() -> ApiError {
    let why = format!("this token asks more than {RATE} times a second");
    let hint = "wait as long as Retry-After says, then ask less often; GET /events tells what \
                changes without asking";
    let details = serde_json::json!({"per_second": RATE, "at_once": BURST});
    ApiError::new(ErrorCode::TooMany, why, hint).with_details(details)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::scope::Scope;

    #[test]
    fn a_bearer_has_its_burst_and_then_its_rate() {
        let (rates, start) = (Rates::default(), Instant::now());
        for _ in 0..BURST {
            rates.count_at("a", start).unwrap();
        }
        let error = rates.count_at("a", start).unwrap_err();
        assert_eq!(error.code, ErrorCode::TooMany);
        assert_eq!(error.details["at_once"], BURST);
        rates.count_at("b", start).unwrap();
        // What was refused costs nothing, so that whoever waits as told is let in.
        let later = start + Duration::from_secs(1);
        let passed = (0..BURST).filter(|_| rates.count_at("a", later).is_ok());
        assert_eq!(passed.count(), RATE as usize);
        let rested = later + STEP * BURST;
        let passed = (0..2 * BURST).filter(|_| rates.count_at("a", rested).is_ok());
        assert_eq!(passed.count(), BURST as usize, "a pause saves up no more");
    }

    #[test]
    fn nothing_is_kept_of_those_who_rest() {
        let (rates, start) = (Rates::default(), Instant::now());
        for number in 0..100 {
            let name = format!("token {number}");
            rates.count_at(&name, start + STEP * 2 * number).unwrap();
        }
        assert!(rates.0.lock().unwrap().len() <= 2);
    }

    #[test]
    fn who_may_do_everything_is_not_counted() {
        let (rates, scope) = (Rates::default(), Scope::Admin);
        let owner = Bearer { name: None, scope };
        let all = (0..3 * BURST).all(|_| rates.count(Some(&owner)).is_ok());
        assert!(all && rates.count(None).is_ok());
        assert!(rates.0.lock().unwrap().is_empty());
    }
}
