//! Fills the blocks with valid entries: transfers of the least amount to any account, as fast as it
//! can, valid for as long as entries may be, told to all validators.
//!
//! Attacks the blocks' room (I6, I12) and everybody's disk. The entries that one account may put
//! into the ledger in an epoch are bounded by policy; checker I11 counts it.

use super::{Lie, Puppet};
use gridbay_core::effect::Effect;
use gridbay_protocol::entry::{Entry, EntryBody, SignedEntry};
use gridbay_protocol::ids::Hash32;
use gridbay_protocol::limits::ENTRY_WINDOW;
use gridbay_protocol::units::Credits;

/// Entries in one whim.
const BURST: usize = 64;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Spammer {
    deeds: u64,
}

fn transfer(puppet: &mut Puppet<'_>) -> Option<SignedEntry> {
    let (account, key) = (puppet.core.account()?, puppet.account_key());
    let strangers = puppet.strangers();
    let body = EntryBody::Transfer {
        to: *puppet.rng.pick(&strangers)?,
        amount: Credits::from_micros(1)?,
        memo: Hash32(puppet.rng.bytes32()),
    };
    let entry = Entry {
        network: puppet.network(),
        account,
        key: key.public(),
        valid_until: puppet.state().height() + ENTRY_WINDOW,
        body,
    };
    Some(SignedEntry::new(entry, &key))
}

impl Lie for Spammer {
    fn whim(&mut self, puppet: &mut Puppet<'_>) -> Vec<Effect> {
        let entries: Vec<_> = (0..BURST).filter_map(|_| transfer(puppet)).collect();
        self.deeds += u64::from(!entries.is_empty());
        puppet.tell_voters(entries)
    }
    fn deeds(&self) -> u64 {
        self.deeds
    }
}
