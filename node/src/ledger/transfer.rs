//! Transfers: a request under its idempotency key moves the money once.
//!
//! 1. The entry is signed and kept on disk under the key before it is sent, together with those
//!    of other requests ([`super::desk`], [`crate::store::transfers`]).
//! 2. The answer waits for the entry's block: an acknowledged transfer is final and on this node's
//!    disk.
//! 3. A request repeated under its key, also after the node was killed, finds that entry: it is
//!    answered with the entry's block, or the entry is sent again as long as it may take effect.
//! 4. An entry whose time passed without a block has no effect, and its key is free again: a
//!    request that comes again then is done anew.
//! 5. The ledger carries as memo a hash of the idempotency key and the note. So two transfers of
//!    the same amount to the same account are two entries, one signature each, and nobody can
//!    confirm a guess of the note. The owner proves a note by telling it together with its key.
//! 6. In a list, the hash covers all of the list as well, and a proof of a note takes the list too.
//!    So another list under the same key is refused, and pays nothing, as long as the first runs or
//!    one transfer of it is known.

use super::desk::Wish;
use crate::api::types::{
    TRANSFERS, TransferOutcome, TransferRequest, Transferred, TransfersRequest,
};
use crate::api::{Answer, ApiError};
use crate::backend::NodeBackend;
use crate::backend::failure::{gone, internal, usage};
use crate::keys::random;
use crate::store::transfers::TransferKey;
use futures::future::join_all;
use gridbay_core::input::Command;
use gridbay_host::Sought;
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
        let wish = wish(key, &request, &[])?;
        self.free_lapsed(std::slice::from_ref(&wish)).await?;
        self.pay(wish).await
    }

    async fn pay(&self, wish: Wish) -> Answer<Transferred> {
        let (key, body) = (wish.key, wish.body.clone());
        let kept = match self.parts.transfers.find(&key) {
            // It may be done: that the node has halted does not say that nothing was.
            Some(kept) => self.send_again(kept, &body).await?,
            None => {
                self.acknowledges()?;
                self.desk.send(wish).await?
            }
        };
        // Another request under the same key may have been kept first meanwhile.
        is_of(&kept, &body)?;
        let entry = Sought::from(&kept);
        let height = self.wait_for(entry).await?;
        self.parts.transfers.decided(&key);
        let entry = entry.id;
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
        let list = digest(&request.transfers);
        let all = (0u64..).zip(&request.transfers).map(|(n, transfer)| {
            let key = key.map(|key| TransferKey::of_item(key, n));
            wish(key, transfer, &list)
        });
        let all: Vec<Answer<Wish>> = all.collect();
        let _running = key.map(|key| self.desk.enter(key, list)).transpose()?;
        if let Some(key) = key {
            self.is_same_list(key, &all)?;
        }
        let good: Vec<Wish> = all.iter().flatten().cloned().collect();
        self.free_lapsed(&good).await?;
        let each = all.into_iter().map(async |wish| match wish {
            Ok(wish) => self.pay(wish).await,
            Err(error) => Err(error),
        });
        let outcomes = join_all(each).await.into_iter().map(TransferOutcome::from);
        Ok(outcomes.collect())
    }

    /// Refuses a list under the key of another one of which a transfer is known.
    fn is_same_list(&self, key: &str, list: &[Answer<Wish>]) -> Answer<()> {
        let keys = (0u64..).map(|n| TransferKey::of_item(key, n));
        let keys: Vec<TransferKey> = keys.take(TRANSFERS).collect();
        for (place, kept) in self.parts.transfers.find_all(&keys).iter().enumerate() {
            if let Some(kept) = kept {
                let wish = list.get(place).and_then(|wish| wish.as_ref().ok());
                is_of(kept, &wish.ok_or_else(ApiError::of_another_request)?.body)?;
            }
        }
        Ok(())
    }

    /// Frees the keys of these whose entries were in no block in their time (step 4).
    async fn free_lapsed(&self, wishes: &[Wish]) -> Answer<()> {
        let kept = wishes.iter().filter_map(|wish| {
            let kept = self.parts.transfers.get(&wish.key)?;
            let own = kept.entry.body == wish.body;
            own.then(|| (wish.key, Sought::from(&kept)))
        });
        let (keys, sought): (Vec<_>, Vec<_>) = kept.unzip();
        if keys.is_empty() {
            return Ok(());
        }
        let lapsed = self.query(move |core| {
            let heights = core.host().entry_heights(&sought);
            // Read after the entries: a failure while they were looked for counts.
            let now = core.host().knows_entries().then(|| core.state().height());
            let of = keys.into_iter().zip(sought).zip(heights);
            let lapsed = of.filter(|((_, entry), height)| {
                height.is_none() && now.is_some_and(|now| entry.valid_until <= now)
            });
            lapsed.map(|((key, entry), _)| (key, entry.id)).collect()
        });
        self.desk.free_lapsed(lapsed.await?).await;
        Ok(())
    }

    /// Sends a kept entry again, unless its block is there or its time is over.
    async fn send_again(&self, kept: SignedEntry, body: &EntryBody) -> Answer<SignedEntry> {
        is_of(&kept, body)?;
        let entry = Sought::from(&kept);
        let looked = self.query(move |core| {
            core.host().entry_height(entry).is_none() && core.state().height() < entry.valid_until
        });
        if looked.await? {
            let formed = WellFormed::check(&kept.entry.network, kept.clone());
            let checked = formed.ok().and_then(|formed| formed.authenticate().ok());
            let checked = checked.ok_or_else(|| internal("a kept transfer", "it was changed"))?;
            let command = Command::Send(vec![Arc::new(checked)]);
            // It may be on its way already: its block, or the end of its time, tells.
            let reply = self.parts.body.command(command).await.map_err(gone)?;
            tracing::debug!(entry = %entry.id, ?reply, "a transfer is sent again");
        }
        Ok(kept)
    }
}

/// Refuses a kept entry that is not that of a request.
fn is_of(kept: &SignedEntry, body: &EntryBody) -> Answer<()> {
    match kept.entry.body == *body {
        true => Ok(()),
        false => Err(ApiError::of_another_request()),
    }
}

/// What a request wants; `list` is the digest of the list that it is in, if it is in one.
fn wish(key: Option<TransferKey>, request: &TransferRequest, list: &[u8]) -> Answer<Wish> {
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
    let note = request.memo.as_deref().unwrap_or_default().as_bytes();
    let parts = [&key.0.0, note, list];
    let parts = match list {
        [] => &parts[..2],
        _ => &parts,
    };
    Ok(Wish {
        key,
        repeats,
        to: request.to,
        amount: request.amount,
        body: EntryBody::Transfer {
            to: request.to,
            amount: request.amount,
            memo: Hash32(hash(Domain::Content, parts)),
        },
    })
}

/// What tells a list from others.
fn digest(list: &[TransferRequest]) -> [u8; 32] {
    let mut hash = blake3::Hasher::new_derive_key("gridbay/transfer-list/1");
    for request in list {
        let note = request.memo.as_deref().unwrap_or_default().as_bytes();
        hash.update(request.to.as_bytes());
        hash.update(&request.amount.micros().to_be_bytes());
        hash.update(&(note.len() as u64).to_be_bytes());
        hash.update(note);
    }
    *hash.finalize().as_bytes()
}
