//! I20: an attempt that goes on does so from the last checkpoint that its buyer kept, and that is
//! one that a seller of this very task had shown.
//!
//! 1. The checkpoint of a task is the one that its buyer's node was last told to keep; after a
//!    restart, the one that its record on disk names.
//! 2. Every start that the buyer's node signs names it, or none if there is none.
//! 3. The world showed it for an attempt at the same task of the same order.

use super::{Check, Sight};
use crate::world::World;
use gridbay_core::agent::{AgentRequest, RunId, Start};
use gridbay_core::buyer::Record;
use gridbay_core::effect::Effect;
use gridbay_core::key::OrderKey;
use gridbay_protocol::ids::ContentId;
use std::collections::{BTreeMap, BTreeSet};

type Task = (usize, OrderKey, u32);

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    kept: BTreeMap<Task, ContentId>,
    runs: BTreeMap<Task, BTreeSet<RunId>>,
}

impl Progress {
    /// Steps 2 and 3. `shown` is the run that had made the checkpoint.
    fn starts(&mut self, task: Task, start: &Start, shown: Option<RunId>) -> Result<(), String> {
        let named = start.resume.map(|from| from.manifest);
        let kept = self.kept.get(&task).copied();
        if named != kept {
            return Err(format!(
                "{} goes on from {named:?}, not {kept:?}",
                start.job
            ));
        }
        let runs = self.runs.entry(task).or_default();
        let foreign = named.is_some() && shown.is_none_or(|job| !runs.contains(&job));
        runs.insert(start.job);
        match foreign {
            true => Err(format!(
                "{} goes on from another task's {shown:?}",
                start.job
            )),
            false => Ok(()),
        }
    }

    /// Step 1.
    fn effect(&mut self, world: &World, node: usize, effect: &Effect) -> Result<(), String> {
        match effect {
            Effect::KeepCheckpoint { order, task, keep } => {
                let task = (node, *order, *task);
                match keep {
                    Some(keep) => self.kept.insert(task, keep.manifest),
                    None => self.kept.remove(&task),
                };
                Ok(())
            }
            Effect::Ask {
                request: AgentRequest::Start(signed),
                ..
            } => {
                let start = &signed.start;
                let Some(order) = order_of(world, node, start) else {
                    return Ok(());
                };
                let shown = start
                    .resume
                    .and_then(|from| world.shows.get(&from.manifest));
                let shown = shown.map(|shown| shown.job);
                self.starts((node, order, start.job.task), start, shown)
            }
            _ => Ok(()),
        }
    }

    /// Step 1 after a restart.
    fn read(&mut self, node: usize, records: &BTreeMap<OrderKey, Vec<u8>>) -> Result<(), String> {
        self.kept.retain(|(of, ..), _| *of != node);
        for (key, bytes) in records {
            let record = Record::decode(bytes).map_err(|e| format!("record {key}: {e}"))?;
            for (task, record) in (0..).zip(&record.tasks) {
                if let Some(kept) = record.history.checkpoint {
                    self.kept.insert((node, *key, task), kept.snapshot.manifest);
                }
            }
        }
        Ok(())
    }
}

/// The order behind a start: the one that has this salt for the task.
fn order_of(world: &World, node: usize, start: &Start) -> Option<OrderKey> {
    let mut orders = world.core(node)?.buyer().orders();
    let is_meant = |agent: &gridbay_core::buyer::order::OrderAgent| {
        agent.order().task_salt(start.job.task) == start.salt
    };
    orders.find_map(|(key, agent)| is_meant(agent).then_some(*key))
}

impl Check for Progress {
    fn id(&self) -> &'static str {
        "I20"
    }
    fn see(&mut self, world: &World, sight: &Sight<'_>) -> Result<(), String> {
        if !world.plan.progress {
            return Ok(());
        }
        match sight {
            Sight::Step { node, effects, .. } if world.machines[*node].is_honest() => {
                let mut effects = effects.iter();
                effects.try_for_each(|effect| self.effect(world, *node, effect))
            }
            Sight::Up { node, .. } => self.read(*node, &world.machines[*node].shelf.records),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::checkpoint::Snapshot;
    use gridbay_protocol::ids::{LeaseId, OfferId};
    use gridbay_protocol::job::JobSpec;
    use gridbay_protocol::keys::SecretKey;

    fn start(attempt: u32, from: Option<u8>) -> Start {
        let resume = from.map(|n| Snapshot {
            manifest: ContentId([n; 32]),
            manifest_bytes: 1,
            files: 1,
            bytes: 1,
        });
        Start {
            job: RunId {
                lease: LeaseId([7; 32]),
                task: 0,
                attempt,
            },
            offer: OfferId([1; 32]),
            tasks: 1,
            spec: JobSpec {
                argv: vec!["sleep".into(), "1".into()],
                env: vec![],
                inputs: vec![],
                outputs: vec![],
                wall_seconds: 1,
                network: false,
                internet: false,
                checkpoint: None,
            },
            salt: [0; 32],
            key: SecretKey::from_seed(&[1; 32]).public(),
            resume,
        }
    }

    #[test]
    fn progress_that_is_lost_or_another_tasks_is_reported() {
        let task = (4, OrderKey(1), 0);
        let (first, other) = (start(0, None), start(9, None).job);
        let mut check = Progress::default();
        assert_eq!(check.starts(task, &first, None), Ok(()));
        assert!(
            check
                .starts(task, &start(1, Some(5)), Some(first.job))
                .is_err()
        );
        check.kept.insert(task, ContentId([5; 32]));
        assert_eq!(
            check.starts(task, &start(1, Some(5)), Some(first.job)),
            Ok(())
        );
        assert!(
            check.starts(task, &start(2, None), None).is_err(),
            "at zero"
        );
        let old = start(2, Some(4));
        assert!(
            check.starts(task, &old, Some(first.job)).is_err(),
            "an old one"
        );
        let stolen = start(2, Some(5));
        assert!(check.starts(task, &stolen, Some(other)).is_err());
        assert!(check.starts(task, &stolen, None).is_err(), "made up");
    }
}
