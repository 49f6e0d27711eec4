//! I7: no bid value can be read before its round's commitments closed.
//!
//! 1. The salts and seals of all honest bidders' attempts are taken from the records they save.
//! 2. A salt is open once the last block of the round that holds its commitment was decided by the
//!    node that says it, or by any honest node, though it died before it could tell of the block.
//!    Until then nothing that any node says may contain it: without the salt a seal tells nothing.
//! 3. That nothing else tells it either is for the test `secrecy`, which compares two worlds.

use super::{Check, Fact, Sight};
use crate::world::World;
use gridbay_core::buyer::Record;
use gridbay_core::effect::Effect;
use gridbay_core::key::OrderKey;
use gridbay_protocol::calendar::Calendar;
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::ids::{AccountId, Hash32, NetworkId};
use gridbay_protocol::order::Wish;
use std::collections::{BTreeMap, BTreeSet};

/// A bid that must not be read yet.
#[derive(Clone, Debug)]
struct Secret {
    owner: usize,
    salt: [u8; 32],
    seal: Hash32,
    /// Last height of the round that holds its commitment.
    opens: Option<u64>,
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Secrecy {
    /// By owner, order and attempt.
    secrets: BTreeMap<(usize, OrderKey, u32), Secret>,
    /// The last attempts seen, so that a record that only grew is not hashed again.
    known: BTreeMap<(usize, OrderKey), u32>,
    /// The amendments seen.
    amended: BTreeSet<(usize, OrderKey, u32)>,
    height: u64,
    /// Height of the highest ledger of an honest node: it may have died before it could say so.
    reached: u64,
}

impl Secrecy {
    fn saved(&mut self, owner: usize, network: &NetworkId, account: &AccountId, record: &Record) {
        self.amends(owner, network, account, record);
        let (key, attempt) = (record.order.key, record.attempt);
        let Some(wish) = record.wish.as_ref().filter(|_| attempt > 0) else {
            return;
        };
        if self.known.insert((owner, key), attempt) == Some(attempt) {
            return;
        }
        let salt = record.seal_salt();
        let secret = Secret {
            owner,
            salt,
            seal: wish.seal(network, account, &salt),
            opens: None,
        };
        self.secrets.insert((owner, key, attempt), secret);
    }
    fn amends(&mut self, owner: usize, network: &NetworkId, account: &AccountId, record: &Record) {
        let Some(sent) = record.amending.as_ref().and_then(|a| a.sent.as_ref()) else {
            return;
        };
        // Attempts are few; amendments are numbered from above.
        let key = (owner, record.order.key, u32::MAX - sent.number);
        if self.amended.insert(key) {
            let salt = record.amend_salt(sent.number);
            let wish = Wish::from(sent.amendment.clone());
            let secret = Secret {
                owner,
                salt,
                seal: wish.seal(network, account, &salt),
                opens: None,
            };
            self.secrets.insert(key, secret);
        }
    }
    fn block(&mut self, fact: &Fact, calendar: &Calendar) {
        self.height = fact.height;
        self.committed(fact, calendar);
        let height = self.height;
        let closed = |s: &Secret| s.opens.is_some_and(|last| last <= height);
        self.secrets.retain(|_, secret| !closed(secret));
    }
    /// Finds the commitments of a block.
    fn committed(&mut self, fact: &Fact, calendar: &Calendar) {
        for signed in &fact.decided.block.entries {
            let EntryBody::Commit(commit) = &signed.entry.body else {
                continue;
            };
            let sealed = self.secrets.values_mut();
            for secret in sealed.filter(|s| s.seal == commit.seal) {
                let heights = u64::from(calendar.round_heights);
                secret.opens = Some(fact.height.div_ceil(heights) * heights);
            }
        }
    }
    /// Checks a message of a node whose ledger is at `height`, which may be above the last block
    /// that was shown.
    fn said(&self, node: usize, height: u64, bytes: &[u8]) -> Result<(), String> {
        let height = height.max(self.reached);
        let sealed = |s: &&Secret| s.opens.is_none_or(|last| last > height);
        let mut secrets = self.secrets.values().filter(sealed);
        match secrets.find(|s| contains(bytes, &s.salt)) {
            Some(secret) => {
                let (owner, seal, opens) = (secret.owner, secret.seal, secret.opens);
                Err(format!(
                    "node {node} says at height {height} the salt of seal {seal} of node {owner}, \
                     which opens after {opens:?}"
                ))
            }
            None => Ok(()),
        }
    }
}

/// Whether `bytes` contain the salt. Its first byte is rare, so most places need one look.
fn contains(bytes: &[u8], salt: &[u8; 32]) -> bool {
    let Some(last) = bytes.len().checked_sub(salt.len()) else {
        return false;
    };
    let starts = bytes[..=last].iter().enumerate();
    let mut starts = starts.filter(|(_, b)| **b == salt[0]);
    starts.any(|(i, _)| bytes[i..].starts_with(salt))
}

impl Check for Secrecy {
    fn id(&self) -> &'static str {
        "I7"
    }
    fn see(&mut self, world: &World, sight: &Sight<'_>) -> Result<(), String> {
        match sight {
            Sight::Block(fact) => self.block(fact, &world.genesis.policy.calendar),
            Sight::Step { node, effects, .. } => {
                let core = world.core(*node);
                let height = core.map_or(0, |c| c.state().height());
                // Blocks that this very step decided are shown after it.
                let (first, machine) = (self.height + 1, &world.machines[*node]);
                if let Some(core) = core.filter(|_| first <= height && machine.is_honest()) {
                    for height in first..=height {
                        let fact = Fact::read(core, *node, height)?;
                        self.committed(&fact, &world.genesis.policy.calendar);
                    }
                    self.reached = self.reached.max(height);
                }
                for effect in *effects {
                    match effect {
                        Effect::SaveOrder { record, .. } if world.machines[*node].is_honest() => {
                            let account = world.core(*node).and_then(|core| core.account());
                            let record = Record::decode(record).map_err(|e| e.to_string())?;
                            if let Some(account) = account {
                                self.saved(*node, &world.network(), &account, &record);
                            }
                        }
                        Effect::Broadcast { bytes }
                        | Effect::Send { bytes, .. }
                        | Effect::Gossip(bytes) => self.said(*node, height, bytes)?,
                        _ => {}
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_salt_said_too_early_is_reported() {
        let salt = [9; 32];
        let secret = Secret {
            owner: 1,
            salt,
            seal: Hash32([1; 32]),
            opens: Some(8),
        };
        let mut check = Secrecy::default();
        check.secrets.insert((1, OrderKey(1), 1), secret);
        let mut bytes = vec![9, 1, 9, 9];
        bytes.extend(salt);
        bytes.push(3);
        assert!(check.said(0, 7, &bytes).is_err());
        assert_eq!(check.said(0, 7, &bytes[..30]), Ok(()));
        assert_eq!(check.said(0, 7, &[9; 31]), Ok(()));
        assert!(check.said(0, 7, &[9; 32]).is_err());
        let calendar = Calendar {
            round_heights: 4,
            slot_rounds: 2,
        };
        let fact = |height| Fact {
            node: 0,
            height,
            decided: super::super::fact::tests::decided(height),
            effects: vec![],
        };
        check.block(&fact(7), &calendar);
        assert!(check.said(0, 7, &bytes).is_err());
        assert_eq!(check.said(0, 8, &bytes), Ok(()), "the node knows the close");
        check.reached = 8;
        let relayed = check.said(0, 7, &bytes);
        assert_eq!(relayed, Ok(()), "an honest node knows the close");
        check.reached = 0;
        check.block(&fact(8), &calendar);
        assert_eq!(check.said(0, 7, &bytes), Ok(()), "the round has closed");
    }
}
