//! I2: equal block at equal height on all honest nodes, equal state root.
//!
//! 1. The first honest node to decide a height sets the block; everybody else must name the same.
//! 2. The block's header names the state root; every node that stands at that height must have it.

use super::{Check, Sight};
use crate::world::World;
use gridbay_protocol::ids::{BlockId, Hash32};
use std::collections::BTreeMap;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Agreement {
    decided: BTreeMap<u64, (usize, BlockId, Hash32)>,
}

impl Agreement {
    /// Whether a node may have this block, and after it this root, at a height.
    fn agrees(
        &self,
        node: usize,
        height: u64,
        block: BlockId,
        root: Option<Hash32>,
    ) -> Result<(), String> {
        let Some((first, set, set_root)) = self.decided.get(&height) else {
            return Err(format!("node {node} decided height {height} unseen"));
        };
        if *set != block {
            return Err(format!(
                "height {height}: node {first} has block {set}, node {node} has {block}"
            ));
        }
        if root.is_some_and(|root| root != *set_root) {
            return Err(format!(
                "node {node} has another state root than block {block} names"
            ));
        }
        Ok(())
    }
}

impl Check for Agreement {
    fn id(&self) -> &'static str {
        "I2"
    }
    fn see(&mut self, world: &World, sight: &Sight<'_>) -> Result<(), String> {
        match sight {
            Sight::Block(fact) => {
                let header = &fact.decided.block.header;
                let set = (fact.node, header.id(), header.state_root);
                self.decided.entry(fact.height).or_insert(set);
                Ok(())
            }
            Sight::Decided {
                node,
                height,
                block,
            } if world.machines[*node].is_honest() => {
                let core = world.core(*node).filter(|c| c.state().height() == *height);
                let root = core.map(|core| core.state().root());
                self.agrees(*node, *height, *block, root)
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_block_or_another_root_is_reported() {
        let (block, root) = (BlockId([1; 32]), Hash32([2; 32]));
        let mut check = Agreement::default();
        check.decided.insert(7, (0, block, root));
        assert_eq!(check.agrees(1, 7, block, Some(root)), Ok(()));
        assert!(check.agrees(1, 7, BlockId([9; 32]), None).is_err());
        assert!(check.agrees(1, 7, block, Some(Hash32([9; 32]))).is_err());
        assert!(check.agrees(1, 8, block, None).is_err());
    }
}
