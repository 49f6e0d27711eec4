//! Gossip: topics, message ids, and the score that neighbours have.
//!
//! 1. Messages are signed and carry a sequence number; unsigned or badly signed ones are refused by
//!    the codec. A message is passed on only after the node accepted it.
//! 2. The id is a hash of topic and payload: two nodes that publish the same bytes publish one
//!    message, and an id cannot be forged for other bytes.
//! 3. The score punishes provable offences: invalid messages (squared), broken promises, and those
//!    that the overlay itself saw (malformed frames). It does not punish silence: on small networks
//!    and rare topics silence is the normal state.
//! 4. `flood` bounds per topic how much one neighbour may write and pass on. A message on a foreign
//!    topic is refused before anything of it is kept (`foreign`).
//! 5. Nothing is said of a message before it was judged. IDONTWANT would be: a frame to every
//!    neighbour for each long message that comes in, so that a stranger's flood would make this
//!    node flood the others, which would ban it.
//! 6. Own messages go to every connected subscriber (`flood_publish`), so a network of up to about
//!    fifty nodes has one hop; the mesh only matters for forwarding.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use libp2p::gossipsub::{
    self, Config, ConfigBuilder, IdentTopic, MessageAuthenticity, PeerScoreParams,
    PeerScoreThresholds, TopicHash, TopicScoreParams, ValidationMode, WhitelistSubscriptionFilter,
};
use libp2p::identity::Keypair;

use super::behaviour::Gossip;
use super::foreign::{OwnTopics, Refused};
use crate::overlay::config::{Limits, OverlayConfig, Tuning};
use crate::overlay::error::StartError;
use crate::overlay::event::{MESSAGE_ID_LEN, MessageId};
use crate::overlay::names::Names;
use crate::overlay::peers::rates::Rate;

/// What signature, key, sequence number and topic add to a payload, bytes (generous).
const ENVELOPE: usize = 512;
/// libp2p (0.50) compares this limit with all that it has read of a stream: a frame, and up to 8
/// KiB of what follows. Without room for that, a large message ends the stream when another one
/// comes right after it.
const READ_AHEAD: usize = 16 << 10;
/// Heartbeats for which an unjudged message is kept, and with it the chance to accept it.
pub(crate) const HISTORY: u32 = 12;
/// Peers in the mesh of a topic.
pub(crate) const MESH: usize = gridbay_core::overlay::MESH;
/// Points per squared invalid message.
const INVALID_WEIGHT: f64 = -20.0;
/// Share of the invalid-message count left after one second, whatever the heartbeat: 1 falls below
/// 0.1 in half a minute.
const INVALID_DECAY: f64 = 0.92;

/// One topic as the task uses it.
#[derive(Clone, Debug)]
pub(crate) struct Topic {
    pub(crate) name: Arc<str>,
    pub(crate) hash: TopicHash,
    pub(crate) max_bytes: usize,
    pub(crate) rate: Rate,
}

/// Topics in the order of the configuration, with their wire names.
pub(crate) fn topics(config: &OverlayConfig, names: &Names) -> Vec<Topic> {
    let wire = |name: &str| IdentTopic::new(names.topic(name)).hash();
    let topic = |t: &crate::overlay::TopicConfig| Topic {
        name: t.name.as_str().into(),
        hash: wire(&t.name),
        max_bytes: t.max_bytes,
        rate: t.rate,
    };
    config.topics.iter().map(topic).collect()
}

/// Id of a message: BLAKE3 over length-prefixed topic and payload, in its own domain.
pub(crate) fn message_id(topic: &str, data: &[u8]) -> MessageId {
    let mut hash = blake3::Hasher::new_derive_key("gridbay gossip message id v1");
    hash.update(&(topic.len() as u64).to_be_bytes());
    hash.update(topic.as_bytes());
    hash.update(data);
    let mut id = [0; MESSAGE_ID_LEN];
    id.copy_from_slice(&hash.finalize().as_bytes()[..MESSAGE_ID_LEN]);
    MessageId(id)
}

/// Our id type from libp2p's, when it has our length.
pub(crate) fn own_id(id: &gossipsub::MessageId) -> Option<MessageId> {
    id.0.as_slice().try_into().ok().map(MessageId)
}

/// libp2p's id type from ours.
pub(crate) fn wire_id(id: MessageId) -> gossipsub::MessageId {
    gossipsub::MessageId::from(id.0.to_vec())
}

/// The gossip behaviour, subscribed to every topic.
pub(crate) fn build(
    keys: &Keypair,
    names: &Names,
    topics: &[Topic],
    limits: &Limits,
    tuning: &Tuning,
    refused: Refused,
) -> Result<Gossip, StartError> {
    let refuse = |reason: &dyn std::fmt::Display| StartError::Settings {
        reason: reason.to_string(),
    };
    let allowed: HashSet<TopicHash> = topics.iter().map(|t| t.hash.clone()).collect();
    let mut gossip = Gossip::new_with_subscription_filter_and_transform(
        MessageAuthenticity::Signed(keys.clone()),
        settings(names, topics, tuning).map_err(|e| refuse(&e))?,
        WhitelistSubscriptionFilter(allowed.clone()),
        OwnTopics::new(allowed, refused),
    )
    .map_err(|e| refuse(&e))?;
    gossip
        .with_peer_score(score(topics, limits, tuning), thresholds(tuning))
        .map_err(|e| refuse(&e))?;
    for topic in topics {
        let wire = IdentTopic::new(topic.hash.as_str());
        gossip.subscribe(&wire).map_err(|e| refuse(&e))?;
    }
    Ok(gossip)
}

fn settings(
    names: &Names,
    topics: &[Topic],
    tuning: &Tuning,
) -> Result<Config, gossipsub::ConfigBuilderError> {
    let largest = topics.iter().map(|t| t.max_bytes).max().unwrap_or(1);
    let mut builder = ConfigBuilder::default();
    builder
        .protocol_id_prefix(names.gossip())
        .heartbeat_interval(tuning.heartbeat)
        .heartbeat_initial_delay(Duration::ZERO)
        .validation_mode(ValidationMode::Strict)
        .validate_messages()
        .message_id_fn(|m| wire_id(message_id(m.topic.as_str(), &m.data)))
        .max_transmit_size(largest + ENVELOPE + READ_AHEAD)
        .history_length(HISTORY as usize)
        .history_gossip(4)
        .duplicate_cache_time(Duration::from_secs(60))
        .flood_publish(true)
        .idontwant_message_size_threshold(usize::MAX)
        .mesh_n(MESH)
        .mesh_n_low(6)
        .mesh_n_high(14)
        .prune_backoff(Duration::from_secs(10))
        .unsubscribe_backoff(Duration::from_secs(2))
        .connection_handler_queue_len(1024);
    for topic in topics {
        builder.max_transmit_size_for_topic(topic.max_bytes + ENVELOPE, topic.hash.clone());
    }
    builder.build()
}

fn score(topics: &[Topic], limits: &Limits, tuning: &Tuning) -> PeerScoreParams {
    // Counts fade by the beat; their shares left are given for a second.
    let beat = |left: f64| left.powf(tuning.heartbeat.as_secs_f64());
    let defaults = PeerScoreParams::default();
    let per_topic = TopicScoreParams {
        topic_weight: 1.0,
        time_in_mesh_weight: 0.0,
        first_message_deliveries_weight: 0.0,
        mesh_message_deliveries_weight: 0.0,
        mesh_failure_penalty_weight: 0.0,
        invalid_message_deliveries_weight: INVALID_WEIGHT,
        invalid_message_deliveries_decay: beat(INVALID_DECAY),
        ..TopicScoreParams::default()
    };
    PeerScoreParams {
        topics: topics
            .iter()
            .map(|t| (t.hash.clone(), per_topic.clone()))
            .collect(),
        // The overlay's own penalties enter one to one.
        app_specific_weight: 1.0,
        ip_colocation_factor_weight: if tuning.ip_colocation { -5.0 } else { 0.0 },
        // As many as the gate lets in of one network: an institution may have its nodes behind one
        // address.
        ip_colocation_factor_threshold: f64::from(limits.connections_per_origin),
        // Scores fade when the heart beats, so that a node at rest is woken once for both.
        decay_interval: tuning.heartbeat,
        behaviour_penalty_decay: beat(defaults.behaviour_penalty_decay),
        slow_peer_decay: beat(defaults.slow_peer_decay),
        // Forgotten within the ban, or a returning peer would be banned for its old score.
        retain_score: tuning.ban_time / 2,
        ..defaults
    }
}

fn thresholds(tuning: &Tuning) -> PeerScoreThresholds {
    PeerScoreThresholds {
        gossip_threshold: tuning.ban_score * 0.4,
        publish_threshold: tuning.ban_score * 0.8,
        graylist_threshold: tuning.ban_score,
        ..PeerScoreThresholds::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_separate_topic_from_payload() {
        assert_ne!(message_id("ab", b"c"), message_id("a", b"bc"));
        assert_eq!(message_id("a", b"x"), message_id("a", b"x"));
        assert_eq!(
            own_id(&wire_id(message_id("a", b"x"))),
            Some(message_id("a", b"x"))
        );
        assert_eq!(own_id(&gossipsub::MessageId::from(vec![1, 2])), None);
    }

    #[test]
    fn both_presets_give_valid_score_parameters() {
        for tuning in [Tuning::local(), Tuning::wide_area()] {
            assert!(score(&[], &Limits::default(), &tuning).validate().is_ok());
            assert!(thresholds(&tuning).validate().is_ok());
        }
    }
}
