//! Checked stages of an entry as types.
//!
//! ```text
//! bytes ──receive──► WellFormed ──authenticate──► Authentic ──(ledger)──► Eligible ──► Admitted
//!        size, codec,            signature(s),                keys, roles,    funds and
//!        ranges, network         strict                       window          rules at a height
//! ```
//!
//! Each type can only be made by the check before it, so no step is skipped; an own entry is
//! authentic by being signed. The last two stages belong to the ledger, which alone knows keys and
//! funds. Cheap checks come before signatures.

use crate::codec;
use crate::entry::{Entry, EntryBody, SignedEntry, entry_id};
use crate::hash::Domain;
use crate::ids::{EntryId, NetworkId};
use crate::keys::{KeyError, SecretKey};
use crate::limits;
pub use crate::malformed::Malformed;

/// Bytes that the signature adds to an entry's canonical bytes: a map of two, both names, 64 bytes.
const SIGNATURE_BYTES: usize = 83;

/// A signed entry with legal values, its signature not yet checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WellFormed {
    id: EntryId,
    bytes: usize,
    signed: SignedEntry,
}

impl WellFormed {
    /// Parses received bytes.
    pub fn receive(network: &NetworkId, bytes: &[u8]) -> Result<WellFormed, Malformed> {
        WellFormed::check(network, codec::decode(bytes, limits::ENTRY_BYTES)?)
    }
    /// Checks an entry that came inside a decoded block.
    pub fn check(network: &NetworkId, signed: SignedEntry) -> Result<WellFormed, Malformed> {
        if signed.entry.network != *network {
            return Err(Malformed::Network(signed.entry.network));
        }
        signed.entry.check()?;
        let (id, bytes) = codec::encoded(&signed.entry, |canonical| {
            (entry_id(canonical), canonical.len())
        });
        if bytes > limits::ENTRY_BYTES {
            return Err(Malformed::Range(signed.entry.body.kind().name));
        }
        Ok(WellFormed { id, bytes, signed })
    }
    /// The entry's id.
    pub fn id(&self) -> EntryId {
        self.id
    }
    /// The entry.
    pub fn signed(&self) -> &SignedEntry {
        &self.signed
    }
    /// Checks the signature, and the inviter's on a grant.
    pub fn authenticate(self) -> Result<Authentic, KeyError> {
        let entry = &self.signed.entry;
        let signature = &self.signed.signature;
        codec::encoded(entry, |bytes| {
            entry
                .key
                .verify(Domain::Entry, &entry.network, bytes, signature)
        })?;
        if let EntryBody::OpenAccount {
            grant: Some(grant), ..
        } = &entry.body
        {
            grant.verify(&entry.network)?;
        }
        Ok(Authentic(self))
    }
}

/// A well-formed entry whose signatures are right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authentic(WellFormed);

impl Authentic {
    /// Signs an entry: the signature is right without a check of it.
    ///
    /// # Panics
    /// The entry names another key, or carries an inviter's grant, whose signature is not ours.
    pub fn sign(
        network: &NetworkId,
        entry: Entry,
        key: &SecretKey,
    ) -> Result<Authentic, Malformed> {
        assert_eq!(
            entry.key,
            key.public(),
            "an entry is signed by the key that it names"
        );
        let granted = matches!(&entry.body, EntryBody::OpenAccount { grant: Some(_), .. });
        assert!(!granted, "a grant is checked");
        WellFormed::check(network, SignedEntry::new(entry, key)).map(Authentic)
    }
    /// The entry's id.
    pub fn id(&self) -> EntryId {
        self.0.id
    }
    /// Canonical bytes of the entry without its signature.
    pub fn bytes(&self) -> usize {
        self.0.bytes
    }
    /// Canonical bytes of the entry with its signature, which it takes of a block or a mempool.
    pub fn signed_bytes(&self) -> usize {
        self.0.bytes + SIGNATURE_BYTES
    }
    /// The signed entry.
    pub fn signed(&self) -> &SignedEntry {
        &self.0.signed
    }
    /// The entry.
    pub fn entry(&self) -> &Entry {
        &self.0.signed.entry
    }
}
