//! Who has signed in: links that open a session once, and the sessions themselves.
//!
//! 1. A link is made for the command `gridbay web`, holds 256 random bits, and is forgotten when it
//!    is used or after [`LINK_TIME`].
//! 2. A session lives in memory alone: for [`SESSION_TIME`], and no longer than the process. Links
//!    and cookies are kept as hashes, so that a copy of the memory signs nobody in.
//! 3. Both are bounded; the oldest go first.
//! 4. A link and its session are good under one host name alone (see [`crate::api::host`]).
//!
//! The time and the random bytes are given, so nothing here is left to chance.

use crate::api::host;
use crate::api::scope::Scope;
use gridbay_protocol::ids::to_hex;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Time for which a link waits to be used: enough to copy it into a browser.
pub(crate) const LINK_TIME: Duration = Duration::from_secs(10 * 60);
/// Length of a session: a day's work.
pub(crate) const SESSION_TIME: Duration = Duration::from_secs(24 * 60 * 60);
/// Links that wait, and sessions that are open, at the most.
const MOST: usize = 64;

/// Hash of a secret: what is kept of it.
type Mark = [u8; 32];

/// A link or a session: what it may do, under which host name, and until when.
#[derive(Clone)]
struct Grant {
    scope: Scope,
    host: String,
    /// What its forms carry; of no use for a link.
    token: String,
    ends: Instant,
}

#[derive(Default)]
struct Table {
    links: BTreeMap<Mark, Grant>,
    open: BTreeMap<Mark, Grant>,
}

/// The links and sessions of one node.
#[derive(Default)]
pub(crate) struct Sessions {
    table: Mutex<Table>,
    address: OnceLock<SocketAddr>,
}

/// The signed-in user of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Who {
    /// What this user may do.
    pub(crate) scope: Scope,
    /// Every form of the session carries it, and no other page can know it.
    pub(crate) token: String,
    mark: Mark,
}

impl Who {
    /// What tells this session from others, and opens none.
    pub(crate) fn fingerprint(&self) -> String {
        to_hex(&self.mark[..8])
    }
    /// Refuses what the session may not do.
    pub(crate) fn may(&self, scope: Scope) -> Result<(), crate::api::ApiError> {
        if self.scope >= scope {
            return Ok(());
        }
        let why = format!("this session may {}", self.scope.about());
        let hint = format!("sign in again: gridbay web --scope {}", scope.name());
        Err(crate::api::ApiError::new(
            crate::api::ErrorCode::Refused,
            why,
            hint,
        ))
    }
}

impl Sessions {
    /// The pages are served at `address` from now on.
    pub(crate) fn serve_at(&self, address: SocketAddr) {
        let _first = self.address.set(address);
    }
    /// Where the pages are served; `None` if they are not.
    pub(crate) fn address(&self) -> Option<SocketAddr> {
        self.address.get().copied()
    }
    /// A new link, of `random` bytes, and the host name under which it is good.
    pub(crate) fn link(&self, scope: Scope, random: [u8; 32], now: Instant) -> (String, String) {
        let secret = to_hex(&random);
        let host = host::of_link(&secret);
        let grant = Grant {
            scope,
            host: host.clone(),
            token: String::new(),
            ends: now + LINK_TIME,
        };
        keep(&mut self.table().links, &secret, grant, now);
        (secret, host)
    }
    /// Uses up a link under its host name: the secret of a new session, of `random` bytes. `None`
    /// if there is no such link any more.
    pub(crate) fn enter(
        &self,
        link: &str,
        host: &str,
        random: [u8; 32],
        now: Instant,
    ) -> Option<String> {
        let mut table = self.table();
        let used = table.links.get(&mark(link))?;
        if used.host != host {
            return None;
        }
        let used = table.links.remove(&mark(link))?;
        if used.ends <= now {
            return None;
        }
        // Neither of the two tells the other.
        let drawn = |what| to_hex(&blake3::derive_key(what, &random));
        let secret = drawn("gridbay/web-cookie/1");
        let grant = Grant {
            token: drawn("gridbay/web-form/2"),
            ends: now + SESSION_TIME,
            ..used
        };
        keep(&mut table.open, &secret, grant, now);
        Some(secret)
    }
    /// Whose session a secret opens under a host name.
    pub(crate) fn who(&self, secret: &str, host: &str, now: Instant) -> Option<Who> {
        let mark = mark(secret);
        let grant = self.table().open.get(&mark).cloned()?;
        (grant.ends > now && grant.host == host).then_some(Who {
            scope: grant.scope,
            token: grant.token,
            mark,
        })
    }
    /// Whether a session is still open.
    pub(crate) fn is_open(&self, who: &Who, now: Instant) -> bool {
        let table = self.table();
        table.open.get(&who.mark).is_some_and(|g| g.ends > now)
    }
    /// Ends a session.
    pub(crate) fn leave(&self, who: &Who) {
        self.table().open.remove(&who.mark);
    }
    fn table(&self) -> MutexGuard<'_, Table> {
        // Every change leaves the table whole.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn mark(secret: &str) -> Mark {
    *blake3::hash(secret.as_bytes()).as_bytes()
}

/// Adds a grant; those that are over go, and the oldest where there are too many.
fn keep(grants: &mut BTreeMap<Mark, Grant>, secret: &str, grant: Grant, now: Instant) {
    grants.retain(|_, other| other.ends > now);
    if grants.len() >= MOST
        && let Some(oldest) = grants.iter().min_by_key(|(_, g)| g.ends).map(|(m, _)| *m)
    {
        grants.remove(&oldest);
    }
    grants.insert(mark(secret), grant);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_opens_one_session_and_only_in_time() {
        let (all, now) = (Sessions::default(), Instant::now());
        let (link, host) = all.link(Scope::Trade, [1; 32], now);
        assert_eq!(
            all.enter(&link, "127.0.0.1", [2; 32], now),
            None,
            "another host"
        );
        let secret = all.enter(&link, &host, [2; 32], now).unwrap();
        assert_eq!(all.enter(&link, &host, [3; 32], now), None, "used");
        let (late, place) = all.link(Scope::Trade, [4; 32], now);
        assert_eq!(
            all.enter(&late, &place, [5; 32], now + LINK_TIME),
            None,
            "late"
        );
        assert_eq!(all.enter("", "", [6; 32], now), None);
        let who = all.who(&secret, &host, now).unwrap();
        assert!(who.may(Scope::Trade).is_ok());
        let refused = who.may(Scope::Operate).unwrap_err();
        assert!(refused.hint.contains("--scope operate"), "{refused:?}");
        assert!(all.who(&link, &host, now).is_none(), "a link is no session");
        assert!(all.is_open(&who, now));
        assert!(all.who(&secret, &host, now + SESSION_TIME).is_none());
        for stranger in ["127.0.0.1", "localhost", place.as_str()] {
            assert!(all.who(&secret, stranger, now).is_none(), "{stranger}");
        }
        all.leave(&who);
        assert!(all.who(&secret, &host, now).is_none() && !all.is_open(&who, now));
    }

    #[test]
    fn the_oldest_of_too_many_goes() {
        let (all, now) = (Sessions::default(), Instant::now());
        let at = |n: u8| now + Duration::from_secs(n.into());
        let links: Vec<(String, String)> = (0..=MOST as u8)
            .map(|n| all.link(Scope::Read, [n; 32], at(n)))
            .collect();
        let enter = |n: usize| all.enter(&links[n].0, &links[n].1, [200; 32], at(70));
        assert_eq!(enter(0), None);
        assert!(enter(1).is_some());
    }

    #[test]
    fn tokens_of_two_sessions_differ_and_are_no_secrets() {
        let (all, now) = (Sessions::default(), Instant::now());
        let open = |n: u8| {
            let (link, host) = all.link(Scope::Admin, [n; 32], now);
            let secret = all.enter(&link, &host, [n + 100; 32], now).unwrap();
            (all.who(&secret, &host, now).unwrap().token, secret)
        };
        let (one, two) = (open(1), open(2));
        assert_ne!(one.0, two.0);
        assert_ne!(one.0, one.1);
    }
}
