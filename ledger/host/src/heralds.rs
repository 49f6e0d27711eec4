//! Heralds: the peers that this node tells how far its book reaches.
//!
//! 1. Validators' nodes tell one another at every statement: each depends on all.
//! 2. Of the other peers, [`limits::TOLD`] are told of a new block. A peer that learns of it
//!    fetches it and tells as many, so word reaches n nodes in about log n steps, at a cost per
//!    node that does not grow with its connections.
//! 3. While nothing is decided, one peer is told at every [`limits::TOLD_AGAIN`]th statement, in
//!    case word was lost. Neither rule tells a peer that has said that it has the block.
//! 4. They are told in the order of their keys, from a place that differs from statement to
//!    statement and from node to node: all keys of the peers go into it, and every node lacks its
//!    own. No clock and no randomness go into it, so a simulation can be repeated.

use crate::catchup::Peer;
use crate::limits;
use std::collections::BTreeSet;

/// The words told so far.
#[derive(Debug, Default)]
pub(crate) struct Heralds {
    statements: u64,
    tip: u64,
}

impl Heralds {
    /// Peers to tell `tip` now; `fellow` says which of them always are, `knows` which have said
    /// that they have it.
    pub(crate) fn choose(
        &mut self,
        tip: u64,
        peers: &BTreeSet<Peer>,
        fellow: impl Fn(&Peer) -> bool,
        knows: impl Fn(&Peer) -> bool,
    ) -> Vec<Peer> {
        self.statements += 1;
        let some = if tip > self.tip {
            limits::TOLD
        } else {
            usize::from(self.statements.is_multiple_of(limits::TOLD_AGAIN))
        };
        self.tip = tip;
        let (fellows, mut others): (Vec<Peer>, Vec<Peer>) =
            peers.iter().partition(|peer| fellow(peer));
        others.retain(|peer| !knows(peer));
        let place = draw(self.statements, peers) % (others.len().max(1) as u64);
        let (before, after) = others.split_at(place as usize);
        let told = after.iter().chain(before).take(some);
        fellows.iter().chain(told).copied().collect()
    }
}

/// A number that looks random, of the statement and all peers. Multipliers and shifts are those of
/// splitmix64's last step.
fn draw(statement: u64, peers: &BTreeSet<Peer>) -> u64 {
    let mut all = statement.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    for peer in peers {
        let (head, _) = peer.split_first_chunk().expect("a key has 32 bytes");
        all ^= u64::from_be_bytes(*head);
    }
    all = (all ^ (all >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    all = (all ^ (all >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    all ^ (all >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::hash::{Domain, hash};
    use std::collections::BTreeMap;

    fn key(n: u64) -> Peer {
        hash(Domain::Entry, &[&n.to_be_bytes()])
    }

    fn all_but(n: u64, own: u64) -> BTreeSet<Peer> {
        (0..n).filter(|i| *i != own).map(key).collect()
    }

    #[test]
    fn fellows_always_others_a_few_and_one_while_nothing_is_new() {
        let mut heralds = Heralds::default();
        let peers = all_but(60, 0);
        let fellows: BTreeSet<Peer> = [key(1), key(2), key(3)].into();
        let fellow = |peer: &Peer| fellows.contains(peer);
        let new = heralds.choose(1, &peers, fellow, |_| false);
        assert_eq!(new.len(), 3 + limits::TOLD);
        assert!(fellows.iter().all(|fellow| new.contains(fellow)));
        let distinct: BTreeSet<&Peer> = new.iter().collect();
        assert_eq!(distinct.len(), new.len());
        let told = (0..limits::TOLD_AGAIN).map(|_| heralds.choose(1, &peers, fellow, |_| false));
        assert_eq!(told.map(|told| told.len() - 3).sum::<usize>(), 1);
        let begin =
            |peers: &BTreeSet<Peer>| Heralds::default().choose(1, peers, |_| false, |_| false);
        assert_eq!(begin(&all_but(3, 0)).len(), 2);
        assert!(begin(&BTreeSet::new()).is_empty());
    }

    #[test]
    fn who_has_it_is_not_told_unless_it_is_a_fellow() {
        let peers = all_but(9, 0);
        let told = Heralds::default().choose(1, &peers, |p| *p == key(1), |p| *p != key(2));
        assert_eq!(told, [key(1), key(2)]);
    }

    #[test]
    fn in_time_everybody_is_told() {
        let mut heralds = Heralds::default();
        let peers = all_but(60, 0);
        let mut told: BTreeMap<Peer, u32> = BTreeMap::new();
        for _ in 0..600 * limits::TOLD_AGAIN {
            for peer in heralds.choose(0, &peers, |_| false, |_| false) {
                *told.entry(peer).or_default() += 1;
            }
        }
        assert_eq!(told.len(), 59);
        assert!(told.values().all(|times| *times < 60), "{told:?}");
    }

    /// Word of a block, from one node of many that are all connected: a node that is told in a
    /// round tells in the next.
    #[test]
    fn word_reaches_almost_all_in_a_few_steps() {
        const N: u64 = 400;
        let keys: BTreeMap<Peer, u64> = (0..N).map(|n| (key(n), n)).collect();
        let mut heralds: Vec<Heralds> = (0..N).map(|_| Heralds::default()).collect();
        let mut missed = 0;
        for block in 1..=20 {
            let mut known: BTreeSet<u64> = [0].into();
            let mut fresh = vec![0];
            for _ in 0..6 {
                let mut next = Vec::new();
                for node in fresh {
                    let peers = all_but(N, node);
                    let told = heralds[node as usize].choose(block, &peers, |_| false, |_| false);
                    next.extend(
                        told.iter()
                            .map(|peer| keys[peer])
                            .filter(|n| known.insert(*n)),
                    );
                }
                fresh = next;
            }
            missed += N - known.len() as u64;
        }
        assert!(missed * 200 < 20 * N, "{missed} of {} missed", 20 * N);
    }
}
