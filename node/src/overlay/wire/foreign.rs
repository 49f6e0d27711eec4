//! Gossip on topics that nobody here asked for.
//!
//! Gossip keeps every message that is signed well before it looks whether we are subscribed to its
//! topic, and forgets it after [`HISTORY`](super::gossip::HISTORY) heartbeats without telling
//! anybody. So a message of a foreign topic is refused where gossip turns bytes into messages,
//! which it does first of all. There the neighbour is not known: refusals are counted, and
//! [`Metered`](crate::overlay::peers::metered::Metered) blames them on the neighbour whose frame
//! gossip is dealing with.
//!
//! Nobody sends such messages in good faith: a node publishes and passes on to those that are
//! subscribed.

use std::collections::HashSet;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use libp2p::gossipsub::{DataTransform, IdentityTransform, Message, RawMessage, TopicHash};

/// The refusals since they were last taken.
#[derive(Clone, Debug, Default)]
pub(crate) struct Refused(Arc<AtomicU32>);

impl Refused {
    fn count(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// How many since the last time.
    pub(crate) fn take(&self) -> u32 {
        self.0.swap(0, Ordering::Relaxed)
    }
}

/// Lets messages of our own topics pass, as they are.
#[derive(Clone, Debug)]
pub(crate) struct OwnTopics {
    topics: HashSet<TopicHash>,
    refused: Refused,
}

impl OwnTopics {
    pub(crate) fn new(topics: HashSet<TopicHash>, refused: Refused) -> Self {
        Self { topics, refused }
    }
}

impl DataTransform for OwnTopics {
    fn inbound_transform(&self, raw: RawMessage) -> io::Result<Message> {
        if !self.topics.contains(&raw.topic) {
            self.refused.count();
            return Err(io::ErrorKind::InvalidInput.into());
        }
        IdentityTransform.inbound_transform(raw)
    }

    fn outbound_transform(&self, topic: &TopicHash, data: Vec<u8>) -> io::Result<Vec<u8>> {
        IdentityTransform.outbound_transform(topic, data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_foreign_topic_is_refused_and_counted() {
        let own = TopicHash::from_raw("own");
        let refused = Refused::default();
        let transform = OwnTopics::new([own.clone()].into(), refused.clone());
        let raw = |topic: &TopicHash| RawMessage {
            source: None,
            data: vec![1],
            sequence_number: None,
            topic: topic.clone(),
            signature: None,
            key: None,
            validated: false,
        };
        assert_eq!(transform.inbound_transform(raw(&own)).unwrap().data, [1]);
        for name in ["foreign", "", "own2"] {
            let foreign = TopicHash::from_raw(name);
            assert!(transform.inbound_transform(raw(&foreign)).is_err());
        }
        assert_eq!((refused.take(), refused.take()), (3, 0));
    }
}
