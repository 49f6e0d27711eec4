//! A local network of real processes.
//!
//! 1. `found` makes keys and genesis of the founding members; their nodes are this program, run
//!    again with a hidden first word.
//! 2. A lone validator may be given a past (`history`). Once all are ready, each buyer gets an
//!    invitation from one of them (`join`) and a node.
//! 3. [`Network`] holds all of it. When it goes out of scope (the work is done, failed, panicked or
//!    was interrupted) every process of the run ends: nodes, supervisors, jobs.
//! 4. Should the laboratory itself be killed, `run.json` tells [`down`] the leftovers.

pub mod cli;
mod down;
mod folder;
mod found;
mod history;
mod join;
mod node;
pub mod plan;
mod ports;
mod process;
mod record;
mod seat;
mod settings;
mod sweep;
pub mod word;

pub use down::down;
pub use folder::RunFolder;
pub use history::History;
pub use node::{Node, Role};
pub use plan::Plan;
pub use process::Process;
pub use record::{NodeRecord, RunRecord};
pub use seat::Seat;
pub(crate) use sweep::clear as clear_processes;
pub use sweep::{Part, find as find_processes};

use crate::say::Progress;
use anyhow::{Context as _, bail};
use gridbay_node::api::types::Offer;
use gridbay_node::config::Home;
use gridbay_protocol::genesis::Genesis;
use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

/// Time nodes have to end by themselves.
const END_TIME: Duration = Duration::from_secs(4);
/// Buyers that are started at a time: each speaks with dozens of others first, and too many at once
/// only make one another's handshakes time out.
const WAVE: usize = 16;

/// A running network. Ends with its owner.
#[derive(Debug)]
pub struct Network {
    folder: RunFolder,
    program: PathBuf,
    plan: Plan,
    genesis: Genesis,
    nodes: Vec<Node>,
    keep: bool,
    let_go: bool,
}

impl Network {
    /// Founds and starts the network of `plan` in `folder`; every node is `program`, run again. All
    /// nodes are ready and all offers on the ledger within `patience`, or it fails.
    pub async fn start(
        program: PathBuf,
        folder: RunFolder,
        plan: Plan,
        patience: Duration,
        progress: &Progress,
    ) -> anyhow::Result<Network> {
        let until = Instant::now() + patience;
        plan.check()?;
        let founded = found::found(&program, &folder, &plan).await;
        let genesis = match founded {
            Ok(genesis) => genesis,
            Err(error) => {
                let _ = folder.remove();
                return Err(error.context("the network was not founded"));
            }
        };
        let mut network = Network {
            folder,
            program,
            plan,
            genesis,
            nodes: Vec::new(),
            keep: false,
            let_go: false,
        };
        let (validators, buyers) = (network.plan.validators.len(), network.plan.buyers);
        progress.tell(&format!("founded: {validators} members, one genesis"));
        if !network.plan.history.is_empty() {
            let home = Home::new(network.folder.data(&Plan::validator_name(0)));
            history::fill(&home, &network.genesis, network.plan.history)?;
            progress.tell("its past is written");
        }
        let names: Vec<String> = (0..validators).map(Plan::validator_name).collect();
        network.launch(names, Role::Validator, until).await?;
        progress.tell(&format!("{validators} validators are ready"));
        network.offers_are_on_sale(until).await?;
        if buyers > 0 {
            let names: Vec<String> = (0..buyers).map(Plan::buyer_name).collect();
            for (i, name) in names.iter().enumerate() {
                let inviter = &network.nodes[i % validators];
                join::join(&network, inviter, name).await?;
            }
            network.launch(names, Role::Buyer, until).await?;
            let s = if buyers == 1 { "" } else { "s" };
            progress.tell(&format!("{buyers} buyer{s} joined by invitation"));
        }
        Ok(network)
    }
    /// Has a validator invite one more node, which is ready within `patience`, or it fails. `name`:
    /// of no node yet.
    pub async fn join(
        &mut self,
        inviter: &str,
        name: &str,
        patience: Duration,
    ) -> anyhow::Result<()> {
        join::join(self, self.node(inviter), name).await?;
        let until = Instant::now() + patience;
        self.launch(vec![name.to_owned()], Role::Buyer, until).await
    }
    /// Starts nodes whose data folders are there, and waits for all of them. Validators are started
    /// together: none is ready before a quorum is there.
    async fn launch(
        &mut self,
        names: Vec<String>,
        role: Role,
        until: Instant,
    ) -> anyhow::Result<()> {
        let wave = match role {
            Role::Validator => names.len().max(1),
            Role::Buyer => WAVE,
        };
        for wave in names.chunks(wave) {
            let first = self.nodes.len();
            for name in wave {
                let seat = self.plan.seat(name, 0);
                let mut node = Node::new(&self.folder, name.clone(), role, seat);
                let started = node.start(&self.program);
                self.nodes.push(node);
                started?;
                self.record()?;
            }
            for node in &mut self.nodes[first..] {
                node.ready(until).await?;
            }
        }
        self.record()
    }
    /// Waits until every offer of the plan can be bought from.
    async fn offers_are_on_sale(&self, until: Instant) -> anyhow::Result<()> {
        let planned: usize = self.plan.validators.iter().map(Vec::len).sum();
        loop {
            let offers: Vec<Offer> = self.node("v1").client().get("/offers").await?;
            let on_sale = offers.iter().filter(|offer| offer.on_sale).count();
            if on_sale >= planned {
                return Ok(());
            }
            if Instant::now() > until {
                bail!("{on_sale} of {planned} offers are on sale");
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
    /// The run's folder.
    pub fn folder(&self) -> &RunFolder {
        &self.folder
    }
    /// The program that its nodes are.
    pub fn program(&self) -> &PathBuf {
        &self.program
    }
    /// The plan that it was made from.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }
    /// Its constitution.
    pub fn genesis(&self) -> &Genesis {
        &self.genesis
    }
    /// All nodes, validators first.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }
    /// A node by name.
    ///
    /// # Panics
    /// There is none of that name: names come from the plan.
    pub fn node(&self, name: &str) -> &Node {
        let mut named = self.nodes.iter().filter(|node| node.name == name);
        named.next().expect("the plan has a node of this name")
    }
    /// Kills a node's process at once. Its jobs go on under their supervisors.
    pub fn kill(&mut self, name: &str) -> anyhow::Result<()> {
        self.node_mut(name).kill()?;
        self.record()
    }
    /// Starts a node again without waiting for it.
    pub fn restart(&mut self, name: &str) -> anyhow::Result<()> {
        let program = self.program.clone();
        self.node_mut(name).start(&program)?;
        self.record()
    }
    /// Waits until a node takes orders.
    pub async fn ready(&mut self, name: &str, patience: Duration) -> anyhow::Result<()> {
        let until = Instant::now() + patience;
        self.node_mut(name).ready(until).await?;
        self.record()
    }
    fn node_mut(&mut self, name: &str) -> &mut Node {
        let mut named = self.nodes.iter_mut().filter(|node| node.name == name);
        named.next().expect("the plan has a node of this name")
    }
    /// Leaves the folder in place when the network ends.
    pub fn keep_folder(&mut self) {
        self.keep = true;
    }
    /// Ends every process, in order; fails if one could not be ended. The folder stays until the
    /// network goes out of scope.
    pub fn stop(&mut self) -> anyhow::Result<()> {
        for node in &self.nodes {
            node.ask_to_end();
        }
        let until = Instant::now() + END_TIME;
        while !self.nodes.iter_mut().all(Node::has_ended) && Instant::now() < until {
            thread::sleep(Duration::from_millis(20));
        }
        for node in &mut self.nodes {
            node.kill()?;
        }
        let left = sweep::clear(self.folder.path())?;
        if !left.is_empty() {
            bail!("{} processes could not be ended: {left:?}", left.len());
        }
        Ok(())
    }
    /// Lets the network run on without its owner; `down` ends it.
    pub fn detach(mut self) -> anyhow::Result<()> {
        self.let_go = true;
        self.record()?;
        for node in &mut self.nodes {
            node.let_go();
        }
        Ok(())
    }
    fn record(&self) -> anyhow::Result<()> {
        let own = i32::try_from(std::process::id()).ok();
        let own = own.and_then(Process::look).filter(|_| !self.let_go);
        RunRecord {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            name: self.plan.name.clone(),
            lab: own,
            nodes: self.nodes.iter().map(Node::record).collect(),
        }
        .write(&self.folder)
    }
    /// What `run.json` says now.
    pub fn run_record(&self) -> anyhow::Result<RunRecord> {
        RunRecord::read(&self.folder).context("the run has no record")
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        if self.let_go {
            return;
        }
        if let Err(error) = self.stop() {
            crate::say::note(&format!("not everything ended: {error:#}"));
        }
        let path = self.folder.path();
        if self.keep {
            crate::say::note(&format!("kept: {}", path.display()));
        } else if fs::exists(path).unwrap_or(true)
            && let Err(error) = self.folder.remove()
        {
            crate::say::note(&format!("{} is left behind: {error}", path.display()));
        }
    }
}
