//! Entries: signed requests of accounts to the ledger.
//!
//! An entry's id is the hash of its canonical bytes without the signature. It is the idempotency
//! key: the ledger takes each id once and remembers it until `valid_until`.

use crate::account::{AccountKey, Roles, keys_are_valid};
use crate::appeal::Appeal;
use crate::codec;
use crate::hash::{Domain, hash};
use crate::ids::{AccountId, EntryId, Hash32, LeaseId, NetworkId, OfferId, OrderId};
use crate::invitation::SignedGrant;
use crate::keys::{PublicKey, SecretKey, Signature};
use crate::limits;
use crate::malformed::Malformed;
use crate::offer::OfferTerms;
use crate::order::{Buy, Claim, Commit, ContractEntry, Deadline, Hire, Open};
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
    /// The request of the entry.
    pub body: EntryBody,
}

/// The kinds of entries, in the order in which a block executes those of one account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum EntryBody {
    /// Replaces the keys of the account.
    SetKeys {
        /// All keys from now on.
        keys: Vec<AccountKey>,
    },
    /// Opens an account. By invitation (signed by the token key) or directly by a member.
    OpenAccount {
        /// The invitation's grant; `None` for a direct opening.
        grant: Option<Box<SignedGrant>>,
        /// Keys of the new account.
        keys: Vec<AccountKey>,
        /// Moved to the new account by a direct opening; zero with a grant, which names its own.
        endowment: Credits,
    },
    /// Registers a new beacon chain of the account's validator.
    RegisterBeacon {
        /// Tip of the chain.
        tip: Hash32,
    },
    /// Moves money.
    Transfer {
        /// To whom.
        to: AccountId,
        /// How much, above zero.
        amount: Credits,
        /// Hash of what the sender keeps elsewhere, such as a note; zeros for none.
        memo: Hash32,
    },
    /// Sets an offer, in force from the next round.
    SetOffer(OfferTerms),
    /// Withdraws an offer: no new leases from the next round, those that run end at the boundary.
    WithdrawOffer {
        /// Label of the offer.
        label: u32,
    },
    /// A seller's acknowledgement that its units of a lease are ready.
    Deliver {
        /// The lease.
        lease: LeaseId,
    },
    /// A seller's statement that it cannot deliver its units of a lease.
    Fail {
        /// The lease.
        lease: LeaseId,
    },
    /// Ends an order: a standing one at once, a running one after its slot, which is paid out.
    Cancel {
        /// The order.
        order: OrderId,
    },
    /// A sealed bid.
    Commit(Commit),
    /// Opens a sealed bid.
    Open(Open),
    /// Buy-it-now.
    Buy(Buy),
    /// Asks for the deposit of a bid whose opening was acknowledged and left out.
    Appeal(Box<Appeal>),
    /// A job to be done by a deadline, for a seller that plans.
    Deadline(Deadline),
    /// A word of a party to a contract.
    Contract(ContractEntry),
    /// A claim on a pool.
    Share(Claim),
    /// A seller's sign of life for the slot of the block, for all leases at one of its nodes.
    Heartbeat {
        /// Label of an offer at that node.
        label: u32,
    },
    /// A buyer's word that a seller did not serve a lease in a slot.
    Complain {
        /// The lease, running or over.
        lease: LeaseId,
        /// The offer that was not served.
        offer: OfferId,
        /// The slot: the running one, or one whose earnings are held.
        slot: u64,
    },
    /// Closes the account, which has nothing open.
    CloseAccount {
        /// The account that gets its balance.
        to: AccountId,
    },
    /// A hire at posted prices.
    Posted(Hire),
}

/// The properties that an entry has by its kind alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// Position in the order in which a block executes an account's entries, also the number of
    /// the kind in metrics.
    pub number: u8,
    /// Name of the kind, as in logs and history.
    pub name: &'static str,
    /// The role that its key needs.
    pub role: Roles,
}

impl EntryBody {
    /// The properties of its kind.
    pub fn kind(&self) -> Kind {
        const SPEND: Roles = Roles::SPEND;
        const OPERATE: Roles = Roles::OPERATE;
        const TRADE: Roles = Roles::TRADE;
        let (number, name, role) = match self {
            EntryBody::SetKeys { .. } => (0, "set_keys", SPEND),
            EntryBody::OpenAccount { .. } => (1, "open_account", SPEND),
            EntryBody::RegisterBeacon { .. } => (2, "register_beacon", OPERATE),
            EntryBody::Transfer { .. } => (3, "transfer", SPEND),
            EntryBody::SetOffer(_) => (4, "set_offer", OPERATE),
            EntryBody::WithdrawOffer { .. } => (5, "withdraw_offer", OPERATE),
            EntryBody::Deliver { .. } => (6, "deliver", OPERATE),
            EntryBody::Fail { .. } => (7, "fail", OPERATE),
            EntryBody::Cancel { .. } => (8, "cancel", TRADE),
            EntryBody::Commit(_) => (9, "commit", TRADE),
            EntryBody::Open(_) => (10, "open", TRADE),
            EntryBody::Buy(_) => (11, "buy", TRADE),
            EntryBody::Appeal(_) => (12, "appeal", TRADE),
            EntryBody::Deadline(_) => (13, "deadline", TRADE),
            EntryBody::Contract(entry) => (14, entry.name(), TRADE),
            EntryBody::Share(_) => (15, "share", TRADE),
            EntryBody::Heartbeat { .. } => (16, "heartbeat", OPERATE),
            EntryBody::Complain { .. } => (17, "complain", TRADE),
            EntryBody::CloseAccount { .. } => (18, "close_account", SPEND),
            EntryBody::Posted(_) => (19, "posted", TRADE),
        };
        Kind { number, name, role }
    }
}

impl Entry {
    /// Checks that all values are in range, whatever the ledger holds.
    ///
    /// # Errors
    /// The first flaw of an order or a contract; else that a value is out of range.
    pub fn check(&self) -> Result<(), Malformed> {
        let kind = self.body.kind().name;
        let order = |flaw| Malformed::Order { kind, flaw };
        let in_range = match &self.body {
            EntryBody::Open(open) => return open.wish.check().map_err(order),
            EntryBody::Buy(buy) => return buy.check().map_err(order),
            EntryBody::Deadline(job) => return job.check().map_err(order),
            EntryBody::Share(claim) => return claim.check().map_err(order),
            EntryBody::Posted(hire) => return hire.check().map_err(order),
            EntryBody::Contract(entry) => return Ok(entry.check()?),
            EntryBody::SetKeys { keys } => keys_are_valid(keys),
            EntryBody::OpenAccount {
                grant,
                keys,
                endowment,
            } => {
                let grant_fits = grant.as_ref().is_none_or(|g| {
                    g.grant.token == self.key
                        && g.grant.inviter == self.account
                        && *endowment == Credits::ZERO
                });
                grant_fits && keys_are_valid(keys)
            }
            EntryBody::Transfer { amount, to, .. } => {
                *amount > Credits::ZERO && *to != self.account
            }
            EntryBody::CloseAccount { to } => *to != self.account,
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
        in_range.then_some(()).ok_or(Malformed::Range(kind))
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
        codec::encoded(&self.entry, entry_id)
    }
}

pub(crate) fn entry_id(canonical: &[u8]) -> EntryId {
    EntryId(hash(Domain::Entry, &[canonical]))
}
