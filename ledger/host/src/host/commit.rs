//! Applies a decided block: append it, commit it, index it, settle the mempool, tell peers.

use super::{Host, HostEffect};
use crate::candidates::Candidates;
use crate::fault::Fault;
use crate::mempool::MempoolRefusal;
use crate::message::DecidedBlock;
use crate::stages::Stage;
use gridbay_ledger::{CheckedBlock, Delta};
use gridbay_protocol::vote::Certificate;
use std::sync::Arc;

impl Host {
    /// Applies a block that `certificate` proves. It is safe on disk at the end of the step.
    pub(super) fn commit(
        &mut self,
        block: Arc<CheckedBlock>,
        delta: Delta,
        certificate: Certificate,
    ) -> Result<(), Fault> {
        let decided = DecidedBlock {
            block: block.block().clone(),
            certificate: certificate.clone(),
        };
        self.blocks.append(&mut *self.disk, &decided)?;
        let effects = Arc::clone(delta.effects());
        let commit = || self.state.commit(delta);
        self.stages.time(Stage::Execute, commit);
        self.index.add(&block, &effects)?;
        let height = self.state.height();
        self.end_height(height);
        for item in &block.block().evidence {
            let vote = item.first;
            let crime = (vote.height, vote.round, vote.kind, vote.validator);
            self.evidence.remove(&crime);
        }
        self.effects.push(HostEffect::Decided {
            block: Arc::clone(&block),
            certificate: certificate.clone(),
            effects,
        });
        self.tip_certificate = Some(certificate);
        self.compare_clock(block.header().time_ms);
        let settled = self.mempool.settle(&self.state, block.entries());
        for (entry, source) in settled.ready {
            self.announce(&entry, source);
        }
        self.promise_more();
        self.receipts.forget(height);
        self.hints.applied(&self.state);
        for (entry, refusal) in settled.dropped {
            let refusal = MempoolRefusal::Ledger(Box::new(refusal));
            self.effects
                .push(HostEffect::EntryRefused { entry, refusal });
        }
        let overdue = self.mempool.overdue(height);
        self.relay.extend(overdue);
        // Told at the end of the step, once for many blocks.
        self.status_at = self.now.mono_ms;
        Ok(())
    }
    /// Compares this node's clock with the tip's time, unless the tip is one of many missed blocks.
    fn compare_clock(&mut self, block_ms: u64) {
        if self.catchup.knows_more(self.state.height()) {
            return;
        }
        if let Some(news) = self.clock.observe(block_ms, self.now.wall_ms) {
            match news {
                Some(trouble) => tracing::warn!(%trouble, "no entries are taken"),
                None => tracing::info!("the clock is right again"),
            }
            self.effects.push(HostEffect::Trouble(news));
        }
    }
    /// Forgets everything about the height that ended.
    fn end_height(&mut self, height: u64) {
        match self.engine.take() {
            Some(mut engine) => self.witness(engine.witnessed()),
            None => self.pace.follow(self.now.mono_ms),
        }
        // The block itself supersedes all that was signed for it.
        self.signed = false;
        self.missing_told.clear();
        self.candidates = Candidates::default();
        self.timers.clear();
        if let Some(guard) = &mut self.guard {
            guard.advance(height + 1);
        }
        self.recovered = self.recovered.take().filter(|r| r.height > height);
        self.recall_callers();
        self.catchup.progress(height, self.now.mono_ms);
    }
}
