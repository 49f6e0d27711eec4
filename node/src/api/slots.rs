//! Bounds the connections of one listener, and yet keeps nobody out who has something to say.
//!
//! 1. Each connection holds a [`Slot`]. It is *busy* from a request's head until the system has the
//!    end of its answer, else *idle*: silent, half sent, or kept alive. Answers to requests that
//!    take no turn are short; they end when hyper has them, so that nobody is busy for nothing.
//! 2. When all slots are held, a newcomer gets that of the connection which has been idle longest;
//!    that one is closed, unless a request came at that very moment: it is answered first.
//! 3. A newcomer waits only while all are busy. Fewer requests are at work than there are slots
//!    ([`super::intake`]), so the wait ends.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// The slots of a listener.
#[derive(Clone)]
pub(super) struct Slots(Arc<Shared>);

struct Shared {
    bound: usize,
    table: Mutex<Table>,
    /// A slot was given back, or became idle.
    changed: Notify,
}

#[derive(Default)]
struct Table {
    /// Counts what happens, so that there is an order among idle ones.
    turn: u64,
    held: BTreeMap<u64, Connection>,
}

struct Connection {
    /// Turn in which it became idle; `None` while it is busy.
    idle: Option<u64>,
    close: Arc<Notify>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Table> {
        // Every change below leaves the table consistent at every step.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slots {
    pub(super) fn new(bound: usize) -> Slots {
        Slots(Arc::new(Shared {
            bound,
            table: Mutex::default(),
            changed: Notify::new(),
        }))
    }
    /// A slot: steps 2 and 3.
    pub(super) async fn take(&self) -> Slot {
        loop {
            let changed = self.0.changed.notified();
            if let Some(slot) = self.try_take() {
                return slot;
            }
            changed.await;
        }
    }
    fn try_take(&self) -> Option<Slot> {
        let mut table = self.0.lock();
        if table.held.len() >= self.0.bound {
            let idle = |(id, c): (&u64, &Connection)| Some((c.idle?, *id));
            let (_, longest) = table.held.iter().filter_map(idle).min()?;
            let gone = table.held.remove(&longest)?;
            gone.close.notify_one();
        }
        table.turn += 1;
        let id = table.turn;
        let close = Arc::new(Notify::new());
        let connection = Connection {
            idle: Some(id),
            close: Arc::clone(&close),
        };
        table.held.insert(id, connection);
        let slots = self.clone();
        Some(Slot {
            slots,
            id,
            close,
            working: Arc::default(),
        })
    }
    fn mark(&self, id: u64, idle: bool) {
        let mut table = self.0.lock();
        table.turn += 1;
        let turn = table.turn;
        if let Some(connection) = table.held.get_mut(&id) {
            connection.idle = idle.then_some(turn);
        }
    }
}

/// One connection's slot, until it is dropped.
pub(super) struct Slot {
    slots: Slots,
    id: u64,
    close: Arc<Notify>,
    /// Requests that are not answered, also after the slot was lost.
    working: Arc<AtomicUsize>,
}

impl Slot {
    /// Is ready when somebody else has got this slot.
    pub(super) async fn lost(&self) {
        self.close.notified().await;
    }
    /// Busy until the result is dropped.
    pub(super) fn busy(&self) -> Busy {
        self.slots.mark(self.id, false);
        self.working.fetch_add(1, Ordering::Relaxed);
        Busy {
            slots: self.slots.clone(),
            id: self.id,
            working: Arc::clone(&self.working),
        }
    }
    /// Whether nothing was asked that is not answered.
    pub(super) fn is_idle(&self) -> bool {
        self.working.load(Ordering::Relaxed) == 0
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.slots.0.lock().held.remove(&self.id);
        self.slots.0.changed.notify_one();
    }
}

/// A request that is not answered to its end yet.
pub(super) struct Busy {
    slots: Slots,
    id: u64,
    working: Arc<AtomicUsize>,
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.working.fetch_sub(1, Ordering::Relaxed);
        self.slots.mark(self.id, true);
        self.slots.0.changed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn was_lost(slot: &Slot) -> bool {
        tokio::select! {
            biased;
            () = slot.lost() => true,
            () = std::future::ready(()) => false,
        }
    }

    #[tokio::test]
    async fn who_comes_gets_the_slot_that_was_idle_longest() {
        let slots = Slots::new(3);
        let (a, b, c) = (slots.take().await, slots.take().await, slots.take().await);
        let busy = a.busy();
        drop(b.busy());
        // `c` came last, but has been idle longer than `b`, which had a request meanwhile.
        let d = slots.take().await;
        assert!(was_lost(&c).await && !was_lost(&a).await && !was_lost(&b).await);
        drop(c);
        drop(busy);
        let _e = slots.take().await;
        assert!(was_lost(&b).await && !was_lost(&a).await && !was_lost(&d).await);
    }

    #[tokio::test]
    async fn where_all_are_busy_one_waits_for_the_first_that_is_not() {
        let slots = Slots::new(2);
        let (a, b) = (slots.take().await, slots.take().await);
        let (working, _working) = (a.busy(), b.busy());
        assert!(slots.try_take().is_none() && !a.is_idle());
        let waiting = tokio::spawn(async move { slots.take().await });
        drop(working);
        let _c = waiting.await.unwrap();
        assert!(was_lost(&a).await);
        drop((a, b));
    }

    #[tokio::test]
    async fn who_asks_as_the_slot_goes_is_not_idle() {
        let slots = Slots::new(1);
        let a = slots.take().await;
        let _b = slots.take().await;
        let busy = a.busy();
        assert!(was_lost(&a).await && !a.is_idle());
        drop(busy);
        assert!(a.is_idle());
    }
}
