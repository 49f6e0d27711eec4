//! What is counted as it happens, by whoever sees it happen.

use super::chain::Chain;
use super::hosted::Hosted;
use super::orders::Orders;
use super::payments::Payments;
use super::requests::Requests;
use super::stages::StageTimes;
use super::text::Text;
use crate::trace::RunLog;
use gridbay_core::agent::{Phase, RunId};
use gridbay_core::input::Input;
use gridbay_host::Stages;
use std::sync::Arc;
use std::time::Duration;

/// Counts and times of one run of the node.
#[derive(Debug, Default)]
pub struct Meters {
    pub(super) chain: Chain,
    pub(super) hosted: Hosted,
    pub(super) orders: Orders,
    pub(super) payments: Payments,
    pub(super) requests: Requests,
    pub(super) stages: Arc<StageTimes>,
    /// News of others' jobs for traces.
    pub(crate) runs: RunLog,
}

/// The names by which counts are told that have not come yet.
pub(super) struct Names {
    /// Kinds of auctions.
    pub(super) auctions: Vec<&'static str>,
    /// Last states of own orders.
    pub(super) ends: Vec<&'static str>,
}

impl Meters {
    /// Times stages of the ledger's work, to be told among the rest.
    pub(crate) fn stopwatch(&self) -> Stages {
        let times: Arc<StageTimes> = Arc::clone(&self.stages);
        Stages::by(times)
    }

    /// A step of the core took so long and ended at a time; since then the last block has this
    /// height and ledger time.
    pub(crate) fn stepped(&self, took: Duration, now_ms: u64, head: (u64, u64)) {
        self.chain.stepped(took, now_ms, head);
    }

    /// An auction was cleared by the block of a height.
    pub(crate) fn cleared(&self, kind: &'static str, height: u64) {
        self.chain.cleared(kind, height);
    }

    /// A job of others is to be staged.
    pub(crate) fn stages(&self, job: RunId) {
        self.hosted.begins(job);
        self.runs.stages(job);
    }

    /// News of a job of others, as the core is about to hear it.
    pub(crate) fn hears(&self, input: &Input) {
        match input {
            Input::Staged { job, ok } => self.hosted.staged(job, *ok),
            Input::JobPhase { job, phase } => self.phase(job, phase),
            _ => {}
        }
    }

    fn phase(&self, job: &RunId, phase: &Phase) {
        self.hosted.phase(job, phase);
        self.runs.phase(*job, *phase);
    }

    pub(super) fn metrics(&self, text: &mut Text, names: &Names) {
        self.chain.metrics(text, &names.auctions);
        self.hosted.metrics(text);
        self.orders.metrics(text, &names.ends);
        self.payments.metrics(text);
        self.requests.metrics(text);
        self.stages.metrics(text);
    }
}
