//! Messages for a height that has not started here yet.
//!
//! Validators start a height at slightly different moments, so messages for the next height, and
//! for the one after it, wait here:
//!
//! 1. messages that a validator signed, checked before they come here. They count for their signer,
//!    whoever brought them, so none takes another's room;
//! 2. certificates of rounds, which nobody signs: the latest few of each validator's node, none of
//!    anybody else's. They consist of votes that travel on their own as well.
//!
//! A message that does not fit is dropped; repetition and catch-up make up for it. At most
//! [`BODIES_WAITING`] bodies wait, one of each signer for a height, and only as its own node sent
//! it: anybody could bring a body that fits the proposal and is of no use.

use crate::catchup::Peer;
use crate::limits;
use crate::message::{HostMessage, Offered};
use gridbay_protocol::ids::ValidatorId;
use std::collections::BTreeMap;

/// Bodies that wait together with their proposals.
const BODIES_WAITING: usize = 4;

/// The messages that wait for one height.
#[derive(Debug, Default)]
struct Waiting {
    signed: BTreeMap<ValidatorId, Vec<(Peer, HostMessage)>>,
    proofs: BTreeMap<Peer, Vec<HostMessage>>,
}

/// The waiting messages.
#[derive(Debug, Default)]
pub(crate) struct Early {
    by_height: BTreeMap<u64, Waiting>,
}

fn body(message: &mut HostMessage) -> Option<&mut Offered> {
    match message {
        HostMessage::Proposal(offered) if offered.body.is_some() => Some(offered),
        _ => None,
    }
}

/// How many of the messages of a signer have bodies.
fn bodies(share: &[(Peer, HostMessage)]) -> usize {
    let has = |(_, message): &&(Peer, HostMessage)| matches!(message, HostMessage::Proposal(o) if o.body.is_some());
    share.iter().filter(has).count()
}

/// Whether two messages of one signer say the same, with or without a body.
fn same(one: &HostMessage, other: &HostMessage) -> bool {
    match (one, other) {
        (HostMessage::Proposal(one), HostMessage::Proposal(other)) => one.signed == other.signed,
        _ => one == other,
    }
}

impl Waiting {
    fn len(&self) -> usize {
        let signed = self.signed.values().map(Vec::len).sum::<usize>();
        signed + self.proofs.values().map(Vec::len).sum::<usize>()
    }
    fn bodies(&self) -> usize {
        self.signed.values().map(|share| bodies(share)).sum()
    }
}

impl Early {
    /// Keeps a message that `signer`, whose node is `home`, signed for `height`, if there is room.
    pub(crate) fn keep(
        &mut self,
        height: u64,
        (signer, home): (ValidatorId, Peer),
        from: Peer,
        mut message: HostMessage,
    ) {
        if let Some(offered) = body(&mut message) {
            let here = self.by_height.get(&height);
            let share = here.and_then(|waiting| waiting.signed.get(&signer));
            let waits = share.is_some_and(|share| bodies(share) > 0);
            let all: usize = self.by_height.values().map(Waiting::bodies).sum();
            if from != home || waits || all >= BODIES_WAITING {
                offered.body = None;
            }
        }
        let waiting = self.by_height.entry(height).or_default();
        let share = waiting.signed.entry(signer).or_default();
        match share.iter().position(|(_, known)| same(known, &message)) {
            Some(at) if body(&mut message).is_some() => share[at] = (from, message),
            None if share.len() < limits::EARLY_PER_SIGNER => share.push((from, message)),
            Some(_) | None => {}
        }
    }
    /// Keeps a certificate that a validator's node brought for `height`, in the place of its
    /// oldest.
    pub(crate) fn keep_proof(&mut self, height: u64, from: Peer, message: HostMessage) {
        let waiting = self.by_height.entry(height).or_default();
        let share = waiting.proofs.entry(from).or_default();
        if share.len() >= limits::EARLY_PROOFS {
            share.remove(0);
        }
        share.push(message);
    }
    /// Messages that wait.
    pub(crate) fn len(&self) -> usize {
        self.by_height.values().map(Waiting::len).sum()
    }
    /// The validators that signed something for `height`.
    pub(crate) fn signers(&self, height: u64) -> Vec<ValidatorId> {
        let waiting = self.by_height.get(&height);
        waiting.map_or_else(Vec::new, |w| w.signed.keys().copied().collect())
    }
    /// Takes the messages for `height` out; those for lower heights are dropped.
    pub(crate) fn take(&mut self, height: u64) -> Vec<(Peer, HostMessage)> {
        let later = self.by_height.split_off(&height.saturating_add(1));
        let mut past = std::mem::replace(&mut self.by_height, later);
        let Waiting { signed, proofs } = past.remove(&height).unwrap_or_default();
        let proofs = proofs.into_iter();
        let proofs = proofs.flat_map(|(from, all)| all.into_iter().map(move |one| (from, one)));
        signed.into_values().flatten().chain(proofs).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Status;

    fn message(tip: u64) -> HostMessage {
        HostMessage::Status(Status { tip })
    }

    #[test]
    fn a_flood_of_one_signer_leaves_room_for_others_whoever_brings_it() {
        let mut early = Early::default();
        let (liar, honest) = (ValidatorId([1; 32]), ValidatorId([2; 32]));
        for i in 0..10_000 {
            early.keep(7, (liar, [1; 32]), [(i % 200) as u8; 32], message(i));
        }
        early.keep(7, (honest, [3; 32]), [1; 32], message(1));
        early.keep(7, (honest, [3; 32]), [3; 32], message(1));
        assert_eq!(early.signers(7), [liar, honest]);
        assert_eq!(early.len(), limits::EARLY_PER_SIGNER + 1);
        early.keep(8, (liar, [1; 32]), [1; 32], message(1));
        let taken = early.take(8);
        assert_eq!(taken, [([1; 32], message(1))], "those for 7 are dropped");
        assert_eq!(early.len(), 0);
    }

    #[test]
    fn certificates_take_no_room_of_what_is_signed_and_the_latest_stay() {
        let mut early = Early::default();
        for i in 0..1_000 {
            early.keep_proof(7, [1; 32], message(i));
        }
        early.keep(7, (ValidatorId([2; 32]), [2; 32]), [2; 32], message(5));
        let taken = early.take(7);
        assert_eq!(taken.len(), limits::EARLY_PROOFS + 1);
        assert_eq!(taken[0], ([2; 32], message(5)));
        assert_eq!(taken[limits::EARLY_PROOFS], ([1; 32], message(999)));
    }
}
