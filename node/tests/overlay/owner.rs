//! An owner's questions about peers, and its marks on them.

use super::net::{Node, QUIC, TCP, config, converge, eventually, start_mesh};
use gridbay_node::overlay::{
    Count, DialCause, Line, LookupError, Mark, PeerId, RequestError, SeekError, TransportSeed,
    Verdict,
};
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

/// Somebody of whom nobody has heard.
fn stranger() -> PeerId {
    TransportSeed([99; 32]).peer_id()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ping_is_answered_by_the_overlay_and_not_by_its_node() {
    let nodes = start_mesh(2, 30).await;
    let (a, b) = (&nodes[0].handle, &nodes[1]);
    let time = a.ping(b.peer(), SECOND * 10).await.unwrap();
    assert!(time < SECOND * 10 && time > Duration::ZERO);
    let ask = a.request(b.peer(), b"question".to_vec(), SECOND * 10);
    let (answer, ()) = tokio::join!(ask, async {
        let (_, id, bytes) = b.request().await;
        assert_eq!(bytes, b"question", "the ping was not handed on");
        b.handle.respond(id, b"answer".to_vec()).unwrap();
    });
    assert_eq!(answer.unwrap(), b"answer");
    let nobody = a.ping(stranger(), SECOND * 10).await;
    assert_eq!(nobody, Err(RequestError::NotConnected));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_answers_its_own_questions_like_those_of_others() {
    let node = Node::start(config(33, 0, &[TCP])).await;
    let own = node.peer();
    let ask = node.handle.request(own, b"question".to_vec(), SECOND * 10);
    let (answer, ()) = tokio::join!(ask, async {
        let (from, id, bytes) = node.request().await;
        assert_eq!((from, bytes), (own, b"question".to_vec()));
        node.handle.respond(id, b"answer".to_vec()).unwrap();
    });
    assert_eq!(answer.unwrap(), b"answer");
    let ask = node.handle.request(own, b"question".to_vec(), SECOND * 10);
    let (answer, ()) = tokio::join!(ask, async {
        let (_, id, _) = node.request().await;
        node.handle.refuse(id).unwrap();
    });
    assert_eq!(answer, Err(RequestError::NoAnswer));
    node.handle.ping(own, SECOND * 10).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_record_is_shown_with_its_addresses_or_why_there_is_none() {
    let nodes = start_mesh(3, 31).await;
    let (a, b) = (&nodes[0].handle, &nodes[1]);
    let shown = async {
        loop {
            match a.record(b.peer()).await {
                Ok(record) => return record,
                Err(LookupError::NotFound) => tokio::time::sleep(SECOND / 10).await,
                Err(other) => panic!("{other}"),
            }
        }
    };
    let record = tokio::time::timeout(SECOND * 20, shown).await.unwrap();
    let listening = b.handle.addresses();
    let told: Vec<String> = listening.iter().map(ToString::to_string).collect();
    assert!(
        record.addresses.iter().all(|a| told.contains(a)),
        "{record:?}"
    );
    assert!(!record.addresses.is_empty() && record.sequence > 0);
    assert_eq!(a.record(stranger()).await, Err(LookupError::NotFound));
    let alone = Node::start(config(32, 0, &[TCP])).await;
    let found = alone.handle.record(b.peer()).await;
    assert_eq!(found, Err(LookupError::Alone));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_that_fails_tells_the_step() {
    let nodes = start_mesh(2, 33).await;
    let (a, b) = (&nodes[0].handle, &nodes[1]);
    assert_eq!(a.connect(b.peer(), vec![]).await, Ok(()));
    let own = a.connect(a.local_peer(), vec![]).await;
    assert_eq!(own, Err(SeekError::Myself));
    let nowhere = a.connect(stranger(), vec![]).await;
    assert_eq!(nowhere, Err(SeekError::NoRecord));

    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let closed = format!("/ip4/127.0.0.1/tcp/{port}").parse().unwrap();
    let cause = DialCause::Refused;
    let refused = a.connect(stranger(), vec![closed]).await;
    assert_eq!(refused, Err(SeekError::NoAnswer { cause }));

    let other = a.connect(stranger(), b.handle.addresses().to_vec()).await;
    assert_eq!(other, Err(SeekError::OtherPeer { found: b.peer() }));

    let foreign = Node::start(config(34, 7, &[TCP])).await;
    let (peer, address) = foreign.contact();
    // Whichever side notices first hangs up.
    let elsewhere = a.connect(peer, vec![address]).await.unwrap_err();
    let either = [SeekError::OtherNetwork, SeekError::HungUp];
    assert!(either.contains(&elsewhere), "{elsewhere:?}");

    a.ban(b.peer(), SECOND * 60).unwrap();
    eventually(|| a.peers().is_empty()).await;
    let banned = a.connect(b.peer(), vec![]).await;
    assert!(matches!(banned, Err(SeekError::Banned { left }) if left > SECOND * 30));
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_blocked_stays_away_until_the_block_is_taken_back() {
    let a = Node::start(config(35, 0, &[QUIC, TCP])).await;
    let mut other = config(35, 1, &[QUIC, TCP]);
    other.bootstrap = vec![a.contact()];
    let b = Node::start(other).await;
    converge(&[&a, &b]).await;
    a.handle.mark(b.peer(), Some(Mark::Blocked)).unwrap();
    eventually(|| a.handle.peers().is_empty()).await;
    let tried = b.handle.stats().get(Count::Connections);
    // A ban that ends does not lift it.
    a.handle.ban(b.peer(), SECOND / 10).unwrap();
    let asked = a.handle.connect(b.peer(), vec![]).await;
    assert_eq!(asked, Err(SeekError::Blocked));
    tokio::time::sleep(SECOND * 2).await;
    assert!(a.handle.peers().is_empty());
    let failed = b.handle.stats();
    let attempts = failed.get(Count::Connections) + failed.get(Count::DialsFailed);
    assert!(attempts > tried, "it called again and again");
    a.handle.mark(b.peer(), None).unwrap();
    converge(&[&a, &b]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_was_blocked_in_an_earlier_run_is_not_let_in() {
    let b = Node::start(config(36, 1, &[TCP])).await;
    let mut first = config(36, 0, &[TCP]);
    first.blocked = vec![b.peer()];
    first.bootstrap = vec![b.contact()];
    let a = Node::start(first).await;
    let (peer, address) = a.contact();
    assert!(b.handle.connect(peer, vec![address]).await.is_err());
    assert!(a.handle.peers().is_empty() && !a.saw_peer());
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_trusted_is_kept_and_not_banned_for_a_score() {
    let nodes = start_mesh(2, 37).await;
    let (a, b) = (&nodes[0].handle, nodes[1].peer());
    a.mark(b, Some(Mark::Trusted)).unwrap();
    let trusted = || a.peers().iter().any(|p| p.peer == b && p.trusted && p.kept);
    eventually(trusted).await;
    a.penalise(b, 1000.0).unwrap();
    eventually(|| a.peers().iter().any(|p| p.score < -200.0)).await;
    tokio::time::sleep(SECOND).await;
    assert!(trusted());
    assert_eq!(a.stats().get(Count::Bans), 0);
    a.mark(b, None).unwrap();
    eventually(|| a.stats().get(Count::Bans) == 1 && a.peers().is_empty()).await;
    // The owner's word lifts the ban.
    a.mark(b, Some(Mark::Trusted)).unwrap();
    eventually(trusted).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kept_peer_is_not_parted_from_for_gossip_alone() {
    let nodes = start_mesh(2, 42).await;
    gossip_costs_no_connection(&nodes[0], &nodes[1]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nor_is_one_that_rests() {
    let nodes = start_mesh(2, 45).await;
    let (bad, judge) = (&nodes[0], &nodes[1]);
    judge.handle.rest([bad.peer()].into()).unwrap();
    assert!(judge.handle.rests(&bad.peer()));
    gossip_costs_no_connection(bad, judge).await;
}

/// The judge keeps the other, which it was told to begin with.
async fn gossip_costs_no_connection(bad: &Node, judge: &Node) {
    let sought = !judge.handle.rests(&bad.peer());
    let score = || {
        let peers = judge.handle.peers();
        let found = peers.iter().find(|p| p.peer == bad.peer());
        found.map(|p| (p.kept, p.score))
    };
    // After the third nothing that it says is heard any more.
    for n in 0..3 {
        let garbage = format!("garbage {n}").into_bytes();
        bad.handle.publish("entries", garbage).unwrap();
        let id = judge.message().await.id;
        judge.handle.report(id, Verdict::Reject).unwrap();
    }
    eventually(|| score().is_some_and(|(kept, score)| kept == sought && score < -100.0)).await;
    tokio::time::sleep(SECOND).await;
    assert_eq!(judge.handle.stats().get(Count::Bans), 0);
    bad.handle
        .send(judge.peer(), Line::Votes, b"a vote".to_vec())
        .unwrap();
    assert_eq!(judge.direct().await, (bad.peer(), b"a vote".to_vec()));
    // Its doings beside gossip count as ever.
    judge.handle.penalise(bad.peer(), 150.0).unwrap();
    eventually(|| judge.handle.stats().get(Count::Bans) == 1).await;
}

/// Where it dials, connections are taken and nothing is ever said.
#[tokio::test(flavor = "multi_thread")]
async fn a_search_looks_in_the_dht_while_nobody_answers_where_it_dialled() {
    let a = Node::start(config(38, 0, &[QUIC, TCP])).await;
    let idle = |index| {
        let mut config = config(38, index, &[QUIC, TCP]);
        config.bootstrap = vec![a.contact()];
        // No two nodes meet by themselves, and a dial takes longer than a search.
        config.limits.wanted_peers = 0;
        config.tuning.handshake = SECOND * 30;
        config
    };
    let b = Node::start(idle(1)).await;
    let c = Node::start(idle(2)).await;
    eventually(|| c.handle.peers().len() == 1 && b.handle.peers().len() == 1).await;
    let record = async {
        while a.handle.record(b.peer()).await.is_err() {
            tokio::time::sleep(SECOND / 10).await;
        }
    };
    tokio::time::timeout(SECOND * 20, record).await.unwrap();
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    let there = format!("/ip4/127.0.0.1/tcp/{port}").parse().unwrap();
    assert_eq!(c.handle.connect(b.peer(), vec![there]).await, Ok(()));
}
