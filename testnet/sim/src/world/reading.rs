//! Nodes that read slowly: for a while they take in only so many messages of others a second, in
//! the order of their inbox, and drop what finds no room there.
//!
//! A node's own inputs, answers to its questions among them, wait for nobody. Nor do adverts, which
//! do not tell here who passed them on.

use super::World;
use super::inbox::{Inbox, Place, Reader};
use super::queue::Event;
use gridbay_core::input::Input;
use gridbay_host::message::HostMessage;

impl World {
    /// A node reads slowly from now on.
    pub(super) fn read_slowly(&mut self, node: usize, per_s: u64, ms: u64) {
        let every = (1_000 / per_s.max(1)).max(1);
        let until = self.now + ms;
        let before = self.machines[node].reader.take();
        let inbox = before.map(|reader| reader.inbox).unwrap_or_default();
        self.machines[node].reader = Some(Reader {
            every,
            until,
            inbox,
        });
        self.queue
            .push(self.now + every, Event::Read { node, until });
    }
    /// An input comes to a node: at once, or into the inbox of one that reads slowly.
    pub(super) fn arrive(&mut self, node: usize, life: u64, input: Box<Input>) {
        let (sender, urgent) = match &*input {
            Input::Host { from, bytes } => (Some(*from), HostMessage::is_urgent(bytes)),
            Input::Asked { from, .. } => (Some(*from), false),
            _ => (None, false),
        };
        let slow = self.machines[node].reader.is_some() && self.machines[node].life == life;
        let Some(peer) = sender.filter(|_| slow).map(|from| *from.as_bytes()) else {
            return self.give(node, life, input);
        };
        let votes = self
            .node_of(&peer)
            .is_some_and(|n| n < self.plan.validators);
        let place = match (votes, urgent) {
            (true, true) => Place::Urgent,
            (true, false) => Place::Validators,
            (false, _) => Place::Others,
        };
        if let Some(reader) = &mut self.machines[node].reader {
            let dropped = reader.inbox.push(place, peer, input);
            self.cover.count("message read slowly");
            (0..dropped).for_each(|_| self.cover.count("message without room"));
        }
    }
    /// A node that reads slowly takes a message; `until` tells an earlier slowness from a later.
    pub(super) fn read(&mut self, node: usize, until: u64) {
        let now = self.now;
        let life = self.machines[node].life;
        let Some(reader) = self.machines[node]
            .reader
            .as_mut()
            .filter(|r| r.until == until)
        else {
            return;
        };
        if now >= until {
            return self.read_all(node);
        }
        self.queue
            .push(now + reader.every, Event::Read { node, until });
        if let Some(input) = reader.inbox.pop() {
            self.give(node, life, input);
        }
    }
    /// A node reads all that waits, and at its usual pace from then on.
    pub(super) fn read_all(&mut self, node: usize) {
        let life = self.machines[node].life;
        let Some(mut reader) = self.machines[node].reader.take() else {
            return;
        };
        while let Some(input) = reader.inbox.pop() {
            self.queue
                .push(self.now, Event::Input { node, life, input });
        }
    }
    /// What waited for a process that ended is lost.
    pub(super) fn forget_unread(&mut self, node: usize) {
        if let Some(reader) = &mut self.machines[node].reader {
            reader.inbox = Inbox::default();
        }
    }
}
