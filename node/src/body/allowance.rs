//! A job's allowance of its unit: the class's slice, or in a pool each task's part of the claim's
//! portion.
//!
//! | | outside pools | in a pool |
//! |---|---|---|
//! | memory, of the whole job | the slice's | the task's part of the portion's sixteenths; the slice's on units sold in the auction |
//! | processor time | wall time x the slice's processors | the same |
//! | processors at a time, where the node has control groups | the slice's | the same |
//! | weight, where the node has control groups | a slice's | the task's part of the portion's processors, in thousandths of a slice |
//! | nice level | the node's own | `UNIT_LEVEL` for one slice's worth, one less for each quarter more, one more for each fifth less |
//! | disk: the work directory and `/tmp` | the slice's | the task's part, as of memory |
//!
//! Any job may hold [`DISK_MIB`]. Accelerators are counted by units.

use crate::executor::Limits;
use gridbay_core::agent::RunId;
use gridbay_ledger::State;
use gridbay_protocol::class::{ClassKey, DISK_MIB, Isolation, Resource};
use gridbay_protocol::ids::OfferId;
use gridbay_protocol::job::JobSpec;
use gridbay_protocol::offer::Primary;
use gridbay_protocol::record::share::Portion;
use std::time::Duration;

/// Nice levels, above the node's own, of a pool's task that weighs one slice: leaves room for
/// heavier ones.
const UNIT_LEVEL: u8 = 4;
/// The highest nice level.
const LAST_LEVEL: u8 = 19;
/// Thousandths of a slice that one is.
const ONE: u64 = 1_000;

/// The most that a task weighs, in thousandths of a slice.
const MOST: u64 = 1_000_000;

/// Bounds of one job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// Processors.
    pub vcpu: u32,
    /// Memory in MiB.
    pub memory_mib: u64,
    /// Disk in MiB.
    pub disk_mib: u64,
    /// Nice levels above the node's own.
    pub nice: u8,
    /// Weight in thousandths of a slice, at least 1.
    pub weight: u32,
    /// The promise of the class.
    pub isolation: Isolation,
}

impl Allowance {
    /// That of a run on a unit of an offer, by the ledger; `None` if the ledger does not know the
    /// offer.
    pub(super) fn of(state: &State, job: &RunId, offer: &OfferId) -> Option<Allowance> {
        let terms = &state.offer(offer)?.terms;
        let class = &state.class(&terms.class)?.key;
        let order = state.lease(&job.lease).and_then(|l| state.order(&l.order));
        let share = order.and_then(|o| o.share());
        Some(
            match (share.and_then(|s| s.portion.as_ref()), terms.mechanism) {
                (Some(portion), _) => Allowance::of_portion(class, portion),
                (None, Primary::Share(_)) => Allowance::of_slice(class, level(ONE)),
                (None, _) => Allowance::of_slice(class, 0),
            },
        )
    }
    fn of_slice(class: &ClassKey, nice: u8) -> Allowance {
        Allowance {
            vcpu: class.vcpu,
            memory_mib: class.memory_mib,
            disk_mib: class.disk_mib,
            nice,
            weight: ONE as u32,
            isolation: class.isolation,
        }
    }
    fn of_portion(class: &ClassKey, portion: &Portion) -> Allowance {
        Allowance {
            vcpu: class.vcpu,
            memory_mib: portion.per_task(class, Resource::Memory),
            disk_mib: portion.per_task(class, Resource::Disk),
            nice: level(portion.weight()),
            weight: portion.weight().clamp(1, MOST) as u32,
            isolation: class.isolation,
        }
    }
}

/// The nice level of a task that weighs so many thousandths of a slice: the kernel's weights change
/// by a quarter with each level.
fn level(weight: u64) -> u8 {
    let (mut level, mut at) = (UNIT_LEVEL, ONE);
    while level > 0 && weight >= at * 5 / 4 {
        at = at * 5 / 4;
        level -= 1;
    }
    while level < LAST_LEVEL && weight <= at * 4 / 5 {
        at = at * 4 / 5;
        level += 1;
    }
    level
}

/// The limits of a job: its own time, its part of the unit.
pub(super) fn limits(spec: &JobSpec, allowance: Option<Allowance>) -> Limits {
    let mut limits = Limits {
        wall: Duration::from_secs(u64::from(spec.wall_seconds)),
        disk_bytes: disk_bytes(allowance),
        ..Limits::default()
    };
    if let Some(allowed) = allowance {
        limits.memory_bytes = allowed.memory_mib.clamp(16, 1 << 24) << 20;
        limits.cpu_seconds = u64::from(spec.wall_seconds) * u64::from(allowed.vcpu.max(1)) + 1;
        limits.processors = allowed.vcpu.max(1);
        // The kernel stops a job that writes it all into one file. Shared memory counts as a file
        // there.
        limits.file_bytes = limits.disk_bytes.max(limits.memory_bytes);
        limits.nice = allowed.nice;
        limits.weight = allowed.weight;
    }
    limits
}

/// Bytes that a job with this allowance may hold on the disk.
pub(super) fn disk_bytes(allowance: Option<Allowance>) -> u64 {
    allowance.map_or_else(
        || Limits::default().disk_bytes,
        |allowed| allowed.disk_mib.clamp(DISK_MIB, 1 << 24) << 20,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_follow_the_weight() {
        let levels = [5_000, 2_500, 1_600, 1_250, 1_000, 800, 640, 500, 10, 0].map(level);
        assert_eq!(levels, [0, 0, 2, 3, 4, 5, 6, 7, 19, 19]);
    }

    #[test]
    fn a_portion_bounds_each_of_its_tasks() {
        let class = ClassKey {
            vcpu: 2,
            memory_mib: 1_024,
            disk_mib: 0,
            gpu: 0,
            isolation: Isolation::Process,
            circle: "members".into(),
        };
        let portion = |units, processors, part| Portion {
            units,
            processors,
            parts: vec![part],
        };
        let bounds = |p: Portion| {
            let allowed = Allowance::of_portion(&class, &p);
            (allowed.memory_mib, allowed.nice, allowed.weight)
        };
        // A fifth more memory than a slice for each of two tasks, a quarter more of the processors.
        assert_eq!(bounds(portion(2, 2_500, 36)), (1_216, 3, 1_250));
        assert_eq!(bounds(portion(3, 2_500, 0)), (64, 4, 833));
        // A claim that is drawn for a third of a unit has all of it for the slot.
        assert_eq!(bounds(portion(1, 333, 15)), (1_024, 4, 1_000));
    }
}
