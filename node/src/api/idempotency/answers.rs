//! The keys of requests, and the answers that are kept for them.
//!
//! 1. Each bearer of a token has keys of its own, the callers that may do everything have theirs
//!    together: nobody makes others' keys forgotten, or reads their answers.
//! 2. A key whose request still runs is never forgotten. Of the others a bearer has [`KEPT`] at the
//!    most, and all bearers [`ALL`]; the oldest one goes, of the bearer that has most.
//! 3. All answers have [`BYTES`] bytes at the most. Beyond that, the bearer whose answers have most
//!    bytes loses its oldest ones. Their keys stay, so that no deed is done again for want of room.

use crate::api::{ApiError, ErrorCode};
use axum::body::Bytes;
use axum::http::StatusCode;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Keys of one bearer.
const KEPT: usize = 1_024;
/// Keys of all bearers.
const ALL: usize = 16 * KEPT;
/// Bytes of all answers: a thousand records of jobs as people write them.
const BYTES: usize = 8 * 1024 * 1024;

/// Name of the token that a request showed; `None` of those that may do everything.
pub(super) type Owner = Option<String>;

/// An answer that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) body: Bytes,
}

enum State {
    /// The request runs.
    Running,
    /// It was answered.
    Answered(Answer),
    /// It was answered, and the answer is not kept.
    Gone,
}

impl State {
    fn bytes(&self) -> usize {
        match self {
            State::Answered(answer) => answer.body.len(),
            State::Running | State::Gone => 0,
        }
    }
}

struct Slot {
    /// Tells which of two is older.
    number: u64,
    request: blake3::Hash,
    state: State,
}

type Slots = BTreeMap<String, Slot>;

#[derive(Default)]
struct Known {
    numbers: u64,
    bytes: usize,
    of: BTreeMap<Owner, Slots>,
}

/// The keys seen. Clones are the same.
#[derive(Clone, Default)]
pub(crate) struct Keys(Arc<Mutex<Known>>);

/// What a key is good for.
pub(super) enum Found {
    /// The same request was answered before.
    Before(Answer),
    /// Nothing was asked under it yet.
    Fresh(Taken),
}

/// A key whose request runs. It is free again if that ends without a word, also by a panic.
pub(super) struct Taken {
    keys: Keys,
    owner: Owner,
    key: String,
    state: Option<State>,
}

impl Taken {
    /// The request was answered; the answer is kept if it is given.
    pub(super) fn answered(&mut self, answer: Option<Answer>) {
        self.state = Some(answer.map_or(State::Gone, State::Answered));
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        let mut known = self.keys.lock();
        match self.state.take() {
            Some(state) => known.answered(&self.owner, &self.key, state),
            None => known.forget(&self.owner, &self.key),
        }
    }
}

impl Keys {
    fn lock(&self) -> MutexGuard<'_, Known> {
        // Every change below leaves the map consistent at every step.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// Takes a key for a request.
    ///
    /// # Errors
    /// The key belongs to another request, the request still runs, its answer is not kept, or too
    /// many requests run.
    pub(super) fn take(
        &self,
        owner: Owner,
        key: String,
        request: blake3::Hash,
    ) -> Result<Found, ApiError> {
        let mut known = self.lock();
        if let Some(slot) = known.of.get(&owner).and_then(|slots| slots.get(&key)) {
            return slot.again(request).map(Found::Before);
        }
        if !known.makes_room(&owner) {
            let why = "too many requests under idempotency keys run already";
            return Err(ApiError::new(ErrorCode::Busy, why, "ask again in a moment"));
        }
        known.numbers += 1;
        let slot = Slot {
            number: known.numbers,
            request,
            state: State::Running,
        };
        let slots = known.of.entry(owner.clone()).or_default();
        slots.insert(key.clone(), slot);
        Ok(Found::Fresh(Taken {
            keys: self.clone(),
            owner,
            key,
            state: None,
        }))
    }
}

impl Slot {
    /// The answer to a request under this key.
    fn again(&self, request: blake3::Hash) -> Result<Answer, ApiError> {
        Err(match &self.state {
            _ if self.request != request => ApiError::of_another_request(),
            State::Answered(answer) => return Ok(answer.clone()),
            State::Running => ApiError::new(
                ErrorCode::Busy,
                "the same request is still running",
                "ask again in a moment, under the same key",
            ),
            State::Gone => ApiError::new(
                ErrorCode::Conflict,
                "this was done before, and the answer is not kept",
                "look at what came of it; use a fresh key for another request",
            )
            .with_details(json!({"done": true})),
        })
    }
}

impl Known {
    /// Room for one more key; false if all of those in its way run.
    fn makes_room(&mut self, owner: &Owner) -> bool {
        if self.of.get(owner).is_some_and(|own| own.len() >= KEPT) {
            return self.forgets_oldest(owner);
        }
        let all: usize = self.of.values().map(BTreeMap::len).sum();
        let most = self.of.iter().max_by_key(|(_, slots)| slots.len());
        match most.filter(|_| all >= ALL).map(|(owner, _)| owner.clone()) {
            Some(owner) => self.forgets_oldest(&owner),
            None => true,
        }
    }
    /// Forgets the oldest key of a bearer whose request does not run; false if all run.
    fn forgets_oldest(&mut self, owner: &Owner) -> bool {
        let ended = |slot: &Slot| !matches!(slot.state, State::Running);
        let Some(key) = self.of.get(owner).and_then(|own| oldest(own, ended)) else {
            return false;
        };
        self.forget(owner, &key);
        true
    }
    fn forget(&mut self, owner: &Owner, key: &str) {
        let Some(own) = self.of.get_mut(owner) else {
            return;
        };
        let gone = own.remove(key);
        self.bytes -= gone.map_or(0, |slot| slot.state.bytes());
        if own.is_empty() {
            self.of.remove(owner);
        }
    }
    fn answered(&mut self, owner: &Owner, key: &str, state: State) {
        let own = self.of.get_mut(owner);
        if let Some(slot) = own.and_then(|own| own.get_mut(key)) {
            self.bytes += state.bytes();
            slot.state = state;
        }
        while self.bytes > BYTES {
            let most = self.of.values_mut().max_by_key(|own| bytes(own));
            let Some(slot) = most.and_then(|own| {
                let oldest = oldest(own, |slot| slot.state.bytes() > 0)?;
                own.get_mut(&oldest)
            }) else {
                return;
            };
            self.bytes -= slot.state.bytes();
            slot.state = State::Gone;
        }
    }
}

/// Bytes of a bearer's answers.
fn bytes(own: &Slots) -> usize {
    own.values().map(|slot| slot.state.bytes()).sum()
}

/// The oldest of those keys that are like this.
fn oldest(own: &Slots, like: impl Fn(&Slot) -> bool) -> Option<String> {
    let those = own.iter().filter(|(_, slot)| like(slot));
    let (key, _) = those.min_by_key(|(_, slot)| slot.number)?;
    Some(key.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(name: &str) -> Owner {
        Some(name.to_owned())
    }
    fn take(keys: &Keys, name: &str, key: &str) -> Result<Found, ApiError> {
        keys.take(owner(name), key.to_owned(), blake3::hash(b"a request"))
    }
    fn running(keys: &Keys, name: &str, key: &str) -> Taken {
        match take(keys, name, key) {
            Ok(Found::Fresh(taken)) => taken,
            Ok(Found::Before(_)) => panic!("{name} {key} was answered before"),
            Err(error) => panic!("{name} {key}: {error}"),
        }
    }
    fn answer(bytes: usize) -> Answer {
        Answer {
            status: StatusCode::OK,
            body: vec![b'x'; bytes].into(),
        }
    }
    fn done(keys: &Keys, name: &str, key: &str, bytes: usize) {
        running(keys, name, key).answered(Some(answer(bytes)));
    }
    fn told(keys: &Keys, name: &str, key: &str) -> Result<Option<Answer>, String> {
        match take(keys, name, key) {
            Ok(Found::Before(answer)) => Ok(Some(answer)),
            Ok(Found::Fresh(_)) => Ok(None),
            Err(error) => Err(error.message),
        }
    }

    #[test]
    fn a_bearer_forgets_its_own_oldest_keys_and_none_that_runs() {
        let keys = Keys::default();
        done(&keys, "other", "first", 1);
        let long = running(&keys, "flood", "long");
        for n in 0..2 * KEPT {
            done(&keys, "flood", &n.to_string(), 1);
        }
        assert_eq!(told(&keys, "other", "first"), Ok(Some(answer(1))));
        let runs = "the same request is still running";
        assert_eq!(told(&keys, "flood", "long"), Err(runs.to_owned()));
        assert_eq!(told(&keys, "flood", "0"), Ok(None), "forgotten");
        drop(long);
        assert_eq!(told(&keys, "flood", "long"), Ok(None), "free again");
    }

    #[test]
    fn where_all_run_one_more_is_refused() {
        let keys = Keys::default();
        let all: Vec<_> = (0..KEPT)
            .map(|n| running(&keys, "flood", &n.to_string()))
            .collect();
        let error = take(&keys, "flood", "more").err().map(|error| error.code);
        assert_eq!(error, Some(ErrorCode::Busy));
        assert_eq!(told(&keys, "other", "first"), Ok(None));
        drop(all);
        assert!(keys.lock().of.is_empty(), "nothing is left of them");
    }

    #[test]
    fn answers_go_when_they_have_too_many_bytes_and_their_keys_stay() {
        let keys = Keys::default();
        done(&keys, "other", "first", 1_000);
        let big = 1024 * 1024;
        for n in 0..9 {
            done(&keys, "flood", &n.to_string(), big);
        }
        assert!(keys.lock().bytes <= BYTES);
        assert_eq!(told(&keys, "other", "first"), Ok(Some(answer(1_000))));
        let gone = "this was done before, and the answer is not kept";
        assert_eq!(told(&keys, "flood", "0"), Err(gone.to_owned()));
        assert_eq!(told(&keys, "flood", "8"), Ok(Some(answer(big))));
    }

    #[test]
    fn all_bearers_together_have_so_many_keys() {
        let keys = Keys::default();
        for owner in 0..ALL / KEPT + 1 {
            for n in 0..KEPT {
                done(&keys, &owner.to_string(), &n.to_string(), 1);
            }
        }
        let all: usize = keys.lock().of.values().map(BTreeMap::len).sum();
        assert_eq!((all, keys.lock().bytes), (ALL, ALL));
    }
}
