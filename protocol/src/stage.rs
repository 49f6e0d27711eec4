//! Checked stages of an entry as types.
//!
//! ```text
//! bytes ──receive──► WellFormed ──authenticate──► Authentic ──(ledger)──► Eligible ──► Admitted
//!        size, codec,            signature(s),                keys, roles,    funds and
//!        ranges, network         strict                       window          rules at a height
//! ```
//!
//! Each type can only be made by the check before it, so no step is skipped. The last two stages
//! belong to the ledger, which alone knows keys and funds. Cheap checks come before signatures.

use crate::account::keys_are_valid;
use crate::codec::{self, CodecError};
use crate::entry::{Entry, EntryBody, SignedEntry, entry_id};
use crate::hash::Domain;
use crate::ids::{EntryId, NetworkId};
use crate::keys::KeyError;
use crate::limits;
use crate::order::{ContractFault, Flaw};
use crate::planted::{self, Planted};
use crate::units::Credits;

/// What the signature adds to an entry's canonical bytes: a map of two, both names, 64 bytes.
const SIGNATURE_BYTES: usize = 83;

/// Why bytes are no well-formed entry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// Not the canonical bytes of a signed entry.
    #[error("malformed entry")]
    Bytes(#[from] CodecError),
    /// For another network.
    #[error("an entry for network {0}")]
    Network(NetworkId),
    /// A value out of range; names the kind of entry.
    #[error("a {0} entry with values out of range")]
    Range(&'static str),
    /// An order that makes no sense.
    #[error("a {kind} entry: {flaw}")]
    Order {
        /// Kind of the entry.
        kind: &'static str,
        /// Why.
        flaw: Flaw,
    },
    /// A proposal of a contract that nobody could fulfil or compute.
    #[error("the terms of a contract")]
    Contract(#[from] ContractFault),
}

impl Malformed {
    /// The reason in a word.
    pub fn word(&self) -> &'static str {
        match self {
            Malformed::Bytes(_) => "bytes",
            Malformed::Network(_) => "network",
            Malformed::Range(_) => "range",
            Malformed::Order { flaw, .. } => flaw.word(),
            Malformed::Contract(fault) => fault.word(),
        }
    }
}

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
        check_range(&signed.entry)?;
        let canonical = codec::encode(&signed.entry);
        if canonical.len() > limits::ENTRY_BYTES {
            return Err(Malformed::Range(signed.entry.body.name()));
        }
        Ok(WellFormed {
            id: entry_id(&canonical),
            bytes: canonical.len(),
            signed,
        })
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
        if planted::is(Planted::SkipEntrySignature) {
            return Ok(Authentic(self));
        }
        let entry = &self.signed.entry;
        let bytes = codec::encode(entry);
        entry.key.verify(
            Domain::Entry,
            &entry.network,
            &bytes,
            &self.signed.signature,
        )?;
        if let EntryBody::OpenAccount {
            grant: Some(grant), ..
        } = &entry.body
            && !planted::is(Planted::SkipGrantSignature)
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
    /// The entry's id.
    pub fn id(&self) -> EntryId {
        self.0.id
    }
    /// Canonical bytes of the entry without its signature.
    pub fn bytes(&self) -> usize {
        self.0.bytes
    }
    /// Canonical bytes of the entry with its signature: what it takes of a block or a pool.
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

fn check_range(entry: &Entry) -> Result<(), Malformed> {
    let kind = entry.body.name();
    let order = |flaw| Malformed::Order { kind, flaw };
    let in_range = match &entry.body {
        EntryBody::Open(open) => return open.wish.check().map_err(order),
        EntryBody::Buy(buy) => return buy.check().map_err(order),
        EntryBody::Deadline(job) => return job.check().map_err(order),
        EntryBody::Share(claim) => return claim.check().map_err(order),
        EntryBody::Contract(entry) => return Ok(entry.check()?),
        EntryBody::SetKeys { keys } => keys_are_valid(keys),
        EntryBody::OpenAccount {
            grant,
            keys,
            endowment,
        } => {
            let grant_fits = grant.as_ref().is_none_or(|g| {
                g.grant.token == entry.key
                    && g.grant.inviter == entry.account
                    && *endowment == Credits::ZERO
            });
            grant_fits && keys_are_valid(keys)
        }
        EntryBody::Transfer { amount, to, .. } => *amount > Credits::ZERO && *to != entry.account,
        EntryBody::CloseAccount { to } => *to != entry.account,
        EntryBody::SetOffer(terms) => terms.is_valid(),
        EntryBody::Commit(commit) => commit.bracket <= limits::BRACKET,
        EntryBody::Appeal(appeal) => appeal.is_valid(),
        EntryBody::RegisterBeacon { .. }
        | EntryBody::WithdrawOffer { .. }
        | EntryBody::Deliver { .. }
        | EntryBody::Fail { .. }
        | EntryBody::Cancel { .. }
        | EntryBody::Heartbeat { .. }
        | EntryBody::Complain { .. } => true,
    };
    if in_range {
        Ok(())
    } else {
        Err(Malformed::Range(kind))
    }
}
