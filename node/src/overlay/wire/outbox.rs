//! The bounded stream of events to the node, and its losses when the node falls behind.
//!
//! The channel has places held back in two steps: gossip may fill all but half of it, one-way
//! messages and requests all but an eighth, connection events everything. An event without a place
//! is refused (the caller counts and drops it), except connection events: they wait in a backlog in
//! which a connection and its end cancel out, so it holds at most one event per peer.

use std::collections::VecDeque;

use libp2p::PeerId;
use tokio::sync::mpsc::{self, error::TrySendError};

use crate::overlay::event::Event;

/// Backlogged `Listening` events; more interfaces than this are not reported.
const MAX_LISTENING: usize = 64;

/// The sending end.
#[derive(Debug)]
pub(crate) struct Outbox {
    events: mpsc::Sender<Event>,
    backlog: VecDeque<Event>,
}

impl Outbox {
    /// A channel of so many events (at least 64).
    pub(crate) fn new(capacity: usize) -> (Self, mpsc::Receiver<Event>) {
        let (events, receiver) = mpsc::channel(capacity.max(64));
        (
            Self {
                events,
                backlog: VecDeque::new(),
            },
            receiver,
        )
    }

    /// Events that wait.
    pub(crate) fn len(&self) -> usize {
        self.events.max_capacity() - self.events.capacity() + self.backlog.len()
    }

    /// Delivers a message or says that there is no place for it.
    #[must_use]
    pub(crate) fn offer(&mut self, event: Event) -> bool {
        let reserved = match &event {
            Event::Message { .. } => self.events.max_capacity() / 2,
            _ => self.events.max_capacity() / 8,
        };
        // Order is kept: nothing overtakes a connection event that waits.
        self.flush() && self.events.capacity() > reserved && self.events.try_send(event).is_ok()
    }

    /// Delivers a connection event, now or later.
    pub(crate) fn deliver(&mut self, event: Event) {
        self.flush();
        match &event {
            Event::PeerDisconnected { peer } if self.cancel(peer, true) => return,
            Event::PeerConnected { peer } if self.cancel(peer, false) => return,
            Event::Listening { .. } if self.backlog.len() >= MAX_LISTENING => return,
            _ => self.backlog.push_back(event),
        }
        self.flush();
    }

    /// Delivers what waits. Returns whether nothing waits any more.
    pub(crate) fn flush(&mut self) -> bool {
        while let Some(event) = self.backlog.pop_front() {
            match self.events.try_send(event) {
                Ok(()) => {}
                Err(TrySendError::Full(event)) => {
                    self.backlog.push_front(event);
                    return false;
                }
                Err(TrySendError::Closed(_)) => {
                    self.backlog.clear();
                }
            }
        }
        true
    }

    /// Takes back an opposite event for this peer that was not delivered yet.
    fn cancel(&mut self, peer: &PeerId, was_connected: bool) -> bool {
        let opposite = |event: &Event| match event {
            Event::PeerConnected { peer: p } => was_connected && p == peer,
            Event::PeerDisconnected { peer: p } => !was_connected && p == peer,
            _ => false,
        };
        let found = self.backlog.iter().position(opposite);
        found.is_some_and(|at| self.backlog.remove(at).is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn direct() -> Event {
        Event::Direct {
            peer: PeerId::random(),
            bytes: vec![],
        }
    }

    #[test]
    fn messages_are_refused_first_and_connection_events_never() {
        let (mut outbox, mut events) = Outbox::new(64);
        let accepted = (0..100).filter(|_| outbox.offer(direct())).count();
        assert_eq!(accepted, 56);
        let peers: Vec<_> = (0..20).map(|_| PeerId::random()).collect();
        for peer in &peers {
            outbox.deliver(Event::PeerConnected { peer: *peer });
        }
        let mut seen = Vec::new();
        loop {
            while let Ok(event) = events.try_recv() {
                if let Event::PeerConnected { peer } = event {
                    seen.push(peer);
                }
            }
            if outbox.flush() && events.is_empty() {
                break;
            }
        }
        assert_eq!(seen, peers);
    }

    #[test]
    fn a_connection_that_came_and_went_unseen_is_not_reported() {
        let (mut outbox, mut events) = Outbox::new(64);
        while outbox.events.try_send(direct()).is_ok() {}
        let peer = PeerId::random();
        for _ in 0..1000 {
            outbox.deliver(Event::PeerConnected { peer });
            outbox.deliver(Event::PeerDisconnected { peer });
        }
        outbox.deliver(Event::PeerConnected { peer });
        assert_eq!(outbox.backlog.len(), 1);
        while events.try_recv().is_ok() {}
        assert!(outbox.flush());
        assert!(matches!(events.try_recv(), Ok(Event::PeerConnected { peer: p }) if p == peer));
    }
}
