//! The messages of others that wait for a node that reads slowly, as the body of a real node keeps
//! them (`node/src/body/inbox.rs`), with less room since a world sends less.
//!
//! 1. *Urgent*: what validators' nodes say about the running height; *validators*: what else they
//!    say; *others*: what anybody else says. Of [`SHARE`] messages one is of others and one of
//!    validators, if any waits, whatever comes before.
//! 2. In each of these, peers take turns. A peer has at most [`PER_PEER`] messages there. Where
//!    there is no room, the peer with most waiting loses its newest to one with less.

use gridbay_core::input::Input;
use std::collections::{BTreeMap, VecDeque};

/// Messages of one peer in each place: an eighth of a real node's.
const PER_PEER: usize = 32;
/// Messages in each place.
const PLACE: usize = 8 * PER_PEER;
/// Of so many messages one is of others than validators, and one of validators but not urgent.
const SHARE: u64 = 8;

/// The sender of a message.
type Peer = [u8; 32];

/// Where a message waits.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    Urgent,
    Validators,
    Others,
}

/// Peers that take turns.
#[derive(Debug, Default)]
struct Turns {
    peers: BTreeMap<Peer, VecDeque<Box<Input>>>,
    /// Those with messages, whose turn is next first.
    order: VecDeque<Peer>,
    messages: usize,
}

impl Turns {
    /// Keeps a message; returns how many are dropped: it, or another peer's that left for it.
    fn push(&mut self, peer: Peer, input: Box<Input>) -> u64 {
        let own = self.peers.get(&peer).map_or(0, VecDeque::len);
        if own >= PER_PEER {
            return 1;
        }
        let mut dropped = 0;
        if self.messages >= PLACE {
            let most = self
                .peers
                .iter_mut()
                .max_by_key(|(_, waiting)| waiting.len());
            let Some((_, waiting)) = most.filter(|(_, waiting)| waiting.len() > own + 1) else {
                return 1;
            };
            // It had more than the newcomer, so some are left and it keeps its turn.
            waiting.pop_back();
            self.messages -= 1;
            dropped = 1;
        }
        if own == 0 {
            self.order.push_back(peer);
        }
        self.peers.entry(peer).or_default().push_back(input);
        self.messages += 1;
        dropped
    }
    /// The next message of the peer whose turn it is.
    fn pop(&mut self) -> Option<Box<Input>> {
        let peer = self.order.pop_front()?;
        let waiting = self.peers.get_mut(&peer)?;
        let input = waiting.pop_front()?;
        self.messages -= 1;
        if waiting.is_empty() {
            self.peers.remove(&peer);
        } else {
            self.order.push_back(peer);
        }
        Some(input)
    }
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    urgent: Turns,
    validators: Turns,
    others: Turns,
    taken: u64,
}

impl Inbox {
    /// Keeps a message, as far as there is room; returns how many are dropped.
    pub(super) fn push(&mut self, place: Place, peer: Peer, input: Box<Input>) -> u64 {
        match place {
            Place::Urgent => self.urgent.push(peer, input),
            Place::Validators => self.validators.push(peer, input),
            Place::Others => self.others.push(peer, input),
        }
    }
    /// The next message.
    pub(super) fn pop(&mut self) -> Option<Box<Input>> {
        self.taken += 1;
        let (urgent, validators, others) =
            (&mut self.urgent, &mut self.validators, &mut self.others);
        let turns = match self.taken % SHARE {
            0 => [others, urgent, validators],
            1 => [validators, urgent, others],
            _ => [urgent, validators, others],
        };
        turns.into_iter().find_map(Turns::pop)
    }
}

/// A node's slow reading.
#[derive(Debug)]
pub(crate) struct Reader {
    /// Milliseconds for a message.
    pub(super) every: u64,
    pub(super) until: u64,
    pub(super) inbox: Inbox,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(n: u8) -> Box<Input> {
        let from = crate::found::node_key(0);
        let bytes = vec![n];
        Box::new(Input::Host { from, bytes })
    }

    /// The bytes of what is taken, in order.
    fn taken(inbox: &mut Inbox) -> Vec<u8> {
        let next = || match *inbox.pop()? {
            Input::Host { bytes, .. } => bytes.first().copied(),
            _ => None,
        };
        std::iter::from_fn(next).collect()
    }

    #[test]
    fn what_decides_the_height_goes_first_and_the_rest_is_not_forgotten() {
        let mut inbox = Inbox::default();
        for _ in 0..3 {
            inbox.push(Place::Others, [9; 32], of(9));
            inbox.push(Place::Validators, [1; 32], of(2));
        }
        for _ in 0..9 {
            assert_eq!(inbox.push(Place::Urgent, [1; 32], of(1)), 0);
        }
        let order = taken(&mut inbox);
        assert_eq!(order, [2, 1, 1, 1, 1, 1, 1, 9, 2, 1, 1, 1, 2, 9, 9]);
    }
    #[test]
    fn peers_take_turns_and_who_sends_most_loses_its_newest() {
        let mut inbox = Inbox::default();
        let sends = |inbox: &mut Inbox, peer: u8, messages: usize| {
            let pushed = (0..messages).map(|_| inbox.push(Place::Others, [peer; 32], of(peer)));
            pushed.sum::<u64>()
        };
        assert_eq!(
            sends(&mut inbox, 9, PER_PEER + 5),
            5,
            "one peer has a bound"
        );
        for peer in 1..8 {
            assert_eq!(sends(&mut inbox, peer, PER_PEER), 0);
        }
        assert_eq!(
            sends(&mut inbox, 100, 2),
            2,
            "two others had to leave for it"
        );
        assert_eq!(inbox.others.messages, PLACE);
        let order = taken(&mut inbox);
        assert_eq!(order[..9], [9, 1, 2, 3, 4, 5, 6, 7, 100]);
        assert_eq!(order.len(), PLACE);
        assert!(inbox.others.peers.is_empty() && inbox.others.order.is_empty());
    }
}
