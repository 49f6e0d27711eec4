//! Decides whether an authentic entry may take effect.
//!
//! 1. `Authentic → Eligible`: not expired, not used, account known, key with the role of the kind;
//!    then its window, and the account's budget of entries. The signer is judged before the
//!    conditions that may change with time: only the right key's entries are worth waiting for.
//! 2. `Eligible → Admitted`: funds and rules, by the file of the kind in `entry`.
//!
//! An [`Admitted`] entry was checked against the working set as it was at that moment;
//! `entry::apply` is called at once, or never.

use crate::entry;
use crate::entry_budget;
use crate::refusal::Refusal;
use crate::state::State;
use crate::work::Work;
use gridbay_protocol::account::Roles;
use gridbay_protocol::entry::{Entry, EntryBody};
use gridbay_protocol::ids::EntryId;
use gridbay_protocol::keys::PublicKey;
use gridbay_protocol::limits;
use gridbay_protocol::stage::Authentic;
use std::sync::Arc;

/// An entry whose key may ask for what it asks, at the height it was checked for.
#[derive(Clone, Debug)]
pub struct Eligible(Arc<Authentic>);

/// An entry that takes effect at a height if nothing comes before it.
#[derive(Clone, Debug)]
pub struct Admitted {
    entry: Arc<Authentic>,
    height: u64,
}

impl Eligible {
    pub(crate) fn check(work: &Work<'_>, authentic: &Arc<Authentic>) -> Result<Eligible, Refusal> {
        let entry = authentic.entry();
        let valid_until = entry.valid_until;
        let height = work.height();
        if valid_until < height {
            return Err(Refusal::Expired {
                valid_until,
                height,
            });
        }
        if work.tables.seen.contains(&(valid_until, authentic.id())) {
            return Err(Refusal::Used(authentic.id()));
        }
        let account = entry.account;
        let keys = work.tables.accounts.get(&account);
        let keys = keys.ok_or(Refusal::NoAccount(account))?;
        let (key, role) = signer(entry);
        let may = keys.roles(key).is_some_and(|r| r.contains(role));
        if !may {
            return Err(Refusal::Role {
                account,
                key: Box::new(*key),
            });
        }
        if valid_until - height >= limits::ENTRY_WINDOW {
            return Err(Refusal::Window {
                valid_until,
                height,
            });
        }
        entry_budget::check(work, authentic)?;
        Ok(Eligible(Arc::clone(authentic)))
    }
    /// The entry.
    pub fn authentic(&self) -> &Authentic {
        &self.0
    }
}

impl Admitted {
    pub(crate) fn check(work: &Work<'_>, authentic: &Arc<Authentic>) -> Result<Admitted, Refusal> {
        let Eligible(entry) = Eligible::check(work, authentic)?;
        entry::check(work, &entry)?;
        Ok(Admitted {
            entry,
            height: work.height(),
        })
    }
    /// The entry.
    pub fn entry(&self) -> &Arc<Authentic> {
        &self.entry
    }
    /// The height it was checked for.
    pub fn height(&self) -> u64 {
        self.height
    }
}

impl State {
    /// Whether an entry of this last height has taken effect, as far as it could otherwise again.
    pub fn has_used(&self, valid_until: u64, entry: EntryId) -> bool {
        self.records.seen.contains_key(&(valid_until, entry))
    }
    /// Checks an entry as if it were the only one of the next block.
    ///
    /// # Errors
    /// Why it would be refused; see [`Refusal::may_pass_later`].
    pub fn admit(&self, entry: &Arc<Authentic>) -> Result<Admitted, Refusal> {
        // Admission depends neither on the block's time nor on its beacon.
        let work = Work::begin(self, self.time_ms().saturating_add(1), &[0; 32]);
        Admitted::check(&work, entry)
    }
}

/// The key that answers for an entry to its account, and the role that it needs.
fn signer(entry: &Entry) -> (&PublicKey, Roles) {
    let key = match &entry.body {
        // The entry's own key is the token's; the inviter's signed the grant.
        EntryBody::OpenAccount {
            grant: Some(signed),
            ..
        } => &signed.grant.key,
        _ => &entry.key,
    };
    (key, entry.body.kind().role)
}
