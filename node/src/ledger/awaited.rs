//! Waiting for an entry's block.
//!
//! 1. Whoever waits looks once for itself: the block may have been there before.
//! 2. After each block one look at the core finds the entries of all that wait, so a thousand
//!    requests cost the core thread what one does.

use crate::api::limits::BLOCK_WAIT;
use crate::api::{Answer, ApiError, ErrorCode};
use crate::backend::NodeBackend;
use crate::backend::failure::{gone, internal};
use crate::body::BodyGone;
use gridbay_core::input::Command;
use gridbay_core::reply::Reply;
use gridbay_protocol::ids::EntryId;
use serde_json::json;
use std::collections::BTreeMap;
use tokio::time::{Instant, timeout_at};

impl NodeBackend {
    /// The block of an entry that somebody watches, as of a height at least, and that height.
    async fn landed(&self, entry: &EntryId, height: u64) -> Answer<(Option<u64>, u64)> {
        let found = |landed: &BTreeMap<EntryId, u64>| landed.get(entry).copied();
        let _one = self.landing.turn().await;
        if let Some(landed) = self.landing.landed.get(height, &()) {
            return Ok((found(&landed), height));
        }
        let all = self.landing.watched();
        let looked = self.query(move |core| {
            let at = |id: EntryId| Some((id, core.host().entry_height(&id)?));
            let landed: BTreeMap<EntryId, u64> = all.into_iter().filter_map(at).collect();
            (landed, core.state().height())
        });
        let (landed, now) = looked.await?;
        let landed = self.landing.landed.put(now, (), landed);
        Ok((found(&landed), now))
    }

    /// Submits an entry and waits for its block.
    pub(crate) async fn on_the_ledger(&self, command: Command) -> Answer<(EntryId, u64)> {
        let Reply::Submitted(entry) = self.command(command).await? else {
            return Err(internal("submitting an entry", "no entry was made"));
        };
        let sent_at = *self.parts.body.height().borrow();
        let until = sent_at.saturating_add(gridbay_core::ENTRY_HEIGHTS + 1);
        Ok((entry, self.wait_for(entry, until).await?))
    }

    /// Height of the block of an entry that may take effect up to a height.
    pub(crate) async fn wait_for(&self, entry: EntryId, until: u64) -> Answer<u64> {
        let mut heights = self.parts.body.height();
        let mut troubles = self.parts.body.troubles();
        let deadline = Instant::now() + BLOCK_WAIT;
        // Among those looked for before it is looked for here: so no block falls in between.
        let _watch = self.landing.watch(entry);
        heights.borrow_and_update();
        let looked =
            self.query(move |core| (core.host().entry_height(&entry), core.state().height()));
        let mut looked = looked.await?;
        loop {
            match looked {
                (Some(height), _) => return Ok(height),
                (None, now) if now >= until => return Err(not_included(&entry)),
                (None, _) => {}
            }
            let next = tokio::select! {
                next = timeout_at(deadline, heights.changed()) => next,
                _ = troubles.wait_for(|all| all.iter().any(|t| t.kind.halts())) => {
                    return Err(gone(BodyGone::Halted));
                }
            };
            match next {
                Ok(Ok(())) => {
                    let height = *heights.borrow_and_update();
                    looked = self.landed(&entry, height).await?;
                }
                Ok(Err(_)) => return Err(gone(BodyGone::Stopped)),
                Err(_) => return Err(no_block(&entry)),
            }
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
        "it has no effect any more; try again, under a fresh key if it had one",
    )
    .with_details(json!({"done": false}))
}

fn no_block(entry: &EntryId) -> ApiError {
    ApiError::new(
        ErrorCode::Timeout,
        format!("no block with entry {} yet", entry.to_hex()),
        "it may still take effect; see gridbay ledger history",
    )
}
