//! Transfers: a request under its idempotency key moves the money once.
//!
//! 1. The entry is signed and kept on disk under the key before it is sent
//!    ([`crate::store::transfers`]).
//! 2. The answer waits for the entry's block: an acknowledged transfer is final and on this node's
//!    disk.
//! 3. A request repeated under its key, also after the node was killed, finds that entry: it is
//!    answered with the entry's block, or the entry is sent again as long as it may take effect.
//! 4. An entry whose time passed without a block has no effect, and its key is used up.
//! 5. The ledger carries as memo a hash of the idempotency key and the note. So two transfers of
//!    the same amount to the same account are two entries, one signature each, and nobody can
//!    confirm a guess of the note. The owner proves a note by telling it together with its key.

use crate::api::Answer;
use crate::api::types::{TransferRequest, Transferred};
use crate::api::{ApiError, ErrorCode};
use crate::backend::NodeBackend;
use crate::backend::failure::{disk, gone, internal, no_account, refused, unknown_account, usage};
use crate::keys::random;
use crate::market::spendable;
use crate::store::transfers::{KeepError, TransferKey, WAITING};
use gridbay_core::input::Command;
use gridbay_core::reply::Reply;
use gridbay_core::{Core, ENTRY_HEIGHTS};
use gridbay_protocol::entry::{Entry, EntryBody, SignedEntry};
use gridbay_protocol::hash::{Domain, hash};
use gridbay_protocol::ids::{AccountId, EntryId, Hash32, NetworkId};
use gridbay_protocol::units::Credits;

/// The parts of an entry besides its body.
struct Frame {
    network: NetworkId,
    account: AccountId,
    height: u64,
}

impl NodeBackend {
    /// Moves money, once for each idempotency key however often it comes; answers once that is on
    /// the ledger, in a block that is final and on this node's disk.
    pub async fn transfer(
        &self,
        key: Option<String>,
        request: TransferRequest,
    ) -> Answer<Transferred> {
        self.acknowledges()?;
        if request.amount == Credits::ZERO {
            return Err(usage("a transfer of nothing", "name an amount above zero"));
        }
        let key = match key {
            Some(text) => TransferKey::of(&text),
            // Nobody can repeat it: any key will do.
            None => TransferKey(Hash32(
                random().map_err(|error| internal("no fresh randomness", error))?,
            )),
        };
        let body = body_of(&key, &request);
        let kept = match self.parts.transfers.get(&key) {
            Some(kept) => self.send_again(kept, &body).await?,
            None => self.send_first(key, body.clone(), &request).await?,
        };
        // Another request under the same key may have been kept first meanwhile.
        is_of(&kept, &body)?;
        let (entry, until) = (kept.id(), kept.entry.valid_until);
        let height = self.wait_for(entry, until).await?;
        self.parts.transfers.decided(&key);
        Ok(Transferred { entry, height })
    }

    /// Keeps and sends a new entry.
    async fn send_first(
        &self,
        key: TransferKey,
        body: EntryBody,
        request: &TransferRequest,
    ) -> Answer<SignedEntry> {
        let (to, amount) = (request.to, request.amount);
        let looked = self.query(move |core| frame(core, to, amount));
        let frame = looked.await??;
        let (store, secret) = (self.parts.transfers.clone(), self.parts.account_key.clone());
        let height = frame.height;
        self.look_for_blocks(height).await?;
        let sign = move || {
            let entry = Entry {
                network: frame.network,
                account: frame.account,
                key: secret.public(),
                valid_until: height + ENTRY_HEIGHTS,
                body,
            };
            SignedEntry::new(entry, &secret)
        };
        let keep = move || store.keep(key, height, sign);
        let kept = tokio::task::spawn_blocking(keep).await;
        let kept = kept
            .map_err(|error| internal("keeping a transfer", error))?
            .map_err(not_kept)?;
        let sent = self.command(Command::Send(Box::new(kept.clone()))).await;
        if let Err(error) = sent {
            // Whether a node that broke off has sent it is not known: then the key stays.
            if !error.code.status().is_server_error()
                && let Err(error) = self.parts.transfers.forget(&key)
            {
                tracing::warn!(%error, "a refused transfer stays kept");
            }
            return Err(error);
        }
        Ok(kept)
    }

    /// Where as many transfers wait as may, looks which are in a block by now: of one whose client
    /// went away nobody told.
    async fn look_for_blocks(&self, height: u64) -> Answer<()> {
        let store = &self.parts.transfers;
        if store.waits(height) < WAITING {
            return Ok(());
        }
        let waiting = store.waiting();
        let decided = self.query(move |core| {
            let is_decided = |id: &EntryId| core.host().entry_height(id).is_some();
            let decided = waiting.into_iter().filter(|(_, id)| is_decided(id));
            decided.map(|(key, _)| key).collect::<Vec<_>>()
        });
        decided.await?.iter().for_each(|key| store.decided(key));
        Ok(())
    }

    /// Sends a kept entry again, unless its block is there or its time is over.
    async fn send_again(&self, kept: SignedEntry, body: &EntryBody) -> Answer<SignedEntry> {
        is_of(&kept, body)?;
        let (entry, until) = (kept.id(), kept.entry.valid_until);
        let looked = self.query(move |core| {
            core.host().entry_height(&entry).is_none() && core.state().height() < until
        });
        if looked.await? {
            let command = Command::Send(Box::new(kept.clone()));
            match self.parts.body.command(command).await.map_err(gone)? {
                // It may be on its way already: its block, or the end of its time, tells.
                Reply::Refused(why) => tracing::debug!(%entry, why = why.reason, "not sent again"),
                _ => tracing::debug!(%entry, "a transfer is sent again"),
            }
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

/// An entry that the ledger might accept only later is refused at once: a user would wait for
/// nothing.
fn frame(core: &Core, to: AccountId, amount: Credits) -> Answer<Frame> {
    let state = core.state();
    let account = core.account().ok_or_else(no_account)?;
    state.account(&to).ok_or_else(|| unknown_account(&to))?;
    let free = spendable(state, &account);
    if amount > free {
        return Err(ApiError::new(
            ErrorCode::InsufficientFunds,
            format!("{free} credits available, {amount} are to be moved"),
            "move less",
        ));
    }
    Ok(Frame {
        network: state.network(),
        account,
        height: state.height(),
    })
}

fn body_of(key: &TransferKey, request: &TransferRequest) -> EntryBody {
    let note = request.memo.as_deref().unwrap_or_default();
    EntryBody::Transfer {
        to: request.to,
        amount: request.amount,
        memo: Hash32(hash(Domain::Content, &[&key.0.0, note.as_bytes()])),
    }
}

fn not_kept(error: KeepError) -> ApiError {
    match error {
        KeepError::TooMany => refused(gridbay_core::reply::Refused {
            kind: gridbay_core::reply::RefusedKind::NotReady,
            word: "busy",
            reason: error.to_string(),
            hint: "try again after the next blocks".to_owned(),
        }),
        KeepError::Disk(error) => disk("the transfer cannot be kept", &error),
    }
}
