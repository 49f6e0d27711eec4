//! What the node carries for others' networks, and how its adverts say so.

use crate::config::{Config, FREE_DAY};
use crate::keys::NodeKeys;
use gridbay_core::relay::{GIVES, RelayTerms, SELLS};
use gridbay_protocol::genesis::{Genesis, Member};

/// By its configuration; a validator of the genesis gives a little unless its owner says otherwise.
pub(super) fn terms(config: &Config, keys: &NodeKeys, genesis: &Genesis) -> RelayTerms {
    let own = |m: &Member| m.validator.as_ref().is_some_and(|v| v.node == keys.node());
    let usual = match genesis.members.iter().any(own) {
        true => FREE_DAY,
        false => 0,
    };
    RelayTerms {
        unit_slot: config.relay.unit_slot,
        free_day: config.relay.free_day.unwrap_or(usual),
    }
}

/// The attributes of its adverts.
pub(super) fn attributes(terms: &RelayTerms) -> impl Iterator<Item = (String, String)> {
    let said = [(SELLS, terms.unit_slot), (GIVES, terms.free_day)];
    let carries = said.into_iter().filter(|(_, bytes)| *bytes > 0);
    carries.map(|(name, _)| (name.to_owned(), "yes".to_owned()))
}
