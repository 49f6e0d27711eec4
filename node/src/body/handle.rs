//! Talking to the core thread from other threads and tasks.

use crate::body::Message;
use crate::body::inbox::{Sender, Sent};
use crate::trouble::Trouble;
use gridbay_core::Core;
use gridbay_core::adverts::Verdict;
use gridbay_core::input::{Command, Input};
use gridbay_core::reply::Reply;
use std::time::Duration;
use tokio::sync::{oneshot, watch};

/// The node is stopping, behind or halted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BodyGone {
    /// Its queue is full.
    #[error("the node is busy")]
    Busy,
    /// It has stopped.
    #[error("the node has stopped")]
    Stopped,
    /// Its disk fails: it acknowledges nothing until that is cured.
    #[error("the node is halted because its disk fails; nothing was done")]
    Halted,
}

/// Talks to the core thread from anywhere.
#[derive(Clone)]
pub struct BodyHandle {
    pub(super) queue: Sender,
    pub(super) height: watch::Receiver<u64>,
    pub(super) troubles: watch::Receiver<Vec<Trouble>>,
}

impl BodyHandle {
    /// Runs a command and waits for its reply.
    pub async fn command(&self, command: Command) -> Result<Reply, BodyGone> {
        self.acknowledges()?;
        let (sender, reply) = oneshot::channel();
        self.send(Message::Command(command, sender))?;
        reply.await.map_err(|_| self.silence())
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
        answer.await.map_err(|_| self.silence())
    }
    /// Has an advert judged that another node answered with.
    pub async fn hear(&self, bytes: Vec<u8>) -> Result<Verdict, BodyGone> {
        let (sender, verdict) = oneshot::channel();
        self.send(Message::Heard {
            bytes,
            verdict: sender,
        })?;
        verdict.await.map_err(|_| self.silence())
    }
    /// The present troubles; changes with every trouble that comes or goes.
    pub fn troubles(&self) -> watch::Receiver<Vec<Trouble>> {
        self.troubles.clone()
    }
    /// Refuses while the node is halted.
    pub fn acknowledges(&self) -> Result<(), BodyGone> {
        let halted = self.troubles.borrow().iter().any(|t| t.kind.halts());
        if halted {
            Err(BodyGone::Halted)
        } else {
            Ok(())
        }
    }
    /// Why a question has no answer.
    fn silence(&self) -> BodyGone {
        self.acknowledges().err().unwrap_or(BodyGone::Stopped)
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
        match self.try_send(message) {
            Sent::Kept => Ok(()),
            Sent::Dropped(_) | Sent::Refused(_) => Err(BodyGone::Busy),
            Sent::Closed(_) => Err(BodyGone::Stopped),
        }
    }
    /// Sends a message and says what became of it.
    pub(crate) fn try_send(&self, message: Message) -> Sent {
        self.queue.try_send(message)
    }
    /// Delivers a result that must not be lost, however long the queue is full.
    pub(crate) async fn deliver(&self, input: Input) {
        self.pass(Message::Input(input)).await;
    }
    /// Passes a message that must not be lost.
    pub(super) async fn pass(&self, mut message: Message) {
        loop {
            match self.queue.try_send(message) {
                Sent::Kept | Sent::Dropped(_) | Sent::Closed(_) => return,
                Sent::Refused(back) => message = back,
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}
