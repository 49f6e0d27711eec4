//! Slow peers: a thousand sockets that say nothing, connections that do not say who they are,
//! streams that drip.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use gridbay_node::overlay::{self, Count, Event};
use tokio::net::{TcpSocket, TcpStream};

use crate::attacker::{Attacker, Raw, Script, at, swarm};
use crate::compare::{compare, timed};
use crate::market::{Market, Node, config, eventually};
use futures::StreamExt;
use libp2p::identity::Keypair;
use libp2p::{ping, swarm::SwarmEvent};

const SOCKETS: usize = 1000;

/// Sockets from one host that connect and then say nothing.
async fn silent_sockets(host: Ipv4Addr, victim: &Node) -> Vec<TcpStream> {
    let address = victim.address(false);
    let (ip, port) = (overlay::ip(&address), overlay::port(&address));
    let victim = SocketAddr::new(ip.unwrap(), port.unwrap());
    let mut sockets = Vec::new();
    for _ in 0..SOCKETS {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_reuseaddr(true).unwrap();
        socket.bind(SocketAddr::new(host.into(), 0)).unwrap();
        // Some are not taken: that is the gate.
        if let Ok(stream) = socket.connect(victim).await {
            sockets.push(stream);
        }
    }
    sockets
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_silent_sockets() {
    let market = Market::open(72, 5).await;
    let mut newcomers = 10;
    let mut sockets = Vec::new();
    let attack = async |round: usize| {
        let host = Ipv4Addr::new(127, 66, 72, 1 + round as u8);
        sockets = silent_sockets(host, &market.nodes[0]).await;
        assert!(sockets.len() > SOCKETS / 2);
        // Somebody who knows nobody else comes in all the same, over the same transport.
        let mut newcomer = config(72, newcomers);
        newcomers += 1;
        newcomer.listen.remove(0);
        newcomer.bootstrap = vec![(market.nodes[0].peer(), market.nodes[0].address(false))];
        let newcomer = Node::start(newcomer).await;
        let time = timed("a newcomer is let in", || {
            newcomer.has(&market.nodes[0].peer())
        })
        .await;
        println!("silent sockets: a newcomer is in after {time:?}");
        newcomer.handle.shutdown().await;
        Vec::new()
    };
    let compared = compare(&market, false, attack).await;
    assert!(market.count(Count::InboundCrowded) > SOCKETS as u64);
    compared.judge("a thousand silent sockets");
}

#[tokio::test(flavor = "multi_thread")]
async fn streams_that_drip() {
    let market = Market::open(73, 5).await;
    let attack = async |round: usize| {
        let mut sent = 0;
        let script: Script = Box::new(move |malice, victim, _| {
            // Half of a length, or a frame without its end.
            let hold = Duration::from_secs(60);
            let bytes = if sent % 2 == 0 {
                vec![0, 0]
            } else {
                vec![0, 0, 1, 0, 7]
            };
            if sent < 60 {
                sent += 1;
                malice.request.send_request(&victim, Raw { bytes, hold });
            }
            1
        });
        let host = Ipv4Addr::new(127, 66, 73, 1 + round as u8);
        let victim = market.nodes[0].contact();
        vec![Attacker::start(73, host, victim, script)]
    };
    let compared = compare(&market, true, attack).await;
    assert!(market.count(Count::SlowFrames) >= 60);
    assert_eq!(market.count(Count::Bans), 3);
    compared.judge("streams that drip");
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_that_do_not_say_who_they_are() {
    let victim = Node::start(config(74, 0)).await;
    let keys = Keypair::generate_ed25519();
    let host = Ipv4Addr::new(127, 66, 74, 1);
    let mut silent = swarm(keys, host, |_| ping::Behaviour::default());
    let address = at(&victim.address(true), victim.peer());
    silent.dial(address).unwrap();
    let ended = async {
        loop {
            if let SwarmEvent::ConnectionClosed { .. } = silent.select_next_some().await {
                return;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(20), ended)
        .await
        .expect("who says nothing is disconnected");
    assert_eq!(victim.handle.stats().get(Count::NotIdentified), 1);
    assert!(victim.handle.peers().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_that_nobody_reads_count_until_they_are_read() {
    let (handle, mut events) = overlay::start(config(98, 0)).await.unwrap();
    let answers = handle.clone();
    // More than there is room for are asked before any is answered: answers that fill the
    // connection's window keep further questions out.
    tokio::spawn(async move {
        let (mut asked, mut together) = (Vec::new(), 8);
        while let Some(event) = events.recv().await {
            if let Event::Request { id, .. } = event {
                asked.push(id);
            }
            if asked.len() >= together {
                together = 1;
                for id in asked.drain(..) {
                    answers.respond(id, vec![0; 4 << 20]).unwrap();
                }
            }
        }
    });
    // Attackers speak QUIC alone, and listeners come in any order.
    let listens = handle.addresses();
    let quic = listens.iter().find(|address| overlay::is_quic(address));
    let victim = (handle.local_peer(), quic.expect("it listens").clone());
    let mut sent = 0;
    let script: Script = Box::new(move |malice, victim, _| {
        if sent < 60 {
            sent += 1;
            let mut raw = Raw::frame(100, &[7; 100]);
            raw.hold = Duration::from_secs(60);
            malice.request.send_request(&victim, raw);
        }
        1
    });
    let _slow = Attacker::start(98, Ipv4Addr::new(127, 66, 98, 1), victim.clone(), script);
    let unread = || handle.stats().get(Count::AnswersUnread);
    eventually("there is no room for more", || unread() > 0).await;
    let mut other = config(98, 1);
    other.bootstrap = vec![victim.clone()];
    let other = Node::start(other).await;
    let patience = Duration::from_secs(20);
    let served = other.handle.request(victim.0, vec![1], patience).await;
    assert_eq!(served.unwrap().len(), 4 << 20, "who reads is served");
}
