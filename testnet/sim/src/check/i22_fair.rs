//! I22: while the network is calm, an entry that its account has waiting alone, or within its fair
//! share, is in the book within a few blocks, whatever others hand in.
//!
//! The checker follows entries from the moment at which a user without a node hands them in at an
//! honest one, so it also objects where they never reach a mempool; I6 follows what is in one. They
//! count if the world is settled, that node has the last block (in the mempool of another, what is
//! in that block still takes its account's room), it came in one of the rounds 0..f of consensus,
//! and the account has fewer entries waiting than its share, with those that it hands in at the
//! same moment, since they may arrive in any order. The share is the entries that fit any block,
//! even if all are of the largest kind, divided by all houses and by all accounts that one may
//! have.
//!
//! 1. *Blocks.* Let `h` be the highest honest tip when the entry comes. Two blocks may be under
//!    way: `h + 1` has begun, and `h + 2` may be made as soon as that is decided. From the start
//!    of `h + 2` to that of `h + 3` a block interval passes, in which the entry reaches all
//!    validators. The proposer of `h + 3` has it. A full block is shared out by houses, then by the
//!    accounts of each, and every share has room for the entry.
//! 2. Where there are liars, one may have made that block. Honest validators know the entry since
//!    `h + 2` at the latest, and vote for no block that omits it [`INCLUSION_HEIGHTS`] later.
//! 3. *Time.* So many blocks take their intervals, and of each the rounds that liars can spoil.
//! 4. The count begins anew with a block of a later round, and with one that has an excuse as in
//!    I6: that another entry of this account, or one that names the same key, shut it out. It ends
//!    if the ledger no longer admits the entry.

use super::i06_inclusion::excuse::Made;
use super::i06_inclusion::standing;
use super::i12_liveness::round_ms;
use super::{Check, Fact, Sight};
use crate::world::World;
use gridbay_ledger::State;
use gridbay_protocol::calendar;
use gridbay_protocol::entry::Entry;
use gridbay_protocol::genesis::Policy;
use gridbay_protocol::ids::{AccountId, EntryId};
use gridbay_protocol::limits::{
    BLOCK_ENTRIES, BLOCK_ENTRIES_BYTES, INCLUSION_HEIGHTS, SIGNED_ENTRY_BYTES,
};
use gridbay_protocol::stage::Authentic;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Blocks that may be under way without an entry that has just come.
const UNDER_WAY: u64 = 2;

/// An entry that waits.
#[derive(Debug)]
struct Waits {
    entry: Arc<Authentic>,
    /// The highest honest tip when it came, and the time.
    from: u64,
    since: u64,
    /// Whether it came within its account's share, to a settled network.
    counts: bool,
}

/// How long an entry may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bound {
    blocks: u64,
    ms: u64,
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Fair {
    waiting: BTreeMap<EntryId, Waits>,
    /// The highest honest tip.
    top: u64,
    /// Whether its block came in an early round.
    early: bool,
}

impl Bound {
    fn of(policy: &Policy, liars: usize) -> Bound {
        let blocks = UNDER_WAY + if liars > 0 { INCLUSION_HEIGHTS } else { 1 };
        let rounds = (0..=liars as u64).map(|round| round_ms(policy, round));
        let ms = blocks * (policy.block_interval_ms + rounds.sum::<u64>());
        Bound { blocks, ms }
    }
}

/// Entries of one account that are in the next block, whatever else is in it.
fn share(houses: usize, policy: &Policy) -> usize {
    let room = BLOCK_ENTRIES.min(BLOCK_ENTRIES_BYTES / SIGNED_ENTRY_BYTES);
    let accounts = policy.accounts_per_member as usize + 1;
    (room / houses / accounts).max(1)
}

impl Fair {
    fn of(&self, account: &AccountId) -> usize {
        let all = self.waiting.values().map(|w| &w.entry.entry().account);
        all.filter(|of| *of == account).count()
    }
    /// An account hands in more than its share: of what it handed in with that, none counts.
    fn discount(&mut self, now: u64, account: &AccountId) {
        let with = |w: &&mut Waits| w.since == now && w.entry.entry().account == *account;
        let with = self.waiting.values_mut().filter(with);
        with.for_each(|waits| waits.counts = false);
    }
    /// An entry is handed in.
    fn come(&mut self, now: u64, entry: &Arc<Authentic>, settled: bool, share: usize) {
        let within = self.of(&entry.entry().account) < share;
        if !within {
            self.discount(now, &entry.entry().account);
        }
        let counts = settled && self.early && within;
        let waits = Waits {
            entry: Arc::clone(entry),
            from: self.top,
            since: now,
            counts,
        };
        self.waiting.entry(entry.id()).or_insert(waits);
    }
    /// A block without entries that wait: `admits` and `excuses` tell of each what is so after it.
    fn pass(
        &mut self,
        now: u64,
        there: &BTreeSet<EntryId>,
        admits: impl Fn(&Arc<Authentic>) -> bool,
        excuses: impl Fn(&Entry) -> bool,
        bound: Bound,
    ) -> Result<(), String> {
        let top = self.top;
        self.waiting.retain(|id, waits| {
            let good = waits.entry.entry().valid_until > top;
            good && !there.contains(id) && (!waits.counts || admits(&waits.entry))
        });
        for (id, waits) in self.waiting.iter_mut().filter(|(_, waits)| waits.counts) {
            if !self.early || excuses(waits.entry.entry()) {
                (waits.from, waits.since) = (top, now);
            } else if top >= waits.from + bound.blocks {
                return Err(format!(
                    "{id} came at {} to {} and is not in the book at {top}; {bound:?}",
                    waits.since, waits.from
                ));
            }
        }
        Ok(())
    }
    /// Step 3.
    fn in_time(&self, now: u64, bound: Bound) -> Result<(), String> {
        let mut counts = self.waiting.iter().filter(|(_, waits)| waits.counts);
        match counts.find(|(_, waits)| now > waits.since + bound.ms) {
            Some((id, waits)) => Err(format!(
                "{id} came at {} and is not in the book at {now}; {bound:?}",
                waits.since
            )),
            None => Ok(()),
        }
    }
    fn block(&mut self, world: &World, fact: &Fact) -> Result<(), String> {
        let height = fact.height;
        self.top = height;
        let round = fact.decided.certificate.round as usize;
        self.early = round <= world.plan.tolerated();
        let state = world.core(fact.node).map(gridbay_core::Core::state);
        let state: Option<&State> = state.filter(|state| state.height() == height);
        let after = |account: &AccountId| standing(state?, account);
        let entries = &fact.decided.block.entries;
        let made = Made {
            entries,
            effects: &fact.effects,
            after: &after,
            quiet: calendar::epoch(height) == calendar::epoch(height + 1),
        };
        let bound = Bound::of(&world.genesis.policy, world.plan.liars.len());
        self.pass(
            world.now,
            &entries.iter().map(|signed| signed.id()).collect(),
            |entry| state.is_none_or(|state| state.admit(entry).is_ok()),
            |entry| state.is_none() || made.excuses(entry),
            bound,
        )?;
        self.in_time(world.now, bound)
    }
}

impl Check for Fair {
    fn id(&self) -> &'static str {
        "I22"
    }
    fn see(&mut self, world: &World, sight: &Sight<'_>) -> Result<(), String> {
        match sight {
            Sight::Handed { node, entry } if world.machines[*node].is_honest() => {
                let share = share(world.plan.nodes(), &world.genesis.policy);
                let tip = world.core(*node).map(|core| core.state().height());
                let settled = tip == Some(self.top) && world.is_settled();
                self.come(world.now, entry, settled, share);
                Ok(())
            }
            Sight::Block(fact) => self.block(world, fact),
            _ => Ok(()),
        }
    }
    fn end(&mut self, world: &World) -> Result<(), String> {
        let bound = Bound::of(&world.genesis.policy, world.plan.liars.len());
        self.in_time(world.now, bound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::entry::{EntryBody, SignedEntry};
    use gridbay_protocol::ids::{Hash32, NetworkId};
    use gridbay_protocol::keys::SecretKey;
    use gridbay_protocol::stage::WellFormed;
    use gridbay_protocol::units::Credits;

    const NETWORK: NetworkId = NetworkId([1; 32]);

    fn entry(account: u8, memo: u8) -> Arc<Authentic> {
        let key = SecretKey::from_seed(&[account; 32]);
        let entry = Entry {
            network: NETWORK,
            account: AccountId([account; 32]),
            key: key.public(),
            valid_until: 99,
            body: EntryBody::Transfer {
                to: AccountId([7; 32]),
                amount: Credits::from_micros(1).expect("a small amount"),
                memo: Hash32([memo; 32]),
            },
        };
        let formed = WellFormed::check(&NETWORK, SignedEntry::new(entry, &key));
        let authentic = formed.expect("well-formed").authenticate();
        Arc::new(authentic.expect("signed"))
    }

    fn calm() -> Fair {
        Fair {
            top: 10,
            early: true,
            ..Fair::default()
        }
    }

    /// The blocks from `first` to `last`, without any of the entries.
    fn blocks(check: &mut Fair, first: u64, last: u64, admits: bool) -> Result<(), String> {
        let bound = Bound::of(&Policy::local(), 0);
        (first..=last).try_for_each(|height| {
            check.top = height;
            let none = BTreeSet::new();
            check.pass(height * 250, &none, |_| admits, |_| false, bound)
        })
    }

    #[test]
    fn an_entry_that_is_passed_over_is_reported() {
        let mut check = calm();
        check.come(2_500, &entry(1, 1), true, 2);
        assert_eq!(blocks(&mut check, 11, 12, true), Ok(()));
        assert!(blocks(&mut check, 13, 13, true).is_err());
        for (settled, early, admits) in [
            (false, true, true),
            (true, false, true),
            (true, true, false),
        ] {
            let mut check = calm();
            check.early = early;
            check.come(2_500, &entry(1, 1), settled, 2);
            assert_eq!(blocks(&mut check, 11, 20, admits), Ok(()));
        }
    }

    #[test]
    fn what_comes_at_once_beyond_a_share_may_arrive_in_any_order() {
        for (later, counts) in [(0, false), (1, true)] {
            let mut check = calm();
            check.come(2_500, &entry(1, 1), true, 1);
            check.come(2_500 + later, &entry(1, 2), true, 1);
            assert_eq!(blocks(&mut check, 11, 13, true).is_err(), counts);
        }
    }

    #[test]
    fn what_is_beyond_a_share_or_excused_waits_longer() {
        let mut check = calm();
        let entries = [entry(1, 1), entry(1, 2), entry(1, 3), entry(2, 1)];
        for (ms, entry) in (2_500..).zip(&entries) {
            check.come(ms, entry, true, 2);
        }
        let counts = |id| check.waiting[&id].counts;
        let counted: Vec<bool> = entries.iter().map(|e| counts(e.id())).collect();
        assert_eq!(counted, [true, true, false, true]);
        let bound = Bound::of(&Policy::local(), 0);
        let there = BTreeSet::from([entries[0].id(), entries[3].id()]);
        check.top = 13;
        let own = |entry: &Entry| entry.account == AccountId([1; 32]);
        assert_eq!(check.pass(3_250, &there, |_| true, own, bound), Ok(()));
        assert_eq!(blocks(&mut check, 14, 15, true), Ok(()));
        assert!(blocks(&mut check, 16, 16, true).is_err());
    }

    #[test]
    fn a_chain_that_stands_is_reported() {
        let mut check = calm();
        check.come(1_000, &entry(1, 1), true, 2);
        let bound = Bound::of(&Policy::local(), 0);
        // Three blocks of 250 ms and a round of 900 ms.
        let ms = 3 * 1_150;
        assert_eq!(bound, Bound { blocks: 3, ms });
        assert_eq!(check.in_time(1_000 + ms, bound), Ok(()));
        assert!(check.in_time(1_001 + ms, bound).is_err());
        let lies = Bound::of(&Policy::local(), 1);
        assert_eq!((lies.blocks, lies.ms), (5, 5 * 2_500));
        assert_eq!(
            share(
                16,
                &Policy {
                    accounts_per_member: 3,
                    ..Policy::local()
                }
            ),
            6
        );
    }
}
