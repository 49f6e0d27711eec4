//! Trouble: faults strike, processes end and start again, connections break and come back.

use super::World;
use super::queue::Event;
use crate::check::Sight;
use crate::fault::{Fault, Leaves};
use crate::found::about;
use crate::found::node_key;
use crate::rng::Rng;
use gridbay_core::input::Input;
use gridbay_host::disk::{FaultPlan, MemDisk, Operation};

/// Milliseconds until a silent connection counts as broken.
const SILENCE_MS: u64 = 2_000;
/// Milliseconds until a connection that is possible again is made.
const REDIAL_MS: u64 = 100;

impl World {
    pub(super) fn strike(&mut self, fault: Fault) {
        self.cover.count(fault.kind());
        self.trace.note(self.now, fault.kind());
        match fault {
            Fault::Crash {
                node,
                after,
                leaves,
            } => self.machines[node].doomed = Some((after, leaves)),
            Fault::Restart(node) => self.start(node),
            Fault::FreshDisk(node) => {
                self.die(node, Leaves::Nothing);
                self.machines[node].disk = MemDisk::default();
                self.machines[node].fresh = true;
                self.start(node);
            }
            Fault::Cut(cut) => {
                self.net.cut = Some(cut);
                self.queue.push(self.now + SILENCE_MS, Event::Links);
            }
            Fault::Heal => {
                self.net.cut = None;
                self.queue.push(self.now + REDIAL_MS, Event::Links);
            }
            Fault::Skew(node, ms) => self.machines[node].clock.skew_ms = ms,
            Fault::Pause(node, ms) => self.machines[node].paused_until = self.now + ms,
            Fault::Slow(node, ms) => self.machines[node].lag_ms = ms,
            Fault::Stall { from, to, ms } => self.stall((from, to), ms),
            Fault::Reader { node, per_s, ms } => self.read_slowly(node, per_s, ms),
            Fault::Overtake { between, late, ms } => self.overtake(between, late, ms),
            Fault::DiskFull(node) => self.hurt(node, FaultPlan::full_after(0)),
            Fault::DiskError(node, before) => self.hurt(
                node,
                FaultPlan {
                    lasting: true,
                    ..FaultPlan::once(Operation::Append, before)
                },
            ),
            Fault::SyncError(node, before) => self.hurt(node, FaultPlan::forgetful_sync(before)),
            Fault::DiskCure(node) => self.cure(node),
        }
    }
    /// A node's disk begins to fail.
    fn hurt(&mut self, node: usize, plan: FaultPlan) {
        self.machines[node].disk_broken = true;
        self.machines[node].disk.fail(plan);
    }
    /// A node's disk works again.
    pub(super) fn cure(&mut self, node: usize) {
        self.machines[node].disk_broken = false;
        self.machines[node].disk.cure();
    }
    /// Ends a node's process, if it runs.
    pub(super) fn die(&mut self, node: usize, leaves: Leaves) {
        let machine = &mut self.machines[node];
        if machine.core.take().is_none() {
            return;
        }
        machine.doomed = None;
        let mut rng = Rng::new(self.plan.seed ^ self.now, "crash");
        match leaves {
            Leaves::Nothing => machine.disk.crash(|_| 0),
            Leaves::Some => machine.disk.crash_torn(|n| rng.below(n)),
            Leaves::All => machine.disk.crash(|unsynced| unsynced),
        }
        self.forget_unread(node);
        self.trace.note(self.now, "down");
        self.show(&Sight::Down { node });
        self.review_links();
    }
    /// Starts a node's process, if it is down.
    pub(super) fn start(&mut self, node: usize) {
        let machine = &mut self.machines[node];
        if machine.is_up() {
            machine.doomed = None;
            return;
        }
        let validates = node < self.plan.validators;
        match machine.start(node, &self.genesis, validates, self.now) {
            Ok(()) => {
                self.trace.note(self.now, "up");
                self.input(node, 0, Input::Start);
                self.input(node, 1, Input::About(about(node)));
                let fresh = std::mem::take(&mut self.machines[node].fresh);
                self.show(&Sight::Up { node, fresh });
                self.review_links();
            }
            Err(_) if self.machines[node].disk_broken => {
                self.queue.push(self.now + SILENCE_MS, Event::Retry(node));
            }
            Err(fault) => {
                let what = format!("node {node} does not start: {fault:?}");
                self.break_now("I13", what);
            }
        }
    }
    /// A node that its own disk stopped tries again, as a node does by itself.
    pub(super) fn retry(&mut self, node: usize) {
        if !self.machines[node].is_up() {
            self.start(node);
        }
    }
    /// Makes and breaks connections as the machines and the cut allow. Messages of one direction
    /// are enough to keep a connection up: those of the other side may then be lost for long.
    pub(super) fn review_links(&mut self) {
        let nodes = self.machines.len();
        for a in 0..nodes {
            for b in a + 1..nodes {
                let up = self.machines[a].is_up() && self.machines[b].is_up();
                let heard = self.net.carries(a, b) || self.net.carries(b, a);
                let is = self.net.links.contains(&(a, b));
                if up && heard && !is {
                    self.net.links.insert((a, b));
                    self.input(a, 1, Input::PeerUp(node_key(b)));
                    self.input(b, 1, Input::PeerUp(node_key(a)));
                } else if !(up && heard) && is {
                    self.net.links.remove(&(a, b));
                    self.input(a, 1, Input::PeerDown(node_key(b)));
                    self.input(b, 1, Input::PeerDown(node_key(a)));
                }
            }
        }
    }
}
