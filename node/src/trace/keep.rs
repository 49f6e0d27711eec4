//! Looks at the node as blocks come, and sends what is to be told.

use super::Traces;
use super::send::Courier;
use super::story::Story;
use super::told::Told;
use crate::backend::{NodeBackend, wall_ms};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Between two looks at the least.
const LOOK: Duration = Duration::from_millis(250);
/// The pause after a look is so many times what it took at the least.
const SPARING: u32 = 20;
/// Between two looks at the most: jobs end without a block.
const LONGEST: Duration = Duration::from_secs(2);

impl NodeBackend {
    /// Tells the collector of orders until the node ends; ends at once if there is none.
    pub async fn trace_orders(self: Arc<Self>) {
        let traces = self.parts.traces.clone();
        let Some(config) = traces.config() else {
            return;
        };
        let courier = match Courier::usual(config, traces.from()) {
            Ok(courier) => courier,
            Err(error) => {
                tracing::warn!(%error, "no traces are sent: see OTEL_* in the environment");
                return;
            }
        };
        let mut height = self.parts.body.height();
        let told = match traces.read() {
            Some(told) => told,
            None => from_now_on(*height.borrow_and_update()),
        };
        self.parts.meters.runs.follow();
        let mut story = Story::new(config.percent, told);
        tokio::spawn(send(traces.clone(), courier));
        // Orders that were read back from disk get their ids with a block.
        if height.changed().await.is_err() {
            return;
        }
        loop {
            let begun = Instant::now();
            match self.trace_look(&story).await {
                Ok(look) => {
                    let spans = story.tell(look);
                    traces.outbox().push(spans, story.told());
                }
                Err(error) => tracing::debug!(%error, "traces wait"),
            }
            tokio::time::sleep(LOOK.max(begun.elapsed() * SPARING)).await;
            if let Ok(Err(_)) = tokio::time::timeout(LONGEST, height.changed()).await {
                return;
            }
        }
    }
}

/// Nothing of before is told.
fn from_now_on(height: u64) -> Told {
    Told {
        height,
        now_ms: wall_ms(),
        place: (height, u32::MAX),
    }
}

/// Sends batch after batch.
async fn send(traces: Traces, mut courier: Courier) {
    loop {
        let batch = courier.carry(traces.outbox()).await;
        if let Some(told) = batch.told {
            traces.keep(told).await;
        }
    }
}
