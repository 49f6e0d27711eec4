//! Gossip on topics that nobody asked for: signed well, below every rate, and each message another
//! one.

use std::net::Ipv4Addr;
use std::time::Duration;

use gridbay_node::overlay::{Count, Quotas};
use libp2p::identity::Keypair;

use crate::attacker::{Attacker, Raw, Script};
use crate::compare::{resident_mib, timed};
use crate::lies::{bytes, varint};
use crate::market::{Node, config};

/// Streams, one after another: gossip reads the newest.
const STREAMS: u64 = 4;
/// Messages of each stream: together they stay below the rate of frames.
const MESSAGES: u64 = 1500;
const PAYLOAD: usize = 12_000;
/// How much of it the victim may keep, MiB. All of it is 69.
const KEPT: f64 = 32.0;

/// A frame of gossip with one message: 1 author, 2 data, 3 sequence number, 4 topic, 5 signature.
fn frame(keys: &Keypair, topic: &str, number: u64) -> Vec<u8> {
    let data = [&number.to_be_bytes()[..], &[7; PAYLOAD]].concat();
    let mut message = Vec::new();
    bytes(&mut message, 1, &keys.public().to_peer_id().to_bytes());
    bytes(&mut message, 2, &data);
    bytes(&mut message, 3, &number.to_be_bytes());
    bytes(&mut message, 4, topic.as_bytes());
    let signed = [b"libp2p-pubsub:", message.as_slice()].concat();
    bytes(&mut message, 5, &keys.sign(&signed).unwrap());
    let mut rpc = Vec::new();
    bytes(&mut rpc, 2, &message);
    let mut frame = Vec::new();
    varint(&mut frame, rpc.len() as u64);
    frame.extend_from_slice(&rpc);
    frame
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_on_foreign_topics_are_not_kept_and_cost_a_ban() {
    let mut config = config(80, 0);
    config.limits.quotas = Quotas::default();
    let victim = Node::start(config).await;
    let keys = Keypair::generate_ed25519();
    let mut streams: Vec<Raw> = (0..STREAMS)
        .map(|stream| {
            let numbers = stream * MESSAGES..(stream + 1) * MESSAGES;
            let all = numbers.flat_map(|n| frame(&keys, &format!("foreign {n}"), n));
            Raw {
                bytes: all.collect(),
                hold: Duration::from_secs(30),
            }
        })
        .collect();
    let before = resident_mib();
    let mut turn = 0u32;
    let script: Script = Box::new(move |malice, victim, _| {
        turn += 1;
        // A new one each second, since a stream ends the one before.
        match (turn % 500 == 1).then(|| streams.pop()).flatten() {
            Some(raw) => {
                malice.frames.send_request(&victim, raw);
                1
            }
            None => 0,
        }
    });
    let host = Ipv4Addr::new(127, 66, 80, 1);
    let attacker = Attacker::start(80, host, victim.contact(), script);
    let time = timed("it is shut out", || attacker.is_out()).await;
    let grown = resident_mib() - before;
    let foreign = victim.handle.stats().get(Count::GossipForeign);
    println!("foreign topics: {foreign} refused, shut out after {time:?}, {grown:.1} MiB grown");
    assert!(foreign >= 4, "{foreign}");
    assert_eq!(victim.handle.stats().get(Count::Bans), 1);
    assert!(grown < KEPT, "{grown} MiB");
}
