//! The body of a node: one thread owns the core; everything that waits lives around it.
//!
//! ```text
//! overlay events ─┐                      ┌─► overlay sends, answers
//! API commands  ──┼─► bounded queue ─► core thread: select, apply, perform ─► files
//! task results  ──┘                      └─► tokio tasks (ask, stage, run, fetch)
//! ```
//!
//! 1. *Select*: the core thread waits for the next message or the time the core asked for.
//! 2. *Apply*: one synchronous [`Core::step`].
//! 3. *Perform*: the effects, in order. Records are on disk before anything that follows them.
//!
//! A fault (this node's disk, a broken invariant) ends the thread with the error; nothing that was
//! acknowledged is lost, because it was on disk before.

pub mod ask;
pub mod files;
pub mod jobs;
mod perform;

use crate::body::jobs::Jobs;
use crate::overlay::{MessageId, OverlayHandle, RequestId};
use crate::store::content::ContentStore;
use crate::store::orders::OrderStore;
use gridbay_core::input::{Command, CommandToken, Input, Now};
use gridbay_core::reply::Reply;
use gridbay_core::{Core, Parts};
use gridbay_host::Fault;
use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::sync::{oneshot, watch};

/// Messages waiting for the core thread. Beyond, messages of peers are dropped and counted, commands
/// are refused.
const QUEUE: usize = 4_096;
/// Gossip topic of adverts.
pub const ADVERTS_TOPIC: &str = "adverts";
/// Longest wait without a tick.
const LONGEST_WAIT: Duration = Duration::from_millis(500);

/// Why a node stopped by itself.
#[derive(Debug, thiserror::Error)]
pub enum BodyError {
    /// The ledger's host failed.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// Files beside the ledger failed.
    #[error("cannot keep {what}")]
    Disk {
        /// What was to be kept.
        what: &'static str,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
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
    /// A gossiped advert, judged by its id.
    Advert {
        id: MessageId,
        bytes: Vec<u8>,
    },
    Command(Command, oneshot::Sender<Reply>),
    Query(Question),
    Stop,
}

/// The node is stopping or behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BodyGone {
    /// Its queue is full.
    #[error("the node is busy")]
    Busy,
    /// It has stopped.
    #[error("the node has stopped")]
    Stopped,
}

/// Talks to the core thread from anywhere.
#[derive(Clone)]
pub struct BodyHandle {
    queue: SyncSender<Message>,
    height: watch::Receiver<u64>,
}

impl BodyHandle {
    /// Runs a command and waits for its reply.
    pub async fn command(&self, command: Command) -> Result<Reply, BodyGone> {
        let (sender, reply) = oneshot::channel();
        self.send(Message::Command(command, sender))?;
        reply.await.map_err(|_| BodyGone::Stopped)
    }
    /// Looks at the core between two steps.
    pub async fn query<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Core) -> T + Send + 'static,
    ) -> Result<T, BodyGone> {
        let (sender, answer) = oneshot::channel();
        self.send(Message::Query(Box::new(move |core| {
            let _gone = sender.send(look(core));
        })))?;
        answer.await.map_err(|_| BodyGone::Stopped)
    }
    /// Height of the last block; changes with every block.
    pub fn height(&self) -> watch::Receiver<u64> {
        self.height.clone()
    }
    /// Asks the core thread to end.
    pub fn stop(&self) {
        let _gone = self.send(Message::Stop);
    }
    pub(crate) fn send(&self, message: Message) -> Result<(), BodyGone> {
        self.queue.try_send(message).map_err(|error| match error {
            TrySendError::Full(_) => BodyGone::Busy,
            TrySendError::Disconnected(_) => BodyGone::Stopped,
        })
    }
    /// Delivers a result that must not be lost, however long the queue is full.
    pub(crate) async fn deliver(&self, input: Input) {
        let mut message = Message::Input(input);
        loop {
            match self.queue.try_send(message) {
                Ok(()) | Err(TrySendError::Disconnected(_)) => return,
                Err(TrySendError::Full(back)) => message = back,
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

/// What the core thread works with.
pub struct Tools {
    /// The overlay.
    pub overlay: OverlayHandle,
    /// Orders and their output.
    pub orders: OrderStore,
    /// Inputs of own orders.
    pub contents: ContentStore,
    /// Jobs on this machine.
    pub jobs: Jobs,
    /// Time a job that must stop has between TERM and KILL.
    pub grace: Duration,
    /// Canonical genesis, for newcomers.
    pub genesis: Vec<u8>,
    /// Where tasks run.
    pub runtime: tokio::runtime::Handle,
}

pub(crate) struct Body {
    core: Core,
    tools: Tools,
    handle: BodyHandle,
    height: watch::Sender<u64>,
    started: Instant,
    wake_ms: Option<u64>,
    replies: BTreeMap<CommandToken, oneshot::Sender<Reply>>,
    requests: BTreeMap<u64, RequestId>,
    gossip: BTreeMap<u64, MessageId>,
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
    let (queue, messages) = sync_channel(QUEUE);
    let core = Core::new(parts);
    let (height, seen) = watch::channel(core.state().height());
    let handle = BodyHandle {
        queue,
        height: seen,
    };
    let body = Body {
        core,
        tools,
        handle: handle.clone(),
        height,
        started: Instant::now(),
        wake_ms: None,
        replies: BTreeMap::new(),
        requests: BTreeMap::new(),
        gossip: BTreeMap::new(),
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

    fn run(mut self, messages: &Receiver<Message>) -> Result<(), BodyError> {
        self.watch_recovered_jobs();
        self.step(Input::Start)?;
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

    fn wait(&self) -> Duration {
        let now = self.mono_ms();
        let until = self
            .wake_ms
            .map(|at| Duration::from_millis(at.saturating_sub(now)));
        until.unwrap_or(LONGEST_WAIT).min(LONGEST_WAIT)
    }

    fn apply(&mut self, message: Message) -> Result<(), BodyError> {
        match message {
            Message::Input(input) => self.step(input),
            Message::Query(look) => {
                look(&self.core);
                Ok(())
            }
            Message::Command(command, reply) => {
                let token = self.token();
                self.replies.insert(token, reply);
                self.step(Input::Command { token, command })
            }
            Message::Advert { id, bytes } => {
                let token = self.token();
                self.gossip.insert(token, id);
                self.step(Input::Advert { token, bytes })
            }
            Message::Asked {
                request,
                from,
                bytes,
            } => self.asked(request, from, &bytes),
            Message::Stop => Ok(()),
        }
    }

    fn step(&mut self, input: Input) -> Result<(), BodyError> {
        let effects = self.core.step(self.now(), input)?;
        for effect in effects {
            self.perform(effect)?;
        }
        Ok(())
    }

    fn token(&mut self) -> u64 {
        self.next_token += 1;
        self.next_token
    }
}
