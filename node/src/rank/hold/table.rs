//! The programs of this rank.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use gridbay_protocol::keys::PublicKey;
use nix::sys::signal::Signal;

use super::keys::{Keys, Who};
use super::processes;
use super::room::has_room;
use super::session::Session;
use crate::rank::order::{GRACE, Id, KEEP, Program, Refusal, Start, Why};

/// Programs at a time.
const PROGRAMS: usize = 32;

/// The programs.
#[derive(Default)]
pub(super) struct Table(Mutex<State>);

#[derive(Default)]
struct State {
    programs: BTreeMap<u32, Arc<Session>>,
    /// Counts them.
    last: u32,
}

impl Table {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a program; the one that an earlier order of the same number started, if it did.
    /// A key that does not count any more starts none.
    pub(super) fn begin(
        self: &Arc<Self>,
        order: Start,
        by: Who,
        keys: &Keys,
    ) -> Result<Arc<Session>, Refusal> {
        let mut state = self.lock();
        // Looked up while no program of a key can be missed by its end (`end_all_of`).
        keys.find(&by.key).ok_or_else(not_yours)?;
        if let Some(known) = state.programs.values().find(|s| s.id == order.session) {
            let own = by.may(&known.by.key).then(|| Arc::clone(known));
            return own.ok_or_else(not_yours);
        }
        if !has_room(state.programs.values().map(|s| &s.by), &by, PROGRAMS) {
            let why = "as many programs run on this rank as may";
            return Err(Refusal::new(Why::Busy, why));
        }
        state.last = state.last.wrapping_add(1);
        let (number, table) = (state.last, Arc::clone(self));
        let begun = Session::new(order, by, number, move |number| table.remove(number));
        let session = begun.map_err(|e| Refusal::failed(&e))?;
        state.programs.insert(number, Arc::clone(&session));
        Ok(session)
    }

    fn remove(&self, number: u32) {
        self.lock().programs.remove(&number);
    }

    /// A program whose asker comes back.
    pub(super) fn of(&self, id: &Id, by: &Who) -> Result<Arc<Session>, Refusal> {
        let state = self.lock();
        let found = state.programs.values().find(|s| s.id == *id);
        let found = found.ok_or_else(|| {
            Refusal::new(Why::NotFound, "the program is gone, and its output with it")
        })?;
        let own = by.may(&found.by.key).then(|| Arc::clone(found));
        own.ok_or_else(not_yours)
    }

    /// All of them.
    pub(super) fn list(&self) -> Vec<Program> {
        let (all, state) = (processes::all(), self.lock());
        let programs = state.programs.values().filter(|s| !s.is_over());
        programs.map(|session| session.shown(&all)).collect()
    }

    /// Ends a program, or all that the asker may end, and waits until they are gone: how many.
    pub(super) fn stop(&self, number: Option<u32>, grace: u32, by: &Who) -> Result<u32, Refusal> {
        if grace > GRACE {
            let why = format!("a grace has at most {GRACE} seconds");
            return Err(Refusal::new(Why::Invalid, why));
        }
        let state = self.lock();
        let meant: Vec<Arc<Session>> = match number {
            None => {
                let own = state.programs.values().filter(|s| by.may(&s.by.key));
                own.cloned().collect()
            }
            Some(number) => {
                let found = state.programs.get(&number).cloned();
                let none = || Refusal::new(Why::NotFound, format!("there is no program {number}"));
                let found = found.ok_or_else(none)?;
                if !by.may(&found.by.key) {
                    return Err(not_yours());
                }
                vec![found]
            }
        };
        drop(state);
        // Those that are over wait for somebody to read their output: no longer.
        let (over, meant): (Vec<_>, Vec<_>) = meant.into_iter().partition(|s| s.is_over());
        over.iter().for_each(|session| session.forget());
        end(&meant, Duration::from_secs(grace.into()));
        Ok(u32::try_from(meant.len()).unwrap_or(u32::MAX))
    }

    /// Ends what a key began that counts no longer.
    pub(super) fn end_all_of(&self, key: &PublicKey) {
        let state = self.lock();
        let own: Vec<_> = state
            .programs
            .values()
            .filter(|s| s.by.key == *key)
            .cloned()
            .collect();
        drop(state);
        own.iter().for_each(|session| session.forget());
    }

    /// Ends programs that nobody came back to.
    pub(super) fn sweep(&self) {
        let lost = |s: &&Arc<Session>| s.alone().is_some_and(|time| time > KEEP);
        let lost: Vec<_> = self
            .lock()
            .programs
            .values()
            .filter(lost)
            .cloned()
            .collect();
        lost.iter().for_each(|session| session.forget());
    }
}

fn not_yours() -> Refusal {
    Refusal::new(Why::Forbidden, "somebody else started that program")
}

/// The polite word, a while, and the last one.
fn end(meant: &[Arc<Session>], grace: Duration) {
    for session in meant {
        session.signal(Signal::SIGTERM);
        session.signal(Signal::SIGCONT);
    }
    let deadline = Instant::now() + grace;
    while Instant::now() < deadline && !meant.iter().all(|session| session.is_over()) {
        thread::sleep(Duration::from_millis(20));
    }
    meant.iter().for_each(|session| session.end());
}
