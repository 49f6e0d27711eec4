//! The look-out for entries' blocks.
//!
//! 1. Whoever waits names the entry and the last height that may take it, and wakes the look-out.
//! 2. After each block the look-out asks the core once which of all these entries are in blocks,
//!    and tells those that wait. So a thousand requests cost the core thread one question, and a
//!    block wakes only those that it concerns. For an entry that came since it asks at once: the
//!    block may have been there before.
//! 3. A halt of the node ends all waiting: what it said would not be safe.

use crate::body::BodyHandle;
use gridbay_host::Sought;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, oneshot};

/// From one question that had no answer to the next.
const AGAIN: Duration = Duration::from_millis(20);

/// The height of an entry's block; `None` if it is in none and its time is over.
pub(super) type Landed = Option<u64>;

/// Those that wait for an entry.
type Waiting = Vec<oneshot::Sender<Landed>>;

#[derive(Default)]
struct All {
    waiting: BTreeMap<Sought, Waiting>,
    /// Those of them that were not looked for yet.
    new: Vec<Sought>,
}

/// Entries whose blocks somebody waits for.
#[derive(Default)]
pub(crate) struct Landing {
    all: Mutex<All>,
    came: Notify,
}

impl Landing {
    fn all(&self) -> MutexGuard<'_, All> {
        // Each change leaves it whole.
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for an entry; an error if the node halts or stops.
    pub(super) fn watch(&self, entry: Sought) -> oneshot::Receiver<Landed> {
        let (sender, landed) = oneshot::channel();
        let mut all = self.all();
        let waiting = all.waiting.entry(entry).or_default();
        // One that was given up stays until its entry lands: a repeated request adds one more.
        waiting.retain(|told| !told.is_closed());
        waiting.push(sender);
        all.new.push(entry);
        drop(all);
        self.came.notify_one();
        landed
    }

    /// Looks out until the node stops.
    pub(crate) async fn follow(&self, body: &BodyHandle) {
        let (mut heights, mut troubles) = (body.height(), body.troubles());
        loop {
            let (runs, block) = tokio::select! {
                changed = heights.changed() => (changed.is_ok(), true),
                changed = troubles.changed() => (changed.is_ok(), false),
                () = self.came.notified() => (true, false),
            };
            if !runs || body.acknowledges().is_err() {
                *self.all() = All::default();
            }
            if !runs {
                return;
            }
            let wanted = {
                let mut all = self.all();
                let new = std::mem::take(&mut all.new);
                match block {
                    true => all.waiting.keys().copied().collect(),
                    false => new,
                }
            };
            if !wanted.is_empty() && !self.look(body, &wanted).await {
                // The core is busy: it is asked again soon, and not only after its next block.
                tokio::time::sleep(AGAIN).await;
                self.all().new.extend(wanted);
                self.came.notify_one();
            }
        }
    }

    /// Looks for entries once; false if the core did not answer.
    async fn look(&self, body: &BodyHandle, wanted: &[Sought]) -> bool {
        let wanted = wanted.to_vec();
        let looked = body.query(move |core| {
            let heights = core.host().entry_heights(&wanted);
            let landed: Vec<_> = wanted.into_iter().zip(heights).collect();
            // Read after the entries: a failure while they were looked for counts.
            let now = core.host().knows_entries().then(|| core.state().height());
            (landed, now)
        });
        let Ok((landed, now)) = looked.await else {
            return false;
        };
        // One that halted meanwhile has no index.
        if body.acknowledges().is_err() {
            return true;
        }
        let mut all = self.all();
        for (entry, height) in landed {
            let over = now.is_some_and(|now| entry.valid_until <= now);
            if (height.is_some() || over)
                && let Some(waiting) = all.waiting.remove(&entry)
            {
                for told in waiting {
                    // The request may have been given up.
                    let _gone = told.send(height);
                }
            }
        }
        true
    }
}
