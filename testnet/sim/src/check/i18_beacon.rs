//! I18: every block reveals the preimage of the tip that counts for its proposer: of the chain in
//! the genesis, or of one registered two epochs before.

use super::{Check, Fact, Sight};
use crate::world::World;
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::genesis::Genesis;
use gridbay_protocol::hash::{Domain, hash};
use gridbay_protocol::ids::{AccountId, Hash32, ValidatorId};
use gridbay_protocol::limits::EPOCH_HEIGHTS;
use std::collections::BTreeMap;

/// The known chains of a validator.
#[derive(Debug)]
struct Chains {
    account: AccountId,
    tip: Hash32,
    /// A registered tip, and the first height at which it counts.
    next: Option<(Hash32, u64)>,
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Reveals {
    chains: BTreeMap<ValidatorId, Chains>,
}

impl Reveals {
    fn found(&mut self, genesis: &Genesis) {
        for member in &genesis.members {
            if let Some(validator) = &member.validator {
                let id = gridbay_protocol::validator::validator_id(&validator.key);
                let chains = Chains {
                    account: genesis.account(member),
                    tip: validator.beacon_tip,
                    next: None,
                };
                self.chains.insert(id, chains);
            }
        }
    }
    fn reveal(&mut self, height: u64, by: &ValidatorId, reveal: Hash32) -> Result<(), String> {
        for chains in self.chains.values_mut() {
            if let Some((tip, _)) = chains.next.take_if(|(_, from)| *from <= height) {
                chains.tip = tip;
            }
        }
        let unknown = || format!("block {height} is by {by}, who is no validator");
        let chains = self.chains.get_mut(by).ok_or_else(unknown)?;
        if hash(Domain::BeaconChain, &[&reveal.0]) != chains.tip.0 {
            return Err(format!(
                "block {height} by {by} reveals what was not committed two epochs before"
            ));
        }
        chains.tip = reveal;
        Ok(())
    }
    fn register(&mut self, height: u64, account: &AccountId, tip: Hash32) -> Result<(), String> {
        let mut all = self.chains.values_mut();
        let chains = all.find(|chains| chains.account == *account);
        let chains = chains.ok_or(format!("{account} has no validator to register for"))?;
        if chains.next.is_some() {
            return Err(format!("{account} replaces a tip that waits"));
        }
        let epoch = (height - 1) / EPOCH_HEIGHTS;
        chains.next = Some((tip, (epoch + 2) * EPOCH_HEIGHTS + 1));
        Ok(())
    }
    fn block(&mut self, fact: &Fact) -> Result<(), String> {
        let header = &fact.decided.block.header;
        self.reveal(fact.height, &header.proposer, header.beacon_reveal)?;
        for signed in &fact.decided.block.entries {
            if let EntryBody::RegisterBeacon { tip } = &signed.entry.body {
                self.register(fact.height, &signed.entry.account, *tip)?;
            }
        }
        Ok(())
    }
}

impl Check for Reveals {
    fn id(&self) -> &'static str {
        "I18"
    }
    fn see(&mut self, world: &World, sight: &Sight<'_>) -> Result<(), String> {
        let Sight::Block(fact) = sight else {
            return Ok(());
        };
        if self.chains.is_empty() {
            self.found(&world.genesis);
        }
        self.block(fact)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tip(reveal: [u8; 32]) -> Hash32 {
        Hash32(hash(Domain::BeaconChain, &[&reveal]))
    }

    #[test]
    fn a_reveal_of_a_young_chain_and_a_tip_that_replaces_another_are_reported() {
        let (by, account) = (ValidatorId([1; 32]), AccountId([2; 32]));
        let chains = Chains {
            account,
            tip: tip([3; 32]),
            next: None,
        };
        let mut check = Reveals {
            chains: [(by, chains)].into(),
        };
        assert_eq!(check.register(1_200, &account, tip([7; 32])), Ok(()));
        assert!(check.register(1_300, &account, tip([8; 32])).is_err());
        assert!(
            check
                .register(1_300, &AccountId([9; 32]), tip([8; 32]))
                .is_err()
        );
        assert!(check.reveal(1_201, &by, Hash32([7; 32])).is_err());
        assert_eq!(check.reveal(2_400, &by, Hash32([3; 32])), Ok(()));
        assert_eq!(check.reveal(2_401, &by, Hash32([7; 32])), Ok(()));
        assert_eq!(check.register(2_401, &account, tip([8; 32])), Ok(()));
    }
}
