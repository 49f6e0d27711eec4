//! I13: after a crash the state is the state before, less an unacknowledged suffix.
//!
//! When a process starts again on its old disk, the checker looks at it before its first step:
//!
//! 1. it has every block that it reported as decided;
//! 2. if the checkers know its height, its tip is their block, and its state has that block's root;
//! 3. every order whose record was saved is there, no older than its record.
//!
//! The world itself watches that no process ends by itself or fails to start.

use super::{Check, Sight};
use crate::world::World;
use gridbay_core::buyer::Record;
use gridbay_protocol::ids::{BlockId, Hash32};
use std::collections::BTreeMap;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Recovery {
    /// The last height that each node reported as decided.
    said: BTreeMap<usize, u64>,
    /// Block and state root by height.
    chain: BTreeMap<u64, (BlockId, Hash32)>,
}

impl Recovery {
    /// Steps 1 and 2 for a node that stands at a tip.
    fn stands(&self, node: usize, tip: u64, block: BlockId, root: Hash32) -> Result<(), String> {
        let said = self.said.get(&node).copied().unwrap_or(0);
        if tip < said {
            return Err(format!(
                "node {node} said that {said} was decided, and comes back at {tip}"
            ));
        }
        match self.chain.get(&tip) {
            Some(known) if *known != (block, root) => Err(format!(
                "node {node} comes back at {tip} with {block} and root {root}, not {known:?}"
            )),
            _ => Ok(()),
        }
    }
}

/// Step 3.
fn has_orders(world: &World, node: usize) -> Result<(), String> {
    let Some(core) = world.core(node) else {
        return Ok(());
    };
    for (key, bytes) in &world.machines[node].shelf.records {
        let saved = Record::decode(bytes).map_err(|e| format!("record {key}: {e}"))?;
        let agent = core.buyer().order(key);
        let agent = agent.ok_or(format!("node {node} lost its order {key}"))?;
        remembers(&saved, &agent.record()).map_err(|e| format!("node {node}, order {key}: {e}"))?;
    }
    Ok(())
}

/// Compares the parts of a record that must survive: all but the runs under way, which are asked
/// for anew.
fn remembers(saved: &Record, has: &Record) -> Result<(), &'static str> {
    if (saved.attempt, &saved.wish) != (has.attempt, &has.wish) {
        return Err("another attempt");
    }
    if saved.order != has.order || saved.finish != has.finish || saved.paid != has.paid {
        return Err("another order");
    }
    let done = |record: &Record| record.tasks.iter().map(|t| t.done).collect::<Vec<_>>();
    if done(saved) != done(has) {
        return Err("a task that was done is not");
    }
    Ok(())
}

impl Check for Recovery {
    fn id(&self) -> &'static str {
        "I13"
    }
    fn see(&mut self, world: &World, sight: &Sight<'_>) -> Result<(), String> {
        match sight {
            Sight::Block(fact) => {
                let header = &fact.decided.block.header;
                let known = (header.id(), header.state_root);
                self.chain.insert(fact.height, known);
                Ok(())
            }
            Sight::Decided { node, height, .. } => {
                self.said.insert(*node, *height);
                Ok(())
            }
            Sight::Up { node, fresh: true } => {
                self.said.remove(node);
                Ok(())
            }
            Sight::Up { node, fresh: false } => {
                let Some(core) = world.core(*node) else {
                    return Ok(());
                };
                let state = core.state();
                if state.height() > 0 {
                    self.stands(*node, state.height(), state.tip(), state.root())?;
                } else {
                    self.stands(*node, 0, BlockId::default(), Hash32::default())?;
                }
                has_orders(world, *node)
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_core::buy::{BuyTerms, NewOrder, Relaying, Terms};
    use gridbay_core::key::OrderKey;
    use gridbay_protocol::ids::ClassId;
    use gridbay_protocol::job::{JobExit, JobSpec};
    use gridbay_protocol::order::BuyPart;
    use gridbay_protocol::units::Credits;

    #[test]
    fn a_lost_block_and_another_state_are_reported() {
        let (block, root) = (BlockId([1; 32]), Hash32([2; 32]));
        let mut check = Recovery::default();
        check.said.insert(0, 7);
        check.chain.insert(7, (block, root));
        assert_eq!(check.stands(0, 7, block, root), Ok(()));
        assert_eq!(check.stands(0, 8, block, root), Ok(()), "nobody else knows");
        assert!(check.stands(0, 6, block, root).is_err());
        assert!(check.stands(0, 7, BlockId([9; 32]), root).is_err());
        assert!(check.stands(0, 7, block, Hash32([9; 32])).is_err());
    }

    #[test]
    fn a_record_that_fell_back_is_reported() {
        let order = NewOrder {
            worth: None,
            relay: Relaying::Free,
            request: None,
            key: OrderKey(1),
            entropy: [1; 32],
            name: String::new(),
            accepted_ms: 0,
            class: ClassId([1; 32]),
            terms: Terms::Buy(BuyTerms {
                parts: vec![BuyPart::anywhere(ClassId([1; 32]), 1)],
                limit: Credits::MAX,
                patience: 0,
                surcharge: Credits::ZERO,
            }),
            slots: 1,
            tasks: 1,
            spec: JobSpec {
                argv: vec![],
                env: vec![],
                inputs: vec![],
                outputs: vec![],
                wall_seconds: 1,
                network: false,
                internet: false,
                checkpoint: None,
            },
        };
        let has = Record::new(order);
        assert_eq!(remembers(&has, &has), Ok(()));
        let mut further = has.clone();
        further.attempt = 1;
        assert!(remembers(&further, &has).is_err());
        let mut done = has.clone();
        done.tasks[0].done = Some(JobExit::Code(0));
        assert!(remembers(&done, &has).is_err());
    }
}
