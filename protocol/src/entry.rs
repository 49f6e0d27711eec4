//! Entries: what accounts ask of the ledger, signed.
//!
//! An entry's id is the hash of its canonical bytes without the signature. It is the idempotency key:
//! the ledger takes each id once and remembers it until `valid_until`.

use crate::account::AccountKey;
use crate::appeal::Appeal;
use crate::codec;
use crate::hash::{Domain, hash};
use crate::ids::{AccountId, EntryId, Hash32, LeaseId, NetworkId, OfferId, OrderId};
use crate::invitation::SignedGrant;
use crate::keys::{PublicKey, SecretKey, Signature};
use crate::offer::OfferTerms;
use crate::order::{Buy, Claim, Commit, ContractEntry, Deadline, Open};
use crate::units::Credits;
use serde::{Deserialize, Serialize};

/// A request to the ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The network it is for.
    pub network: NetworkId,
    /// The account it speaks for. For [`EntryBody::OpenAccount`]: the inviter or sponsor.
    pub account: AccountId,
    /// The key that signs. For an opening by invitation: the token key.
    pub key: PublicKey,
    /// Last height at which it may take effect.
    pub valid_until: u64,
    /// What is asked.
    pub body: EntryBody,
}

/// The kinds of entries, in the order in which a block executes those of one account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum EntryBody {
    /// Replaces the keys of the account. Role: spend.
    SetKeys {
        /// All keys from now on.
        keys: Vec<AccountKey>,
    },
    /// Opens an account. By invitation (signed by the token key) or directly by a member (spend).
    OpenAccount {
        /// The invitation's grant; `None` for a direct opening.
        grant: Option<Box<SignedGrant>>,
        /// Keys of the new account.
        keys: Vec<AccountKey>,
        /// Moved to the new account by a direct opening; zero with a grant, which names its own.
        endowment: Credits,
    },
    /// Registers a new beacon chain of the account's validator. Role: operate.
    RegisterBeacon {
        /// Tip of the chain.
        tip: Hash32,
    },
    /// Moves money. Role: spend.
    Transfer {
        /// To whom.
        to: AccountId,
        /// How much, above zero.
        amount: Credits,
        /// Hash of what the sender keeps elsewhere, such as a note; zeros for none.
        memo: Hash32,
    },
    /// Sets an offer, in force from the next round. Role: operate.
    SetOffer(OfferTerms),
    /// Withdraws an offer: no new leases from the next round, those that run end at the boundary.
    /// Role: operate.
    WithdrawOffer {
        /// Label of the offer.
        label: u32,
    },
    /// A seller's acknowledgement that its units of a lease are ready. Role: operate.
    Deliver {
        /// The lease.
        lease: LeaseId,
    },
    /// A seller's statement that it cannot deliver its units of a lease. Role: operate.
    Fail {
        /// The lease.
        lease: LeaseId,
    },
    /// Ends an order: a standing one at once, a running one after its slot, which is paid out.
    /// Role: trade.
    Cancel {
        /// The order.
        order: OrderId,
    },
    /// A sealed bid. Role: trade.
    Commit(Commit),
    /// Opens a sealed bid. Role: trade.
    Open(Open),
    /// Buy-it-now. Role: trade.
    Buy(Buy),
    /// Asks for the deposit of a bid whose opening was acknowledged and left out. Role: trade.
    Appeal(Box<Appeal>),
    /// A job to be done by a deadline, for a seller that plans. Role: trade.
    Deadline(Deadline),
    /// A word of a party to a contract. Role: trade.
    Contract(ContractEntry),
    /// A claim on a pool. Role: trade.
    Share(Claim),
    /// A seller's sign of life for the slot of the block, for all leases at one of its nodes. Role: operate.
    Heartbeat {
        /// Label of an offer at that node.
        label: u32,
    },
    /// A buyer's word that a seller did not serve a lease in a slot. Role: trade.
    Complain {
        /// The lease, running or over.
        lease: LeaseId,
        /// The offer that was not served.
        offer: OfferId,
        /// The slot: the running one, or one whose earnings are held.
        slot: u64,
    },
    /// Closes the account, which has nothing open. Role: spend.
    CloseAccount {
        /// Who gets what it has.
        to: AccountId,
    },
}

impl EntryBody {
    /// Position in the order in which a block executes an account's entries, also the number of
    /// the kind in metrics.
    pub fn kind(&self) -> u8 {
        match self {
            EntryBody::SetKeys { .. } => 0,
            EntryBody::OpenAccount { .. } => 1,
            EntryBody::RegisterBeacon { .. } => 2,
            EntryBody::Transfer { .. } => 3,
            EntryBody::SetOffer(_) => 4,
            EntryBody::WithdrawOffer { .. } => 5,
            EntryBody::Deliver { .. } => 6,
            EntryBody::Fail { .. } => 7,
            EntryBody::Cancel { .. } => 8,
            EntryBody::Commit(_) => 9,
            EntryBody::Open(_) => 10,
            EntryBody::Buy(_) => 11,
            EntryBody::Appeal(_) => 12,
            EntryBody::Deadline(_) => 13,
            EntryBody::Contract(_) => 14,
            EntryBody::Share(_) => 15,
            EntryBody::Heartbeat { .. } => 16,
            EntryBody::Complain { .. } => 17,
            EntryBody::CloseAccount { .. } => 18,
        }
    }
    /// Name of the kind, as in logs and history.
    pub fn name(&self) -> &'static str {
        match self {
            EntryBody::SetKeys { .. } => "set_keys",
            EntryBody::OpenAccount { .. } => "open_account",
            EntryBody::RegisterBeacon { .. } => "register_beacon",
            EntryBody::Transfer { .. } => "transfer",
            EntryBody::SetOffer(_) => "set_offer",
            EntryBody::WithdrawOffer { .. } => "withdraw_offer",
            EntryBody::Deliver { .. } => "deliver",
            EntryBody::Fail { .. } => "fail",
            EntryBody::Cancel { .. } => "cancel",
            EntryBody::Commit(_) => "commit",
            EntryBody::Open(_) => "open",
            EntryBody::Buy(_) => "buy",
            EntryBody::Appeal(_) => "appeal",
            EntryBody::Deadline(_) => "deadline",
            EntryBody::Contract(entry) => entry.name(),
            EntryBody::Share(_) => "share",
            EntryBody::Heartbeat { .. } => "heartbeat",
            EntryBody::Complain { .. } => "complain",
            EntryBody::CloseAccount { .. } => "close_account",
        }
    }
}

/// An entry with its signature: what travels and what blocks hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignedEntry {
    /// The entry.
    pub entry: Entry,
    /// By `entry.key`.
    pub signature: Signature,
}

impl SignedEntry {
    /// Signs an entry; sets its key to the signer's.
    pub fn new(mut entry: Entry, key: &SecretKey) -> SignedEntry {
        entry.key = key.public();
        let signature = key.sign(Domain::Entry, &entry.network, &codec::encode(&entry));
        SignedEntry { entry, signature }
    }
    /// The entry's id.
    pub fn id(&self) -> EntryId {
        entry_id(&codec::encode(&self.entry))
    }
}

pub(crate) fn entry_id(canonical: &[u8]) -> EntryId {
    EntryId(hash(Domain::Entry, &[canonical]))
}
