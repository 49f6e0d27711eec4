//! The alerts of one node: what is open and what waits, kept in a file of the data folder.

use super::desk::Desk;
use super::facts::Facts;
use super::message::Sender;
use super::outbox::{Next, Outbox, Outcome};
use super::types::{Alert, AlertKind, AlertList, AlertState, AlertTried, AlertWay};
use super::watch::Watch;
use super::way;
use crate::api::{Answer, ApiError, ErrorCode};
use crate::backend::failure::{internal, usage};
use crate::backend::wall_ms;
use crate::config::AlertsConfig;
use crate::store::replace_file;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{Semaphore, watch};

/// Name of the file.
const FILE: &str = "alerts.json";
/// Bytes of it at the most: three full lines, and what is open.
const BYTES: u64 = 4 << 20;

/// The alerts of one node. Clones are the same.
#[derive(Clone)]
pub struct Alerts(Arc<Shared>);

struct Shared {
    config: AlertsConfig,
    folder: PathBuf,
    from: Sender,
    kept: Mutex<Kept>,
    watch: Mutex<Watch>,
    /// Counts the changes of what waits.
    turn: watch::Sender<u64>,
    trying: Semaphore,
}

/// The part that outlives the node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    desk: Desk,
    outbox: Outbox,
}

impl Alerts {
    /// The alerts of a data folder. A file that makes no sense is put aside: alerts begin anew, and
    /// the node runs.
    pub fn open(folder: &Path, config: AlertsConfig, from: Sender) -> Alerts {
        let mut kept = read(folder);
        kept.outbox.set(&ways(&config));
        Alerts(Arc::new(Shared {
            config,
            folder: folder.to_owned(),
            from,
            kept: Mutex::new(kept),
            watch: Mutex::default(),
            turn: watch::Sender::new(0),
            trying: Semaphore::new(1),
        }))
    }
    /// The ways that are configured.
    pub(super) fn ways(&self) -> Vec<AlertWay> {
        ways(&self.0.config)
    }
    /// Told after each change of what waits.
    pub(super) fn turns(&self) -> watch::Receiver<u64> {
        self.0.turn.subscribe()
    }
    /// The next step of a way.
    pub(super) async fn next(&self, way: AlertWay) -> Next {
        let next = move |kept: &mut Kept| kept.outbox.next(way, wall_ms());
        self.with(next).await.unwrap_or(Next::Nothing)
    }
    /// Takes a look at the node.
    pub(super) async fn look(&self, facts: Facts) {
        let shared = Arc::clone(&self.0);
        let step = move |kept: &mut Kept| {
            // Every look leaves it whole.
            let mut watch = shared.watch.lock().unwrap_or_else(PoisonError::into_inner);
            watch.note(&facts);
            let alerts = kept.desk.step(&facts, &shared.config.limits, &watch);
            for alert in &alerts {
                kept.outbox.push(alert);
            }
            alerts.len()
        };
        if self.with(step).await.is_some_and(|alerts| alerts > 0) {
            self.0.turn.send_modify(|turn| *turn += 1);
        }
    }
    /// Sends an alert, and notes what came of it.
    pub(super) async fn send(&self, way: AlertWay, alert: &Alert) {
        let outcome = self.tried(way, alert).await;
        if let Outcome::Refused(why) | Outcome::Failed(why) = &outcome {
            tracing::warn!(way = way.name(), number = alert.number, %why, "an alert did not arrive");
        }
        let number = alert.number;
        let note = move |kept: &mut Kept| kept.outbox.ended(way, number, outcome, wall_ms());
        self.with(note).await;
    }
    async fn tried(&self, way: AlertWay, alert: &Alert) -> Outcome {
        let shared = &self.0;
        way::send((&shared.config, &shared.folder), way, &shared.from, alert).await
    }
    /// The open alerts, and the ways.
    pub(super) async fn list(&self) -> Answer<AlertList> {
        let list = self.with(|kept| AlertList {
            open: kept.desk.open(),
            ways: kept.outbox.lines(),
        });
        list.await
            .ok_or_else(|| internal("no list of alerts", "its task ended"))
    }
    /// Tries each way once, one after the other.
    pub(super) async fn test(&self) -> Answer<Vec<AlertTried>> {
        let Ok(_one) = self.0.trying.try_acquire() else {
            let why = "the ways are being tried already";
            return Err(ApiError::new(ErrorCode::Busy, why, "wait for that to end"));
        };
        let ways = self.ways();
        if ways.is_empty() {
            let hint =
                "set alerts.webhook, alerts.command or alerts.file, and start the node again";
            return Err(usage("alerts have no way out of this node", hint));
        }
        let number = self.with(|kept| kept.desk.number()).await.unwrap_or(0);
        let mut tried = Vec::new();
        for way in ways {
            let failure = match self.tried(way, &trial(number)).await {
                Outcome::Done => None,
                Outcome::Refused(why) | Outcome::Failed(why) => Some(why),
            };
            tried.push(AlertTried { way, failure });
        }
        Ok(tried)
    }

    /// Looks at what is kept, or changes it. A change is on disk before this ends; if the disk
    /// fails, alerts go on without it.
    async fn with<T: Send + 'static>(
        &self,
        act: impl FnOnce(&mut Kept) -> T + Send + 'static,
    ) -> Option<T> {
        let shared = Arc::clone(&self.0);
        let done = tokio::task::spawn_blocking(move || {
            // Every change leaves it whole.
            let mut kept = shared.kept.lock().unwrap_or_else(PoisonError::into_inner);
            let before = kept.clone();
            let value = act(&mut kept);
            if *kept != before
                && let Err(error) = write(&shared.folder, &kept)
            {
                tracing::warn!(%error, "alerts cannot be written down");
            }
            value
        });
        done.await.ok()
    }
}

fn ways(config: &AlertsConfig) -> Vec<AlertWay> {
    let on = |way: &AlertWay| match way {
        AlertWay::Webhook => config.webhook.is_some(),
        AlertWay::Command => !config.command.is_empty(),
        AlertWay::File => config.file.is_some(),
    };
    AlertWay::ALL.into_iter().filter(on).collect()
}

/// An alert about nothing.
fn trial(number: u64) -> Alert {
    let now_ms = wall_ms();
    Alert {
        number,
        kind: AlertKind::Test,
        subject: "test".to_owned(),
        state: AlertState::Raised,
        what: "a test: alerts of this node arrive here".to_owned(),
        hint: "gridbay alerts list tells what is open".to_owned(),
        since_ms: now_ms,
        at_ms: now_ms,
    }
}

fn read(folder: &Path) -> Kept {
    let path = folder.join(FILE);
    let mut bytes = Vec::new();
    let read = File::open(&path).and_then(|file| file.take(BYTES).read_to_end(&mut bytes));
    let failure = match read {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Kept::default(),
        Err(error) => error.to_string(),
        Ok(_) => match serde_json::from_slice(&bytes) {
            Ok(kept) => return kept,
            Err(error) => error.to_string(),
        },
    };
    tracing::warn!(%failure, "alerts begin anew: what was told before cannot be read");
    if let Err(error) = fs::rename(&path, folder.join("alerts.bad")) {
        tracing::warn!(%error, "the old alerts cannot be put aside");
    }
    Kept::default()
}

fn write(folder: &Path, kept: &Kept) -> io::Result<()> {
    let bytes = serde_json::to_vec(kept)?;
    replace_file(&folder.join(FILE), &bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_makes_no_sense_is_put_aside() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(FILE), "{\"desk\":").unwrap();
        assert_eq!(read(folder.path()), Kept::default());
        assert!(!folder.path().join(FILE).exists() && folder.path().join("alerts.bad").exists());
        let mut kept = Kept::default();
        kept.outbox.set(&AlertWay::ALL);
        kept.outbox.push(&trial(kept.desk.number()));
        write(folder.path(), &kept).unwrap();
        assert_eq!(read(folder.path()), kept);
    }
}
