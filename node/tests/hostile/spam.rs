//! Gossip spam: garbage, stale messages, and the same again and again.

use std::net::Ipv4Addr;

use gridbay_node::overlay::Count;

use crate::attacker::{Attacker, Script, topic};
use crate::compare::compare;
use crate::market::{Market, ORDERS, STALE};

/// Publishes `each` time so many messages.
fn spam(network: u8, each: usize, mut next: impl FnMut() -> Vec<u8> + Send + 'static) -> Script {
    Box::new(move |malice, _, _| {
        for _ in 0..each {
            // Nobody is subscribed in the beginning, and queues fill up.
            let _lost = malice.gossip.publish(topic(network, ORDERS), next());
        }
        0
    })
}

fn at_first(market: &Market, network: u8, round: usize, script: Script) -> Vec<Attacker> {
    let host = Ipv4Addr::new(127, 66, network, 1 + round as u8);
    let victim = market.nodes[0].contact();
    vec![Attacker::start(network, host, victim, script)]
}

/// Messages that all differ.
fn numbered(begin: &'static [u8], round: usize) -> impl FnMut() -> Vec<u8> + Send {
    let mut turn = 0u64;
    move || {
        turn += 1;
        [begin, &(round as u64).to_be_bytes(), &turn.to_be_bytes()].concat()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn garbage() {
    let market = Market::open(69, 5).await;
    let attack = async |round: usize| {
        let script = spam(69, 4, numbered(b"garbage", round));
        at_first(&market, 69, round, script)
    };
    let compared = compare(&market, true, attack).await;
    let stats = market.nodes[0].handle.stats();
    assert!(stats.topics[ORDERS].rejected >= 6);
    assert_eq!(market.count(Count::Bans), 3);
    for other in &market.nodes[1..] {
        let heard = other.handle.stats().topics[ORDERS].rejected;
        assert_eq!(heard, 0, "garbage is not passed on");
    }
    compared.judge("garbage in gossip");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_out_of_date() {
    let market = Market::open(70, 5).await;
    let attack = async |round: usize| {
        let script = spam(70, 8, numbered(STALE, round));
        at_first(&market, 70, round, script)
    };
    let compared = compare(&market, true, attack).await;
    let stats = market.nodes[0].handle.stats();
    let topic = stats.topics[ORDERS];
    assert!(topic.limited > 100 && topic.ignored > 100, "{topic:?}");
    assert_eq!(stats.get(Count::GossipLimited), topic.limited);
    assert_eq!(market.count(Count::Bans), 3);
    for other in &market.nodes[1..] {
        let heard = other.handle.stats().topics[ORDERS].ignored;
        assert_eq!(heard, 0, "what is ignored is not passed on");
    }
    compared.judge("stale gossip");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_again_and_again() {
    let market = Market::open(71, 5).await;
    let attack = async |round: usize| {
        let script = spam(71, 20, || STALE.to_vec());
        at_first(&market, 71, round, script)
    };
    let compared = compare(&market, true, attack).await;
    assert!(market.count(Count::GossipFramesLimited) > 100);
    assert_eq!(market.count(Count::Bans), 3);
    compared.judge("one message of gossip again and again");
}
