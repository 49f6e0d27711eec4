//! Streams on which bytes come and no protocol is ever named, over TCP, where each has a window of
//! its own to fill.

use std::pin::Pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use futures::{AsyncRead, AsyncWrite};
use gridbay_node::overlay::Count;
use libp2p::core::muxing::{StreamMuxer, StreamMuxerBox, SubstreamBox};
use libp2p::core::transport::{DialOpts, PortUse};
use libp2p::core::upgrade::Version;
use libp2p::core::{Endpoint, Transport};
use libp2p::identity::Keypair;
use libp2p::{Multiaddr, noise, tcp, yamux};

use crate::compare::resident_mib;
use crate::market::{Node, config};

/// Streams that begin a line of negotiation, of which a node that takes them has yet to wait for
/// the end.
const BEGUN: usize = 128;
/// Bytes of the others, which lie in their windows until somebody reads them.
const BYTES: usize = 240 << 10;
/// Between two streams.
const PACE: Duration = Duration::from_millis(3);
/// So many at a time: with [`BYTES`] in each window the victim holds some 70 MiB.
const MANY: usize = 300;
/// How long so many may stand: shorter than it takes a stream that is waited for to time out.
const STANDING: Duration = Duration::from_secs(5);

async fn dial(address: Multiaddr) -> StreamMuxerBox {
    let keys = Keypair::generate_ed25519();
    let mut transport = tcp::tokio::Transport::new(tcp::Config::default())
        .upgrade(Version::V1)
        .authenticate(noise::Config::new(&keys).unwrap())
        .multiplex(yamux::Config::default())
        .boxed();
    let options = DialOpts {
        role: Endpoint::Dialer,
        port_use: PortUse::New,
    };
    let (_, muxer) = transport.dial(address, options).unwrap().await.unwrap();
    muxer
}

/// A stream that is written to and never read until its end.
struct Held {
    stream: SubstreamBox,
    left: Vec<u8>,
}

impl Held {
    fn new(stream: SubstreamBox, n: usize) -> Self {
        // A line of 16,383 bytes begins; most streams bring it whole, and more.
        let rest = if n < BEGUN { 1000 } else { BYTES };
        let left = [&[0xff, 0x7f][..], &vec![b'/'; rest]].concat();
        Self { stream, left }
    }

    /// Writes what goes. Returns whether the stream still stands.
    fn stands(&mut self, context: &mut std::task::Context<'_>) -> bool {
        while !self.left.is_empty() {
            match Pin::new(&mut self.stream).poll_write(context, &self.left) {
                Poll::Ready(Ok(n)) => drop(self.left.drain(..n)),
                Poll::Ready(Err(_)) => return false,
                Poll::Pending => break,
            }
        }
        let mut answer = [0; 256];
        matches!(
            Pin::new(&mut self.stream).poll_read(context, &mut answer),
            Poll::Pending | Poll::Ready(Ok(1..))
        )
    }
}

/// Opens mute streams until the connection ends, or until many have stood for a while. Returns how
/// many it opened, and whether they stood.
async fn stay_mute(mut muxer: StreamMuxerBox) -> (usize, bool) {
    let (mut held, mut opened): (Vec<Held>, _) = (Vec::new(), 0);
    let mut many_since = None;
    let mut pace = tokio::time::interval(PACE);
    loop {
        pace.tick().await;
        let over = std::future::poll_fn(|context| {
            let driven = Pin::new(&mut muxer).poll(context);
            if matches!(driven, Poll::Ready(Err(_))) {
                return Poll::Ready(true);
            }
            // Streams that the victim opens are dropped: this peer says nothing of itself either.
            let _theirs = Pin::new(&mut muxer).poll_inbound(context);
            if held.len() < MANY
                && let Poll::Ready(Ok(stream)) = Pin::new(&mut muxer).poll_outbound(context)
            {
                held.push(Held::new(stream, opened));
                opened += 1;
            }
            held.retain_mut(|held| held.stands(context));
            Poll::Ready(false)
        });
        if over.await {
            return (opened, false);
        }
        if held.len() < MANY {
            many_since = None;
        } else if many_since.get_or_insert_with(Instant::now).elapsed() > STANDING {
            return (opened, true);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn streams_that_never_name_a_protocol_are_cut_off_and_cost_a_ban() {
    let mut config = config(83, 0);
    // A peer that does not identify itself is disconnected for that alone, later.
    config.tuning.admission = Duration::from_secs(60);
    let victim = Node::start(config).await;
    let before = resident_mib();
    let attack = tokio::spawn(stay_mute(dial(victim.address(false)).await));
    let attack = tokio::time::timeout(Duration::from_secs(60), attack).await;
    let (opened, stood) = attack.expect("it is shut out").unwrap();
    let grown = resident_mib() - before;
    println!("mute streams: {opened} opened, {grown:.1} MiB grown");
    assert!(!stood, "{MANY} streams are held unread");
    let stats = victim.handle.stats();
    assert_eq!(stats.get(Count::Bans), 1);
    assert!(stats.get(Count::StreamsLimited) > 0);
}
