//! Transfers: a request under its idempotency key moves the money once.
//!
//! 1. The entry is signed and kept on disk under the key before it is sent, together with those
//!    of other requests ([`super::desk`], [`crate::store::transfers`]).
//! 2. The answer waits for the entry's block: an acknowledged transfer is final and on this node's
//!    disk.
//! 3. A request repeated under its key, also after the node was killed, finds that entry: it is
//!    answered with the entry's block, or the entry is sent again as long as it may take effect.
//! 4. An entry whose time passed without a block has no effect, and its key is used up.
//! 5. The ledger carries as memo a hash of the idempotency key and the note. So two transfers of
//!    the same amount to the same account are two entries, one signature each, and nobody can
//!    confirm a guess of the note. The owner proves a note by telling it together with its key.

use super::desk::Wish;
use crate::api::Answer;
use crate::api::types::{
    TRANSFERS, TransferOutcome, TransferRequest, Transferred, TransfersRequest,
};
use crate::api::{ApiError, ErrorCode};
use crate::backend::NodeBackend;
use crate::backend::failure::{gone, internal, usage};
use crate::keys::random;
use crate::store::transfers::TransferKey;
use futures::future::join_all;
use gridbay_core::input::Command;
use gridbay_protocol::entry::{EntryBody, SignedEntry};
use gridbay_protocol::hash::{Domain, hash};
use gridbay_protocol::ids::Hash32;
use gridbay_protocol::stage::WellFormed;
use gridbay_protocol::units::Credits;
use std::sync::Arc;

impl NodeBackend {
    /// Moves money, once for each idempotency key however often it comes; answers once that is on
    /// the ledger, in a block that is final and on this node's disk.
    pub async fn transfer(
        &self,
        key: Option<String>,
        request: TransferRequest,
    ) -> Answer<Transferred> {
        let key = key.map(|text| TransferKey::of(&text));
        self.pay(key, request).await
    }

    async fn pay(&self, key: Option<TransferKey>, request: TransferRequest) -> Answer<Transferred> {
        if request.amount == Credits::ZERO {
            return Err(usage("a transfer of nothing", "name an amount above zero"));
        }
        let repeats = key.is_some();
        let key = match key {
            Some(key) => key,
            // Nobody can repeat it: any key will do.
            None => TransferKey(Hash32(
                random().map_err(|error| internal("no fresh randomness", error))?,
            )),
        };
        let body = body_of(&key, &request);
        let kept = match self.parts.transfers.get(&key) {
            // It may be done: that the node has halted does not say that nothing was.
            Some(kept) => self.send_again(kept, &body).await?,
            None => {
                self.acknowledges()?;
                let wish = Wish {
                    key,
                    repeats,
                    to: request.to,
                    amount: request.amount,
                    body: body.clone(),
                };
                self.desk.send(wish).await?
            }
        };
        // Another request under the same key may have been kept first meanwhile.
        is_of(&kept, &body)?;
        let (entry, until) = (kept.id(), kept.entry.valid_until);
        let height = self.wait_for(entry, until).await?;
        self.parts.transfers.decided(&key);
        Ok(Transferred { entry, height })
    }

    /// Makes many transfers, each for itself; answers once the last one is on the ledger or
    /// refused. A transfer's key follows from that of the request and its place in the list.
    pub async fn transfers(
        &self,
        key: Option<&str>,
        request: TransfersRequest,
    ) -> Answer<Vec<TransferOutcome>> {
        if !(1..=TRANSFERS).contains(&request.transfers.len()) {
            let why = format!("{} transfers in a request", request.transfers.len());
            return Err(usage(why, format!("name 1 to {TRANSFERS}")));
        }
        let all = (0u64..).zip(request.transfers);
        let each = all.map(async |(n, transfer)| {
            let key = key.map(|key| TransferKey::of_item(key, n));
            match self.pay(key, transfer).await {
                Ok(done) => TransferOutcome {
                    done: Some(done),
                    error: None,
                },
                Err(error) => TransferOutcome {
                    done: None,
                    error: Some(error),
                },
            }
        });
        Ok(join_all(each).await)
    }

    /// Sends a kept entry again, unless its block is there or its time is over.
    async fn send_again(&self, kept: SignedEntry, body: &EntryBody) -> Answer<SignedEntry> {
        is_of(&kept, body)?;
        let (entry, until) = (kept.id(), kept.entry.valid_until);
        let looked = self.query(move |core| {
            core.host().entry_height(&entry).is_none() && core.state().height() < until
        });
        if looked.await? {
            let formed = WellFormed::check(&kept.entry.network, kept.clone());
            let checked = formed.ok().and_then(|formed| formed.authenticate().ok());
            let checked = checked.ok_or_else(|| internal("a kept transfer", "it was changed"))?;
            let command = Command::Send(vec![Arc::new(checked)]);
            // It may be on its way already: its block, or the end of its time, tells.
            let reply = self.parts.body.command(command).await.map_err(gone)?;
            tracing::debug!(%entry, ?reply, "a transfer is sent again");
        }
        Ok(kept)
    }
}

/// Refuses a kept entry that is not that of a request.
fn is_of(kept: &SignedEntry, body: &EntryBody) -> Answer<()> {
    if kept.entry.body == *body {
        return Ok(());
    }
    Err(ApiError::new(
        ErrorCode::Conflict,
        "this idempotency key belongs to another request",
        "use a fresh key for each request",
    ))
}

fn body_of(key: &TransferKey, request: &TransferRequest) -> EntryBody {
    let note = request.memo.as_deref().unwrap_or_default();
    EntryBody::Transfer {
        to: request.to,
        amount: request.amount,
        memo: Hash32(hash(Domain::Content, &[&key.0.0, note.as_bytes()])),
    }
}
