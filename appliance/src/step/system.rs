//! The system on trial: step 11.

use super::memory::Memory;
use crate::action::{Action, Kind};
use crate::seen::Seen;
use crate::state::State;
use crate::update::trial::{self, Next};

/// What is to be done about it, unless that was tried a moment ago.
pub(super) fn action(memory: &mut Memory, seen: &Seen, state: &State, now: u64) -> Option<Action> {
    let good = trial::is_good(state, seen.update.as_ref());
    memory.good = good.then(|| memory.good.unwrap_or(now));
    let boot = seen.boot.as_ref()?;
    let Some(next) = trial::next(boot, seen.update.as_ref(), memory.good, now) else {
        memory.tries.settled(Kind::Boot);
        return None;
    };
    let (kind, action) = match next {
        Next::Set(env, stage) => (Kind::Boot, Action::SetBoot(env, stage)),
        Next::Reboot => (Kind::Reboot, Action::Reboot),
    };
    let subject = format!("{next:?}");
    memory.tries.due(kind, &subject, now).then_some(action)
}
