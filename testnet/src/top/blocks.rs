//! The last blocks, and how many entries they carry in a second.

use gridbay_node::api::client::Client;
use gridbay_node::api::types::BlockInfo;
use std::collections::BTreeMap;

/// Blocks that are kept.
const KEPT: u64 = 60;

/// The last blocks that a node has told.
#[derive(Clone, Debug, Default)]
pub(super) struct Blocks(BTreeMap<u64, BlockInfo>);

impl Blocks {
    /// Asks a node for those that are not known yet. What it does not tell is asked again.
    pub(super) async fn follow(&mut self, client: &Client) {
        let Ok(head) = client.get::<BlockInfo>("/ledger/head").await else {
            return;
        };
        let newest = self.0.last_key_value().map_or(0, |(newest, _)| *newest);
        if head.height + KEPT < newest {
            // Another run of the same name.
            self.0.clear();
        }
        let first = head.height.saturating_sub(KEPT - 1).max(1);
        self.add(head.clone());
        for height in (first..head.height).rev() {
            if self.0.contains_key(&height) {
                continue;
            }
            match client.get(&format!("/ledger/blocks/{height}")).await {
                Ok(block) => self.add(block),
                Err(_) => return,
            }
        }
    }

    /// Keeps a block, and forgets those that are long past.
    fn add(&mut self, block: BlockInfo) {
        let height = block.height;
        self.0.insert(height, block);
        let newest = self.0.last_key_value().map_or(0, |(newest, _)| *newest);
        self.0.retain(|height, _| height + KEPT > newest);
    }

    /// Newest first, each with the milliseconds since the one before it.
    pub(super) fn newest_first(&self) -> impl Iterator<Item = (&BlockInfo, Option<u64>)> {
        let since = |block: &BlockInfo| {
            let former = self.0.get(&block.height.checked_sub(1)?)?;
            Some(block.time_ms.saturating_sub(former.time_ms))
        };
        self.0
            .values()
            .rev()
            .map(move |block| (block, since(block)))
    }

    /// Thousandths of blocks and of entries per second, over those kept; `None` before there are
    /// two.
    pub(super) fn rates(&self) -> Option<(u64, u64)> {
        let (first, last) = (self.0.values().next()?, self.0.values().next_back()?);
        let ms = last
            .time_ms
            .checked_sub(first.time_ms)
            .filter(|ms| *ms > 0)?;
        let entries = self
            .0
            .values()
            .skip(1)
            .map(|block| u64::from(block.entries));
        let per_second = |n: u64| n.saturating_mul(1_000_000) / ms;
        Some((
            per_second(last.height - first.height),
            per_second(entries.sum()),
        ))
    }

    /// Entries of each, oldest first.
    pub(super) fn entries(&self) -> Vec<u64> {
        self.0
            .values()
            .map(|block| u64::from(block.entries))
            .collect()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use serde_json::json;

    /// Blocks one after another, each with its time and its entries.
    pub(in super::super) fn blocks(all: &[(u64, u32)]) -> Blocks {
        let mut blocks = Blocks::default();
        for (height, (time_ms, entries)) in (1u64..).zip(all) {
            let id = "0a".repeat(32);
            let block = json!({
                "height": height, "block": id, "time_ms": time_ms, "proposer": id,
                "entries": entries, "state_root": id, "log_root": id, "header": "",
                "certificate": "",
            });
            blocks.add(serde_json::from_value(block).unwrap());
        }
        blocks
    }

    #[test]
    fn rates_are_those_of_the_blocks_kept() {
        assert_eq!(blocks(&[]).rates(), None);
        assert_eq!(blocks(&[(5_000, 9)]).rates(), None);
        assert_eq!(blocks(&[(5_000, 9), (5_000, 9)]).rates(), None);
        let three = blocks(&[(1_000, 9), (2_000, 4), (3_000, 1)]);
        assert_eq!(
            three.rates(),
            Some((1_000, 2_500)),
            "the first began earlier"
        );
        let since: Vec<_> = three.newest_first().map(|(_, since)| since).collect();
        assert_eq!(since, [Some(1_000), Some(1_000), None]);
        let many: Vec<(u64, u32)> = (0..100).map(|n| (n * 500, 1)).collect();
        let many = blocks(&many);
        assert_eq!(many.entries().len(), KEPT as usize);
        assert_eq!(many.rates(), Some((2_000, 2_000)));
    }
}
