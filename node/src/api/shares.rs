//! The part of what is scarce that the bearer of one token may hold: a quarter, so that no program
//! keeps all others out.
//!
//! Callers that may do everything (those over the unix socket, and the bearer of `api.token`) have
//! no such bound, and neither have the web pages.

use super::bearer::Bearer;
use super::{ApiError, ErrorCode};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Parts that are held, by the names of tokens. Clones are the same.
#[derive(Clone)]
pub(crate) struct Shares {
    most: usize,
    what: &'static str,
    held: Arc<Mutex<BTreeMap<String, usize>>>,
}

/// A part, until it is dropped.
pub(crate) struct Share(Option<(Shares, String)>);

impl Shares {
    /// Shares of `all` things of a kind, named in the plural.
    pub(crate) fn new(all: usize, what: &'static str) -> Shares {
        Shares {
            most: (all / 4).max(1),
            what,
            held: Arc::default(),
        }
    }
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, usize>> {
        // Every change leaves the map whole.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// A part for a bearer.
    ///
    /// # Errors
    /// It holds as many as it may.
    pub(crate) fn take(&self, bearer: Option<&Bearer>) -> Result<Share, ApiError> {
        let Some(name) = bearer.and_then(|bearer| bearer.name.clone()) else {
            return Ok(Share(None));
        };
        let mut held = self.lock();
        let own = held.entry(name.clone()).or_default();
        if *own >= self.most {
            let why = format!("this token has {own} {} already", self.what);
            let hint = "wait for one of them to end";
            return Err(ApiError::new(ErrorCode::Busy, why, hint));
        }
        *own += 1;
        drop(held);
        Ok(Share(Some((self.clone(), name))))
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let Some((shares, name)) = self.0.take() else {
            return;
        };
        let mut held = shares.lock();
        if let Some(own) = held.get_mut(&name) {
            *own -= 1;
            if *own == 0 {
                held.remove(&name);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::scope::Scope;

    fn bearer(name: Option<&str>) -> Bearer {
        let (name, scope) = (name.map(str::to_owned), Scope::Admin);
        Bearer { name, scope }
    }

    #[test]
    fn one_token_holds_a_quarter_and_gives_it_back() {
        let shares = Shares::new(8, "requests at work");
        let (a, b) = (bearer(Some("a")), bearer(Some("b")));
        let first = shares.take(Some(&a)).unwrap();
        let _second = shares.take(Some(&a)).unwrap();
        let error = shares.take(Some(&a)).err().unwrap();
        assert_eq!(error.code, ErrorCode::Busy);
        assert_eq!(error.message, "this token has 2 requests at work already");
        let other = shares.take(Some(&b)).unwrap();
        drop(first);
        let _third = shares.take(Some(&a)).unwrap();
        drop(other);
        assert_eq!(shares.lock().len(), 1, "nothing is kept of b");
        let owner = bearer(None);
        let all: Vec<_> = (0..99).map(|_| shares.take(Some(&owner))).collect();
        assert!(all.iter().all(Result::is_ok) && shares.take(None).is_ok());
        let few = Shares::new(1, "requests at work");
        assert!(few.take(Some(&a)).is_ok());
    }
}
