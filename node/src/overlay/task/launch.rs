//! How an overlay starts.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use libp2p::Multiaddr;
use tokio::sync::{mpsc, watch};

use super::Task;
use crate::overlay::command::Command;
use crate::overlay::config::OverlayConfig;
use crate::overlay::dht::Dht;
use crate::overlay::error::StartError;
use crate::overlay::event::Event;
use crate::overlay::handle::OverlayHandle;
use crate::overlay::identity;
use crate::overlay::names::Names;
use crate::overlay::packets::Incoming;
use crate::overlay::peers::Peers;
use crate::overlay::peers::marks::Mark;
use crate::overlay::reach::Traversal;
use crate::overlay::reach::addresses::{dialable, is_loopback};
use crate::overlay::shared::Shared;
use crate::overlay::stats::Counters;
use crate::overlay::view::{PeerInfo, Whereabouts};
use crate::overlay::wire::transport::Guards;
use crate::overlay::wire::{Outbox, Wire, gossip, swarm};

/// Where the task shows the handles what there is.
struct Shown {
    peers: watch::Sender<Arc<[PeerInfo]>>,
    listening: watch::Sender<Arc<[Multiaddr]>>,
    whereabouts: watch::Sender<Whereabouts>,
}

/// Starts an overlay: opens every listener, then spawns the task on the current tokio runtime.
/// Returns the handle and the events, of which every `Listening` is already there.
pub async fn start(
    config: OverlayConfig,
) -> Result<(OverlayHandle, mpsc::Receiver<Event>), StartError> {
    config.check()?;
    let (commands, queue) = mpsc::channel(config.limits.commands.max(1));
    let (outbox, events) = Outbox::new(config.limits.events);
    let (shown_peers, peers) = watch::channel(Arc::from([]));
    let (shown_addresses, listening) = watch::channel(Arc::from([]));
    let (shown_whereabouts, whereabouts) = watch::channel(Whereabouts::default());
    let (stop, stopped) = watch::channel(false);
    let (ended, done) = watch::channel(false);
    let shown = Shown {
        peers: shown_peers,
        listening: shown_addresses,
        whereabouts: shown_whereabouts,
    };
    let (mut task, incoming) = Task::new(&config, queue, outbox, shown)?;
    task.listen(&config.listen).await?;
    task.begin(config);
    let handle = OverlayHandle {
        shared: task.shared.clone(),
        commands,
        peers,
        listening,
        whereabouts,
        incoming: Arc::new(Mutex::new(Some(incoming))),
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
        shown: Shown,
    ) -> Result<(Self, Incoming), StartError> {
        let keys = identity::keypair_of_seed(&config.seed.0);
        let names = Names::new(&config.network);
        let topics = gossip::topics(config, &names);
        let local = config.listen.iter().all(is_loopback);
        let guards = Guards::new(config, &names);
        let built = swarm::build(config, &keys, &names, &topics, local, guards.clone())?;
        let (swarm, incoming) = built;
        let now = Instant::now();
        let shared = Arc::new(Shared {
            local: *swarm.local_peer_id(),
            network: config.network,
            counters: Counters::new(topics.iter().map(|t| t.name.clone())),
            topics,
            tuning: config.tuning.clone(),
            limits: config.limits.clone(),
            resting: Mutex::default(),
        });
        let (listening, status) = (shown.listening, shown.whereabouts);
        let room = || shared.clone();
        let task = Self {
            swarm,
            commands,
            peers: Peers::new(room(), &names, guards.meters, shown.peers, now),
            dht: Dht::new(room(), &config.seed, now),
            reach: Traversal::new(room(), config, local, guards.scope, listening, status, now),
            wire: Wire::new(room(), outbox),
            shared,
            ticks: 0,
            changed: false,
        };
        Ok((task, incoming))
    }

    /// The addresses and peers of the configuration, once the node listens.
    fn begin(&mut self, config: OverlayConfig) {
        for address in config.external {
            self.swarm.add_external_address(address.clone());
            self.reach.declare(address);
        }
        for (peer, address) in config.bootstrap {
            self.peers.keep(peer, &[address]);
        }
        let gossip = &mut self.swarm.behaviour_mut().gossip;
        for peer in config.blocked {
            self.peers.mark(gossip, peer, Some(Mark::Blocked));
        }
        for peer in config.trusted {
            self.peers.mark(gossip, peer, Some(Mark::Trusted));
        }
        for (peer, address) in config.known {
            self.peers.learn(peer, dialable(&[address]));
        }
        self.route();
        self.traverse(Instant::now());
    }
}
