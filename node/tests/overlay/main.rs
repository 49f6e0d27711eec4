//! The overlay on loopback: real sockets, several nodes in one process, port 0.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod budgets;
mod doubles;
mod figures;
mod ipv6;
mod lines;
mod net;
mod owner;
mod room;

use std::time::Duration;

use gridbay_node::overlay::{
    Count, Event, Limits, Line, OverlayError, PeerId, RequestError, TopicConfig, Verdict,
};
use net::{Node, QUIC, TCP, config, converge, eventually, start_mesh};

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test(flavor = "multi_thread")]
async fn four_nodes_with_one_bootstrap_address_form_a_mesh_and_hear_each_other() {
    let nodes = start_mesh(4, 1).await;
    for (i, node) in nodes.iter().enumerate() {
        node.handle
            .publish("entries", format!("from {i}").into_bytes())
            .unwrap();
    }
    for (i, node) in nodes.iter().enumerate() {
        let mut heard = Vec::new();
        while heard.len() < 3 {
            let message = node.message().await;
            let author = nodes.iter().position(|n| n.peer() == message.from).unwrap();
            assert_eq!(message.bytes, format!("from {author}").into_bytes());
            node.handle.report(message.id, Verdict::Accept).unwrap();
            heard.push(author);
        }
        heard.sort_unstable();
        let others: Vec<usize> = (0..4).filter(|j| *j != i).collect();
        assert_eq!(heard, others);
    }
    for node in &nodes {
        eventually(|| node.handle.stats().topics["entries"].accepted == 3).await;
        assert_eq!(node.handle.stats().topics["entries"].published, 1);
        node.handle.shutdown().await;
        assert_eq!(
            node.handle.publish("entries", vec![1]),
            Err(OverlayError::Closed)
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_bytes_are_published_once() {
    let nodes = start_mesh(2, 2).await;
    let first = nodes[0]
        .handle
        .publish("entries", b"once".to_vec())
        .unwrap();
    assert_eq!(
        nodes[0].handle.publish("entries", b"once".to_vec()),
        Ok(first)
    );
    nodes[0].handle.publish("entries", b"end".to_vec()).unwrap();
    let (a, b) = (nodes[1].message().await, nodes[1].message().await);
    assert_eq!(
        (a.id, a.bytes, b.bytes),
        (first, b"once".to_vec(), b"end".to_vec())
    );
    assert_eq!(nodes[0].handle.stats().get(Count::PublishDuplicate), 1);
    assert_eq!(
        nodes[0].handle.publish("nowhere", vec![]),
        Err(OverlayError::UnknownTopic)
    );
    let large = nodes[0].handle.publish("entries", vec![0; (1 << 20) + 1]);
    assert!(matches!(large, Err(OverlayError::TooLarge { .. })));
}

#[tokio::test(flavor = "multi_thread")]
async fn one_mebibyte_passes_where_the_topic_allows_it() {
    let nodes = start_mesh(2, 3).await;
    let bytes: Vec<u8> = (0..1 << 20).map(|i: u32| (i % 251) as u8).collect();
    nodes[0].handle.publish("entries", bytes.clone()).unwrap();
    assert_eq!(nodes[1].message().await.bytes, bytes);
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_are_answered_refused_or_time_out() {
    let nodes = start_mesh(2, 4).await;
    let (client, server) = (&nodes[0].handle, &nodes[1]);
    let to = server.peer();
    let ask = |bytes: Vec<u8>, time| client.request(to, bytes, time);

    let (answer, ()) = tokio::join!(ask(b"ping".to_vec(), SECOND * 10), async {
        let (from, id, bytes) = server.request().await;
        assert_eq!(
            (from, bytes.as_slice()),
            (client.local_peer(), &b"ping"[..])
        );
        let large: Vec<u8> = vec![7; 4 << 20];
        assert!(matches!(
            server.handle.respond(id, vec![0; (4 << 20) + 1]),
            Err(OverlayError::TooLarge { .. })
        ));
        server.handle.respond(id, large).unwrap();
        server.handle.respond(id, vec![]).unwrap();
    });
    assert_eq!(answer.unwrap(), vec![7; 4 << 20]);
    eventually(|| server.handle.stats().get(Count::AnswersLate) == 1).await;

    let (answer, ()) = tokio::join!(ask(b"no?".to_vec(), SECOND * 10), async {
        let (_, id, _) = server.request().await;
        server.handle.refuse(id).unwrap();
    });
    assert_eq!(answer, Err(RequestError::NoAnswer));

    let silent = ask(b"anybody?".to_vec(), Duration::from_millis(100)).await;
    assert_eq!(silent, Err(RequestError::Timeout));
    let large = ask(vec![0; (64 << 10) + 1], SECOND).await;
    assert!(matches!(
        large,
        Err(RequestError::Refused(OverlayError::TooLarge { .. }))
    ));
    let stranger = client.request(PeerId::random(), vec![], SECOND).await;
    assert_eq!(stranger, Err(RequestError::NotConnected));
}

#[tokio::test(flavor = "multi_thread")]
async fn one_way_messages_reach_all_named_peers() {
    let nodes = start_mesh(4, 5).await;
    let mut everyone: Vec<PeerId> = nodes.iter().map(Node::peer).collect();
    everyone.push(PeerId::random());
    nodes[2]
        .handle
        .send_all(everyone, Line::Votes, b"vote".to_vec())
        .unwrap();
    for i in [0, 1, 3] {
        assert_eq!(nodes[i].direct().await, (nodes[2].peer(), b"vote".to_vec()));
    }
    // Itself and the stranger.
    eventually(|| nodes[2].handle.stats().get(Count::DirectUnreachable) == 2).await;
    assert_eq!(nodes[2].handle.stats().get(Count::DirectSent), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_restarted_on_its_port_is_meshed_again() {
    for listen in [QUIC, TCP] {
        let mut nodes = Vec::new();
        for i in 0..3 {
            let mut config = config(6, i, &[listen]);
            config.bootstrap = nodes.iter().map(Node::contact).collect();
            nodes.push(Node::start(config).await);
        }
        converge(&nodes).await;
        let old = nodes.remove(0);
        let mut again = config(6, 0, &[listen]);
        again.listen = old.handle.addresses().to_vec();
        old.handle.shutdown().await;
        for node in &nodes {
            eventually(|| node.handle.peers().iter().all(|p| p.peer != old.peer())).await;
        }
        // It knows nobody: the others redial it.
        nodes.push(Node::start(again).await);
        converge(&nodes).await;
        nodes[2]
            .handle
            .publish("entries", b"back".to_vec())
            .unwrap();
        assert_eq!(nodes[0].message().await.bytes, b"back");
        assert_eq!(nodes[1].message().await.bytes, b"back");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_crashed_is_meshed_again_though_nobody_saw_it_go() {
    // Over QUIC they believe it alive: until it calls, or until it has been silent for too long.
    for (listen, dials) in [(QUIC, false), (QUIC, true), (TCP, false), (TCP, true)] {
        let own_runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .unwrap();
        let first = config(15, 0, &[listen]);
        let first = own_runtime.spawn(Node::start(first)).await.unwrap();
        let mut nodes = Vec::new();
        for i in 1..3 {
            let mut config = config(15, i, &[listen]);
            config.tuning.idle = Duration::from_millis(1500);
            config.tuning.keep_alive = Duration::from_millis(500);
            config.bootstrap = vec![first.contact()];
            nodes.push(Node::start(config).await);
        }
        eventually(|| nodes.iter().all(|n| n.handle.peers().len() == 2)).await;
        let mut again = config(15, 0, &[listen]);
        again.listen = first.handle.addresses().to_vec();
        if dials {
            again.bootstrap = nodes.iter().map(Node::contact).collect();
        }
        // Nothing more is sent: no goodbye.
        own_runtime.shutdown_background();
        nodes.push(Node::start(again).await);
        converge(&nodes).await;
        // Greetings of gossip are exchanged again as well, in both directions.
        nodes[2]
            .handle
            .publish("entries", b"back".to_vec())
            .unwrap();
        nodes[0]
            .handle
            .publish("entries", b"hello".to_vec())
            .unwrap();
        assert_eq!(nodes[2].message().await.bytes, b"hello");
        assert_eq!(nodes[0].message().await.bytes, b"back");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_accepted_messages_travel_on_and_rejected_ones_cost_their_bearer() {
    // A line: the ends refuse one another. Its middle keeps the first, and nobody else.
    let nodes = start_mesh(3, 7).await;
    let [c, b, a] = nodes.as_slice() else {
        panic!("three nodes")
    };
    a.handle.ban(c.peer(), SECOND * 60).unwrap();
    c.handle.ban(a.peer(), SECOND * 60).unwrap();
    eventually(|| a.handle.peers().len() == 1 && c.handle.peers().len() == 1).await;

    a.handle.publish("entries", b"unjudged".to_vec()).unwrap();
    assert_eq!(b.message().await.bytes, b"unjudged");
    a.handle.publish("entries", b"ignored".to_vec()).unwrap();
    b.handle
        .report(b.message().await.id, Verdict::Ignore)
        .unwrap();
    a.handle.publish("entries", b"good".to_vec()).unwrap();
    b.handle
        .report(b.message().await.id, Verdict::Accept)
        .unwrap();
    let good = c.message().await;
    assert_eq!(
        (good.bytes.as_slice(), good.from, good.via),
        (&b"good"[..], a.peer(), b.peer())
    );

    let score = |node: &Node, of: PeerId| {
        node.handle
            .peers()
            .iter()
            .find(|p| p.peer == of)
            .map_or(0.0, |p| p.score)
    };
    assert_eq!(score(b, a.peer()), 0.0);
    a.handle.publish("entries", b"bad".to_vec()).unwrap();
    b.handle
        .report(b.message().await.id, Verdict::Reject)
        .unwrap();
    eventually(|| score(b, a.peer()) < -5.0).await;
    assert_eq!(score(b, c.peer()), 0.0);

    // A peer that goes on is banned.
    let mut rejected = 1;
    while b.handle.stats().get(Count::Bans) == 0 {
        a.handle
            .publish("entries", format!("bad {rejected}").into_bytes())
            .unwrap();
        b.handle
            .report(b.message().await.id, Verdict::Reject)
            .unwrap();
        rejected += 1;
        eventually(|| b.handle.stats().topics["entries"].rejected == rejected).await;
        assert!(rejected < 10, "never banned");
    }
    eventually(|| b.handle.peers().iter().all(|p| p.peer != a.peer())).await;
    b.handle.publish("entries", b"from b".to_vec()).unwrap();
    assert_eq!(c.message().await.bytes, b"from b");
    assert_eq!(c.handle.stats().topics["entries"].received, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn another_network_does_not_connect() {
    let ours = Node::start(config(8, 0, &[QUIC, TCP])).await;
    let mut foreign = config(9, 1, &[QUIC, TCP]);
    foreign.bootstrap = vec![ours.contact()];
    foreign.tuning.redial_max = Duration::from_millis(200);
    let foreign = Node::start(foreign).await;
    eventually(|| ours.handle.stats().get(Count::WrongNetwork) > 0).await;
    eventually(|| foreign.handle.stats().get(Count::Connections) > 1).await;
    assert!(ours.handle.peers().is_empty() && foreign.handle.peers().is_empty());
    let refused = foreign.handle.request(ours.peer(), vec![], SECOND).await;
    assert_eq!(refused, Err(RequestError::NotConnected));
    assert!(!ours.saw_peer() && !foreign.saw_peer());
}

#[tokio::test(flavor = "multi_thread")]
async fn oversized_frames_are_refused_and_their_sender_is_banned() {
    let honest = Node::start(config(10, 0, &[QUIC])).await;
    let mut hostile = config(10, 1, &[QUIC]);
    hostile.bootstrap = vec![honest.contact()];
    hostile.limits.max_request = 16 << 20;
    let hostile = Node::start(hostile).await;
    converge(&[&honest, &hostile]).await;
    let mut refused = 0;
    while honest.handle.stats().get(Count::Bans) == 0 {
        let answer = hostile
            .handle
            .request(honest.peer(), vec![0; 1 << 20], SECOND * 5)
            .await;
        assert!(answer.is_err());
        refused += 1;
        assert!(refused < 20, "never banned");
    }
    assert!(honest.handle.stats().get(Count::MalformedFrames) >= 3);
    assert_eq!(honest.handle.stats().get(Count::RequestsReceived), 0);
    eventually(|| honest.handle.peers().is_empty()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn oversized_gossip_is_not_delivered_and_costs_its_sender() {
    let mut honest = config(11, 0, &[TCP]);
    honest.topics = vec![
        TopicConfig::new("small", 1000),
        TopicConfig::new("large", 1 << 20),
    ];
    let honest = Node::start(honest).await;
    let mut hostile = config(11, 1, &[TCP]);
    hostile.topics = vec![
        TopicConfig::new("small", 1 << 20),
        TopicConfig::new("large", 1 << 20),
    ];
    hostile.bootstrap = vec![honest.contact()];
    let hostile = Node::start(hostile).await;
    converge(&[&honest, &hostile]).await;
    // Just above the cap, where only the overlay's own check sees it, and far above.
    hostile.handle.publish("small", vec![1; 1001]).unwrap();
    eventually(|| honest.handle.stats().get(Count::GossipOversized) == 1).await;
    hostile.handle.publish("small", vec![2; 100_000]).unwrap();
    eventually(|| honest.handle.stats().get(Count::ScoreFalls) >= 2).await;
    hostile.handle.publish("small", vec![3; 1000]).unwrap();
    assert_eq!(honest.message().await.bytes, vec![3; 1000]);
}

#[tokio::test(flavor = "multi_thread")]
async fn nodes_of_one_transport_each_meet_through_one_that_has_both() {
    let both = Node::start(config(12, 0, &[QUIC, TCP])).await;
    let mut nodes = vec![both];
    for (i, listen) in [(1, QUIC), (2, TCP)] {
        let mut config = config(12, i, &[listen]);
        let hub = &nodes[0];
        let matching = |a: &&gridbay_node::overlay::Multiaddr| {
            a.to_string().contains("quic") == listen.contains("quic")
        };
        let address = hub
            .handle
            .addresses()
            .iter()
            .find(matching)
            .cloned()
            .unwrap();
        config.bootstrap = vec![(hub.peer(), address)];
        nodes.push(Node::start(config).await);
    }
    // Both ends must know: the hub to pass on, the author to publish.
    let hub = nodes[0].peer();
    eventually(|| nodes[0].handle.peers().iter().filter(|p| p.in_mesh).count() == 2).await;
    eventually(|| {
        nodes[1]
            .handle
            .peers()
            .iter()
            .any(|p| p.peer == hub && p.subscribed)
    })
    .await;
    nodes[1]
        .handle
        .publish("entries", b"hello".to_vec())
        .unwrap();
    nodes[0]
        .handle
        .report(nodes[0].message().await.id, Verdict::Accept)
        .unwrap();
    let message = nodes[2].message().await;
    assert_eq!(
        (message.from, message.bytes),
        (nodes[1].peer(), b"hello".to_vec())
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_falls_behind_loses_messages_but_no_connection_event() {
    let mut slow = config(13, 0, &[QUIC]);
    slow.limits = Limits {
        events: 64,
        ..Limits::default()
    };
    let (handle, mut events) = gridbay_node::overlay::start(slow).await.unwrap();
    let contact = (handle.local_peer(), handle.addresses()[0].clone());
    let mut fast = config(13, 1, &[QUIC]);
    fast.bootstrap = vec![contact.clone()];
    let fast = Node::start(fast).await;
    eventually(|| fast.handle.peers().len() == 1).await;
    let mut sent = 0;
    while handle.stats().get(Count::DirectDropped) == 0 {
        // Busy means that the flood was faster than the task; it goes on.
        let _busy = fast.handle.send(contact.0, Line::Words, vec![0; 10]);
        sent += 1;
        if sent % 32 == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
    fast.handle.shutdown().await;
    eventually(|| handle.peers().is_empty()).await;
    let (mut connected, mut gone, mut messages) = (0, 0, 0);
    while gone == 0 {
        match tokio::time::timeout(SECOND * 20, events.recv())
            .await
            .unwrap()
            .unwrap()
        {
            Event::PeerConnected { .. } => connected += 1,
            Event::PeerDisconnected { .. } => gone += 1,
            Event::Direct { .. } => messages += 1,
            _ => {}
        }
    }
    assert_eq!((connected, gone), (1, 1));
    assert!(messages < 64 && messages > 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lookup_finds_a_node_by_its_key() {
    let nodes = start_mesh(5, 14).await;
    let found = nodes[4].handle.find([3; 32]).await.unwrap();
    let mut peers: Vec<PeerId> = found.iter().map(|(peer, _)| *peer).collect();
    peers.sort_unstable();
    let mut others: Vec<PeerId> = nodes[..4].iter().map(Node::peer).collect();
    others.sort_unstable();
    assert_eq!(peers, others);
    assert!(found.iter().all(|(_, addresses)| !addresses.is_empty()));
}
