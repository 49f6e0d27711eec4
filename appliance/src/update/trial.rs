//! What the agent does about a new system, boot by boot.
//!
//! 1. The system that runs, held against the boot settings, says how things stand ([`standing`]).
//! 2. On trial, a system is taken once it has been as good as before for [`GOOD`] s: ready, or
//!    waiting for an invitation or draining on a machine that did so before the update.
//! 3. One that is not as good [`LIMIT`] s after the agent's start reboots, which takes one of its
//!    tries. One that just became good gets its time.
//! 4. A system that runs while the one on trial has been started already was started because that
//!    one did not become ready. It ends the trial, and the owner is told.
//! 5. A new system that still starts "next" in a later boot than the one that wrote it is left: the
//!    boot loader could not note its start, or did not read the settings. The owner is told.
//! 6. Damaged boot settings are made anew for the running system.

use super::env::{Env, EnvError, TRIES};
use super::record::{Record, Stage};
use super::slot::Slot;
use crate::state::{Fault, State};

/// So long a system on trial must be good, seconds.
pub const GOOD: u64 = 60;
/// When a system on trial that is not good reboots, seconds.
pub const LIMIT: u64 = 600;

/// What is known of the boot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Boot {
    /// The system that runs.
    pub running: Slot,
    /// The boot settings.
    pub env: Result<Env, EnvError>,
    /// The kernel's name of this boot; empty if it cannot be had.
    pub id: String,
}

/// How things stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// There is no trial.
    Settled,
    /// A new system starts at the next boot.
    Pending,
    /// It should have started at this boot, and the boot loader passed over it.
    PassedOver,
    /// The running system is on trial.
    OnTrial,
    /// The running system was started in the place of the one on trial.
    Left,
    /// The boot settings are damaged.
    Damaged,
}

/// What the agent is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Write these boot settings, and note the stage of the update if it changes.
    Set(Env, Option<Stage>),
    /// Reboot.
    Reboot,
}

/// How things stand, by the record of the last update if there is one.
pub fn standing(boot: &Boot, record: Option<&Record>) -> Standing {
    let Ok(env) = &boot.env else {
        return Standing::Damaged;
    };
    match env.trial {
        None => Standing::Settled,
        Some(trial) if trial == boot.running => Standing::OnTrial,
        Some(_) if env.tries != TRIES => Standing::Left,
        Some(_) if was_written_before(boot, record) => Standing::PassedOver,
        Some(_) => Standing::Pending,
    }
}

/// Whether the update was written in an earlier boot, as far as both are known.
fn was_written_before(boot: &Boot, record: Option<&Record>) -> bool {
    let written = record.map_or("", |record| record.boot.as_str());
    !written.is_empty() && !boot.id.is_empty() && written != boot.id
}

/// Whether a state is as good as the one before the update.
pub fn is_good(state: &State, record: Option<&Record>) -> bool {
    match state {
        State::Ready { .. } => true,
        State::Waiting { .. } | State::Draining { .. } => {
            record.is_some_and(|record| record.before == state.name())
        }
        State::Joining { .. } | State::Error { .. } => false,
    }
}

/// What to do at a time since the agent's start, with the state being good since a time.
pub fn next(boot: &Boot, record: Option<&Record>, good: Option<u64>, now: u64) -> Option<Next> {
    let only = Env::only(boot.running);
    match standing(boot, record) {
        Standing::Settled | Standing::Pending => None,
        Standing::Damaged => Some(Next::Set(only, None)),
        Standing::PassedOver => Some(Next::Set(only, Some(Stage::Unstarted))),
        Standing::Left => Some(Next::Set(only, Some(Stage::Left))),
        Standing::OnTrial => match good {
            Some(since) if now.saturating_sub(since) >= GOOD => {
                Some(Next::Set(only, Some(Stage::Committed)))
            }
            None if now >= LIMIT => Some(Next::Reboot),
            _ => None,
        },
    }
}

/// What the owner is told, by the running system of this version.
pub fn note(boot: Option<&Boot>, record: Option<&Record>, version: &str) -> Option<Fault> {
    let stands = boot.map(|boot| standing(boot, record));
    let stage = record.map(|record| record.stage);
    let (how, hint) = match (stands, stage) {
        (Some(Standing::PassedOver), _) | (_, Some(Stage::Unstarted)) => (
            "was not started by the boot loader",
            "it must be able to write to the first disk: see how that is attached",
        ),
        (Some(Standing::Left), _) | (_, Some(Stage::Left)) => ("did not become ready", ""),
        _ => return None,
    };
    let update = record.map_or("", |record| record.version.as_str());
    let gap = if update.is_empty() { "" } else { " " };
    let reason = format!("the update{gap}{update} {how} and was left; this is {version}");
    Some(Fault::new(reason, hint))
}

/// The update that starts next or is on trial: its version if that is known, else its slot.
pub fn pending(boot: Option<&Boot>, record: Option<&Record>) -> String {
    let Some(boot) = boot else {
        return String::new();
    };
    let trial = boot.env.as_ref().ok().and_then(|env| env.trial);
    match (standing(boot, record), trial) {
        (Standing::Pending | Standing::OnTrial, Some(slot)) => {
            let known = record.filter(|record| record.slot == slot.name());
            known.map_or_else(
                || format!("slot {}", slot.name()),
                |record| record.version.clone(),
            )
        }
        _ => String::new(),
    }
}
