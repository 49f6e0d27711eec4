//! The one task that owns the swarm.
//!
//! Each turn: an order to stop comes first, then the half-second tick, then due dials and
//! lookups, then up to
//! [`BURST`] commands, then up to [`BURST`] swarm events. So neither a flood of commands nor a flood
//! of traffic can keep the others waiting, and nothing in a turn waits for anybody else.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::{FutureExt, StreamExt};
use libp2p::core::transport::ListenerId;
use libp2p::kad::QueryId;
use libp2p::multiaddr::Protocol;
use libp2p::request_response::{InboundRequestId, OutboundRequestId, ResponseChannel};
use libp2p::swarm::{ConnectionId, SwarmEvent};
use libp2p::{Multiaddr, PeerId, StreamProtocol, Swarm};
use tokio::sync::{mpsc, watch};

use super::command::{Command, Reply};
use super::config::{OverlayConfig, Tuning};
use super::dht::lookups::Running;
use super::dht::records::Records;
use super::dht::seek::Seek;
use super::error::StartError;
use super::event::{Event, MessageId, RequestId};
use super::handle::{OverlayHandle, PeerInfo, Shared, Whereabouts};
use super::identity;
use super::names::Names;
use super::peers::dialer::Dialer;
use super::peers::flood::Floods;
use super::peers::marks::{self, Mark};
use super::peers::peer::Peer;
use super::peers::standing::Standing;
use super::reach::addresses;
use super::reach::moved::Moves;
use super::reach::reachability::Reachability;
use super::reach::relays::Relays;
use super::reach::scope;
use super::reach::serving::{Router, Serving};
use super::reach::traverse::Traversal;
use super::stats::Counters;
use super::wire::behaviour::Behaviour;
use super::wire::codec::Frame;
use super::wire::gossip;
use super::wire::inflight::InFlight;
use super::wire::outbox::Outbox;
use super::wire::swarm;
use super::wire::transport::Guards;

/// Commands, and swarm events, handled in one turn.
const BURST: usize = 64;
const TICK: Duration = gridbay_core::overlay::TICK;
/// How long a port may still be held by a predecessor that has just ended.
const LISTEN_PATIENCE: Duration = Duration::from_secs(5);
/// How long connections may take to end in order.
const FAREWELL: Duration = Duration::from_millis(500);
/// How long we wait for a closed UDP port to become free. Where a QUIC handshake was under way it
/// takes 3 s, for which [`LISTEN_PATIENCE`] allows.
const PORT_PATIENCE: Duration = Duration::from_millis(500);
const POLL: Duration = Duration::from_millis(20);

/// A request of another peer that waits for our answer.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(crate) peer: PeerId,
    pub(crate) wire: InboundRequestId,
    pub(crate) channel: ResponseChannel<Frame>,
}

/// A gossip message that waits for its verdict.
#[derive(Debug)]
pub(crate) struct Unjudged {
    pub(crate) since: Instant,
    pub(crate) via: PeerId,
    pub(crate) topic: usize,
    pub(crate) bytes: usize,
}

/// When the DHT is asked again.
#[derive(Debug)]
pub(crate) struct Lookups {
    pub(crate) running: Running,
    /// Of those for records: the peers with which they began.
    pub(crate) near: HashMap<QueryId, Vec<PeerId>>,
    pub(crate) last: Option<Instant>,
    pub(crate) next: Instant,
    pub(crate) pause: Duration,
}

impl Lookups {
    fn new(now: Instant) -> Self {
        Self {
            running: HashMap::new(),
            near: HashMap::new(),
            last: None,
            next: now,
            pause: TICK,
        }
    }
}

/// The state behind a handle.
pub(crate) struct Task {
    pub(crate) swarm: Swarm<Behaviour>,
    pub(crate) shared: Arc<Shared>,
    pub(crate) tuning: Tuning,
    pub(crate) network: String,
    pub(crate) commands: mpsc::Receiver<Command>,
    pub(crate) outbox: Outbox,
    pub(crate) peers: BTreeMap<PeerId, Peer>,
    pub(crate) dialer: Dialer,
    pub(crate) standing: Standing,
    pub(crate) floods: Floods,
    pub(crate) guards: Guards,
    pub(crate) unjudged: BTreeMap<MessageId, Unjudged>,
    /// Bytes of these.
    pub(crate) unjudged_bytes: usize,
    pub(crate) waiting: BTreeMap<RequestId, Waiting>,
    pub(crate) next_request: u64,
    /// Our answers until they are written.
    pub(crate) answering: InFlight<InboundRequestId>,
    pub(crate) asked: HashMap<OutboundRequestId, Reply>,
    /// Questions to ourselves.
    pub(crate) own: BTreeMap<RequestId, Reply>,
    pub(crate) direct: InFlight<OutboundRequestId>,
    pub(crate) lookups: Lookups,
    pub(crate) records: Records,
    pub(crate) seeks: BTreeMap<PeerId, Seek>,
    /// What the owner says of peers.
    pub(crate) marks: BTreeMap<PeerId, Mark>,
    /// Those kept for no other reason than trust.
    pub(crate) kept_for_trust: BTreeSet<PeerId>,
    /// The trusted peer that was sought last, and when the next ones are.
    pub(crate) attended: Option<PeerId>,
    pub(crate) next_attention: Instant,
    pub(crate) serving: Serving,
    pub(crate) router: Router,
    pub(crate) reach: Reachability,
    pub(crate) relays: Relays,
    pub(crate) traversal: Traversal,
    pub(crate) moves: Moves,
    /// Connections that we dialled.
    pub(crate) dialled: HashSet<ConnectionId>,
    /// Who speaks it answers lookups.
    pub(crate) kad_protocol: StreamProtocol,
    /// All on loopback: our peers are on this machine.
    pub(crate) local: bool,
    /// Open listeners.
    pub(crate) listeners: HashSet<ListenerId>,
    /// Those of them that have no address yet.
    pub(crate) unopened: HashSet<ListenerId>,
    pub(crate) snapshot: watch::Sender<Arc<[PeerInfo]>>,
    pub(crate) listening: watch::Sender<Arc<[Multiaddr]>>,
    pub(crate) status: watch::Sender<Whereabouts>,
}

/// Starts an overlay: opens every listener, then spawns the task on the current tokio runtime.
/// Returns the handle and the events, of which every `Listening` is already there.
pub async fn start(
    config: OverlayConfig,
) -> Result<(OverlayHandle, mpsc::Receiver<Event>), StartError> {
    config.check()?;
    let (commands, queue) = mpsc::channel(config.limits.commands.max(1));
    let (outbox, events) = Outbox::new(config.limits.events);
    let (snapshot, peers) = watch::channel(Arc::from([]));
    let (addresses, listening) = watch::channel(Arc::from([]));
    let (status, whereabouts) = watch::channel(Whereabouts::default());
    let (stop, stopped) = watch::channel(false);
    let (ended, done) = watch::channel(false);
    let mut task = Task::new(&config, queue, outbox, snapshot, addresses, status)?;
    task.listen(&config.listen).await?;
    for address in config.external {
        task.swarm.add_external_address(address.clone());
        // Its owner may be wrong: AutoNAT servers are asked all the same.
        if addresses::is_direct(&address, false) && !addresses::is_loopback(&address) {
            task.swarm.behaviour_mut().observed.suggest(address.clone());
        }
        task.reach.declare(address);
    }
    for (peer, address) in config.bootstrap {
        task.keep(peer, vec![address]);
    }
    for peer in config.blocked {
        task.mark(peer, Some(Mark::Blocked));
    }
    for peer in config.trusted {
        task.mark(peer, Some(Mark::Trusted));
    }
    let now = Instant::now();
    for (peer, address) in config.known {
        task.dialer
            .learn(peer, addresses::dialable(&[address]), now);
    }
    task.traverse(now);
    let handle = OverlayHandle {
        shared: task.shared.clone(),
        commands,
        peers,
        listening,
        whereabouts,
        stop: Arc::new(stop),
        done,
    };
    tokio::spawn(async move {
        task.run(stopped).await;
        ended.send_replace(true);
    });
    Ok((handle, events))
}

impl Task {
    fn new(
        config: &OverlayConfig,
        commands: mpsc::Receiver<Command>,
        outbox: Outbox,
        snapshot: watch::Sender<Arc<[PeerInfo]>>,
        listening: watch::Sender<Arc<[Multiaddr]>>,
        status: watch::Sender<Whereabouts>,
    ) -> Result<Self, StartError> {
        let (limits, tuning) = (&config.limits, &config.tuning);
        let keys = identity::keypair_of_seed(&config.seed.0);
        let names = Names::new(&config.network);
        let topics = gossip::topics(config, &names);
        let local = config.listen.iter().all(addresses::is_loopback);
        let guards = Guards::new(config, &names);
        let swarm = swarm::build(config, &keys, &names, &topics, local, guards.clone())?;
        let now = Instant::now();
        let shared = Shared {
            local: *swarm.local_peer_id(),
            network: config.network,
            counters: Counters::new(topics.iter().map(|t| t.name.clone())),
            topics,
            longest_request: tuning.request,
            limits: limits.clone(),
        };
        Ok(Self {
            swarm,
            shared: Arc::new(shared),
            network: names.identify(),
            commands,
            outbox,
            peers: BTreeMap::new(),
            dialer: dialer(config),
            standing: Standing::new(limits.bans),
            floods: Floods::new(limits.quotas, limits.all()),
            guards,
            unjudged: BTreeMap::new(),
            unjudged_bytes: 0,
            waiting: BTreeMap::new(),
            next_request: 0,
            answering: InFlight::new(),
            asked: HashMap::new(),
            own: BTreeMap::new(),
            direct: InFlight::new(),
            lookups: Lookups::new(now),
            records: Records::new(&config.seed.0, now),
            seeks: BTreeMap::new(),
            marks: BTreeMap::new(),
            kept_for_trust: BTreeSet::new(),
            attended: None,
            next_attention: now + marks::FIRST,
            serving: Serving::default(),
            router: router(config, local),
            reach: Reachability::new(local, scope::is_private(&told(config)), tuning.reach, now),
            relays: Relays::default(),
            traversal: Traversal::new(now),
            moves: Moves::new(now),
            dialled: HashSet::new(),
            kad_protocol: names.kad(),
            local,
            listeners: HashSet::new(),
            unopened: HashSet::new(),
            snapshot,
            listening,
            status,
            tuning: tuning.clone(),
        })
    }

    /// Opens every listener and waits until each has an address.
    async fn listen(&mut self, addresses: &[Multiaddr]) -> Result<(), StartError> {
        let deadline = Instant::now() + LISTEN_PATIENCE;
        for address in addresses {
            let listener = loop {
                match self.swarm.listen_on(address.clone()) {
                    Ok(listener) => break listener,
                    Err(_) if Instant::now() < deadline => tokio::time::sleep(POLL).await,
                    Err(error) => {
                        let source = Box::new(error);
                        return Err(StartError::Listen {
                            address: address.clone(),
                            source,
                        });
                    }
                }
            };
            self.listeners.insert(listener);
            self.unopened.insert(listener);
        }
        let opened = async {
            while !self.unopened.is_empty() {
                let event = self.swarm.select_next_some().await;
                self.on_swarm_event(event);
            }
        };
        if tokio::time::timeout(LISTEN_PATIENCE, opened).await.is_err() {
            let missing = self.unopened.len();
            return Err(StartError::ListenTimeout {
                missing,
                waited: LISTEN_PATIENCE,
            });
        }
        Ok(())
    }

    async fn run(mut self, mut stop: watch::Receiver<bool>) {
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            let next_due = self.next_due();
            tokio::select! {
                biased;
                // Also ends when the last handle is gone.
                _ = stop.wait_for(|stop| *stop) => break,
                _ = tick.tick() => self.on_tick(),
                () = sleep_until(next_due) => self.on_due(),
                command = self.commands.recv() => match command {
                    Some(command) => self.on_commands(command),
                    None => break,
                },
                event = self.swarm.select_next_some() => self.on_swarm_event(event),
            }
            self.drain_swarm();
            self.outbox.flush();
        }
        self.farewell().await;
    }

    fn on_commands(&mut self, first: Command) {
        self.on_command(first);
        for _ in 1..BURST {
            match self.commands.try_recv() {
                Ok(command) => self.on_command(command),
                Err(_) => break,
            }
        }
    }

    /// Handles swarm events that are ready. Polling also hands what commands queued to the network.
    fn drain_swarm(&mut self) {
        for _ in 0..BURST {
            match self.swarm.select_next_some().now_or_never() {
                Some(event) => self.on_swarm_event(event),
                None => break,
            }
        }
    }

    /// Closes listeners and connections in order, then waits until the ports are free.
    async fn farewell(mut self) {
        let addresses: Vec<Multiaddr> = self.listening.borrow().iter().cloned().collect();
        for listener in self.listeners.iter().copied().collect::<Vec<_>>() {
            self.swarm.remove_listener(listener);
        }
        let connected: Vec<PeerId> = self.swarm.connected_peers().copied().collect();
        for peer in connected {
            // An error means that it left by itself.
            let _gone = self.swarm.disconnect_peer_id(peer);
        }
        let closed = async {
            while self.swarm.network_info().num_peers() > 0 || !self.listeners.is_empty() {
                let event = self.swarm.select_next_some().await;
                if let SwarmEvent::ListenerClosed { listener_id, .. } = event {
                    self.listeners.remove(&listener_id);
                }
            }
        };
        let _late = tokio::time::timeout(FAREWELL, closed).await;
        drop(self);
        let deadline = Instant::now() + PORT_PATIENCE;
        for address in addresses.iter().filter_map(udp_socket) {
            while std::net::UdpSocket::bind(address).is_err() && Instant::now() < deadline {
                tokio::time::sleep(POLL).await;
            }
        }
    }
}

/// What is asked of the router at first.
fn router(config: &OverlayConfig, local: bool) -> Router {
    if config.upnp && !local {
        Router::Asked
    } else {
        Router::Off
    }
}

fn dialer(config: &OverlayConfig) -> Dialer {
    let (limits, tuning) = (&config.limits, &config.tuning);
    Dialer::new(
        tuning.redial_first,
        tuning.redial_max,
        limits.kept_peers,
        limits.known_peers,
    )
}

/// Addresses that our owner told us.
pub(crate) fn told(config: &OverlayConfig) -> Vec<Multiaddr> {
    let bootstrap = config.bootstrap.iter().map(|(_, address)| address);
    bootstrap.chain(&config.external).cloned().collect()
}

/// The UDP socket behind a QUIC listener's address.
fn udp_socket(address: &Multiaddr) -> Option<std::net::SocketAddr> {
    let mut parts = address.iter();
    let host = match parts.next()? {
        Protocol::Ip4(ip) => ip.into(),
        Protocol::Ip6(ip) => ip.into(),
        _ => return None,
    };
    match parts.next()? {
        Protocol::Udp(port) => Some(std::net::SocketAddr::new(host, port)),
        _ => None,
    }
}

async fn sleep_until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at.into()).await,
        None => std::future::pending().await,
    }
}
