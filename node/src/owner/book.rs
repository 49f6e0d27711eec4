//! Names of the nodes that this node's user owns, in a file of the data folder.

use super::limits::{APPLIANCES, FILE_BYTES};
use super::types::Appliance;
use crate::api::{Answer, ApiError, ErrorCode};
use crate::backend::failure::{disk, not_found, usage};
use crate::store::replace_file;
use gridbay_protocol::class::name_is_valid;
use gridbay_protocol::keys::PublicKey;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The names.
pub(super) struct Book {
    path: PathBuf,
    nodes: Mutex<BTreeMap<String, PublicKey>>,
}

impl Book {
    /// Those of a file; none if there is no file.
    ///
    /// # Errors
    /// If it is there and makes no sense: the next name would take its place.
    pub(super) fn open(path: PathBuf) -> io::Result<Book> {
        let nodes = read(&path)?.unwrap_or_default();
        Ok(Book {
            path,
            nodes: Mutex::new(nodes),
        })
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, PublicKey>> {
        self.nodes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn all(&self) -> Vec<Appliance> {
        let one = |(name, node): (&String, &PublicKey)| Appliance {
            name: name.clone(),
            node: *node,
        };
        self.lock().iter().map(one).collect()
    }

    /// Gives a node a name that no other one has; on disk before this returns.
    pub(super) fn add(&self, appliance: Appliance) -> Answer<()> {
        let Appliance { name, node } = appliance;
        // A name that reads as a key would hide the node with that key.
        let is_option = name.starts_with('-');
        if !name_is_valid(&name) || is_option || name.parse::<PublicKey>().is_ok() {
            let why = "a name has 1 to 64 letters, digits and signs, begins with no hyphen, and is \
                       no key";
            return Err(usage(why, "choose another name"));
        }
        let mut nodes = self.lock();
        if let Some(other) = nodes.get(&name).filter(|other| **other != node) {
            return Err(ApiError::new(
                ErrorCode::Conflict,
                format!("{name} is the node {} already", other.to_hex()),
                format!("gridbay appliance remove {name} takes the name back"),
            ));
        }
        if nodes.len() >= APPLIANCES && !nodes.contains_key(&name) {
            let why = format!("{APPLIANCES} nodes have names already");
            return Err(ApiError::new(
                ErrorCode::Busy,
                why,
                "gridbay appliance remove",
            ));
        }
        let mut after = nodes.clone();
        after.insert(name, node);
        self.keep(&mut nodes, after)
    }

    pub(super) fn remove(&self, name: &str) -> Answer<()> {
        let mut nodes = self.lock();
        let mut after = nodes.clone();
        if after.remove(name).is_none() {
            return Err(unknown(name));
        }
        self.keep(&mut nodes, after)
    }

    fn keep(
        &self,
        nodes: &mut BTreeMap<String, PublicKey>,
        after: BTreeMap<String, PublicKey>,
    ) -> Answer<()> {
        write(&self.path, &after).map_err(|error| disk("writing names of nodes", &error))?;
        *nodes = after;
        Ok(())
    }

    /// The node with a name, or with a key.
    pub(super) fn find(&self, who: &str) -> Answer<PublicKey> {
        let named = self.lock().get(who).copied();
        let node = named.or_else(|| who.parse().ok());
        node.ok_or_else(|| unknown(who))
    }
}

fn unknown(name: &str) -> ApiError {
    not_found(
        format!("no appliance {name} is known here"),
        "gridbay appliance list shows those that are; gridbay appliance add NAME KEY adds one",
    )
}

/// The JSON of a file, if there is one.
pub(super) fn read<T: DeserializeOwned>(path: &Path) -> io::Result<Option<T>> {
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    let mut bytes = Vec::new();
    file.take(FILE_BYTES + 1).read_to_end(&mut bytes)?;
    let value = serde_json::from_slice(&bytes);
    Ok(Some(value.map_err(|error| {
        io::Error::new(io::ErrorKind::InvalidData, error)
    })?))
}

/// Writes JSON to a file, whole.
pub(super) fn write(path: &Path, value: &impl serde::Serialize) -> io::Result<()> {
    replace_file(path, &serde_json::to_vec_pretty(value)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::keys::SecretKey;

    fn named(name: &str, n: u8) -> Appliance {
        Appliance {
            name: name.to_owned(),
            node: SecretKey::from_seed(&[n; 32]).public(),
        }
    }

    #[test]
    fn names_survive_and_keys_name_themselves() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("appliances.json");
        let book = Book::open(path.clone()).unwrap();
        let (attic, moved) = (named("attic", 1), named("attic", 2));
        book.add(attic.clone()).unwrap();
        book.add(attic.clone()).unwrap();
        assert!(book.add(moved.clone()).is_err(), "another node's name");
        book.remove("attic").unwrap();
        book.add(moved.clone()).unwrap();
        assert!(book.add(named("-x", 1)).is_err());
        assert!(book.add(named("", 1)).is_err());
        assert!(book.add(named("a b", 1)).is_err());
        assert!(book.add(named(&attic.node.to_hex(), 2)).is_err());
        let again = Book::open(path.clone()).unwrap();
        assert_eq!(again.all(), std::slice::from_ref(&moved));
        assert_eq!(again.find("attic").unwrap(), moved.node);
        assert_eq!(again.find(&attic.node.to_hex()).unwrap(), attic.node);
        assert_eq!(again.find("cellar").unwrap_err().code, ErrorCode::NotFound);
        again.remove("attic").unwrap();
        assert!(again.remove("attic").is_err());
        std::fs::write(&path, "nonsense").unwrap();
        assert!(Book::open(path).is_err());
    }
}
