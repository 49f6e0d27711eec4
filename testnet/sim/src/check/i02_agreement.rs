//! I2: equal block at equal height on all honest nodes, equal state root.
//!
//! 1. The first honest node to decide a height sets the block; everybody else must name the same.
//! 2. The header names the state root, so equal blocks whose nodes went on mean equal roots; a node whose
//!    state has another root than its tip's header is caught here too.

use super::{Check, Sight};
use crate::world::World;
use gridbay_protocol::ids::BlockId;
use std::collections::BTreeMap;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Agreement {
    decided: BTreeMap<u64, (usize, BlockId)>,
}

impl Check for Agreement {
    fn id(&self) -> &'static str {
        "I2"
    }
    fn see(&mut self, world: &World, sight: &Sight<'_>) -> Result<(), String> {
        let Sight::Decided {
            node,
            height,
            block,
        } = sight
        else {
            return Ok(());
        };
        if !world.machines[*node].is_honest() {
            return Ok(());
        }
        let (first, set) = *self.decided.entry(*height).or_insert((*node, *block));
        if set != *block {
            return Err(format!(
                "height {height}: node {first} has block {set}, node {node} has {block}"
            ));
        }
        let Some(core) = world.core(*node).filter(|c| c.state().height() == *height) else {
            return Ok(());
        };
        let read = core.host().block(*height).map_err(|e| e.to_string())?;
        let header = read
            .map(|d| d.block.header)
            .ok_or("a decided block is not there")?;
        if header.state_root != core.state().root() {
            return Err(format!(
                "node {node} has another state root than block {block} names"
            ));
        }
        Ok(())
    }
}
