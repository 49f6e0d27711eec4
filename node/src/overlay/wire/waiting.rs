//! Messages that wait for the node: gossip for its verdict, requests for its answer.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use libp2p::PeerId;
use libp2p::request_response::{InboundRequestId, ResponseChannel};

use super::codec::Frame;
use crate::overlay::config::Limits;
use crate::overlay::event::MessageId;

/// A request of another peer that waits for our answer.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) peer: PeerId,
    pub(super) wire: InboundRequestId,
    pub(super) channel: ResponseChannel<Frame>,
}

/// A gossip message that waits for its verdict.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) since: Instant,
    pub(super) via: PeerId,
    pub(super) topic: usize,
    pub(super) bytes: usize,
}

/// All such messages.
#[derive(Debug, Default)]
pub(super) struct Unjudged {
    messages: BTreeMap<MessageId, Message>,
    /// Their bytes.
    bytes: usize,
}

impl Unjudged {
    pub(super) fn len(&self) -> usize {
        self.messages.len()
    }

    /// Whether a message of so many bytes has a place.
    pub(super) fn has_room(&self, bytes: usize, limits: &Limits) -> bool {
        self.messages.len() < limits.unjudged
            && self.bytes.saturating_add(bytes) <= limits.unjudged_bytes
    }

    pub(super) fn insert(&mut self, id: MessageId, message: Message) {
        self.bytes += message.bytes;
        let again = self.messages.insert(id, message);
        self.bytes -= again.map_or(0, |message| message.bytes);
    }

    /// A message is no longer to be judged.
    pub(super) fn take(&mut self, id: &MessageId) -> Option<Message> {
        let message = self.messages.remove(id)?;
        self.bytes -= message.bytes;
        Some(message)
    }

    /// Takes those that have waited for so long.
    pub(super) fn take_overdue(
        &mut self,
        patience: Duration,
        now: Instant,
    ) -> Vec<(MessageId, Message)> {
        let is_overdue = |message: &Message| now.duration_since(message.since) >= patience;
        let overdue = self.messages.iter().filter(|(_, m)| is_overdue(m));
        let overdue: Vec<MessageId> = overdue.map(|(id, _)| *id).collect();
        overdue
            .into_iter()
            .filter_map(|id| Some((id, self.take(&id)?)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::overlay::event::MESSAGE_ID_LEN;

    #[test]
    fn messages_and_their_bytes_are_bounded_and_given_back() {
        let limits = Limits {
            unjudged: 2,
            unjudged_bytes: 10,
            ..Limits::default()
        };
        let (mut unjudged, now) = (Unjudged::default(), Instant::now());
        let put = |unjudged: &mut Unjudged, n: u8, bytes| {
            let via = PeerId::random();
            let message = Message {
                since: now,
                via,
                topic: 0,
                bytes,
            };
            unjudged.insert(MessageId([n; MESSAGE_ID_LEN]), message);
        };
        put(&mut unjudged, 1, 6);
        put(&mut unjudged, 1, 4);
        assert!(unjudged.has_room(6, &limits) && !unjudged.has_room(7, &limits));
        put(&mut unjudged, 2, 1);
        assert!(!unjudged.has_room(1, &limits), "there are two");
        let patience = Duration::from_secs(1);
        assert!(unjudged.take_overdue(patience, now).is_empty());
        let overdue = unjudged.take_overdue(patience, now + patience);
        assert_eq!((overdue.len(), unjudged.len()), (2, 0));
        assert!(unjudged.has_room(10, &limits));
    }
}
