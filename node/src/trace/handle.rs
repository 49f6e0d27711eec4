//! The traces of one node: the collector that it tells, and what waits for it.

use super::outbox::Outbox;
use super::told::Told;
use crate::config::TracesConfig;
use crate::store::replace_file;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// Name of the file that keeps up to where all was told.
const FILE: &str = "traces.json";
/// Bytes of it at the most.
const BYTES: u64 = 4 << 10;

/// The traces of one node. Clones are the same.
#[derive(Clone, Debug)]
pub struct Traces(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    config: Option<TracesConfig>,
    file: PathBuf,
    from: Sender,
    outbox: Outbox,
}

/// The node that traces come from.
#[derive(Clone, Debug)]
pub(super) struct Sender {
    /// Name of the node.
    pub(super) name: String,
    /// Name of its network.
    pub(super) network: String,
}

impl Traces {
    /// The traces of the node of a data folder; off without a collector.
    pub fn new(folder: &Path, config: Option<TracesConfig>, name: &str, network: &str) -> Traces {
        Traces(Arc::new(Shared {
            config,
            file: folder.join(FILE),
            from: Sender {
                name: name.to_owned(),
                network: network.to_owned(),
            },
            outbox: Outbox::default(),
        }))
    }
    pub(super) fn config(&self) -> Option<&TracesConfig> {
        self.0.config.as_ref()
    }
    pub(super) fn from(&self) -> &Sender {
        &self.0.from
    }
    pub(super) fn outbox(&self) -> &Outbox {
        &self.0.outbox
    }
    /// Spans by what became of them.
    pub(crate) fn spans(&self) -> [(&'static str, u64); 3] {
        let counts = self.0.outbox.counts();
        [
            ("sent", counts.sent.load(Relaxed)),
            ("refused", counts.refused.load(Relaxed)),
            ("dropped", counts.dropped.load(Relaxed)),
        ]
    }
    /// Requests that failed.
    pub(crate) fn failures(&self) -> u64 {
        self.0.outbox.counts().failures.load(Relaxed)
    }
    /// Spans that wait.
    pub(crate) fn waiting(&self) -> usize {
        self.0.outbox.waiting()
    }

    /// Up to where an earlier run of the node told all; `None` if that is not known.
    pub(super) fn read(&self) -> Option<Told> {
        let mut bytes = Vec::new();
        let read = File::open(&self.0.file).and_then(|f| f.take(BYTES).read_to_end(&mut bytes));
        match read {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            Err(error) => tracing::warn!(%error, "traces begin anew: traces.json is unreadable"),
            Ok(_) => match serde_json::from_slice(&bytes) {
                Ok(told) => return Some(told),
                Err(error) => {
                    tracing::warn!(%error, "traces begin anew: traces.json makes no sense")
                }
            },
        }
        let _gone = fs::remove_file(&self.0.file);
        None
    }
    /// Keeps up to where all was told, off the runtime's threads.
    pub(super) async fn keep(&self, told: Told) {
        let shared = Arc::clone(&self.0);
        let write = move || replace_file(&shared.file, &serde_json::to_vec(&told)?);
        if let Ok(Err(error)) = tokio::task::spawn_blocking(write).await {
            tracing::debug!(%error, "traces.json cannot be written");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_was_told_is_remembered_and_nonsense_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let traces = Traces::new(folder.path(), None, "a", "b");
        assert_eq!(traces.read(), None);
        let told = Told {
            height: 7,
            now_ms: 9,
            place: (6, 2),
        };
        traces.keep(told).await;
        assert_eq!(traces.read(), Some(told));
        fs::write(folder.path().join(FILE), "{\"height\":").unwrap();
        assert_eq!(traces.read(), None);
        assert!(!folder.path().join(FILE).exists());
    }
}
