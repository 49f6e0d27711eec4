//! The peer that meets others across a lab: an overlay as a node runs it, and nothing else.
//!
//! 1. A relay declares its own address, as the owner of a public machine does. It also listens on
//!    TCP 443, for those whose firewall lets nothing else out.
//! 2. One that waits is ready once others can find it: it is public, or has a place at a relay, and
//!    has told the DHT so.
//! 3. One that dials asks the overlay for the peer until it is connected. It knows the id alone.
//! 4. One that asks does so every [`ASK`], whatever became of the questions before; each waits for
//!    its answer for `ANSWER`.
//! 5. All tell each path to each peer, as [`super::peer`] describes, until they are killed.

use super::peer::{Event, Role};
use super::seat::PORT;
use anyhow::{Context as _, bail};
use gridbay_node::app::start_log;
use gridbay_node::overlay::{
    self, Multiaddr, OverlayConfig, OverlayHandle, PeerId, Reach, RelayLimits, TransportSeed,
    Tuning, split_peer,
};
use std::collections::BTreeMap;
use std::io::Write as _;
use std::net::{IpAddr, UdpSocket};
use std::time::{Duration, Instant};

/// The word that makes the laboratory's program such a peer.
pub const WORD: &str = "__peer";
/// All peers are of one network.
const NETWORK: [u8; 32] = *b"the laboratory's own network....";
/// How often paths are looked at.
const LOOK: Duration = Duration::from_millis(10);
/// How often one that asks does so.
pub const ASK: Duration = Duration::from_millis(200);
/// How long a question waits for its answer.
const ANSWER: Duration = Duration::from_secs(5);
/// Longest time until one that waits is ready.
const PATIENCE: Duration = Duration::from_secs(20);
/// Until what was told to the DHT is there.
const SETTLE: Duration = Duration::from_millis(300);

/// Runs until it is killed. `GRIDBAY_LOG` is the filter of its log.
///
/// # Errors
/// Words that are no role, or an overlay that cannot start.
pub fn main(words: &[String]) -> anyhow::Result<()> {
    let role = Role::read(words)?;
    start_log(&std::env::var("GRIDBAY_LOG").unwrap_or_else(|_| "info".to_owned()))?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?;
    runtime.block_on(run(role))
}

async fn run(role: Role) -> anyhow::Result<()> {
    let began = Instant::now();
    let (net, _events) = overlay::start(config(&role)?).await?;
    match &role {
        Role::Relay => {}
        Role::Wait { .. } => until_findable(&net).await?,
        Role::Dial { peer, .. } => {
            let peer: PeerId = peer.parse().context("a peer id")?;
            tokio::spawn(dial(net.clone(), peer));
        }
        Role::Ask { peer, .. } => {
            let peer: PeerId = peer.parse().context("a peer id")?;
            tokio::spawn(ask(net.clone(), peer));
        }
    }
    let id = net.local_peer();
    let own = |a: &Multiaddr| format!("{a}/p2p/{id}");
    tell(&Event::Ready {
        peer: id.to_string(),
        // A relay learns its listening addresses one by one; those that it declared are complete.
        addrs: net.whereabouts().external.iter().map(own).collect(),
    })?;
    watch(&net, began).await
}

fn config(role: &Role) -> anyhow::Result<OverlayConfig> {
    let mut seed = [0; 32];
    std::io::Read::read_exact(&mut std::fs::File::open("/dev/urandom")?, &mut seed)?;
    let mut listen = vec![
        format!("/ip4/0.0.0.0/udp/{PORT}/quic-v1").parse()?,
        format!("/ip4/0.0.0.0/tcp/{PORT}").parse()?,
    ];
    let relays = match role {
        Role::Relay => &[][..],
        Role::Wait { relay } | Role::Dial { relay, .. } | Role::Ask { relay, .. } => relay,
    };
    let mut external = Vec::new();
    if let Role::Relay = role {
        listen.push("/ip4/0.0.0.0/tcp/443".parse()?);
        let own = own_address()?;
        external.push(format!("/ip4/{own}/udp/{PORT}/quic-v1").parse()?);
        external.push(format!("/ip4/{own}/tcp/{PORT}").parse()?);
        external.push(format!("/ip4/{own}/tcp/443").parse()?);
    }
    let mut bootstrap = Vec::new();
    for text in relays {
        let address: Multiaddr = text.parse().with_context(|| format!("`{text}`"))?;
        bootstrap.push(split_peer(&address).context("an address of a relay ends in /p2p/ID")?);
    }
    Ok(OverlayConfig {
        bootstrap,
        external,
        relay: Some(RelayLimits::default()),
        ..OverlayConfig::new(TransportSeed(seed), NETWORK, listen, Tuning::wide_area())
    })
}

/// The address from which this host would write to the public network. Nothing is sent.
fn own_address() -> anyhow::Result<IpAddr> {
    let socket = UdpSocket::bind("0.0.0.0:0")?;
    socket
        .connect("192.0.2.1:9")
        .context("no route to anywhere")?;
    Ok(socket.local_addr()?.ip())
}

async fn until_findable(net: &OverlayHandle) -> anyhow::Result<()> {
    let began = Instant::now();
    loop {
        let now = net.whereabouts();
        if now.reach == Reach::Public || !now.relays.is_empty() {
            tokio::time::sleep(SETTLE).await;
            return Ok(());
        }
        if began.elapsed() >= PATIENCE {
            bail!("nobody can reach this host: {now:?}");
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// Asks for a peer until it is there, and again when it is lost.
async fn dial(net: OverlayHandle, peer: PeerId) {
    loop {
        let connected = net.connect(peer, Vec::new()).await;
        let pause = if connected.is_ok() { 1_000 } else { 100 };
        tokio::time::sleep(Duration::from_millis(pause)).await;
    }
}

/// Step 4.
async fn ask(net: OverlayHandle, peer: PeerId) {
    let mut tick = tokio::time::interval(ASK);
    tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    for n in 0.. {
        tick.tick().await;
        let net = net.clone();
        tokio::spawn(async move {
            let Ok(took) = net.ping(peer, ANSWER).await else {
                return;
            };
            // Without its output it is of no use to anybody, which the next line ends.
            let _told = tell(&Event::Answered {
                peer: peer.to_string(),
                n,
                took_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            });
        });
    }
}

async fn watch(net: &OverlayHandle, began: Instant) -> anyhow::Result<()> {
    let mut known: BTreeMap<PeerId, bool> = BTreeMap::new();
    loop {
        let peers = net.peers();
        let now: BTreeMap<PeerId, bool> = peers.iter().map(|p| (p.peer, p.via.is_some())).collect();
        for (peer, relayed) in &now {
            if known.get(peer) != Some(relayed) {
                tell(&Event::Connected {
                    peer: peer.to_string(),
                    relayed: *relayed,
                    ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
                })?;
            }
        }
        for peer in known.keys().filter(|peer| !now.contains_key(peer)) {
            tell(&Event::Lost {
                peer: peer.to_string(),
            })?;
        }
        known = now;
        tokio::time::sleep(LOOK).await;
    }
}

fn tell(event: &Event) -> anyhow::Result<()> {
    let line = serde_json::to_string(event)?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}")?;
    Ok(out.flush()?)
}
