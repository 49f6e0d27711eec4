//! Updates that lie on disks, or that the owner handed over: step 12.
//!
//! 1. Nothing is taken while an update waits for its trial or is on trial, nor by a machine that
//!    drains, or whose data partition takes no record of it.
//! 2. The newest of those that count is checked and written. One that fails is not tried again for
//!    as long as it lies there, or until the agent starts anew. No reboot comes of it.
//! 3. What the owner handed over goes once it was taken or refused. The reason stays until the
//!    owner hands over something else.
//! 4. Once the update is written, the node drains, and the machine reboots when no lease runs any
//!    more, or after [`DRAIN`] s.

use super::memory::Memory;
use crate::action::{Action, Kind};
use crate::node::Failure;
use crate::seen::{Data, Seen};
use crate::state::Fault;
use crate::update::offered::{Judged, Offered, Origin, judge};
use crate::update::trial::{Standing, standing};
use std::collections::BTreeMap;

/// For leases to end before the reboot, seconds.
pub(super) const DRAIN: u64 = 120;

/// The memory of updates.
#[derive(Clone, Default)]
pub(super) struct Updates {
    /// The update asked for last: where it lies, and its id.
    asked: Option<(Origin, String)>,
    /// What failed, by where it lies, with its id.
    failed: BTreeMap<Origin, (String, Fault)>,
    /// Why the owner's last one was refused.
    handed: Option<Fault>,
    /// Since when an update waits for the reboot.
    waits: Option<u64>,
    /// The notes on all that.
    pub(super) notes: Vec<Fault>,
}

impl Updates {
    /// Takes in what became of the update that was asked for.
    pub(super) fn learn(&mut self, result: &Result<(), Failure>) {
        let Some((origin, id)) = self.asked.take() else {
            return;
        };
        let Err(failure) = result else {
            (self.handed, self.failed) = (None, BTreeMap::new());
            return;
        };
        let fault = Fault::new(failure.why.clone(), failure.next.clone());
        if origin == Origin::Owner {
            self.handed = Some(fault.clone());
        }
        self.failed.insert(origin, (id, fault));
    }
    /// What failed and is gone may come again.
    fn forget(&mut self, offered: &[Offered]) {
        self.failed.retain(|origin, (id, _)| {
            let same = |one: &Offered| one.origin == *origin && one.id == *id;
            offered.iter().any(same)
        });
    }
    fn judge(&self, offered: &Offered, seen: &Seen) -> Judged {
        if let Some((_, fault)) = self.failed.get(&offered.origin) {
            return Judged::Refuse(fault.clone());
        }
        match judge(offered, &seen.image, seen.update.as_ref()) {
            Judged::Take if seen.boot.is_none() => Judged::Refuse(Fault::new(
                "the boot loader did not start this system, or its settings cannot be read",
                "start the machine from its own disk",
            )),
            judged => judged,
        }
    }
}

/// The next actions on updates.
pub(super) fn actions(memory: &mut Memory, seen: &Seen, now: u64) -> Vec<Action> {
    memory.updates.notes.clear();
    let by_agent = seen.update.as_ref().is_some_and(|one| one.by_agent);
    let boot = seen.boot.as_ref();
    let stands = boot.map(|boot| standing(boot, seen.update.as_ref()));
    let asked = match (&seen.data, stands) {
        (Data::Mounted { .. }, None | Some(Standing::Settled)) if !seen.drain_asked => {
            memory.updates.waits = None;
            settled(memory, seen, now)
        }
        (_, Some(Standing::Pending)) if by_agent => pending(memory, seen, now),
        _ => None,
    };
    let handed = memory.updates.handed.as_ref();
    let told = handed.map(|fault| told(&Origin::Owner, fault));
    memory.updates.notes.extend(told);
    asked.into_iter().collect()
}

fn settled(memory: &mut Memory, seen: &Seen, now: u64) -> Option<Action> {
    memory.updates.forget(&seen.offered);
    let mut best: Option<&Offered> = None;
    let mut drops = false;
    for offered in &seen.offered {
        let handed = offered.origin == Origin::Owner;
        match memory.updates.judge(offered, seen) {
            Judged::Pass => {}
            Judged::Take => {
                if handed {
                    memory.updates.handed = None;
                }
                if built(offered) > best.map_or(0, built) {
                    best = Some(offered);
                }
            }
            Judged::Refuse(fault) if handed => {
                memory.updates.handed = Some(fault);
                drops = true;
            }
            Judged::Refuse(fault) => memory.updates.notes.push(told(&offered.origin, &fault)),
        }
    }
    if !drops {
        memory.tries.settled(Kind::DropUpdate);
    } else if memory.tries.due(Kind::DropUpdate, "", now) {
        return Some(Action::DropUpdate);
    }
    let Some(best) = best else {
        memory.tries.settled(Kind::TakeUpdate);
        return None;
    };
    let version = best.manifest.as_ref().map_or("", |update| &update.version);
    let note = format!(
        "the update {version} {} is checked and written",
        best.origin
    );
    memory.updates.notes.push(Fault::new(note, ""));
    let subject = format!("{:?} {}", best.origin, best.id);
    if !memory.tries.due(Kind::TakeUpdate, &subject, now) {
        return None;
    }
    memory.updates.asked = Some((best.origin.clone(), best.id.clone()));
    Some(Action::TakeUpdate(best.origin.clone(), best.id.clone()))
}

fn built(offered: &Offered) -> u64 {
    offered.manifest.as_ref().map_or(0, |update| update.built)
}

/// Drains, then reboots.
fn pending(memory: &mut Memory, seen: &Seen, now: u64) -> Option<Action> {
    let since = *memory.updates.waits.get_or_insert(now);
    if !seen.drain_asked {
        let due = memory.tries.due(Kind::Drain, "", now);
        return due.then_some(Action::Drain);
    }
    let over = match &seen.node {
        Some(node) => node.units_leased == 0 && node.jobs_hosted == 0,
        None => seen.unit.active != "active",
    };
    if !over && now.saturating_sub(since) < DRAIN {
        return None;
    }
    let due = memory.tries.due(Kind::Reboot, "update", now);
    due.then_some(Action::Reboot)
}

fn told(origin: &Origin, fault: &Fault) -> Fault {
    Fault::new(
        format!("the update {origin} is not taken: {}", fault.reason),
        fault.hint.clone(),
    )
}
