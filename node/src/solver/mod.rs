//! A separate program that looks for better allocations of reservations: HiGHS, or one that takes the same files.
//!
//! For each decision ahead (`gridbay_core::hints`):
//!
//! 1. The rule's own outcome is computed. If everybody wins, nothing can be better.
//! 2. `model` writes the decision as a mixed integer programme; one that is too large is left alone.
//! 3. `run` gives it to the program, with a time limit, in a folder of its own.
//! 4. `answer` reads what the program wrote, whatever that is.
//! 5. `model` deals units to those who win by it, and the ledger's own check says whether that is right and worth more.
//!    What passes becomes a hint.
//!
//! The newest question replaces those that wait, one program runs at a time, and nothing here can do more harm than waste
//! time: the block that this node proposes checks every hint again.

mod answer;
mod model;
mod run;

pub use run::RunError;

use gridbay_core::hints::Question;
use gridbay_protocol::booking::ReservationRecord;
use gridbay_protocol::hint::Hint;
use gridbay_protocol::mechanism::reservation;
use gridbay_protocol::mechanism::reservation::window::WindowPolicy;
use model::Model;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
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
    /// Whether the last run failed, which was told.
    failed: AtomicBool,
}

/// What was found for one decision.
#[derive(Clone, Debug)]
pub struct Better {
    /// The hint, checked.
    pub hint: Hint,
    /// What it is worth, micro-credits.
    pub worth: u128,
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
    /// A program by name or path, which works in `folder` for at most `longest` a question.
    pub fn new(program: PathBuf, folder: PathBuf, longest: Duration) -> Solver {
        Solver {
            program,
            folder,
            longest,
            newest: AtomicU64::new(0),
            turn: Mutex::new(()),
            failed: AtomicBool::new(false),
        }
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
            let found = self.improve(record, &question.window, left).await;
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

    /// Says once that the program fails, and once that it works again.
    fn told(&self, found: Result<Option<Better>, SolverError>) -> Option<Better> {
        let failed = self.failed.swap(found.is_err(), Ordering::Relaxed);
        match &found {
            Err(error) if !failed => {
                let program = self.program.display();
                tracing::warn!(%program, %error, "the solver does not help; reservations are decided by the rule alone");
            }
            Ok(_) if failed => tracing::info!("the solver works again"),
            _ => {}
        }
        found.ok().flatten()
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
        let (record, window) = (record.clone(), *window);
        let prepared = tokio::task::spawn_blocking(move || Prepared::new(record, &window));
        let Some(prepared) = prepared.await?? else {
            return Ok(None);
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
    fn check(&self, text: &str) -> Result<Option<Better>, RunError> {
        let values = answer::read(text).ok_or(RunError::Garbage)?;
        let Some(values) = values else {
            return Ok(None);
        };
        let placements = self.model.placements(&self.input, &values);
        let hint = Hint::new(&self.record, &placements.ok_or(RunError::Garbage)?);
        match hint.take(&self.record, &self.input, &self.found) {
            Ok(better) => Ok(Some(Better {
                hint,
                worth: better.total,
            })),
            Err(refusal) => {
                tracing::debug!(%refusal, "what the solver found is no hint");
                Ok(None)
            }
        }
    }
}
