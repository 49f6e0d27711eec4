//! The world: whole node cores, a network, disks, clocks, users and trouble, in one thread.
//!
//! 1. Everything that happens is an event at a time; the earliest happens first, equal times in the
//!    order in which the events were made. Nothing else orders anything, so a plan decides every
//!    byte.
//! 2. A node's process takes an input, and the world performs the effects one after the other. A
//!    doomed process ends between two of them.
//! 3. After every event the checkers look. The first to object ends the world.
//! 4. The active phase has faults and load. The calm phase begins with everybody up, connected and
//!    cured; at its end the checkers judge the whole.

mod act;
mod copies;
mod flow;
mod hints;
mod inbox;
mod jobs;
pub(crate) mod machine;
mod net;
mod perform;
mod progress;
mod questions;
mod queue;
mod reading;
mod streams;
mod trouble;
mod ways;

pub use machine::Machine;

use crate::check::{Broken, Check, Sight};
use crate::cover::Cover;
use crate::found::{genesis, node_key};
use crate::load::Load;
use crate::plan::Plan;
use crate::plan::Weather;
use crate::rng::Rng;
use crate::trace::Trace;
use gridbay_core::Core;
use gridbay_core::input::{Command, Input};
use gridbay_protocol::genesis::Genesis;
use gridbay_protocol::ids::NetworkId;
use gridbay_protocol::memo;
use net::Net;
use progress::Shows;
use questions::Questions;
use queue::{Event, Queue};
use std::collections::BTreeMap;

/// Signatures and keys that a world's thread remembers: all nodes check the same ones.
const MEMORY: usize = 1 << 17;
/// Events that a world may have, and as many more for each of its seconds: ten times what the
/// busiest worlds have. Beyond that somebody answers answers.
const EVENTS: u64 = 100_000;
const EVENTS_PER_S: u64 = 20_000;

/// Milliseconds from the beginning of the calm until validators that were apart, down or in a late
/// round keep the pace.
pub const SETTLED_MS: u64 = 8_000;

/// See the module.
pub struct World {
    /// The seed's decisions.
    pub plan: Plan,
    /// Milliseconds since the world began.
    pub now: u64,
    /// The nodes.
    pub machines: Vec<Machine>,
    /// The genesis of its founders.
    pub genesis: Genesis,
    /// Hash of all that happened.
    pub trace: Trace,
    /// What occurred.
    pub cover: Cover,
    network: NetworkId,
    net: Net,
    queue: Queue,
    questions: Questions,
    /// Checkpoints that sellers' machines showed.
    pub(crate) shows: Shows,
    by_key: BTreeMap<[u8; 32], usize>,
    pub(crate) load: Load,
    rng: Rng,
    /// Draws of the solver.
    solver: Rng,
    checks: Vec<Box<dyn Check>>,
    /// Heights that the checkers have been told of.
    told: u64,
    broken: Option<Broken>,
    /// Events that happened.
    events: u64,
}

impl World {
    /// A world at time 0, all nodes up.
    pub fn new(plan: Plan, checks: Vec<Box<dyn Check>>, trace: Trace) -> World {
        memo::remember(MEMORY);
        let genesis = genesis(&plan);
        let nodes = plan.nodes();
        let lie = |n: usize| plan.lie_of(n).and_then(crate::liar::make);
        let mut world = World {
            machines: (0..nodes).map(|n| Machine::new(lie(n))).collect(),
            net: Net::new(nodes, plan.weather, plan.seed),
            queue: Queue::default(),
            questions: Questions::default(),
            shows: Shows::default(),
            by_key: (0..nodes).map(|n| (*node_key(n).as_bytes(), n)).collect(),
            load: Load::new(&plan),
            rng: Rng::new(plan.seed, "world"),
            solver: Rng::new(plan.seed, "solver"),
            cover: Cover::default(),
            now: 0,
            network: genesis.network(),
            genesis,
            trace,
            checks,
            told: 0,
            broken: None,
            events: 0,
            plan,
        };
        for n in 0..nodes {
            world.start(n);
        }
        for (i, timed) in world.plan.faults.iter().enumerate() {
            world.queue.push(timed.at, Event::Fault(i));
        }
        world.queue.push(0, Event::Deed);
        for n in 0..nodes {
            if !world.machines[n].is_honest() {
                world.queue.push(1_000, Event::Whim(n));
            }
        }
        world
    }
    /// The network.
    pub fn network(&self) -> NetworkId {
        self.network
    }
    /// The running process of a node.
    pub fn core(&self, n: usize) -> Option<&Core> {
        self.machines.get(n).and_then(|m| m.core.as_ref())
    }
    /// Nodes that do what the rules say.
    pub fn honest(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.machines.len()).filter(|n| self.machines[*n].is_honest())
    }
    /// Whether nothing keeps messages from honest nodes, or these from their pace: fair weather
    /// without faults, from the beginning on or for a while.
    pub fn is_settled(&self) -> bool {
        let fair = self.plan.faults.is_empty() && self.plan.weather == Weather::FAIR;
        fair || self.now >= self.plan.active_ms + SETTLED_MS
    }
    /// Whether faults and load have ended.
    pub fn is_calm(&self) -> bool {
        self.now >= self.plan.active_ms
    }
    /// The owner of a node gives it a command, now.
    pub fn instruct(&mut self, node: usize, command: Command) {
        self.input(node, 0, Input::Command { token: 0, command });
    }
    /// The node with a transport key.
    pub fn node_of(&self, key: &[u8; 32]) -> Option<usize> {
        self.by_key.get(key).copied()
    }
    /// Whether two nodes can hear one another.
    pub fn connected(&self, a: usize, b: usize) -> bool {
        self.net.carries(a, b) && self.net.carries(b, a)
    }

    /// Runs the whole plan. The first objection ends it.
    pub fn run(&mut self) -> Result<(), Broken> {
        self.run_until(self.plan.active_ms)?;
        self.calm_down();
        self.run_until(self.plan.active_ms + self.plan.calm_ms)?;
        self.check_promises()?;
        self.judge()
    }
    /// Runs until a time of the world.
    pub fn run_until(&mut self, end: u64) -> Result<(), Broken> {
        while let Some((at, event)) = self.queue.pop(end) {
            self.now = at;
            self.events += 1;
            if self.events > EVENTS + self.now / 1_000 * EVENTS_PER_S {
                let what = format!("a storm: {} events by now", self.events);
                return Err(Broken::new("I11", self.now, what));
            }
            self.happen(event);
            if let Some(broken) = self.broken.take() {
                return Err(broken);
            }
        }
        self.now = end;
        Ok(())
    }
    fn judge(&mut self) -> Result<(), Broken> {
        let mut checks = std::mem::take(&mut self.checks);
        let verdicts = checks.iter_mut().try_for_each(|check| {
            check
                .end(self)
                .map_err(|what| Broken::new(check.id(), self.now, what))
        });
        self.checks = checks;
        verdicts
    }
    /// Shows the checkers what happened.
    pub(crate) fn show(&mut self, sight: &Sight<'_>) {
        let mut checks = std::mem::take(&mut self.checks);
        for check in &mut checks {
            if let Err(what) = check.see(self, sight)
                && self.broken.is_none()
            {
                self.broken = Some(Broken::new(check.id(), self.now, what));
            }
        }
        self.checks = checks;
    }
    /// Something is wrong that no checker has to look for.
    pub(crate) fn break_now(&mut self, id: &'static str, what: String) {
        let broken = Broken::new(id, self.now, what);
        self.broken.get_or_insert(broken);
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Input { node, life, input } => self.arrive(node, life, input),
            Event::Wake { node, life } => {
                let machine = &mut self.machines[node];
                if machine.life == life && machine.wake == Some(self.now) {
                    machine.wake = None;
                    self.give(node, life, Box::new(Input::Tick));
                }
            }
            Event::JobEnds { node, job } => self.job_ends(node, job),
            Event::Fault(i) => {
                // A fault that is due in the calm would be none of the active phase.
                if let Some(timed) = self.plan.faults.get(i).filter(|_| !self.is_calm()) {
                    self.strike(timed.fault.clone());
                }
            }
            Event::Unanswered(question) => self.unanswered(question),
            Event::Links => self.review_links(),
            Event::Flow(from, to) => self.flow((from, to)),
            Event::Read { node, until } => self.read(node, until),
            Event::Crowd(turn) => self.crowd(turn),
            Event::Retry(node) => self.retry(node),
            Event::Deed => self.deed(),
            Event::Whim(node) => self.whim(node),
        }
    }
    /// Sends an input to a node's present life after some milliseconds.
    pub(crate) fn input(&mut self, node: usize, after: u64, input: Input) {
        let life = self.machines[node].life;
        let input = Box::new(input);
        self.queue
            .push(self.now + after, Event::Input { node, life, input });
    }
    /// Ends the active phase: everybody up, connected, cured, and the weather fair.
    fn calm_down(&mut self) {
        self.net.weather = Weather::FAIR;
        self.net.cut = None;
        self.flow_all();
        for n in 0..self.machines.len() {
            self.read_all(n);
            let machine = &mut self.machines[n];
            machine.clock.skew_ms = 0;
            machine.lag_ms = 0;
            machine.doomed = None;
            machine.paused_until = machine.paused_until.min(self.now);
            self.cure(n);
            self.start(n);
        }
        self.review_links();
        if self.plan.crowd {
            self.crowd_comes(0, SETTLED_MS);
        }
    }
}

impl World {
    /// A user does something again after some milliseconds.
    pub(crate) fn again(&mut self, after: u64) {
        self.queue.push(self.now + after, Event::Deed);
    }
    /// A crowd comes after some milliseconds, for the time of this number.
    pub(crate) fn crowd_comes(&mut self, turn: u64, after: u64) {
        self.queue.push(self.now + after, Event::Crowd(turn));
    }
}
