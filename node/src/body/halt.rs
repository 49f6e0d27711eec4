//! Halting: the behaviour of a node while its disk fails.
//!
//! 1. Nothing under way is acknowledged: waiting commands and questions are refused, tasks are let
//!    go. Jobs go on under their supervisors.
//! 2. The core that failed may know things that the disk does not. It is dropped, and one is opened
//!    from the disk for looking at; if that fails too, or would show blocks that were never shown,
//!    there is none.
//! 3. Messages of peers are dropped and their questions refused: to them the node is idle.
//! 4. Every few seconds, less often the longer it lasts, the disk is tried. Once it works the core
//!    is opened as at a start: records, jobs and connected peers are found again, and the node goes
//!    on.
//!
//! Any other fault ends the thread: going on could make the node sign twice or forget acknowledged
//! entries.

use super::inbox::Receiver;
use super::{Body, BodyError, Message};
use crate::body::ask::key_of;
use crate::overlay::Verdict;
use crate::trouble::Trouble;
use gridbay_core::Core;
use gridbay_core::input::Input;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// Pause before the disk is tried for the first time; twice as long after each failure.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// Longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(8);
/// A node that halts again within this time has not been cured: the pauses grow on.
const CURED: Duration = Duration::from_secs(60);

/// Opens a core's parts from the data folder, as often as need be.
pub trait Reopen: Send {
    /// Tries whether the disk takes what the node must write, and makes safe what lies there.
    ///
    /// # Errors
    /// It does not, yet.
    fn try_disk(&mut self, failed: &BodyError) -> Result<(), BodyError>;
    /// Opens the parts. No core of this folder may be open.
    ///
    /// # Errors
    /// The disk fails, or a file on it is damaged.
    fn open(&mut self) -> Result<gridbay_core::Parts, BodyError>;
    /// Opens the parts to be looked at, without writing anything: their core must never be stepped.
    ///
    /// # Errors
    /// A file there cannot be read, or is damaged.
    fn look(&mut self) -> Result<gridbay_core::Parts, BodyError>;
}

/// How often the disk was tried lately.
#[derive(Debug)]
pub(super) struct Patience {
    pause: Duration,
    reopened: Option<Instant>,
}

impl Default for Patience {
    fn default() -> Self {
        Patience {
            pause: FIRST_PAUSE,
            reopened: None,
        }
    }
}

impl Patience {
    /// The next pause.
    fn next(&mut self) -> Duration {
        let pause = self.pause;
        self.pause = (pause * 2).min(LONGEST_PAUSE);
        pause
    }
    fn halted(&mut self, now: Instant) {
        let reopened = self.reopened.take();
        if reopened.is_none_or(|at| now.saturating_duration_since(at) >= CURED) {
            self.pause = FIRST_PAUSE;
        }
    }
}

impl Body {
    /// Waits until the disk works and the core is open again; `false` if the node is to stop.
    pub(super) fn halt(
        &mut self,
        mut error: BodyError,
        messages: &Receiver,
    ) -> Result<bool, BodyError> {
        let mut trouble = Trouble::disk(&error);
        tracing::error!(what = trouble.what, "the node halts: {}", trouble.hint);
        self.disk_trouble = Some(trouble.clone());
        self.publish_troubles();
        self.patience.halted(Instant::now());
        let draining = self
            .core
            .as_ref()
            .is_some_and(|core| core.seller().is_draining());
        self.let_go();
        self.look_only();
        loop {
            let pause = self.patience.next();
            if !self.idle(Instant::now() + pause, messages) {
                return Ok(false);
            }
            match self.open_again(&error) {
                Ok(core) => self.core = Some(core),
                Err(again) if again.is_disk() => {
                    trouble.what = Trouble::disk(&again).what;
                    tracing::warn!(what = trouble.what, "still halted");
                    self.disk_trouble = Some(trouble.clone());
                    self.publish_troubles();
                    error = again;
                    continue;
                }
                Err(other) => return Err(other),
            }
            match self.resume(draining) {
                Ok(()) => return Ok(true),
                Err(again) if again.is_disk() => {
                    error = again;
                    self.let_go();
                    self.look_only();
                }
                Err(other) => return Err(other),
            }
        }
    }

    /// Answers nobody who waits, and ends the tasks that would tell the old core something.
    fn let_go(&mut self) {
        self.tasks = JoinSet::new();
        self.replies.clear();
        self.heard.clear();
        self.wake_ms = None;
        for (_, request) in std::mem::take(&mut self.requests) {
            let _gone = self.tools.overlay.refuse(request);
        }
        for (_, id) in std::mem::take(&mut self.gossip) {
            let _gone = self.tools.overlay.report(id, Verdict::Ignore);
        }
    }

    /// Replaces the core by what the disk holds, to be looked at and never stepped.
    fn look_only(&mut self) {
        self.core = None;
        let Some(reopen) = &mut self.tools.reopen else {
            return;
        };
        match reopen.look() {
            Ok(parts) => {
                let core = Core::new(parts);
                let shown = *self.height.borrow();
                self.core = (core.state().height() <= shown).then_some(core);
            }
            Err(error) => tracing::warn!(%error, "nothing can be looked at"),
        }
    }

    fn open_again(&mut self, failed: &BodyError) -> Result<Core, BodyError> {
        let Some(reopen) = &mut self.tools.reopen else {
            return Err(BodyError::NoReopen);
        };
        reopen.try_disk(failed)?;
        // A folder has one core at a time.
        self.core = None;
        let parts = reopen.open()?;
        Ok(self.tools.core(parts))
    }

    /// Starts the opened core, tells it who is connected, and says that all is well.
    fn resume(&mut self, draining: bool) -> Result<(), BodyError> {
        if let Some(core) = self.core.as_mut().filter(|_| draining) {
            core.drain();
        }
        self.begin()?;
        let peers = self.tools.overlay.peers();
        for key in peers.iter().filter_map(|peer| key_of(&peer.peer)) {
            self.step(Input::PeerUp(key))?;
        }
        if let Some(command) = self.tools.join.clone() {
            let token = self.token();
            self.step(Input::Command { token, command })?;
        }
        let height = self.core().state().height();
        self.patience.reopened = Some(Instant::now());
        self.disk_trouble = None;
        self.publish_troubles();
        self.height.send_replace(height);
        tracing::info!(height, "the disk works again: the node goes on");
        Ok(())
    }

    /// Takes messages without doing what they ask until a time; `false` if the node is to stop.
    fn idle(&mut self, until: Instant, messages: &Receiver) -> bool {
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            match messages.recv_timeout(left) {
                Ok(Message::Stop) | Err(RecvTimeoutError::Disconnected) => return false,
                Ok(message) => self.refuse(message),
                Err(RecvTimeoutError::Timeout) => return true,
            }
        }
    }

    /// Callers that wait for an answer learn from their closed channels that the node is halted.
    fn refuse(&mut self, message: Message) {
        match message {
            Message::Query(look) => {
                if let Some(core) = &self.core {
                    look(core);
                }
            }
            Message::Asked { request, .. } => {
                let _gone = self.tools.overlay.refuse(request);
            }
            Message::Advert { id, .. } => {
                let _gone = self.tools.overlay.report(id, Verdict::Ignore);
            }
            Message::Troubles => self.publish_troubles(),
            Message::Input(_) | Message::Heard { .. } | Message::Command(..) | Message::Stop => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_until_the_disk_has_worked_for_a_while() {
        let mut patience = Patience::default();
        let start = Instant::now();
        patience.halted(start);
        let seconds: Vec<u64> = (0..5).map(|_| patience.next().as_secs()).collect();
        assert_eq!(seconds, [1, 2, 4, 8, 8]);
        patience.reopened = Some(start);
        patience.halted(start + CURED / 2);
        assert_eq!(patience.next(), LONGEST_PAUSE, "it failed again at once");
        patience.reopened = Some(start);
        patience.halted(start + CURED);
        assert_eq!(patience.next(), FIRST_PAUSE);
    }
}
