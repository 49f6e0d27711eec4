//! Frames and gossip above their caps, and large frames of which most never comes.

use std::net::Ipv4Addr;
use std::time::Duration;

use gridbay_node::overlay::Count;

use crate::attacker::{Attacker, Raw, Script, topic};
use crate::compare::compare;
use crate::market::{LARGEST_DIRECT, Market, ORDER_BYTES, ORDERS, config};

fn host(network: u8, round: usize) -> Ipv4Addr {
    Ipv4Addr::new(127, 66, network, 1 + round as u8)
}

#[tokio::test(flavor = "multi_thread")]
async fn frames_above_the_cap() {
    let market = Market::open(64, 5).await;
    let caps = config(64, 0).limits;
    let attack = async |round: usize| {
        let [request, direct] = [caps.max_request, caps.max_direct].map(|cap| cap as u32 + 1);
        let script: Script = Box::new(move |malice, victim, open| {
            if open > 20 {
                return 0;
            }
            malice
                .request
                .send_request(&victim, Raw::frame(request, &[0; 4096]));
            malice
                .lines
                .send_request(&victim, Raw::frame(u32::MAX, &[0; 4096]));
            malice
                .lines
                .send_request(&victim, Raw::frame(direct, &[0; 4096]));
            3
        });
        let victim = market.nodes[0].contact();
        vec![Attacker::start(64, host(64, round), victim, script)]
    };
    let compared = compare(&market, true, attack).await;
    assert!(market.count(Count::MalformedFrames) >= 12);
    assert_eq!(market.count(Count::Bans), 3);
    compared.judge("frames above the cap");
}

#[tokio::test(flavor = "multi_thread")]
async fn gossip_above_the_cap() {
    let market = Market::open(65, 5).await;
    let attack = async |round: usize| {
        let mut turn = 0u32;
        let script: Script = Box::new(move |malice, _, _| {
            // Just above, where only the overlay's own check sees it, and far above, where its
            // decoder does.
            let size = ORDER_BYTES + if turn % 64 == 63 { 1 << 20 } else { 1 };
            turn += 1;
            let bytes = [&turn.to_be_bytes()[..], &vec![0; size]].concat();
            // Nobody is subscribed in the beginning.
            let _early = malice.gossip.publish(topic(65, ORDERS), bytes);
            0
        });
        let victim = market.nodes[0].contact();
        vec![Attacker::start(65, host(65, round), victim, script)]
    };
    let compared = compare(&market, true, attack).await;
    assert!(market.count(Count::GossipOversized) >= 3);
    assert_eq!(market.count(Count::Bans), 3);
    compared.judge("gossip above the cap");
}

#[tokio::test(flavor = "multi_thread")]
async fn large_frames_of_which_most_never_comes() {
    let market = Market::open(66, 5).await;
    let size = LARGEST_DIRECT;
    let attack = async |round: usize| {
        let mut sent = 0;
        let script: Script = Box::new(move |malice, victim, open| {
            // Each announces all that a message may have, and brings a part.
            if sent >= 5000 || open > 200 {
                return 0;
            }
            sent += 1;
            let mut raw = Raw::frame(size as u32, &[7; 1000]);
            raw.hold = Duration::from_millis(200);
            malice.lines.send_request(&victim, raw);
            1
        });
        let victim = market.nodes[0].contact();
        vec![Attacker::start(66, host(66, round), victim, script)]
    };
    let compared = compare(&market, true, attack).await;
    // Two of them have room.
    assert!(market.count(Count::FramesWithoutRoom) >= 256);
    assert_eq!(market.count(Count::Bans), 3);
    compared.judge("large frames of which most never comes");
}
