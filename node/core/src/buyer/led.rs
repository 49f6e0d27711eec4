//! Orders whose first rank leads the others ([`crate::cluster::is_led`]): when rank 0 is done, so
//! is the order. The others end at its word; one that does not hear it, because it is just being
//! started anew, would serve nobody until its time is over, and the buyer would pay for it.

use super::Buyer;
use super::record::Finish;
use crate::cluster::is_led;
use crate::key::OrderKey;

/// Milliseconds in which the others may end by themselves.
const FAREWELL_MS: u64 = 10_000;

impl Buyer {
    /// Ends a led order some time after its first rank.
    pub(super) fn end_led(&mut self, key: OrderKey, now_ms: u64) {
        let Some(agent) = self.orders.get_mut(&key) else {
            return;
        };
        let first = agent.tasks.records.first();
        let done = first.is_some_and(|task| task.done.is_some());
        if !done || agent.finish().is_some() || !is_led(&agent.order().spec) {
            return;
        }
        let since = *agent.led_until_ms.get_or_insert(now_ms + FAREWELL_MS);
        if now_ms >= since {
            agent.touch();
            agent.note_last_task();
            agent.set_finish(Finish::Done);
        }
    }
}
