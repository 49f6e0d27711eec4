//! I6: an entry acknowledged in time by more than two thirds of the power is in the book of its
//! round.
//!
//! Votes make it true: in the rounds 0..f of a height an honest validator votes for no block that
//! omits an entry which it has held as ready for [`INCLUSION_HEIGHTS`]. The checker follows this,
//! whoever proposes:
//!
//! 1. After every block it notes the ready entries of every honest validator, each with a height.
//!    That is the height since which the entry has been ready without a pause and without an end of
//!    the process, or the one in the validator's promise, which outlives a crash. An entry that
//!    waited in between, or was not watched for some blocks, counts from when it is ready again.
//! 2. If so many of them have held an entry for so long that the rest of the power is no quorum,
//!    then the next block, decided in one of those rounds, holds the entry; unless the ledger does
//!    not admit it after the block, so that validators no longer hold it as ready, or the block has
//!    an excuse (see [`excuse`]).

pub(super) mod excuse;

use super::{Check, Fact, Sight};
use crate::found::validator_key;
use crate::world::World;
use excuse::{Made, Standing};
use gridbay_core::effect::Effect;
use gridbay_host::message::HostMessage;
use gridbay_ledger::State;
use gridbay_protocol::calendar;
use gridbay_protocol::entry::{Entry, SignedEntry};
use gridbay_protocol::ids::{AccountId, EntryId, ValidatorId};
use gridbay_protocol::limits::INCLUSION_HEIGHTS;
use gridbay_protocol::receipt::Receipt;
use gridbay_protocol::validator::validator_id;
use std::collections::{BTreeMap, BTreeSet};

/// Entries that are ready at one validator, half of what one account may have in its mempool or of
/// what it tells others again at a height: with no more than these, none is passed over.
const CROWD: usize = 256;

/// The ready entries of a validator.
#[derive(Debug, Default)]
struct Held {
    /// Height at which it was looked at.
    height: u64,
    since: BTreeMap<EntryId, u64>,
    /// Whether its process ended since.
    down: bool,
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Inclusion {
    held: BTreeMap<usize, Held>,
    /// The entries that waited.
    known: BTreeMap<EntryId, Entry>,
    /// Height after which some validator last held more than [`CROWD`].
    crowded: Option<u64>,
    /// Entries left out of the block of a height, until an honest validator says whether they are
    /// ready after it.
    left_out: BTreeMap<EntryId, u64>,
    /// Heights that receipts name.
    promised: BTreeMap<(usize, EntryId), u64>,
}

/// The house and the free money of an account after a block.
pub(super) fn standing(state: &State, account: &AccountId) -> Option<Standing> {
    let house = state.account(account)?.sponsor;
    let balance = state.balance(account);
    let owes = i64::try_from(balance.arrears.micros()).unwrap_or(i64::MAX);
    let free = balance.free.saturating_sub(owes);
    Some(Standing { house, free })
}

/// The promises that a validator gives, signed or by word.
fn promises(own: ValidatorId, effects: &[Effect]) -> impl Iterator<Item = Receipt> + '_ {
    const RECEIPTS: &[u8] = b"\xa1\x68receipts";
    const ACKNOWLEDGED: &[u8] = b"\xa1\x6cacknowledged";
    let given = effects.iter().filter_map(move |effect| match effect {
        Effect::Send { bytes, .. }
            if bytes.starts_with(RECEIPTS) || bytes.starts_with(ACKNOWLEDGED) =>
        {
            HostMessage::decode(bytes).ok()
        }
        _ => None,
    });
    given.flat_map(move |message| match message {
        HostMessage::Receipts(signed) => signed.into_iter().map(|s| s.receipt).collect(),
        HostMessage::Acknowledged(all) => {
            let of = |entry| Receipt {
                entry,
                height: all.height,
                validator: own,
            };
            all.entries.into_iter().map(of).collect()
        }
        _ => Vec::new(),
    })
}

impl Inclusion {
    /// A validator's promise that an entry is acknowledged since a height.
    fn receipt(
        &mut self,
        node: usize,
        own: ValidatorId,
        tip: u64,
        receipt: Receipt,
    ) -> Result<(), String> {
        if receipt.validator != own || receipt.height > tip {
            return Err(format!("node {node} at {tip} gives {receipt:?}"));
        }
        let place = (node, receipt.entry);
        let before = *self.promised.entry(place).or_insert(receipt.height);
        if before < receipt.height {
            return Err(format!("node {node} promised since {before}: {receipt:?}"));
        }
        Ok(())
    }
    /// Step 1.
    fn note(&mut self, node: usize, height: u64, ready: &[EntryId]) {
        let before = self.held.remove(&node).unwrap_or_default();
        if ready.len() > CROWD {
            self.crowded = self.crowded.max(Some(height));
        }
        let watched = before.height + 1 >= height;
        let promised = |id: &EntryId| {
            let promised = self.promised.get(&(node, *id));
            promised.filter(|promised| **promised >= before.height)
        };
        let since = |id: &EntryId| {
            let since = before.since.get(id).or(promised(id));
            since.copied().filter(|_| watched).unwrap_or(height)
        };
        let since = ready.iter().map(|id| (*id, since(id))).collect();
        self.held.insert(
            node,
            Held {
                height,
                since,
                down: false,
            },
        );
    }
    /// The process of a node ends: of its ready entries, only the promised ones are kept.
    fn down(&mut self, node: usize) {
        let promised = &self.promised;
        if let Some(held) = self.held.get_mut(&node) {
            held.since
                .retain(|id, _| promised.contains_key(&(node, *id)));
            held.down = true;
        }
    }
    /// Entries that the block of `height` cannot omit in an early round, of `validators` of equal
    /// power.
    fn due(&self, height: u64, validators: usize) -> Vec<EntryId> {
        let here = self
            .held
            .values()
            .filter(|h| !h.down && h.height + 1 == height);
        let mut holders: BTreeMap<EntryId, usize> = BTreeMap::new();
        for held in here {
            let old = held
                .since
                .iter()
                .filter(|(_, s)| *s + INCLUSION_HEIGHTS <= height);
            for (id, _) in old {
                *holders.entry(*id).or_default() += 1;
            }
        }
        let blocking = |n: usize| 3 * (validators - n) <= 2 * validators;
        let due = holders.into_iter().filter(|(_, n)| blocking(*n));
        due.map(|(id, _)| id).collect()
    }
    /// Whether entries were few before a block for as long as it takes to become due.
    fn is_calm(&self, height: u64) -> bool {
        let until = self.crowded.map_or(0, |at| at + INCLUSION_HEIGHTS + 1);
        until < height
    }
    /// Step 2: notes the entries that the block leaves out.
    fn judge(&mut self, due: &[EntryId], height: u64, made: &Made<'_>) {
        let there: BTreeSet<EntryId> = made.entries.iter().map(SignedEntry::id).collect();
        let left_out = due.iter().filter(|id| !there.contains(id));
        let left_out = left_out.filter(|id| {
            let entry = self.known.get(id);
            entry.is_none_or(|entry| !made.excuses(entry))
        });
        self.left_out = left_out.map(|id| (*id, height)).collect();
    }
    /// Step 2: whether any of these is ready after the block.
    fn confirm(&self, height: u64, ready: &[EntryId]) -> Result<(), String> {
        let left_out = |id: &&EntryId| self.left_out.get(id) == Some(&height);
        match ready.iter().find(left_out) {
            Some(id) => Err(format!("block {height} leaves out {id}, which was due")),
            None => Ok(()),
        }
    }
    fn block(&mut self, fact: &Fact, validators: usize, state: Option<&State>) {
        let (height, tolerated) = (fact.height, validators.saturating_sub(1) / 3);
        if fact.decided.certificate.round as usize > tolerated {
            return;
        }
        let due = self.due(height, validators);
        if due.is_empty() {
            return;
        }
        let after = |account: &AccountId| standing(state?, account);
        let same_budgets = calendar::epoch(height) == calendar::epoch(height + 1);
        let made = Made {
            entries: &fact.decided.block.entries,
            effects: &fact.effects,
            after: &after,
            quiet: same_budgets && self.is_calm(height),
        };
        self.judge(&due, height, &made);
    }
}

impl Check for Inclusion {
    fn id(&self) -> &'static str {
        "I6"
    }
    fn see(&mut self, world: &World, sight: &Sight<'_>) -> Result<(), String> {
        let votes = |n: &usize| *n < world.plan.validators && world.machines[*n].is_honest();
        match sight {
            Sight::Block(fact) => {
                let state = world.core(fact.node).map(gridbay_core::Core::state);
                let state = state.filter(|s| s.height() == fact.height);
                self.block(fact, world.plan.validators, state);
                Ok(())
            }
            Sight::Decided { node, height, .. } if votes(node) => {
                let core = world.core(*node).filter(|c| c.state().height() == *height);
                let ready = core.map(|c| c.host().waiting()).unwrap_or_default();
                let ids: Vec<EntryId> = ready.iter().map(|e| e.id()).collect();
                for entry in &ready {
                    let known = self.known.entry(entry.id());
                    known.or_insert_with(|| entry.entry().clone());
                }
                self.note(*node, *height, &ids);
                self.confirm(*height, &ids)
            }
            Sight::Step { node, effects, .. } if votes(node) => {
                let tip = world.core(*node).map_or(0, |c| c.state().height());
                let own = validator_id(&validator_key(*node).public());
                promises(own, effects).try_for_each(|given| self.receipt(*node, own, tip, given))
            }
            Sight::Down { node } => {
                self.down(*node);
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_left_out_is_reported() {
        let id = EntryId([1; 32]);
        let mut check = Inclusion::default();
        for height in 5..=7 {
            for node in 0..2 {
                check.note(node, height, &[id]);
            }
        }
        assert_eq!(check.due(8, 4), [id], "two of four can stop a block");
        assert_eq!(check.due(8, 7), [], "two of seven cannot");
        assert_eq!(check.due(9, 4), [], "they were not asked at 8");
        let made = Made {
            entries: &[],
            effects: &[],
            after: &|_| None,
            quiet: true,
        };
        check.judge(&[id], 8, &made);
        assert_eq!(check.confirm(8, &[]), Ok(()), "it can pass no more");
        assert!(check.confirm(8, &[id]).is_err());
        check.note(0, 8, &[]);
        check.note(1, 8, &[id]);
        assert_eq!(check.due(9, 4), [], "one is not enough");
    }

    #[test]
    fn what_was_crowded_a_while_ago_is_not_judged_by_its_account() {
        let id = |n: usize| EntryId([(n / 256) as u8; 32].map(|high| high ^ (n % 256) as u8));
        let ids: Vec<EntryId> = (0..=CROWD).map(id).collect();
        let mut check = Inclusion::default();
        check.note(1, 5, &ids[1..]);
        assert!(check.is_calm(6));
        check.note(1, 6, &ids);
        assert!(!check.is_calm(10));
        assert!(check.is_calm(11));
    }

    #[test]
    fn a_receipt_outlives_a_crash_and_is_not_taken_back() {
        let (id, key) = (EntryId([1; 32]), validator_key(1));
        let own = validator_id(&key.public());
        let given = |height| Receipt {
            entry: id,
            height,
            validator: own,
        };
        let mut check = Inclusion::default();
        assert!(check.receipt(1, own, 4, given(5)).is_err(), "not there yet");
        let other = validator_id(&validator_key(2).public());
        assert!(check.receipt(1, other, 5, given(5)).is_err(), "of another");
        assert_eq!(check.receipt(1, own, 5, given(5)), Ok(()));
        assert_eq!(check.receipt(1, own, 9, given(5)), Ok(()));
        assert!(check.receipt(1, own, 9, given(6)).is_err(), "later");
        check.promised.insert((2, id), 5);
        for node in [1, 2] {
            (1..=5).for_each(|height| check.note(node, height, &[]));
            check.note(node, 6, &[id]);
            check.down(node);
        }
        assert_eq!(check.due(7, 4), [], "they are down");
        check.note(1, 7, &[id]);
        check.note(2, 7, &[id]);
        assert_eq!(check.due(8, 4), [id]);
        check.note(1, 8, &[]);
        check.note(1, 9, &[id]);
        assert_eq!(check.held[&1].since[&id], 9, "it waited in between");
    }
}
