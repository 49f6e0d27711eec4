//! Blocks: their headers, and their effects.

use super::types::{BlockInfo, SignedHeader};
use crate::api::Answer;
use crate::api::types::Hex;
use crate::auction::EFFECT_BYTES;
use crate::backend::NodeBackend;
use crate::backend::failure::{internal, not_found};
use gridbay_core::Core;
use gridbay_host::message::DecidedBlock;
use gridbay_protocol::codec;
use gridbay_protocol::effect::Effect;
use gridbay_protocol::ids::Hash32;

/// Blocks read in one look at the core.
const BLOCKS: usize = 8;

impl NodeBackend {
    /// The last block.
    pub async fn head(&self) -> Answer<BlockInfo> {
        let height = self.query(|core| core.state().height()).await?;
        self.block(height).await
    }

    /// A block by height.
    pub async fn block(&self, height: u64) -> Answer<BlockInfo> {
        let decided = self.query(move |core| read_block(core, height)).await??;
        let header = &decided.block.header;
        Ok(BlockInfo {
            height,
            block: header.id(),
            time_ms: header.time_ms,
            proposer: header.proposer,
            entries: u32::try_from(decided.block.entries.len()).unwrap_or(u32::MAX),
            state_root: header.state_root,
            log_root: header.log_root,
            header: Hex(codec::encode(header)),
            certificate: Hex(codec::encode(&decided.certificate)),
        })
    }

    /// The effects of a block, in order.
    pub async fn effects(&self, height: u64) -> Answer<Vec<Effect>> {
        let looked = self.query(move |core| {
            let head = core.state().height();
            (head, core.host().effect_bytes(height))
        });
        let (head, bytes) = looked.await?;
        if height == 0 || height > head {
            let why = format!("no block {height}");
            return Err(not_found(why, "see gridbay node status"));
        }
        decode(&bytes).ok_or_else(|| internal("reading effects", "damaged index"))
    }

    /// At most `limit` headers from a height on, ascending.
    pub async fn headers(&self, from: u64, limit: usize) -> Answer<Vec<SignedHeader>> {
        let (tip, set) = self
            .query(|core| (core.state().height(), core.state().validators().clone()))
            .await?;
        let from = from.max(1);
        let end = tip.min(from.saturating_add(limit as u64).saturating_sub(1));
        // The block before the first one tells whether the validators changed with it.
        let heights: Vec<u64> = (from.saturating_sub(1).max(1)..=end).collect();
        let mut headers = Vec::with_capacity(heights.len());
        let mut before: Option<Hash32> = None;
        for heights in heights.chunks(BLOCKS) {
            let heights = heights.to_vec();
            let read = self.query(move |core| {
                let light = |h: u64| read_block(core, h).map(|d| (d.block.header, d.certificate));
                heights.into_iter().map(light).collect::<Answer<Vec<_>>>()
            });
            for (header, certificate) in read.await?? {
                let changed = before.replace(header.validators) != Some(header.validators);
                if header.height < from {
                    continue;
                }
                let given = changed && set.hash() == header.validators;
                headers.push(SignedHeader {
                    header: Hex(codec::encode(&header)),
                    certificate: Hex(codec::encode(&certificate)),
                    validators: given.then(|| Hex(codec::encode(&set))),
                });
            }
        }
        Ok(headers)
    }
}

pub(crate) fn read_block(core: &Core, height: u64) -> Answer<DecidedBlock> {
    let block = core
        .host()
        .block(height)
        .map_err(|error| internal("reading a block", error))?;
    block.ok_or_else(|| {
        let tip = core.state().height();
        not_found(
            format!("no block {height}"),
            format!("blocks here are 1 to {tip}"),
        )
    })
}

/// The effects of a block, from their bytes.
pub(super) fn decode(effects: &[Vec<u8>]) -> Option<Vec<Effect>> {
    effects
        .iter()
        .map(|bytes| codec::decode(bytes, EFFECT_BYTES).ok())
        .collect()
}
