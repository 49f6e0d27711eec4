//! The way of many transfers to the validators at once. What comes while some are signed, kept and
//! sent goes with the next ones, so the more come, the less each costs.
//!
//! 1. A request leaves its wish in the queue, which has [`QUEUE`] places; beyond them it is refused
//!    at once. A task serves the queue in turns as long as wishes come; one turn serves all that
//!    wait by then. A turn begins at once after a pause, and otherwise [`PACE`] after the last one.
//! 2. A turn waits until the validators have room for more entries of this account: some of those
//!    that wait must be in a block, or lapse, before.
//! 3. It looks at the core once, signs the entries, keeps them with one sync, and sends them with
//!    one command.
//! 4. An entry that this node's ledger refuses was not sent: its key is free again.

use super::look::{Look, decided, look};
use crate::api::limits::BLOCK_WAIT;
use crate::api::{Answer, ApiError, ErrorCode};
use crate::backend::failure::{disk, gone, internal, refused, usage};
use crate::body::{BodyGone, BodyHandle};
use crate::store::transfers::{Transfer, TransferKey, TransferStore};
use gridbay_core::input::Command;
use gridbay_core::reply::Reply;
use gridbay_host::Fault;
use gridbay_protocol::entry::{EntryBody, SignedEntry};
use gridbay_protocol::ids::{AccountId, EntryId};
use gridbay_protocol::keys::SecretKey;
use gridbay_protocol::stage::Authentic;
use gridbay_protocol::units::Credits;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep_until, timeout_at};

/// Wishes that wait for their turn.
const QUEUE: usize = 4_096;
/// Wishes that one turn serves.
const BATCH: usize = 256;
/// From the beginning of one turn to that of the next, at the least: a tenth of the shortest usual
/// time between blocks. Each turn costs every validator a message, however much is in it.
const PACE: Duration = Duration::from_millis(25);

/// A transfer that somebody wants.
#[derive(Clone)]
pub(super) struct Wish {
    pub(super) key: TransferKey,
    /// Whether the request can come again under this key.
    pub(super) repeats: bool,
    pub(super) to: AccountId,
    pub(super) amount: Credits,
    pub(super) body: EntryBody,
}

struct Waiting {
    wish: Wish,
    told: oneshot::Sender<Answer<SignedEntry>>,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Waiting>,
    /// Whether a task serves it.
    served: bool,
    /// When the last turn began.
    turn: Option<Instant>,
}

struct Inner {
    body: BodyHandle,
    store: TransferStore,
    secret: SecretKey,
    queue: Mutex<Queue>,
    /// Lists that run, by their keys: the digest of each, and how many requests wait for it.
    lists: Mutex<BTreeMap<String, ([u8; 32], usize)>>,
}

/// A list that runs, until it is dropped.
pub(super) struct Entered {
    inner: Arc<Inner>,
    key: String,
}

impl Drop for Entered {
    fn drop(&mut self) {
        let mut lists = self.inner.lists();
        if let Some(running) = lists.get_mut(&self.key) {
            running.1 -= 1;
            if running.1 == 0 {
                lists.remove(&self.key);
            }
        }
    }
}

/// Serves the queue; if it breaks off, those that wait are told, and the next wish begins anew.
struct Service {
    inner: Arc<Inner>,
    ended: bool,
}

impl Service {
    /// Nobody waits any more.
    fn end(mut self) {
        self.ended = true;
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        if !self.ended {
            let mut queue = self.inner.queue();
            queue.served = false;
            queue.waiting.clear();
        }
    }
}

/// The desk.
pub(crate) struct Desk(Arc<Inner>);

/// Entries that a turn has signed.
type Signed = BTreeMap<TransferKey, Arc<Authentic>>;

impl Desk {
    /// A desk that signs with an account's key.
    pub(crate) fn new(body: BodyHandle, store: TransferStore, secret: SecretKey) -> Desk {
        Desk(Arc::new(Inner {
            body,
            store,
            secret,
            queue: Mutex::default(),
            lists: Mutex::default(),
        }))
    }

    /// Frees the keys of entries that can be in no block any more.
    pub(super) async fn free_lapsed(&self, keys: Vec<(TransferKey, EntryId)>) {
        free(&self.0.store, keys, TransferStore::forget_lapsed).await;
    }

    /// Lets a list in that comes under a key, as long as none but the same one runs.
    pub(super) fn enter(&self, key: &str, digest: [u8; 32]) -> Answer<Entered> {
        let mut lists = self.0.lists();
        let running = lists.entry(key.to_owned()).or_insert((digest, 0));
        if running.0 != digest {
            return Err(ApiError::of_another_request());
        }
        running.1 += 1;
        Ok(Entered {
            inner: Arc::clone(&self.0),
            key: key.to_owned(),
        })
    }

    /// Signs, keeps and sends the entry of a wish; or finds the one that its key has already.
    pub(super) async fn send(&self, wish: Wish) -> Answer<SignedEntry> {
        let (told, answer) = oneshot::channel();
        let served = {
            let mut queue = self.0.queue();
            if queue.waiting.len() >= QUEUE {
                return Err(crowded());
            }
            queue.waiting.push_back(Waiting { wish, told });
            std::mem::replace(&mut queue.served, true)
        };
        if !served {
            // A task of its own: a turn goes on when the request that began it is given up.
            let (inner, ended) = (Arc::clone(&self.0), false);
            let service = Service { inner, ended };
            tokio::spawn(async move {
                service.inner.take_turns().await;
                service.end();
            });
        }
        let answer = answer.await;
        answer.map_err(|_| internal("sending a transfer", "its turn ended early"))?
    }
}

impl Inner {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        // A wish comes or goes at once, so the queue is whole whoever panicked.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lists(&self) -> MutexGuard<'_, BTreeMap<String, ([u8; 32], usize)>> {
        // As is this map.
        self.lists.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Serves the queue until nobody waits.
    async fn take_turns(&self) {
        loop {
            let last = {
                let mut queue = self.queue();
                if queue.waiting.is_empty() {
                    queue.served = false;
                    return;
                }
                queue.turn
            };
            if let Some(last) = last {
                sleep_until(last + PACE).await;
            }
            self.queue().turn = Some(Instant::now());
            self.take_turn().await;
        }
    }

    async fn take_turn(&self) {
        let room = self.room().await;
        let batch: Vec<Waiting> = {
            let mut queue = self.queue();
            let most = match &room {
                Ok(room) => BATCH.min(*room),
                // Whatever it is, it holds for all that wait.
                Err(_) => queue.waiting.len(),
            };
            let all = queue.waiting.len();
            queue.waiting.drain(..most.min(all)).collect()
        };
        match room {
            Ok(_) => self.serve(batch).await,
            Err(error) => batch.into_iter().for_each(|w| tell(w, Err(error.clone()))),
        }
    }

    /// How many more entries may wait; as soon as one may.
    async fn room(&self) -> Answer<usize> {
        let mut heights = self.body.height();
        let deadline = Instant::now() + BLOCK_WAIT;
        loop {
            let height = *heights.borrow_and_update();
            let room = self.store.room(height);
            if room > 0 {
                return Ok(room);
            }
            // Of a transfer whose client went away nobody has told that it is in a block.
            let waiting = self.store.waiting();
            let decided = self.body.query(move |core| {
                let decided = decided(core, &waiting).into_iter().zip(waiting);
                let decided = decided.filter(|(is_decided, _)| *is_decided);
                decided.map(|(_, (key, ..))| key).collect::<Vec<_>>()
            });
            let decided = decided.await.map_err(not_taken)?;
            decided.iter().for_each(|key| self.store.decided(key));
            if decided.is_empty() {
                match timeout_at(deadline, heights.changed()).await {
                    Ok(Ok(())) => {}
                    Ok(Err(_)) => return Err(gone(BodyGone::Stopped)),
                    Err(_) => return Err(crowded()),
                }
            }
        }
    }

    async fn serve(&self, batch: Vec<Waiting>) {
        let wanted: Vec<(AccountId, Credits)> =
            batch.iter().map(|w| (w.wish.to, w.wish.amount)).collect();
        let (waiting, key) = (self.store.waiting(), self.secret.public());
        let looked = self
            .body
            .query(move |core| look(core, key, &wanted, &waiting));
        let looked = looked.await;
        let look = match looked.map_err(not_taken).and_then(|look| look) {
            Ok(look) => look,
            Err(error) => return batch.into_iter().for_each(|w| tell(w, Err(error.clone()))),
        };
        let (signed, batch) = match self.sign_and_keep(look, batch).await {
            Ok(signed) => signed,
            Err(error) => return tracing::error!(%error, "a turn of transfers ended early"),
        };
        let (keys, entries): (Vec<TransferKey>, Vec<_>) = signed.into_iter().unzip();
        let reply = match entries.is_empty() {
            true => Ok(Vec::new()),
            false => self.submit(entries.clone()).await,
        };
        let (mut made, mut not_sent) = (BTreeMap::new(), Vec::new());
        for (n, (key, entry)) in keys.into_iter().zip(&entries).enumerate() {
            let sent = match &reply {
                Ok(replies) => match replies.get(n).cloned().flatten() {
                    None => Ok(entry.signed().clone()),
                    Some(error) => {
                        not_sent.push((key, entry.id()));
                        Err(error)
                    }
                },
                // Whether a node that broke off has sent it is not known: its key stays.
                Err(error) => Err(error.clone()),
            };
            made.insert(key, sent);
        }
        free(&self.store, not_sent, TransferStore::forget_refused).await;
        for waiting in batch {
            let key = &waiting.wish.key;
            let kept = || self.store.get(key).map(Ok);
            let answer = made.get(key).cloned().or_else(kept);
            let lost = || Err(internal("sending a transfer", "its entry is gone"));
            tell(waiting, answer.unwrap_or_else(lost));
        }
    }

    /// Signs an entry for each key that has none, and keeps them; the wishes that cannot be are
    /// told so, and those left are returned as well. Off the runtime's threads: both take time.
    async fn sign_and_keep(
        &self,
        look: Look,
        batch: Vec<Waiting>,
    ) -> Answer<(Signed, Vec<Waiting>)> {
        let (store, secret) = (self.store.clone(), self.secret.clone());
        let work = move || {
            let (mut signed, mut kept, mut left) = (Signed::new(), Vec::new(), Vec::new());
            for (waiting, flaw) in batch.into_iter().zip(&look.flaws) {
                let wish = &waiting.wish;
                // One key may come twice in a batch, and may have been kept since it was asked for.
                if !signed.contains_key(&wish.key) && store.get(&wish.key).is_none() {
                    if let Some(flaw) = flaw {
                        tell(waiting, Err(flaw.clone()));
                        continue;
                    }
                    let entry = match look.sign(&secret, wish.body.clone()) {
                        Ok(entry) => Arc::new(entry),
                        Err(error) => {
                            tell(waiting, Err(usage(error.to_string(), error.hint())));
                            continue;
                        }
                    };
                    kept.push(Transfer {
                        key: wish.key,
                        repeats: wish.repeats,
                        entry: entry.signed().clone(),
                    });
                    signed.insert(wish.key, entry);
                }
                left.push(waiting);
            }
            match store.keep(kept) {
                Ok(()) => (signed, left),
                Err(fault) => {
                    let error = disk("the transfer cannot be kept", &std::io::Error::other(fault));
                    left.into_iter().for_each(|w| tell(w, Err(error.clone())));
                    (Signed::new(), Vec::new())
                }
            }
        };
        let done = tokio::task::spawn_blocking(work).await;
        done.map_err(|error| internal("keeping transfers", error))
    }

    /// Sends entries; the answer has for each in order why it was not sent, if it was not.
    async fn submit(&self, entries: Vec<Arc<Authentic>>) -> Answer<Vec<Option<ApiError>>> {
        let all = entries.len();
        let reply = match self.body.command(Command::Send(entries)).await {
            Err(BodyGone::Busy) => return Ok(vec![Some(crowded()); all]),
            reply => reply.map_err(gone)?,
        };
        match reply {
            Reply::Sent(replies) => Ok(replies
                .into_iter()
                .map(|refusal| refusal.map(refused))
                .collect()),
            Reply::Refused(why) => Ok(vec![Some(refused(why)); all]),
            _ => Err(internal(
                "sending transfers",
                "the core gave another answer",
            )),
        }
    }
}

/// A way of the store to forget keys with these entries.
type Forget = fn(&TransferStore, &[(TransferKey, EntryId)]) -> Result<(), Fault>;

/// Frees keys.
async fn free(store: &TransferStore, keys: Vec<(TransferKey, EntryId)>, forget: Forget) {
    if keys.is_empty() {
        return;
    }
    let store = store.clone();
    let freed = tokio::task::spawn_blocking(move || forget(&store, &keys)).await;
    if let Ok(Err(error)) = freed {
        tracing::warn!(%error, "transfers without effect stay kept");
    }
}

fn tell(waiting: Waiting, answer: Answer<SignedEntry>) {
    // The request may have been given up.
    let _gone = waiting.told.send(answer);
}

/// The core did not take a message of before anything was sent.
fn not_taken(error: BodyGone) -> ApiError {
    match error {
        BodyGone::Busy => crowded(),
        _ => gone(error),
    }
}

fn crowded() -> ApiError {
    ApiError::new(
        ErrorCode::Busy,
        "too many transfers of this node wait for their blocks",
        "try again when Retry-After says so",
    )
    .again_after(1)
}
