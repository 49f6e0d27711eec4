//! The second copy of a checkpoint, on another node of the lease.
//!
//! 1. The seller's node signs what a run has kept ([`struct@Copy`]) and offers it to the first of
//!    [`keepers`], which it picks by its own ledger.
//! 2. The keeper takes it if its ledger says that both hold units of the lease, and if it runs a
//!    task of the lease itself, since that names the buyer's node and how often a copy may come.
//!    Then it pulls the files. Of each unit that the seller's node holds there it keeps one copy;
//!    of a lease no more than the disks of its own units there have room for. Copies go before
//!    anything else when its disk is short.
//! 3. Only the buyer's node reads there. It believes the signature of the seller's node, and not
//!    the keeper ([`ranked`]).
//! 4. A copy goes [`KEEP_HEIGHTS`] after its seller's last unit of the lease, or the lease, went.

use crate::agent::{AgentReply, Copy, KeepRefusal, RunId};
use crate::effect::Effect;
use crate::relay::Signed;
use gridbay_ledger::State;
use gridbay_protocol::checkpoint::{CHECKPOINT_BYTES, COPIES, COPIES_BYTES, COPIES_OF_LEASE};
use gridbay_protocol::codec::{self, CodecError};
use gridbay_protocol::ids::{AccountId, LeaseId, NetworkId};
use gridbay_protocol::keys::PublicKey;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Heights for which a copy is kept after its lease is gone, and so is the output of a run.
pub const KEEP_HEIGHTS: u64 = 1_200;
/// Bytes of the memory at the most.
pub const BYTES: usize = COPIES * 1_024;

/// The other nodes of a lease in the order in which the node `own` would have them keep copies:
/// those of other sellers first, each time from its own key on, so that not all take the same.
pub fn keepers(
    own: (Option<AccountId>, PublicKey),
    others: impl Iterator<Item = (Option<AccountId>, PublicKey)>,
) -> Vec<PublicKey> {
    let others = others.filter(|(_, node)| *node != own.1);
    let ranked = others.map(|(seller, node)| (seller == own.0, node < own.1, node));
    let mut ranked: Vec<_> = ranked.collect();
    ranked.sort();
    ranked.dedup();
    ranked.into_iter().map(|(.., node)| node).collect()
}

/// The nodes that hold units of a lease, with their sellers.
pub(crate) fn members(
    state: &State,
    lease: &LeaseId,
) -> impl Iterator<Item = (Option<AccountId>, PublicKey)> {
    let shares = state.lease(lease).into_iter().flat_map(|l| &l.shares);
    let offers = shares.filter_map(|share| state.offer(&share.offer));
    offers.map(|offer| (Some(offer.seller), offer.terms.node))
}

/// Units of a lease that a node holds, and the bytes of disk of the largest of them.
fn holds(state: &State, lease: &LeaseId, node: &PublicKey) -> (u32, u64) {
    let shares = state.lease(lease).into_iter().flat_map(|l| &l.shares);
    let (mut units, mut disk) = (0, 0);
    for share in shares {
        if let Some(offer) = state.offer(&share.offer)
            && offer.terms.node == *node
        {
            units += share.units;
            let class = state.class(&offer.terms.class);
            disk = class.map_or(0, |c| c.key.disk_bytes()).max(disk);
        }
    }
    (units, disk)
}

/// The copies of a dead seller's run that are newer than `than`, in order, and have at most `most`
/// bytes, the newest first, with the nodes that say they have them.
pub fn ranked(
    network: &NetworkId,
    (seller, job): (&PublicKey, &RunId),
    (than, most): (Option<u64>, u64),
    replies: Vec<(PublicKey, Option<AgentReply>)>,
) -> Vec<(Copy, PublicKey)> {
    let mut found = Vec::new();
    for (keeper, reply) in replies {
        let Some(AgentReply::Copy(signed)) = reply else {
            continue;
        };
        let copy = signed.said;
        let meant = copy.job == *job && copy.snapshot.is_valid() && copy.snapshot.bytes <= most;
        let newer = than.is_none_or(|than| copy.taken_ms > than);
        if meant && newer && signed.verify(network, seller).is_ok() {
            found.push((copy, keeper));
        }
    }
    found.sort_by_key(|(copy, keeper)| (std::cmp::Reverse(copy.taken_ms), *keeper));
    found
}

/// A whole copy, as the keeper remembers it across a restart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Held {
    /// Its place in the keeper's store.
    pub slot: u32,
    /// The word of the seller's node.
    pub copy: Signed<Copy>,
    /// The seller's node.
    pub seller: PublicKey,
    /// The buyer's node, which alone may read it.
    pub buyer: PublicKey,
    /// Height at which its seller was first seen to have no unit of the lease any more.
    pub gone: Option<u64>,
}

impl Held {
    /// Parses what [`Effect::SaveCopies`] had kept.
    ///
    /// # Errors
    /// It is something else.
    pub fn decode_all(bytes: &[u8]) -> Result<Vec<Held>, CodecError> {
        codec::decode(bytes, BYTES)
    }
}

#[derive(Debug)]
struct Slot {
    lease: LeaseId,
    seller: PublicKey,
    buyer: PublicKey,
    held: Option<Signed<Copy>>,
    pulling: Option<Signed<Copy>>,
    /// When a copy was taken last; `None` if that was before a restart.
    taken_ms: Option<u64>,
    gone: Option<u64>,
}

impl Slot {
    fn new(lease: LeaseId, seller: PublicKey, buyer: PublicKey) -> Slot {
        Slot {
            lease,
            seller,
            buyer,
            held: None,
            pulling: None,
            taken_ms: None,
            gone: None,
        }
    }
    fn is_of(&self, task: u32) -> bool {
        let copies = self.held.iter().chain(&self.pulling);
        copies.map(|c| c.said.job.task).any(|of| of == task)
    }
    fn bytes(&self) -> u64 {
        let copies = self.held.iter().chain(&self.pulling);
        copies.map(|c| c.said.snapshot.bytes).sum()
    }
}

/// Milliseconds between two copies in one place at the least, however often the job wants them:
/// each is a write that waits for the disk.
const PAUSE_MS: u64 = 2_000;

/// What an offer of a copy is bounded by.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    /// Units that its seller's node holds of the lease.
    units: u32,
    /// Bytes of one copy.
    most: u64,
    /// Bytes of all copies of the lease: what the disks of the keeper's own units of it have.
    share: u64,
}

/// What the keeper's own jobs say of a lease.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    /// The buyer's node.
    pub(crate) buyer: PublicKey,
    /// Milliseconds between two checkpoints.
    pub(crate) every_ms: u64,
}

/// The copies that a node keeps for others.
#[derive(Debug, Default)]
pub struct Keeper {
    slots: BTreeMap<u32, Slot>,
    /// Offers that were refused since the start.
    refused: u64,
}

impl Keeper {
    /// With what an earlier run kept.
    pub(crate) fn new(held: Vec<Held>) -> Keeper {
        let slot = |held: Held| {
            let mut slot = Slot::new(held.copy.said.job.lease, held.seller, held.buyer);
            (slot.held, slot.gone) = (Some(held.copy), held.gone);
            (held.slot, slot)
        };
        let slots = held.into_iter().take(COPIES).map(slot).collect();
        Keeper { slots, refused: 0 }
    }
    /// Offers that were refused since the start.
    pub fn refused(&self) -> u64 {
        self.refused
    }
    /// How many whole copies there are.
    pub fn kept(&self) -> usize {
        self.slots
            .values()
            .filter(|slot| slot.held.is_some())
            .count()
    }
    /// The whole copies.
    pub fn held(&self) -> Vec<Held> {
        let held = |(number, slot): (&u32, &Slot)| {
            Some(Held {
                slot: *number,
                copy: slot.held.clone()?,
                seller: slot.seller,
                buyer: slot.buyer,
                gone: slot.gone,
            })
        };
        self.slots.iter().filter_map(held).collect()
    }

    /// A seller's node offers a copy: it is pulled, or refused, as all are while this node's disk
    /// is `short`.
    pub(crate) fn offered(
        &mut self,
        (state, node): (&State, &PublicKey),
        from: PublicKey,
        copy: Signed<Copy>,
        (known, short): (Option<Known>, bool),
        now_ms: u64,
    ) -> Result<Effect, KeepRefusal> {
        let lease = copy.said.job.lease;
        let (own, own_disk) = holds(state, &lease, node);
        let (units, disk) = holds(state, &lease, &from);
        let taken = match () {
            () if own == 0 || units == 0 || from == *node => Err(KeepRefusal::NoLease),
            () if copy.verify(&state.network(), &from).is_err() => Err(KeepRefusal::NotSigned),
            () if short => Err(KeepRefusal::Full),
            () => known.ok_or(KeepRefusal::NoTask),
        };
        let taken = taken.and_then(|known| {
            let bounds = Bounds {
                units,
                most: disk.min(CHECKPOINT_BYTES),
                share: own_disk.saturating_mul(own.into()),
            };
            self.take(from, copy, known, bounds, now_ms)
        });
        self.refused += u64::from(taken.is_err());
        taken
    }

    fn take(
        &mut self,
        from: PublicKey,
        copy: Signed<Copy>,
        known: Known,
        bounds: Bounds,
        now_ms: u64,
    ) -> Result<Effect, KeepRefusal> {
        let Copy { job, snapshot, .. } = copy.said;
        if !snapshot.is_valid() || snapshot.bytes > bounds.most {
            return Err(KeepRefusal::TooLarge);
        }
        let theirs = self.slots.iter();
        let theirs = theirs.filter(|(_, s)| (s.lease, s.seller) == (job.lease, from));
        let theirs: Vec<u32> = theirs.map(|(number, _)| *number).collect();
        let of_task = |n: &&u32| self.slots.get(n).is_some_and(|s| s.is_of(job.task));
        let place = match theirs.iter().find(of_task) {
            Some(same) => Some(*same),
            // Another task on the same units: the copy that came first makes room.
            None if theirs.len() >= bounds.units as usize => {
                let age = |n: &&u32| self.slots.get(n).and_then(|s| s.taken_ms);
                theirs.iter().min_by_key(age).copied()
            }
            None => None,
        };
        let number = match place {
            Some(number) => number,
            None if self.of_lease(&job.lease).count() >= COPIES_OF_LEASE => {
                return Err(KeepRefusal::Full);
            }
            None => {
                let free = (0..COPIES as u32).find(|n| !self.slots.contains_key(n));
                free.ok_or(KeepRefusal::Full)?
            }
        };
        if let Some(slot) = self.slots.get(&number) {
            // Half of the time is for answers that are late.
            let pause = (known.every_ms / 2).max(PAUSE_MS);
            let early = slot.taken_ms.is_some_and(|at| now_ms < at + pause);
            if early || slot.pulling.is_some() {
                return Err(KeepRefusal::TooSoon);
            }
        }
        let all: u64 = self.slots.values().map(Slot::bytes).sum();
        let of_lease: u64 = self.of_lease(&job.lease).map(Slot::bytes).sum();
        let last = self.slots.get(&number).and_then(|slot| slot.held.as_ref());
        let of_lease = of_lease - last.map_or(0, |copy| copy.said.snapshot.bytes);
        for (bytes, most) in [(all, COPIES_BYTES), (of_lease, bounds.share)] {
            if bytes.saturating_add(snapshot.bytes) > most {
                return Err(KeepRefusal::Full);
            }
        }
        let slot = self.slots.entry(number);
        let slot = slot.or_insert_with(|| Slot::new(job.lease, from, known.buyer));
        (slot.buyer, slot.taken_ms, slot.pulling) = (known.buyer, Some(now_ms), Some(copy));
        Ok(Effect::PullCopy {
            slot: number,
            job,
            snapshot,
            from,
        })
    }

    /// A copy is here as a whole, or was not to be had: then the last one stays.
    pub(crate) fn pulled(&mut self, number: u32, whole: bool, effects: &mut Vec<Effect>) {
        let Some(slot) = self.slots.get_mut(&number) else {
            return;
        };
        let pulled = slot.pulling.take();
        let is_new = whole && pulled.is_some();
        if is_new {
            slot.held = pulled;
        }
        let keep = slot.held.as_ref().map(|copy| copy.said.snapshot);
        // What failed costs no write that waits for the disk.
        effects.extend(is_new.then(|| self.save()));
        effects.push(Effect::KeepCopy { slot: number, keep });
    }

    /// The slots of a lease.
    fn of_lease(&self, lease: &LeaseId) -> impl Iterator<Item = &Slot> {
        self.slots.values().filter(move |slot| slot.lease == *lease)
    }

    /// The disk is short: the room of copies goes to the jobs that pay for it.
    pub(crate) fn make_room(&mut self, effects: &mut Vec<Effect>) {
        let held = self.slots.iter_mut();
        let held = held.filter_map(|(number, slot)| slot.held.take().map(|_| *number));
        let dropped: Vec<u32> = held.collect();
        // One that is being pulled ends by itself.
        self.slots.retain(|_, slot| slot.pulling.is_some());
        if !dropped.is_empty() {
            effects.push(self.save());
        }
        let drop = |slot| Effect::KeepCopy { slot, keep: None };
        effects.extend(dropped.into_iter().map(drop));
    }

    fn save(&self) -> Effect {
        Effect::SaveCopies(codec::encode(&self.held()))
    }

    /// Forgets the copies whose time is over.
    pub(crate) fn after_block(&mut self, state: &State, effects: &mut Vec<Effect>) {
        let height = state.height();
        let (mut changed, mut over) = (false, Vec::new());
        for (number, slot) in &mut self.slots {
            let gone = holds(state, &slot.lease, &slot.seller).0 == 0;
            let since = gone.then(|| slot.gone.unwrap_or(height));
            changed |= since != slot.gone;
            slot.gone = since;
            let late = since.is_some_and(|at| height >= at + KEEP_HEIGHTS || slot.held.is_none());
            if late && slot.pulling.is_none() {
                over.push(*number);
            }
        }
        for number in &over {
            self.slots.remove(number);
        }
        if changed || !over.is_empty() {
            effects.push(self.save());
        }
        let drop = |slot| Effect::KeepCopy { slot, keep: None };
        effects.extend(over.into_iter().map(drop));
    }

    /// The slot and copy of a run of `seller`, if `from` is the buyer's node. Another seller may
    /// have named the same run: its copy hides none.
    pub(crate) fn shows(
        &self,
        from: &PublicKey,
        job: &RunId,
        seller: &PublicKey,
    ) -> Option<(u32, &Signed<Copy>)> {
        let slots = self.slots.iter();
        let mut slots = slots.filter(|(_, s)| (s.buyer, s.seller) == (*from, *seller));
        slots.find_map(|(number, slot)| {
            let copy = slot.held.as_ref().filter(|c| c.said.job == *job)?;
            Some((*number, copy))
        })
    }
}

#[cfg(test)]
mod tests;
