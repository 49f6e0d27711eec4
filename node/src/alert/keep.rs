//! Looks at the node now and then, and sends what is to be told.

use super::Alerts;
use super::outbox::Next;
use super::types::AlertWay;
use crate::backend::{NodeBackend, wall_ms};
use std::sync::Arc;
use std::time::Duration;

/// Between two looks. Each wakes the node.
const LOOK: Duration = Duration::from_secs(5);

impl NodeBackend {
    /// Looks and sends until the node ends; ends at once if alerts have no way out.
    pub async fn watch_over(self: Arc<Self>) {
        let alerts = self.parts.alerts.clone();
        let ways = alerts.ways();
        if ways.is_empty() {
            return;
        }
        for way in ways {
            tokio::spawn(send(alerts.clone(), way));
        }
        loop {
            match self.alert_facts().await {
                Ok(facts) => alerts.look(facts).await,
                Err(error) => tracing::debug!(%error, "alerts wait"),
            }
            tokio::time::sleep(LOOK).await;
        }
    }
}

/// Sends what waits for a way, one after the other.
async fn send(alerts: Alerts, way: AlertWay) {
    let mut turns = alerts.turns();
    loop {
        // A change after this is seen below.
        turns.borrow_and_update();
        let until = match alerts.next(way).await {
            Next::Send(alert) => {
                alerts.send(way, &alert).await;
                continue;
            }
            Next::At(ms) => Some(Duration::from_millis(ms.saturating_sub(wall_ms()))),
            Next::Nothing => None,
        };
        let changed = match until {
            None => turns.changed().await,
            Some(pause) => match tokio::time::timeout(pause, turns.changed()).await {
                Ok(changed) => changed,
                Err(_) => Ok(()),
            },
        };
        if changed.is_err() {
            return;
        }
    }
}
