//! Counts the entries of an account in the running epoch against the budget of the federation's
//! policy ([`gridbay_protocol::entry_budget`]).
//!
//! The count lies in the account's record with the epoch it is of: a later epoch reads it as
//! nothing, so that nothing has to be cleared when an epoch ends.

use crate::record::Spent;
use crate::refusal::Refusal;
use crate::state::{Constitution, State};
use crate::view::Register;
use crate::work::Work;
use gridbay_protocol::calendar;
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::entry_budget::{EntryBudget, KEY_RESERVE, is_owed};
use gridbay_protocol::ids::AccountId;
use gridbay_protocol::limits::EPOCH_HEIGHTS;
use gridbay_protocol::stage::Authentic;

/// The account's spending with an entry that takes effect: new keys count against the budget as
/// long as they fit it.
fn counted(spent: Spent, entry: &Authentic, budget: &EntryBudget) -> Spent {
    let more = spent.with(entry.bytes());
    match replaces_keys(entry) && !more.fits(budget) {
        true => Spent {
            keys: spent.keys.saturating_add(1),
            ..spent
        },
        false => more,
    }
}

fn replaces_keys(entry: &Authentic) -> bool {
    matches!(entry.entry().body, EntryBody::SetKeys { .. })
}

impl Constitution {
    /// The budget of an account for one epoch.
    pub(crate) fn entry_budget(&self, account: &AccountId) -> EntryBudget {
        let budgets = &self.policy.entries;
        match self.members.contains_key(account) {
            true => budgets.member,
            false => budgets.user,
        }
    }
}

/// Whether the account may put one more entry into the ledger in this epoch.
pub(crate) fn check(work: &Work<'_>, entry: &Authentic) -> Result<(), Refusal> {
    let (account, body) = (entry.entry().account, &entry.entry().body);
    if is_owed(body) {
        return Ok(());
    }
    let budget = work.constitution.entry_budget(&account);
    let epoch = calendar::epoch(work.height());
    let record = work.tables.accounts.get(&account);
    let spent = record.map(|a| a.spent.in_epoch(epoch)).unwrap_or_default();
    let reserve = replaces_keys(entry) && spent.keys < KEY_RESERVE;
    if spent.with(entry.bytes()).fits(&budget) || reserve {
        return Ok(());
    }
    Err(Refusal::EntryBudget {
        account,
        entries: spent.entries,
        bytes: spent.bytes,
        next: (epoch + 1) * EPOCH_HEIGHTS + 1,
    })
}

/// Counts an entry that takes effect.
pub(crate) fn count(at: &mut Register<'_, '_>, entry: &Authentic) {
    let epoch = calendar::epoch(at.height());
    let budget = at.constitution.entry_budget(&entry.entry().account);
    if let Some(record) = at.accounts().get_mut(&entry.entry().account) {
        record.spent = counted(record.spent.in_epoch(epoch), entry, &budget);
    }
}

impl State {
    /// The budget of an account for one epoch.
    pub fn entry_budget(&self, account: &AccountId) -> EntryBudget {
        self.constitution.entry_budget(account)
    }
    /// How many heights pass until the budgets of the next epoch count, at least one.
    pub fn until_next_epoch(&self) -> u64 {
        EPOCH_HEIGHTS - self.height() % EPOCH_HEIGHTS
    }
    /// The account's spending in the epoch of the next height.
    pub fn spent(&self, account: &AccountId) -> Spent {
        let epoch = calendar::epoch(self.height() + 1);
        let record = self.account(account);
        record.map(|a| a.spent.in_epoch(epoch)).unwrap_or_default()
    }
}
