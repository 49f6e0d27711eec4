//! Answers that wait for an entry's block: see [`super::landing`].

use crate::api::intake::rest;
use crate::api::limits::BLOCK_WAIT;
use crate::api::{Answer, ApiError, ErrorCode};
use crate::backend::NodeBackend;
use crate::backend::failure::{gone, internal};
use crate::body::BodyGone;
use gridbay_core::input::Command;
use gridbay_core::reply::Reply;
use gridbay_host::Sought;
use gridbay_protocol::ids::EntryId;
use tokio::time::timeout;

impl NodeBackend {
    /// Submits an entry and waits for its block.
    pub(crate) async fn on_the_ledger(&self, command: Command) -> Answer<(EntryId, u64)> {
        let Reply::Submitted(entry) = self.command(command).await? else {
            return Err(internal("submitting an entry", "no entry was made"));
        };
        Ok((entry.id, self.wait_for(entry).await?))
    }

    /// Height of the block of an entry.
    pub(crate) async fn wait_for(&self, entry: Sought) -> Answer<u64> {
        self.parts.body.acknowledges().map_err(gone)?;
        let body = &self.parts.body;
        let landed = self.landing.watch(entry);
        // Nobody looks out any more once the node has stopped.
        if body.height().has_changed().is_err() {
            return Err(gone(BodyGone::Stopped));
        }
        rest();
        match timeout(BLOCK_WAIT, landed).await {
            Ok(Ok(Some(height))) => Ok(height),
            Ok(Ok(None)) => Err(not_included(&entry.id)),
            Ok(Err(_)) => {
                let halted = body.acknowledges().err();
                Err(gone(halted.unwrap_or(BodyGone::Stopped)))
            }
            Err(_) => Err(no_block(&entry.id)),
        }
    }
}

fn not_included(entry: &EntryId) -> ApiError {
    ApiError::new(
        ErrorCode::Timeout,
        format!(
            "entry {} was not taken into a block in its time",
            entry.to_hex()
        ),
        "it has no effect any more; try again, under the same key if it had one",
    )
    .again_after(1)
}

fn no_block(entry: &EntryId) -> ApiError {
    ApiError::new(
        ErrorCode::Timeout,
        format!("no block with entry {} yet", entry.to_hex()),
        "it may still take effect; see gridbay ledger history",
    )
}
