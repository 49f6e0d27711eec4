//! Registers the next beacon chain of this node's validator before the running one ends.

use crate::signer::ENTRY_HEIGHTS;
use gridbay_host::Host;
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::ids::AccountId;

/// When to ask the ledger again.
#[derive(Debug, Default)]
pub(crate) struct Renewal {
    /// Height until which a registration that was sent may still be included.
    pending_until: u64,
}

impl Renewal {
    /// The registration to send after a block, if one is due and none is on its way. Only the
    /// account that runs the validator can register.
    pub(crate) fn due(&mut self, host: &mut Host, account: &AccountId) -> Option<EntryBody> {
        let validator = host.validator()?;
        let height = host.state().height();
        let own = host.state().validators().get(&validator)?.account == *account;
        if !own || height <= self.pending_until {
            return None;
        }
        let tip = host.beacon_renewal()?;
        self.pending_until = height + ENTRY_HEIGHTS;
        tracing::info!(%validator, %tip, "registering the next beacon chain");
        Some(EntryBody::RegisterBeacon { tip })
    }
}
