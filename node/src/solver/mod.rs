//! A separate program that looks for better allocations of reservations: HiGHS, or one that takes
//! the same files.
//!
//! For each decision ahead (`gridbay_core::hints`):
//!
//! 1. The rule's own outcome is computed. If everybody wins, nothing can be better.
//! 2. `model` writes the decision as a mixed integer programme; one that is too large is left
//!    alone.
//! 3. `run` gives it to the program, with a time limit, in a folder of its own.
//! 4. `answer` reads the program's output, whatever that is.
//! 5. `model` deals units to the winners of that answer, and the ledger's own check decides whether
//!    the allocation is right and worth more. If it is, it becomes a hint.
//!
//! A program that is absent, slow, or answers nonsense is a [`Trouble`] of the node's until it
//! answers again.
//!
//! The newest question replaces those that wait, one program runs at a time, and nothing here can
//! do more harm than waste time: the block that this node proposes checks every hint again.

mod answer;
mod model;
mod run;

pub use run::RunError;

use crate::trouble::Trouble;
use gridbay_core::hints::Question;
use gridbay_protocol::mechanism::reservation;
use gridbay_protocol::mechanism::reservation::hint::Refusal;
use gridbay_protocol::mechanism::reservation::window::WindowPolicy;
use gridbay_protocol::record::reservation::ReservationRecord;
use gridbay_protocol::record::reservation::hint::{Hint, HintRefusal};
use model::Model;
use std::path::PathBuf;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::Mutex;
use tokio::task::JoinError;

/// Shortest time for which a program is started at all.
const SHORTEST: Duration = Duration::from_millis(50);

/// The program and its folder.
#[derive(Debug)]
pub struct Solver {
    program: PathBuf,
    folder: PathBuf,
    /// Longest time for one question.
    longest: Duration,
    newest: AtomicU64,
    turn: Mutex<()>,
    /// Why the last run failed, if it did.
    trouble: std::sync::Mutex<Option<Trouble>>,
}

/// An allocation found for one decision.
#[derive(Clone, Debug)]
pub struct Better {
    /// The hint, checked.
    pub hint: Hint,
    /// Its worth, micro-credits.
    pub worth: u128,
}

/// The result for one decision.
enum Found {
    /// Nothing can be better, or it is too large: the program was not asked.
    Unasked,
    /// The program knows nothing better.
    Nothing,
    /// The program found something.
    Better(Better),
}

/// Why nothing is known of a decision.
#[derive(Debug, thiserror::Error)]
pub enum SolverError {
    /// The program gave no answer.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The decision itself cannot be computed.
    #[error("{0}")]
    Decision(String),
    /// A task of this node's ended.
    #[error("a task of the solver's ended")]
    Task(#[from] JoinError),
}

impl Solver {
    /// A program by name or path, which works in `folder` for at most `longest` a question. If it
    /// is not there, that is a trouble from the beginning.
    pub fn new(program: PathBuf, folder: PathBuf, longest: Duration) -> Solver {
        let solver = Solver {
            longest,
            newest: AtomicU64::new(0),
            turn: Mutex::new(()),
            trouble: std::sync::Mutex::new(None),
            program,
            folder,
        };
        if let Err(error) = run::present(&solver.program, &solver.folder) {
            solver.failed(&error.into());
        }
        solver
    }

    /// Why the program does not help, until it does.
    pub fn trouble(&self) -> Option<Trouble> {
        let trouble = self.trouble.lock();
        trouble.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Answers a question unless a newer one comes; `deliver` gets each hint as it is found.
    pub async fn seek<F: Future<Output = ()>>(
        &self,
        question: Question,
        deliver: impl Fn(Hint) -> F,
    ) {
        let number = self.newest.fetch_add(1, Ordering::Relaxed) + 1;
        let asked = Instant::now();
        let _turn = self.turn.lock().await;
        // A quarter of the time is left for the way to the block.
        let within = Duration::from_millis(question.within_ms / 4 * 3);
        let until = asked + within.min(self.longest);
        for record in &question.decisions {
            let left = until.saturating_duration_since(Instant::now());
            if left < SHORTEST || self.newest.load(Ordering::Relaxed) != number {
                return;
            }
            let found = self.find(record, &question.window, left).await;
            match self.told(found) {
                Some(better) => {
                    tracing::info!(class = %record.class, worth = %better.worth, "a better allocation of reservations");
                    deliver(better.hint).await;
                }
                None => {
                    tracing::debug!(class = %record.class, "no better allocation of reservations")
                }
            }
        }
    }

    /// Notes whether the program works. If it was not asked, what was known of it stands.
    fn told(&self, found: Result<Found, SolverError>) -> Option<Better> {
        match found {
            Err(error) => {
                self.failed(&error);
                None
            }
            Ok(Found::Unasked) => None,
            Ok(Found::Nothing) => {
                self.works();
                None
            }
            Ok(Found::Better(better)) => {
                self.works();
                Some(better)
            }
        }
    }

    /// The first of several failures says since when; each is told in the log once, until it is
    /// another one.
    fn failed(&self, error: &SolverError) {
        let mut new = Trouble::solver(&self.program, error);
        let mut known = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        if known.as_ref().is_none_or(|known| known.what != new.what) {
            tracing::warn!("{}; reservations are decided by the rule alone", new.what);
        }
        if let Some(known) = &*known {
            new.since_ms = known.since_ms;
        }
        *known = Some(new);
    }

    fn works(&self) {
        let known = self
            .trouble
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if known.is_some() {
            tracing::info!("the solver works again");
        }
    }

    /// A better allocation than the rule's for one decision, if the program finds one in time.
    ///
    /// # Errors
    /// The program cannot be run, takes too long or answers nonsense.
    pub async fn improve(
        &self,
        record: &ReservationRecord,
        window: &WindowPolicy,
        limit: Duration,
    ) -> Result<Option<Better>, SolverError> {
        Ok(match self.find(record, window, limit).await? {
            Found::Unasked | Found::Nothing => None,
            Found::Better(better) => Some(better),
        })
    }

    async fn find(
        &self,
        record: &ReservationRecord,
        window: &WindowPolicy,
        limit: Duration,
    ) -> Result<Found, SolverError> {
        let (record, window) = (record.clone(), *window);
        let prepared = tokio::task::spawn_blocking(move || Prepared::new(record, &window));
        let Some(prepared) = prepared.await?? else {
            return Ok(Found::Unasked);
        };
        let text = run::run(&self.program, &self.folder, &prepared.model.text(), limit).await?;
        let checked = tokio::task::spawn_blocking(move || prepared.check(&text));
        Ok(checked.await??)
    }
}

/// A decision that might be improved.
struct Prepared {
    record: ReservationRecord,
    input: model::Decision,
    found: reservation::Outcome<model::Key, model::Node>,
    model: Model,
}

impl Prepared {
    /// Steps 1 and 2.
    fn new(
        record: ReservationRecord,
        window: &WindowPolicy,
    ) -> Result<Option<Prepared>, SolverError> {
        let input = record.input(window);
        let found = reservation::clear(&input);
        let found = found.map_err(|error| SolverError::Decision(error.to_string()))?;
        if found.awards.len() == input.bids.len() {
            return Ok(None);
        }
        Ok(Model::new(&input).map(|model| Prepared {
            record,
            input,
            found,
            model,
        }))
    }

    /// Steps 4 and 5.
    fn check(&self, text: &str) -> Result<Found, RunError> {
        let values = answer::read(text).ok_or(RunError::Garbage)?;
        let Some(values) = values else {
            return Ok(Found::Nothing);
        };
        let placements = self.model.placements(&self.input, &values);
        let hint = Hint::new(&self.record, &placements.ok_or(RunError::Garbage)?);
        match hint.take(&self.record, &self.input, &self.found) {
            Ok(better) => Ok(Found::Better(Better {
                hint,
                worth: better.total,
            })),
            Err(HintRefusal::Allocation(why)) if matches!(*why, Refusal::NotBetter { .. }) => {
                Ok(Found::Nothing)
            }
            Err(refusal) => {
                tracing::debug!(%refusal, "what the solver found is no hint");
                Err(RunError::Garbage)
            }
        }
    }
}
