//! Whose orders count: the owner's, and those of keys that the owner admitted.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use gridbay_protocol::keys::PublicKey;

use crate::rank::order::{NO_NAME, Refusal, Why, is_name};

/// Keys that an owner may admit at a time.
const ADMITTED: usize = 64;

/// The keys.
pub(super) struct Keys {
    owner: PublicKey,
    admitted: Mutex<BTreeMap<PublicKey, String>>,
}

/// The one who gives an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Who {
    pub(super) key: PublicKey,
    pub(super) name: String,
    pub(super) is_owner: bool,
}

impl Who {
    /// Whether it may command what `key` began.
    pub(super) fn may(&self, key: &PublicKey) -> bool {
        self.is_owner || self.key == *key
    }
}

impl Keys {
    pub(super) fn new(owner: PublicKey) -> Keys {
        Keys {
            owner,
            admitted: Mutex::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<PublicKey, String>> {
        self.admitted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Who has a key, if its orders count.
    pub(super) fn find(&self, key: &PublicKey) -> Option<Who> {
        let is_owner = *key == self.owner;
        let name = match is_owner {
            true => "owner".to_owned(),
            false => self.lock().get(key)?.clone(),
        };
        Some(Who {
            key: *key,
            name,
            is_owner,
        })
    }

    pub(super) fn admit(&self, by: &Who, key: PublicKey, name: String) -> Result<(), Refusal> {
        owner_alone(by)?;
        if !is_name(&name) {
            return Err(Refusal::new(Why::Invalid, NO_NAME));
        }
        let mut admitted = self.lock();
        if admitted.len() >= ADMITTED && !admitted.contains_key(&key) {
            let why = format!("{ADMITTED} keys are admitted already");
            return Err(Refusal::new(Why::Busy, why));
        }
        admitted.insert(key, name);
        Ok(())
    }

    pub(super) fn dismiss(&self, by: &Who, key: &PublicKey) -> Result<(), Refusal> {
        owner_alone(by)?;
        self.lock().remove(key);
        Ok(())
    }
}

fn owner_alone(by: &Who) -> Result<(), Refusal> {
    match by.is_owner {
        true => Ok(()),
        false => Err(Refusal::new(
            Why::Forbidden,
            "only the cluster's owner admits and dismisses others",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::keys::SecretKey;

    fn key(seed: u8) -> PublicKey {
        SecretKey::from_seed(&[seed; 32]).public()
    }

    #[test]
    fn the_owner_decides_whose_orders_count() {
        let keys = Keys::new(key(1));
        let owner = keys.find(&key(1)).unwrap();
        assert!(owner.is_owner && keys.find(&key(2)).is_none());
        keys.admit(&owner, key(2), "bea".to_owned()).unwrap();
        let bea = keys.find(&key(2)).unwrap();
        assert!(!bea.is_owner && bea.may(&key(2)) && !bea.may(&key(1)) && owner.may(&key(2)));
        assert!(keys.admit(&bea, key(3), "c".to_owned()).is_err());
        assert!(keys.dismiss(&bea, &key(2)).is_err());
        assert!(keys.admit(&owner, key(3), String::new()).is_err());
        keys.dismiss(&owner, &key(2)).unwrap();
        assert!(keys.find(&key(2)).is_none());
    }

    #[test]
    fn admitted_keys_are_bounded() {
        let keys = Keys::new(key(255));
        let owner = keys.find(&key(255)).unwrap();
        for seed in 0..64 {
            keys.admit(&owner, key(seed), "x".to_owned()).unwrap();
        }
        assert!(keys.admit(&owner, key(100), "x".to_owned()).is_err());
        keys.admit(&owner, key(0), "again".to_owned()).unwrap();
    }
}
