//! I3: append-only: every head once shown is a prefix of every later head, provably.
//!
//! 1. In one life a node decides height after height, each once. In a later life it may begin
//!    lower, but shows the same blocks again.
//! 2. A block names its parent, and in `log_root` the log of all blocks before it; the root is
//!    computed here from the ids of the blocks shown. So a head that was shown cannot be missing
//!    below a later one.
//! 3. A node states no tip that it does not have, and none below one that it stated in the same
//!    life.

use super::{Check, Sight};
use crate::world::World;
use gridbay_core::effect::Effect;
use gridbay_host::message::HostMessage;
use gridbay_protocol::ids::{BlockId, Hash32};
use std::collections::BTreeMap;

/// Blocks between two computations of the log's root.
const LOG_BLOCKS: u64 = 25;

/// The heads that a node has shown.
#[derive(Debug, Default)]
struct Shown {
    /// Blocks by height, of all lives.
    blocks: BTreeMap<u64, BlockId>,
    /// The last one of this life.
    last: Option<u64>,
    /// The tip stated last in this life.
    tip: u64,
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct AppendOnly {
    nodes: BTreeMap<usize, Shown>,
    chain: Vec<BlockId>,
}

impl AppendOnly {
    fn decided(&mut self, node: usize, height: u64, block: BlockId) -> Result<(), String> {
        let shown = self.nodes.entry(node).or_default();
        if let Some(last) = shown.last.replace(height)
            && height != last + 1
        {
            return Err(format!("node {node} shows {height} after {last}"));
        }
        let before = *shown.blocks.entry(height).or_insert(block);
        if before != block {
            return Err(format!(
                "node {node} showed {before} at {height} and shows {block} now"
            ));
        }
        Ok(())
    }
    fn block(
        &mut self,
        height: u64,
        id: BlockId,
        parent: BlockId,
        log: Hash32,
    ) -> Result<(), String> {
        let tip = self.chain.last().copied().unwrap_or_default();
        if height != self.chain.len() as u64 + 1 || parent != tip {
            return Err(format!("block {id} of height {height} is not behind {tip}"));
        }
        if (height.is_multiple_of(LOG_BLOCKS) || height < 10) && log.0 != log_root(&self.chain) {
            return Err(format!(
                "block {id} of height {height} names another log than the blocks before it"
            ));
        }
        self.chain.push(id);
        Ok(())
    }
    fn stated(&mut self, node: usize, tip: u64, has: u64) -> Result<(), String> {
        let shown = self.nodes.entry(node).or_default();
        if tip > has || tip < shown.tip {
            let before = shown.tip;
            return Err(format!(
                "node {node} states tip {tip} after {before}, and has {has}"
            ));
        }
        shown.tip = tip;
        Ok(())
    }
}

/// Root of the log of these blocks, by the rules of an RFC 6962 log, in the plainest way.
fn log_root(blocks: &[BlockId]) -> [u8; 32] {
    let tagged = |tag: &str, parts: &[&[u8]]| {
        let mut hasher = blake3::Hasher::new();
        hasher.update(format!("gridbay/log/{tag}/v1\0").as_bytes());
        for part in parts {
            hasher.update(part);
        }
        *hasher.finalize().as_bytes()
    };
    let mut row: Vec<[u8; 32]> = blocks.iter().map(|b| tagged("leaf", &[&b.0])).collect();
    // Pairs are joined row by row; an odd one out moves up as it is, which cuts where RFC 6962
    // cuts.
    while row.len() > 1 {
        row = row
            .chunks(2)
            .map(|pair| match pair {
                [left, right] => tagged("node", &[left, right]),
                odd => odd[0],
            })
            .collect();
    }
    let tree = row.first().copied().unwrap_or_else(|| tagged("void", &[]));
    tagged("root", &[&(blocks.len() as u64).to_be_bytes(), &tree])
}

/// The tips that a node states.
fn statuses(effects: &[Effect]) -> impl Iterator<Item = u64> + '_ {
    // A message is a map of one entry; this is the beginning of a status.
    const STATUS: &[u8] = b"\xa1\x66status";
    effects.iter().filter_map(|effect| match effect {
        Effect::Broadcast { bytes } | Effect::Send { bytes, .. } if bytes.starts_with(STATUS) => {
            match HostMessage::decode(bytes) {
                Ok(HostMessage::Status(status)) => Some(status.tip),
                _ => None,
            }
        }
        _ => None,
    })
}

impl Check for AppendOnly {
    fn id(&self) -> &'static str {
        "I3"
    }
    fn see(&mut self, world: &World, sight: &Sight<'_>) -> Result<(), String> {
        let honest = |node: &usize| world.machines[*node].is_honest();
        match sight {
            Sight::Block(fact) => {
                let header = &fact.decided.block.header;
                self.block(fact.height, header.id(), header.parent, header.log_root)
            }
            Sight::Decided {
                node,
                height,
                block,
            } if honest(node) => self.decided(*node, *height, *block),
            Sight::Step { node, effects, .. } if honest(node) => {
                let has = world.core(*node).map_or(0, |c| c.state().height());
                statuses(effects).try_for_each(|tip| self.stated(*node, tip, has))
            }
            Sight::Up { node, fresh } => {
                let shown = self.nodes.entry(*node).or_default();
                (shown.last, shown.tip) = (None, 0);
                if *fresh {
                    shown.blocks.clear();
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(n: u8) -> BlockId {
        BlockId([n; 32])
    }

    #[test]
    fn gaps_returns_and_other_blocks_are_reported() {
        let mut check = AppendOnly::default();
        assert_eq!(check.decided(0, 1, block(1)), Ok(()));
        assert_eq!(check.decided(0, 2, block(2)), Ok(()));
        assert!(check.decided(0, 4, block(4)).is_err(), "a gap");
        check.nodes.entry(0).or_default().last = None;
        assert_eq!(check.decided(0, 2, block(2)), Ok(()), "a life later");
        assert!(check.decided(0, 3, block(9)).is_ok());
        check.nodes.entry(0).or_default().last = Some(2);
        assert!(check.decided(0, 3, block(3)).is_err(), "another branch");
    }

    #[test]
    fn tips_neither_boast_nor_fall() {
        let mut check = AppendOnly::default();
        assert_eq!(check.stated(0, 3, 3), Ok(()));
        assert!(check.stated(0, 5, 4).is_err());
        assert!(check.stated(0, 2, 4).is_err());
    }

    #[test]
    fn a_header_with_another_past_is_reported() {
        let root = |n: u8| Hash32(log_root(&(1..=n).map(block).collect::<Vec<_>>()));
        let fresh = |n: u8| AppendOnly {
            chain: (1..=n).map(block).collect(),
            ..AppendOnly::default()
        };
        assert_eq!(fresh(5).block(6, block(6), block(5), root(5)), Ok(()));
        assert!(fresh(5).block(6, block(6), block(4), root(5)).is_err());
        assert!(fresh(5).block(6, block(6), block(5), root(4)).is_err());
        assert!(fresh(5).block(7, block(6), block(5), root(5)).is_err());
    }
}
