//! The messages that wait for the core thread, and the order in which it takes them.
//!
//! 1. *Own*: commands, questions, results of tasks, connections that come and go. First come, first
//!    served, and by turns with the messages of peers, if any wait: users who ask much, such as
//!    readers of long histories, do not keep a vote waiting.
//! 2. *Urgent*: what validators' nodes say about the running height. A vote that waited for the
//!    check of some hundred entries would delay everybody's block.
//! 3. *Validators*: other messages, requests and adverts of their nodes.
//! 4. *Others*: the same of anybody else. Of [`SHARE`] messages of peers one is of these and one of
//!    3, if any waits, whatever comes before.
//! 5. In 2, 3 and 4 peers take turns, a message each. A peer has at most [`PER_PEER`] messages of
//!    [`PER_PEER_WEIGHT`] waiting in each. Where there is no room, the peer with most waiting loses
//!    its newest messages to one with less.
//!
//! So a peer that sends more than the core gets done delays itself, and other strangers by one
//! message a turn.

use crate::body::Message;
use gridbay_core::input::Input;
use gridbay_host::Peer;
use gridbay_host::message::HostMessage;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Messages of the node's own. Beyond, commands are refused.
const OWN: usize = 4_096;
/// Messages of each of 2, 3 and 4. Beyond, messages are dropped, and the log says how many.
const PEERS: usize = 4_096;
/// Bytes of all messages of each of them, each message with its [`weight`].
const PEERS_WEIGHT: usize = 32 << 20;
/// Messages of one peer.
const PER_PEER: usize = 256;
/// Bytes of one peer's messages; a single one may be larger.
const PER_PEER_WEIGHT: usize = 8 << 20;
/// Of so many messages of peers one is of others than validators, and one of validators but not
/// urgent, if any waits.
const SHARE: u64 = 8;

/// The fate of a message that was sent.
pub(crate) enum Sent {
    /// It waits for the core.
    Kept,
    /// These messages of peers are dropped: it, or those of others that had to leave for it.
    Dropped(Vec<Message>),
    /// There is no place for another one of the node's own.
    Refused(Message),
    /// Nobody takes messages any more.
    Closed(Message),
}

/// One peer's messages, oldest first.
#[derive(Default)]
struct Waiting {
    messages: VecDeque<Message>,
    weight: usize,
}

/// Peers that take turns.
#[derive(Default)]
struct Turns {
    peers: BTreeMap<Peer, Waiting>,
    /// Those with messages, whose turn is next first.
    order: VecDeque<Peer>,
    weight: usize,
}

impl Turns {
    /// Keeps a message if it may; returns what is dropped.
    fn push(&mut self, peer: Peer, message: Message) -> Vec<Message> {
        let weight = weight(&message);
        let own = self.peers.get(&peer);
        let (count, held) = own.map_or((0, 0), |own| (own.messages.len(), own.weight));
        if count >= PER_PEER || (held > 0 && held + weight > PER_PEER_WEIGHT) {
            return vec![message];
        }
        let mut dropped = Vec::new();
        while self.weight > 0 && self.weight + weight > PEERS_WEIGHT {
            let most = self.peers.iter().max_by_key(|(_, waiting)| waiting.weight);
            let more = most.filter(|(_, waiting)| waiting.weight > held + weight);
            let Some(peer) = more.map(|(peer, _)| *peer) else {
                dropped.push(message);
                return dropped;
            };
            dropped.extend(self.take(&peer, VecDeque::pop_back));
        }
        let waiting = self.peers.entry(peer).or_default();
        if waiting.messages.is_empty() {
            self.order.push_back(peer);
        }
        waiting.messages.push_back(message);
        waiting.weight += weight;
        self.weight += weight;
        dropped
    }
    /// The next message of the peer whose turn it is.
    fn pop(&mut self) -> Option<Message> {
        let peer = *self.order.front()?;
        let message = self.take(&peer, VecDeque::pop_front);
        if self.peers.contains_key(&peer) {
            self.order.rotate_left(1);
        }
        message
    }
    /// Takes a message of a peer, which has no turn any more if it was the last.
    fn take(
        &mut self,
        peer: &Peer,
        end: impl FnOnce(&mut VecDeque<Message>) -> Option<Message>,
    ) -> Option<Message> {
        let waiting = self.peers.get_mut(peer)?;
        let message = end(&mut waiting.messages)?;
        let weight = weight(&message);
        waiting.weight -= weight;
        self.weight -= weight;
        if waiting.messages.is_empty() {
            self.peers.remove(peer);
            self.order.retain(|other| other != peer);
        }
        Some(message)
    }
}

/// The peer that sent a message, if one did.
fn sender(message: &Message) -> Option<Peer> {
    match message {
        Message::Input(Input::Host { from, .. }) | Message::Asked { from, .. } => {
            Some(*from.as_bytes())
        }
        Message::Advert { via, .. } => *via,
        _ => None,
    }
}

/// Whether validators need a message to decide the running height.
fn is_urgent(message: &Message) -> bool {
    match message {
        Message::Input(Input::Host { bytes, .. }) => HostMessage::is_urgent(bytes),
        _ => false,
    }
}

/// The room that a message takes: its bytes, or one message's even part of all bytes if that is
/// more.
fn weight(message: &Message) -> usize {
    let bytes = match message {
        Message::Input(Input::Host { bytes, .. })
        | Message::Asked { bytes, .. }
        | Message::Advert { bytes, .. } => bytes.len(),
        _ => 0,
    };
    bytes.max(PEERS_WEIGHT / PEERS)
}

#[derive(Default)]
struct Places {
    own: VecDeque<Message>,
    urgent: Turns,
    validators: Turns,
    others: Turns,
    /// Messages of peers that were taken.
    taken: u64,
    /// Whether the last one that was taken is the node's own.
    own_had_turn: bool,
    closed: bool,
}

impl Places {
    fn pop(&mut self) -> Option<Message> {
        match self.own_had_turn {
            true => self.pop_of_peers().or_else(|| self.pop_own()),
            false => self.pop_own().or_else(|| self.pop_of_peers()),
        }
    }
    fn pop_own(&mut self) -> Option<Message> {
        let message = self.own.pop_front()?;
        self.own_had_turn = true;
        Some(message)
    }
    fn pop_of_peers(&mut self) -> Option<Message> {
        self.taken += 1;
        let (urgent, validators, others) =
            (&mut self.urgent, &mut self.validators, &mut self.others);
        let turns = match self.taken % SHARE {
            0 => [others, urgent, validators],
            1 => [validators, urgent, others],
            _ => [urgent, validators, others],
        };
        let message = turns.into_iter().find_map(Turns::pop)?;
        self.own_had_turn = false;
        Some(message)
    }
}

struct Shared {
    validators: BTreeSet<Peer>,
    places: Mutex<Places>,
    came: Condvar,
}

impl Shared {
    /// Between two changes the places are whole, so a thread that panicked has broken nothing.
    fn places(&self) -> MutexGuard<'_, Places> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The end that sends.
#[derive(Clone)]
pub(crate) struct Sender(Arc<Shared>);

/// The end that takes.
pub(crate) struct Receiver(Arc<Shared>);

/// An empty inbox; these are the validators' nodes.
pub(crate) fn inbox(validators: BTreeSet<Peer>) -> (Sender, Receiver) {
    let shared = Arc::new(Shared {
        validators,
        places: Mutex::default(),
        came: Condvar::new(),
    });
    (Sender(Arc::clone(&shared)), Receiver(shared))
}

impl Sender {
    /// Keeps a message until the core takes it, if there is a place for it.
    pub(crate) fn try_send(&self, message: Message) -> Sent {
        let mut places = self.0.places();
        if places.closed {
            return Sent::Closed(message);
        }
        let dropped = match sender(&message) {
            Some(peer) if self.0.validators.contains(&peer) => match is_urgent(&message) {
                true => places.urgent.push(peer, message),
                false => places.validators.push(peer, message),
            },
            Some(peer) => places.others.push(peer, message),
            None if places.own.len() >= OWN => return Sent::Refused(message),
            None => {
                places.own.push_back(message);
                Vec::new()
            }
        };
        drop(places);
        self.0.came.notify_one();
        match dropped.is_empty() {
            true => Sent::Kept,
            false => Sent::Dropped(dropped),
        }
    }
}

impl Receiver {
    /// The next message, as soon as there is one within a time.
    pub(crate) fn recv_timeout(&self, time: Duration) -> Result<Message, RecvTimeoutError> {
        let until = Instant::now() + time;
        let mut places = self.0.places();
        loop {
            if let Some(message) = places.pop() {
                return Ok(message);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(RecvTimeoutError::Timeout);
            }
            let waited = self.0.came.wait_timeout(places, left);
            places = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
    /// The next message, if there is one.
    #[cfg(test)]
    pub(crate) fn try_recv(&self) -> Option<Message> {
        self.0.places().pop()
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        let mut places = self.0.places();
        *places = Places {
            closed: true,
            ..Places::default()
        };
    }
}

#[cfg(test)]
mod tests;
