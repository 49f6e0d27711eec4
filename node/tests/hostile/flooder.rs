//! A flooder: as many requests, one-way messages or questions to the DHT as go through.

use std::net::Ipv4Addr;

use gridbay_node::overlay::Count;

use crate::attacker::{Attacker, Malice, Raw, Script};
use crate::compare::compare;
use crate::market::Market;
use libp2p::PeerId;

/// Kept on their way at a time: more than that only costs the attacker.
const ON_THE_WAY: usize = 200;
/// Lines that a node reads at a time.
const LINES: usize = 4;

/// Sends as much as fits of whatever `send` sends.
fn flood(send: impl FnMut(&mut Malice, &PeerId) + Send + 'static) -> Script {
    up_to(ON_THE_WAY, send)
}

/// The same, so many at a time.
fn up_to(most: usize, mut send: impl FnMut(&mut Malice, &PeerId) + Send + 'static) -> Script {
    Box::new(move |malice, victim, open| {
        let more = most.saturating_sub(open);
        for _ in 0..more {
            send(malice, &victim);
        }
        more
    })
}

/// Lets a flooder loose on the first node, from a host of its own.
fn at_first(market: &Market, network: u8, round: usize, script: Script) -> Vec<Attacker> {
    let host = Ipv4Addr::new(127, 66, network, 1 + round as u8);
    let victim = market.nodes[0].contact();
    vec![Attacker::start(network, host, victim, script)]
}

#[tokio::test(flavor = "multi_thread")]
async fn requests() {
    let market = Market::open(60, 5).await;
    let attack = async |round: usize| {
        let script = flood(|malice, victim| {
            let question = Raw::frame(100, &[7; 100]);
            malice.request.send_request(victim, question);
        });
        at_first(&market, 60, round, script)
    };
    let compared = compare(&market, true, attack).await;
    assert!(market.count(Count::RequestsLimited) > 100);
    assert!(
        market.count(Count::FloodPenalties) >= 6,
        "two seconds of each round"
    );
    assert_eq!(market.count(Count::Bans), 3);
    compared.judge("flood of requests");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_way_messages() {
    let market = Market::open(61, 5).await;
    let attack = async |round: usize| {
        let script = up_to(LINES, |malice, victim| {
            let line = Raw::frames(2_000, &[7; 1000]);
            malice.lines.send_request(victim, line);
        });
        at_first(&market, 61, round, script)
    };
    let compared = compare(&market, true, attack).await;
    assert!(market.count(Count::DirectLimited) > 100);
    assert_eq!(market.count(Count::Bans), 3);
    compared.judge("flood of one-way messages");
}

#[tokio::test(flavor = "multi_thread")]
async fn bytes() {
    let market = Market::open(62, 5).await;
    let body = vec![7; 60 << 10];
    let attack = async |round: usize| {
        let body = body.clone();
        let script = up_to(LINES, move |malice, victim| {
            malice.lines.send_request(victim, Raw::frames(20, &body));
        });
        at_first(&market, 62, round, script)
    };
    let compared = compare(&market, true, attack).await;
    let refused = market.count(Count::DirectLimited) + market.count(Count::FramesWithoutRoom);
    assert!(refused > 100, "{refused}");
    assert_eq!(market.count(Count::Bans), 3);
    compared.judge("flood of bytes");
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_to_the_dht() {
    let market = Market::open(63, 5).await;
    // A protobuf message of the DHT: type 4 (who is near?), key of 32 bytes; its length before it.
    let question = [&[36, 8, 4, 18, 32][..], &[9; 32]].concat();
    let attack = async |round: usize| {
        let bytes = question.clone();
        let script = flood(move |malice, victim| {
            let hold = std::time::Duration::ZERO;
            let bytes = bytes.clone();
            malice.kad.send_request(victim, Raw { bytes, hold });
        });
        at_first(&market, 63, round, script)
    };
    let compared = compare(&market, true, attack).await;
    // Each has a stream: most are cut off before anybody reads the question.
    let refused = market.count(Count::DhtLimited) + market.count(Count::StreamsLimited);
    assert!(refused > 100, "{refused}");
    assert_eq!(market.count(Count::Bans), 3);
    compared.judge("flood of questions to the DHT");
}
