//! The one task that owns the swarm and the rooms, and carries requests between them.
//!
//! 1. Each turn: an order to stop comes first, then the tick of every second, then due dials and
//!    lookups, then up to [`BURST`] commands, then up to [`BURST`] swarm events. So neither a flood
//!    of commands nor a flood of traffic can keep the others waiting, and nothing in a turn waits
//!    for anybody else.
//! 2. Each room ([`Peers`], [`Dht`], [`Traversal`], [`Wire`]) owns its state. An event goes to the
//!    rooms that it concerns, with the behaviours of the swarm that they need as arguments.
//! 3. The handles see a peer that comes or goes before the node hears of it, other changes at the
//!    end of a turn, and what drifts by itself (scores, round trips) every two seconds.
//! 4. The requests of a room to the swarm or another room are orders, carried out before the next
//!    event; `wire` alone is handed `peers` to charge a peer at once.

mod commands;
mod events;
mod launch;
mod listen;
mod orders;
mod tick;

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::{FutureExt, StreamExt};
use libp2p::Swarm;
use tokio::sync::{mpsc, watch};

pub use launch::start;

use super::command::Command;
use super::dht::Dht;
use super::peers::Peers;
use super::reach::Traversal;
use super::shared::Shared;
use super::wire::Wire;
use super::wire::behaviour::Behaviour;

/// Commands, and swarm events, handled in one turn.
const BURST: usize = 64;
const TICK: Duration = gridbay_core::overlay::TICK;
/// Ticks after which the handles are shown what drifts by itself (step 3).
const DRIFT: u32 = 2;

/// The state behind a handle.
struct Task {
    swarm: Swarm<Behaviour>,
    shared: Arc<Shared>,
    commands: mpsc::Receiver<Command>,
    peers: Peers,
    dht: Dht,
    reach: Traversal,
    wire: Wire,
    /// Ticks so far.
    ticks: u32,
    /// Whether peers have changed since they were shown.
    changed: bool,
}

impl Task {
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
            Dht::end_bootstrap(&mut self.swarm.behaviour_mut().kad);
            self.show();
            self.wire.flush();
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
}

async fn sleep_until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at.into()).await,
        None => std::future::pending().await,
    }
}
