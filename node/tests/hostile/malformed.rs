//! Bytes that are no messages of the protocols that they are sent by.

use std::net::Ipv4Addr;
use std::time::Duration;

use gridbay_node::overlay::Count;

use crate::attacker::{Attacker, Raw, Script};
use crate::compare::compare;
use crate::market::Market;

/// Bytes that look like nothing, the same in every run.
fn noise(turn: u32, size: usize) -> Vec<u8> {
    let mut state = turn.wrapping_mul(0x9e37_79b9) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state as u8
    };
    (0..size).map(|_| next()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn frames_that_end_early_and_noise() {
    let market = Market::open(67, 5).await;
    let attack = async |round: usize| {
        let mut turn = 0;
        let script: Script = Box::new(move |malice, victim, open| {
            if open > 50 {
                return 0;
            }
            turn += 1;
            let hold = Duration::ZERO;
            let bytes = noise(turn, 300);
            // Noise mostly announces more than any cap; the other frames end before they should.
            malice
                .request
                .send_request(&victim, Raw::frame(300, &bytes[..10]));
            malice
                .lines
                .send_request(&victim, Raw::frame(300, &bytes[..299]));
            let raw = Raw { bytes, hold };
            malice.kad.send_request(&victim, raw.clone());
            malice.request.send_request(&victim, raw);
            4
        });
        let host = Ipv4Addr::new(127, 66, 67, 1 + round as u8);
        let victim = market.nodes[0].contact();
        vec![Attacker::start(67, host, victim, script)]
    };
    let compared = compare(&market, true, attack).await;
    assert!(market.count(Count::TruncatedFrames) >= 3);
    assert!(market.count(Count::MalformedFrames) >= 12);
    assert_eq!(market.count(Count::Bans), 3);
    compared.judge("noise");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_frames_that_end_early() {
    let market = Market::open(68, 5).await;
    let attack = async |round: usize| {
        let script: Script = Box::new(move |malice, victim, open| {
            let more = 50usize.saturating_sub(open);
            for _ in 0..more {
                malice.request.send_request(&victim, Raw::frame(300, &[1]));
            }
            more
        });
        let host = Ipv4Addr::new(127, 66, 68, 1 + round as u8);
        let victim = market.nodes[0].contact();
        vec![Attacker::start(68, host, victim, script)]
    };
    let compared = compare(&market, true, attack).await;
    // Nobody is blamed for one, since a path that dies looks alike.
    assert!(market.count(Count::TruncatedFrames) > 256);
    assert_eq!(market.count(Count::Bans), 3);
    compared.judge("frames that end early");
}
