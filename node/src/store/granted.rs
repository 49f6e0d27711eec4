//! Contents that one other node may have for a time: updates on their way to an owner's appliances.
//!
//! 1. A content is served to the nodes that it was granted to, each for so long, and to nobody
//!    else.
//! 2. It goes with its last grant. Grants are in memory alone, so a restart ends all of them and
//!    removes what they were for.

use super::content::ContentStore;
use gridbay_protocol::ids::ContentId;
use gridbay_protocol::keys::PublicKey;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Grants at the same time.
pub const GRANTS: usize = 64;

/// Why a content is not granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GrantError {
    /// It is not here.
    #[error("the file is not here any more")]
    Gone,
    /// Too many are under way.
    #[error("{GRANTS} files are on their way already")]
    Many,
}

type Grants = BTreeMap<(PublicKey, ContentId), Instant>;

/// The contents and their grants. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Granted {
    store: ContentStore,
    grants: Arc<Mutex<Grants>>,
}

impl Granted {
    /// Opens (and makes) the folder, and removes what is in it.
    pub fn open(folder: PathBuf) -> io::Result<Granted> {
        match fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        Ok(Granted {
            store: ContentStore::open(folder)?,
            grants: Arc::default(),
        })
    }

    /// Where contents are put that will be granted.
    pub fn store(&self) -> &ContentStore {
        &self.store
    }

    /// Lets a node have a content until a time.
    pub fn grant(
        &self,
        node: PublicKey,
        content: ContentId,
        (now, time): (Instant, Duration),
    ) -> Result<(), GrantError> {
        let mut grants = self.lock();
        let over = grants.iter().filter(|(_, until)| **until <= now);
        let over: Vec<_> = over.map(|(key, _)| *key).collect();
        for (node, content) in over {
            self.remove(&mut grants, &node, &content);
        }
        if self.store.size(&content).is_none() {
            return Err(GrantError::Gone);
        }
        if grants.len() >= GRANTS && !grants.contains_key(&(node, content)) {
            return Err(GrantError::Many);
        }
        grants.insert((node, content), now + time);
        Ok(())
    }

    /// Ends a grant. The content goes if nobody else has it granted.
    pub fn end(&self, node: &PublicKey, content: &ContentId) {
        self.remove(&mut self.lock(), node, content);
    }

    fn remove(&self, grants: &mut Grants, node: &PublicKey, content: &ContentId) {
        grants.remove(&(*node, *content));
        if !grants.keys().any(|(_, granted)| granted == content)
            && let Err(error) = self.store.remove(content)
        {
            tracing::warn!(%error, "an update that was handed over stays on the disk");
        }
    }

    /// Whether a node may have a content.
    pub fn allows(&self, node: &PublicKey, content: &ContentId, now: Instant) -> bool {
        let until = self.lock().get(&(*node, *content)).copied();
        until.is_some_and(|until| now < until)
    }

    fn lock(&self) -> MutexGuard<'_, Grants> {
        self.grants.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::keys::SecretKey;

    const HOUR: Duration = Duration::from_secs(3_600);

    fn node(n: u8) -> PublicKey {
        SecretKey::from_seed(&[n; 32]).public()
    }

    #[test]
    fn one_node_has_a_content_for_a_time_and_it_goes_with_its_last_grant() {
        let dir = tempfile::tempdir().unwrap();
        let granted = Granted::open(dir.path().join("updates")).unwrap();
        let now = Instant::now();
        let content = granted.store().put(b"update").unwrap();
        let other = granted.store().put(b"other").unwrap();
        let allows = |n: u8, at| granted.allows(&node(n), &content, at);
        assert!(!allows(1, now));
        granted.grant(node(1), content, (now, HOUR)).unwrap();
        granted.grant(node(2), content, (now, HOUR)).unwrap();
        assert!(allows(1, now) && allows(2, now) && !allows(3, now));
        assert!(!granted.allows(&node(1), &other, now));
        assert!(!allows(1, now + HOUR));
        granted.end(&node(1), &content);
        assert!(!allows(1, now) && allows(2, now));
        assert_eq!(granted.store().size(&content), Some(6));
        // Another grant sees that the time of the last one is over.
        granted.grant(node(3), other, (now + HOUR, HOUR)).unwrap();
        assert_eq!(granted.store().size(&content), None);
        let gone = granted.grant(node(1), content, (now, HOUR));
        assert_eq!(gone, Err(GrantError::Gone));
        let again = Granted::open(dir.path().join("updates")).unwrap();
        assert_eq!(again.store().size(&other), None);
    }

    #[test]
    fn grants_are_bounded() {
        let dir = tempfile::tempdir().unwrap();
        let granted = Granted::open(dir.path().join("updates")).unwrap();
        let (now, content) = (Instant::now(), granted.store().put(b"update").unwrap());
        for n in 0..u8::try_from(GRANTS).unwrap() {
            granted.grant(node(n), content, (now, HOUR)).unwrap();
        }
        let more = |n: u8| granted.grant(node(n), content, (now, HOUR));
        assert_eq!(more(200), Err(GrantError::Many));
        assert_eq!(more(0), Ok(()));
    }
}
