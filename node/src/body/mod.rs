//! The body of a node: one thread owns the core; everything that waits lives around it.
//!
//! ```text
//! overlay events ─┐                      ┌─► overlay sends, answers
//! API commands  ──┼─► bounded inbox ─► core thread: select, apply, perform ─► files
//! task results  ──┘                      └─► tokio tasks (ask, stage, run, fetch)
//! ```
//!
//! 1. *Select*: the core thread waits for the next message (`inbox`) or the time the core asked
//!    for.
//! 2. *Apply*: one synchronous [`Core::step`].
//! 3. *Perform*: the effects, in order. Records are on disk before anything that follows them.
//!
//! A failing disk halts the node until it is cured ([`halt`]); any other fault ends the thread with
//! the error. Nothing that was acknowledged is lost, because it was on disk before.

pub mod allowance;
pub mod ask;
mod cluster;
mod copies;
pub mod files;
pub mod halt;
mod handle;
mod hints;
#[cfg(test)]
mod idle;
mod inbox;
pub mod jobs;
mod kept;
mod making;
mod perform;
mod progress;
mod purchase;
pub mod room;
mod tell;

pub use handle::{BodyGone, BodyHandle};
pub(crate) use inbox::Sent;

use crate::anchors::Anchors;
use crate::body::halt::{Patience, Reopen};
use crate::body::inbox::{Receiver, inbox};
use crate::body::jobs::Jobs;
use crate::body::room::Room;
use crate::cluster::Clusters;
use crate::metrics::Meters;
use crate::outbound::Gateway;
use crate::overlay::{MessageId, OverlayHandle, RequestId};
use crate::solver::Solver;
use crate::store::checkpoints::CheckpointStore;
use crate::store::content::ContentStore;
use crate::store::granted::Granted;
use crate::store::orders::OrderStore;
use crate::store::withheld;
use crate::trouble::Trouble;
use gridbay_core::adverts::{Heard, Verdict};
use gridbay_core::input::{Command, CommandToken, Input, Now};
use gridbay_core::relay::RelayTerms;
use gridbay_core::reply::Reply;
use gridbay_core::{Core, Parts};
use gridbay_host::{Fault, Peer};
use gridbay_protocol::keys::SecretKey;
use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinSet;

/// Gossip topic of adverts.
pub const ADVERTS_TOPIC: &str = "adverts";
/// Longest wait of the core thread for a message.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// Why a node stopped by itself.
#[derive(Debug, thiserror::Error)]
pub enum BodyError {
    /// The ledger's host failed.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// Files beside the ledger failed.
    #[error("cannot keep {what}")]
    Disk {
        /// The thing to be kept.
        what: &'static str,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
    /// The body was made without a way to open its core again.
    #[error("the node cannot open its ledger again")]
    NoReopen,
}

impl BodyError {
    /// Whether the disk failed, which may be cured while the node waits.
    pub fn is_disk(&self) -> bool {
        matches!(
            self,
            BodyError::Disk { .. } | BodyError::Fault(Fault::Disk(_))
        )
    }
}

type Question = Box<dyn FnOnce(&Core) + Send>;

pub(crate) enum Message {
    Input(Input),
    /// A question of another node; its answer goes to this request.
    Asked {
        request: RequestId,
        from: gridbay_protocol::keys::PublicKey,
        bytes: Vec<u8>,
    },
    /// A gossiped advert, judged by its id, and the neighbour that passed it to us.
    Advert {
        id: MessageId,
        via: Option<Peer>,
        bytes: Vec<u8>,
    },
    /// An advert that another node answered with.
    Heard {
        bytes: Vec<u8>,
        verdict: oneshot::Sender<Verdict>,
    },
    Command(Command, oneshot::Sender<Reply>),
    Query(Question),
    /// Troubles outside the core may have changed.
    Troubles,
    Stop,
}

/// The tools of the core thread.
pub struct Tools {
    /// The overlay.
    pub overlay: OverlayHandle,
    /// The validators to which the node stays connected.
    pub anchors: Anchors,
    /// Signs what this node says of networks' packets.
    pub transport: SecretKey,
    /// What the node carries for others' networks.
    pub relays: RelayTerms,
    /// Orders and their output.
    pub orders: OrderStore,
    /// Inputs of own orders.
    pub contents: ContentStore,
    /// Contents that single nodes may have.
    pub granted: Granted,
    /// Checkpoints of own orders.
    pub checkpoints: CheckpointStore,
    /// Copies of the checkpoints of others' jobs.
    pub copies: CheckpointStore,
    /// Jobs on this machine.
    pub jobs: Jobs,
    /// Networks of the leases that have jobs here.
    pub clusters: Clusters,
    /// The way of jobs to the web.
    pub gateway: Gateway,
    /// Room on the disk.
    pub room: Room,
    /// Time a job that must stop has between TERM and KILL.
    pub grace: Duration,
    /// Canonical genesis, for newcomers.
    pub genesis: Vec<u8>,
    /// Where tasks run.
    pub runtime: tokio::runtime::Handle,
    /// Opens the core again once a failed disk works; without it, such a failure ends the thread.
    pub reopen: Option<Box<dyn Reopen>>,
    /// Looks for better allocations of reservations, if the owner wants that.
    pub solver: Option<Arc<Solver>>,
    /// Counts what happens.
    pub meters: Arc<Meters>,
    /// Joins the network, for a core that is opened again before it has an account.
    pub join: Option<Command>,
}

impl Tools {
    /// A core of these parts, as the tools want it.
    fn core(&self, parts: Parts) -> Core {
        let mut core = Core::new(parts);
        let withheld = withheld::load(self.room.home());
        core.keep_copies(crate::store::copies::load(self.room.home()));
        core.withhold(withheld, self.room.trouble().is_some());
        if self.solver.is_some() {
            core.seek_hints();
        }
        for need in self.jobs.lacking() {
            core.lacks(need);
        }
        core.relays(self.relays);
        core.keep_output(self.orders.output_bytes());
        core
    }
}

pub(crate) struct Body {
    /// Open but for moments in [`halt`].
    core: Option<Core>,
    tools: Tools,
    handle: BodyHandle,
    height: watch::Sender<u64>,
    troubles: watch::Sender<Vec<Trouble>>,
    disk_trouble: Option<Trouble>,
    /// The core's view of the clock, and since when.
    clock_trouble: Option<(gridbay_host::Trouble, Trouble)>,
    patience: Patience,
    /// Tasks that tell the core something when they end.
    tasks: JoinSet<()>,
    started: Instant,
    wake_ms: Option<u64>,
    replies: BTreeMap<CommandToken, oneshot::Sender<Reply>>,
    requests: BTreeMap<u64, RequestId>,
    gossip: BTreeMap<u64, MessageId>,
    /// The askers that wait for the verdict on an advert that was an answer.
    heard: BTreeMap<u64, oneshot::Sender<Verdict>>,
    next_token: u64,
}

/// A started body.
pub struct Started {
    /// Talks to it.
    pub handle: BodyHandle,
    /// Ends with it.
    pub thread: std::thread::JoinHandle<Result<(), BodyError>>,
}

/// Starts the core thread.
///
/// # Errors
/// If the operating system has no thread to give.
pub fn start(parts: Parts, tools: Tools) -> std::io::Result<Started> {
    let core = tools.core(parts);
    let validators = core.state().validators().members().iter();
    let validators = validators.map(|validator| *validator.node.as_bytes());
    let (queue, messages) = inbox(validators.collect());
    let (height, seen) = watch::channel(core.state().height());
    let (troubles, known) = watch::channel(Vec::new());
    let handle = BodyHandle {
        queue,
        height: seen,
        troubles: known,
    };
    let body = Body {
        core: Some(core),
        tools,
        handle: handle.clone(),
        height,
        troubles,
        disk_trouble: None,
        clock_trouble: None,
        patience: Patience::default(),
        tasks: JoinSet::new(),
        started: Instant::now(),
        wake_ms: None,
        replies: BTreeMap::new(),
        requests: BTreeMap::new(),
        gossip: BTreeMap::new(),
        heard: BTreeMap::new(),
        next_token: 1,
    };
    let thread = std::thread::Builder::new()
        .name("core".to_string())
        .spawn(move || body.run(&messages))?;
    Ok(Started { handle, thread })
}

impl Body {
    fn now(&self) -> Now {
        let wall = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Now {
            mono_ms: self.mono_ms(),
            wall_ms: wall.as_millis() as u64,
        }
    }
    fn mono_ms(&self) -> u64 {
        self.started.elapsed().as_millis() as u64
    }

    fn run(mut self, messages: &Receiver) -> Result<(), BodyError> {
        let mut done = self.begin().and_then(|()| self.serve(messages));
        loop {
            match done {
                Err(error) if error.is_disk() && self.tools.reopen.is_some() => {
                    if !self.halt(error, messages)? {
                        return Ok(());
                    }
                    done = self.serve(messages);
                }
                done => return done,
            }
        }
    }

    /// The first step of a core that was opened.
    fn begin(&mut self) -> Result<(), BodyError> {
        self.watch_recovered_jobs();
        self.publish_troubles();
        self.step(Input::Start)
    }

    /// Select, apply, perform, until told to stop.
    fn serve(&mut self, messages: &Receiver) -> Result<(), BodyError> {
        loop {
            match messages.recv_timeout(self.wait()) {
                Ok(Message::Stop) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
                Ok(message) => self.apply(message)?,
                Err(RecvTimeoutError::Timeout) => {}
            }
            if self.wake_ms.is_some_and(|at| at <= self.mono_ms()) {
                self.wake_ms = None;
                self.step(Input::Tick)?;
            }
        }
    }

    fn core(&self) -> &Core {
        let core = self.core.as_ref();
        core.expect("the core is open while the thread serves")
    }

    fn wait(&self) -> Duration {
        let now = self.mono_ms();
        let until = self
            .wake_ms
            .map(|at| Duration::from_millis(at.saturating_sub(now)));
        until.unwrap_or(LONGEST_WAIT).min(LONGEST_WAIT)
    }

    fn apply(&mut self, message: Message) -> Result<(), BodyError> {
        match message {
            Message::Input(input) => {
                self.tools.meters.hears(&input);
                self.step(input)
            }
            Message::Query(look) => {
                look(self.core());
                Ok(())
            }
            Message::Command(command, reply) => {
                let token = self.token();
                self.replies.insert(token, reply);
                self.step(Input::Command { token, command })
            }
            Message::Advert { id, bytes, .. } => {
                let token = self.token();
                self.gossip.insert(token, id);
                self.advert(token, Heard::Told, bytes)
            }
            Message::Heard { bytes, verdict } => {
                let token = self.token();
                self.heard.insert(token, verdict);
                self.advert(token, Heard::Asked, bytes)
            }
            Message::Asked {
                request,
                from,
                bytes,
            } => self.asked(request, from, &bytes),
            Message::Troubles => {
                self.publish_troubles();
                let short = self.tools.room.trouble().is_some();
                match self.core().seller().is_short() == short {
                    true => Ok(()),
                    false => self.step(Input::Short(short)),
                }
            }
            Message::Stop => Ok(()),
        }
    }

    fn advert(&mut self, token: u64, heard: Heard, bytes: Vec<u8>) -> Result<(), BodyError> {
        self.step(Input::Advert {
            token,
            heard,
            bytes,
        })
    }

    fn step(&mut self, input: Input) -> Result<(), BodyError> {
        let now = self.now();
        let core = self.core.as_mut();
        let core = core.expect("the core is open while the thread serves");
        let begun = Instant::now();
        let effects = core.step(now, input)?;
        let head = (core.state().height(), core.state().time_ms());
        let took = begun.elapsed();
        let now_ms = now.wall_ms.saturating_add(took.as_millis() as u64);
        self.tools.meters.stepped(took, now_ms, head);
        let clock = core.trouble();
        if clock != self.clock_trouble.as_ref().map(|(found, _)| *found) {
            self.clock_trouble = clock.map(|found| (found, Trouble::clock(&found)));
            self.publish_troubles();
        }
        for effect in effects {
            self.perform(effect)?;
        }
        Ok(())
    }

    /// Tells all present troubles of this node. New kinds of trouble are added here.
    fn publish_troubles(&self) {
        let clock = self.clock_trouble.iter().map(|(_, trouble)| trouble);
        let troubles = self.disk_trouble.iter().chain(clock).cloned();
        let troubles = troubles.chain(self.tools.room.trouble());
        let solver = self.tools.solver.as_ref().and_then(|s| s.trouble());
        let troubles: Vec<Trouble> = troubles.chain(solver).collect();
        self.troubles.send_if_modified(|told| {
            let changed = *told != troubles;
            *told = troubles;
            changed
        });
    }

    /// Starts a task that ends with the core it works for.
    fn spawn(&mut self, task: impl Future<Output = ()> + Send + 'static) {
        while self.tasks.try_join_next().is_some() {}
        self.tasks.spawn_on(task, &self.tools.runtime);
    }

    fn token(&mut self) -> u64 {
        self.next_token += 1;
        self.next_token
    }
}
