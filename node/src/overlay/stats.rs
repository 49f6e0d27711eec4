//! Counters by kind and reason. Written by the task, read by anybody at any time without waiting.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

named! {
    /// The counters. Byte counts are payloads, without the overhead of the transports.
    pub enum Count {
        /// Payload bytes received by gossip, requests, answers and one-way messages.
        BytesIn = "bytes_in",
        /// Payload bytes handed to the network.
        BytesOut = "bytes_out",
        /// Commands refused because the queue was full.
        CommandsBusy = "commands_busy",
        /// Connections that stood.
        Connections = "connections",
        /// Of these, through relays.
        ConnectionsRelayed = "connections_relayed",
        /// Of these, direct over QUIC.
        ConnectionsQuic = "connections_quic",
        /// Addresses that were dialled over QUIC in vain.
        QuicDialsFailed = "quic_dials_failed",
        /// Places given to others as their relay.
        RelayPlaces = "relay_places",
        /// Places refused to others.
        RelayPlacesDenied = "relay_places_denied",
        /// Circuits carried.
        RelayCircuits = "relay_circuits",
        /// Circuits refused.
        RelayCircuitsDenied = "relay_circuits_denied",
        /// Direct connections made by hole punching.
        Punched = "punched",
        /// Hole punchings given up.
        PunchesFailed = "punches_failed",
        /// Connections on which no ping was answered any more.
        PingsLost = "pings_lost",
        /// Connections closed because the peer had come from elsewhere.
        ConnectionsLeft = "connections_left",
        /// Times that we moved: an address of an interface vanished, or nobody answered any more.
        NetworkChanges = "network_changes",
        /// Addresses of ours at which an AutoNAT server reached us.
        AddressesConfirmed = "addresses_confirmed",
        /// Peers sought because somebody waited for them.
        Seeks = "seeks",
        /// Of these, not reached.
        SeeksFailed = "seeks_failed",
        /// Node records of ours put into the DHT.
        RecordsPut = "records_put",
        /// Records of others taken in for the DHT.
        RecordsKept = "records_kept",
        /// Lookups of node records that have ended.
        RecordLookupsEnded = "record_lookups_ended",
        /// Peers asked by them, whether reached or not.
        RecordLookupRequests = "record_lookup_requests",
        /// Records sought that were among those that we keep.
        RecordsFoundHere = "records_found_here",
        /// Those that came first from a peer with which the lookup began: one hop.
        RecordsFoundNear = "records_found_near",
        /// Those that came first from a peer that others had named: more hops.
        RecordsFoundFar = "records_found_far",
        /// Connections closed since the peer has another.
        DoublesClosed = "doubles_closed",
        /// Connections closed to make room for others, or since there are more than enough.
        ClosedForRoom = "closed_for_room",
        /// Own node records that no peer took.
        RecordsNotTaken = "records_not_taken",
        /// Connections that failed while being made, inbound, for another reason than those that
        /// follow.
        InboundFailed = "inbound_failed",
        /// Inbound connections refused because too many were being made.
        InboundPending = "inbound_pending",
        /// Inbound connections refused because their network has its share of slots, or comes too
        /// often.
        InboundCrowded = "inbound_crowded",
        /// Inbound connections refused because strangers have all their slots.
        InboundFull = "inbound_full",
        /// Known peers not dialled because enough of their network are connected.
        DialsCrowded = "dials_crowded",
        /// Found peers not learnt because a lookup told too many of their network.
        LearntCrowded = "learnt_crowded",
        /// Dial attempts that failed.
        DialsFailed = "dials_failed",
        /// Peers turned away because they speak for another network.
        WrongNetwork = "wrong_network",
        /// Connections closed because they did not identify themselves in time.
        NotIdentified = "not_identified",
        /// Peers found restarted behind a connection that was thought alive.
        RestartsSeen = "restarts_seen",
        /// Peers banned, by score or by command.
        Bans = "bans",
        /// Frames above their cap.
        MalformedFrames = "malformed_frames",
        /// Frames that ended early.
        TruncatedFrames = "truncated_frames",
        /// Frames that did not arrive in time.
        SlowFrames = "slow_frames",
        /// Frames not read because too many bytes of others were being read.
        FramesWithoutRoom = "frames_without_room",
        /// Falls of a neighbour's score between two looks (bad signatures, oversized gossip,
        /// rejects).
        ScoreFalls = "score_falls",
        /// Gossip dropped because the node was behind.
        GossipDropped = "gossip_dropped",
        /// Gossip refused because its neighbour passed on more than its topic allows.
        GossipLimited = "gossip_limited",
        /// Frames of gossip refused, unread, because a neighbour sent too many.
        GossipFramesLimited = "gossip_frames_limited",
        /// Gossip above its topic's cap.
        GossipOversized = "gossip_oversized",
        /// Gossip that the node did not judge in time.
        GossipUnjudged = "gossip_unjudged",
        /// Verdicts for messages already forgotten.
        VerdictsLate = "verdicts_late",
        /// Publications that nobody subscribes to yet.
        PublishAlone = "publish_alone",
        /// Publications already made or received with the same bytes.
        PublishDuplicate = "publish_duplicate",
        /// Publications that failed otherwise (queues to all peers full).
        PublishFailed = "publish_failed",
        /// Neighbours too slow to take our gossip.
        SlowPeers = "slow_peers",
        /// One-way messages handed to the network.
        DirectSent = "direct_sent",
        /// One-way messages received.
        DirectReceived = "direct_received",
        /// One-way messages not sent: the peer is not connected.
        DirectUnreachable = "direct_unreachable",
        /// One-way messages not sent: the peer has too many, or too large ones, to confirm.
        DirectTooMany = "direct_too_many",
        /// One-way messages not confirmed by the peer.
        DirectFailed = "direct_failed",
        /// One-way messages received and dropped because the node was behind.
        DirectDropped = "direct_dropped",
        /// One-way messages refused because their sender sent too many, or too many bytes.
        DirectLimited = "direct_limited",
        /// Requests sent.
        RequestsSent = "requests_sent",
        /// Requests sent that have no answer.
        RequestsFailed = "requests_failed",
        /// Requests received.
        RequestsReceived = "requests_received",
        /// Requests received and dropped: too many waiting, or the node was behind.
        RequestsDropped = "requests_dropped",
        /// Requests refused because their sender sent too many.
        RequestsLimited = "requests_limited",
        /// Requests received that nobody answered in time.
        RequestsUnanswered = "requests_unanswered",
        /// Answers for requests that were gone.
        AnswersLate = "answers_late",
        /// Records that others tried to store in our part of the DHT.
        DhtRecordsRefused = "dht_records_refused",
        /// Frames of the DHT above the rate of their peer.
        DhtLimited = "dht_limited",
        /// Messages of gossip on topics that are none of ours.
        GossipForeign = "gossip_foreign",
        /// Statements of peers about themselves that came too often.
        GreetingsLimited = "greetings_limited",
        /// Streams cut off because their peer opened too many of their protocol, or sent too much
        /// on them.
        StreamsLimited = "streams_limited",
        /// Addresses not dialled because only others named them, and they are not of the Internet.
        DialsRefused = "dials_refused",
        /// Answers not sent because the asker has not read those before.
        AnswersUnread = "answers_unread",
        /// Seconds in which a peer lost score for what was refused.
        FloodPenalties = "flood_penalties",
        /// Lookups in the DHT begun.
        Lookups = "lookups",
    }
}

/// Declares the counters of one topic and the shape of their snapshot.
macro_rules! topic_counters {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// Counters of one topic.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct TopicStats { $($(#[$doc])* pub $name: u64,)* }

        #[derive(Debug, Default)]
        pub(crate) struct TopicCounters { $(pub(crate) $name: AtomicU64,)* }

        impl TopicCounters {
            fn snapshot(&self) -> TopicStats {
                TopicStats { $($name: self.$name.load(Ordering::Relaxed),)* }
            }
        }
    };
}

topic_counters! {
    /// Messages published by this node.
    published,
    /// Messages received for the first time.
    received,
    /// Messages accepted and passed on.
    accepted,
    /// Messages ignored.
    ignored,
    /// Messages rejected.
    rejected,
    /// Messages dropped because the node was behind.
    dropped,
    /// Messages refused because the neighbour passed on too many.
    limited,
    /// Payload bytes received.
    bytes_in,
    /// Payload bytes published.
    bytes_out,
}

/// A snapshot of all counters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OverlayStats {
    /// Counters by kind; see [`Count::name`].
    pub counts: BTreeMap<&'static str, u64>,
    /// Counters by short topic name.
    pub topics: BTreeMap<String, TopicStats>,
}

impl OverlayStats {
    /// One counter.
    pub fn get(&self, kind: Count) -> u64 {
        self.counts.get(kind.name()).copied().unwrap_or_default()
    }
}

/// The counters themselves; shared by the task and every handle.
#[derive(Debug)]
pub(crate) struct Counters {
    kinds: Vec<AtomicU64>,
    topics: Vec<(Arc<str>, TopicCounters)>,
}

/// Adds to a counter; order with other memory does not matter.
pub(crate) fn add(counter: &AtomicU64, n: usize) {
    counter.fetch_add(n as u64, Ordering::Relaxed);
}

impl Counters {
    pub(crate) fn new(topics: impl IntoIterator<Item = Arc<str>>) -> Self {
        Self {
            kinds: Count::ALL.iter().map(|_| AtomicU64::new(0)).collect(),
            topics: topics
                .into_iter()
                .map(|name| (name, TopicCounters::default()))
                .collect(),
        }
    }

    pub(crate) fn count(&self, kind: Count) {
        self.count_n(kind, 1);
    }

    pub(crate) fn count_n(&self, kind: Count, n: usize) {
        if let Some(counter) = self.kinds.get(kind as usize) {
            add(counter, n);
        }
    }

    /// Counters of the topic with this index in the configuration.
    pub(crate) fn topic(&self, index: usize) -> &TopicCounters {
        &self.topics[index].1
    }

    pub(crate) fn snapshot(&self) -> OverlayStats {
        let counts = Count::ALL.iter().zip(&self.kinds);
        let topics = self.topics.iter();
        OverlayStats {
            counts: counts
                .map(|(kind, n)| (kind.name(), n.load(Ordering::Relaxed)))
                .collect(),
            topics: topics
                .map(|(name, counters)| (name.to_string(), counters.snapshot()))
                .collect(),
        }
    }
}
