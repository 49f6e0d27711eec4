//! The seller's part: others' jobs on this machine. Pure.

use super::facts::Look;
use super::ids;
use super::runs::RunNews;
use super::span::{Span, count};
use super::story::Spans;
use gridbay_core::agent::{Phase, RunId};
use gridbay_protocol::ids::{LeaseId, OrderId};
use gridbay_protocol::job::JobExit;
use std::collections::BTreeMap;

/// Heights for which the order of a lease that is over is remembered: its jobs end a little later,
/// and its last slot is paid later still.
const LINGER: u64 = 4_096;
/// Leases and runs remembered at the most.
const MOST: usize = 16_384;

/// The memory from look to look.
#[derive(Debug, Default)]
pub(super) struct Hosted {
    /// The orders of leases, with the height at which they were last seen.
    orders: BTreeMap<LeaseId, (OrderId, u64)>,
    /// The last leases of orders.
    leases: BTreeMap<OrderId, LeaseId>,
    /// Runs that are being staged, and since when.
    staging: BTreeMap<RunId, u64>,
}

impl Hosted {
    /// Takes in the leases that are served now.
    pub(super) fn serves(&mut self, look: &Look) {
        for (lease, order) in &look.served {
            self.orders.insert(*lease, (*order, look.height));
            self.leases.insert(*order, *lease);
        }
        let oldest = look.height.saturating_sub(LINGER);
        self.orders.retain(|_, (_, seen)| *seen >= oldest);
        while self.orders.len() > MOST {
            self.orders.pop_first();
        }
        let orders = &self.orders;
        self.leases.retain(|_, lease| orders.contains_key(lease));
    }

    /// The last lease of an order that was served here.
    pub(super) fn lease_of(&self, order: &OrderId) -> Option<LeaseId> {
        self.leases.get(order).copied()
    }

    /// Tells of runs. Those of leases that are not known any more are passed over.
    pub(super) fn runs(&mut self, look: &Look, spans: &mut Spans) {
        for news in &look.runs {
            let order = self.orders.get(&news.run.lease).map(|(order, _)| *order);
            let Some(order) = order else {
                self.staging.remove(&news.run);
                continue;
            };
            match news.phase {
                None => {
                    self.staging.insert(news.run, news.at_ms);
                    while self.staging.len() > MOST {
                        self.staging.pop_first();
                    }
                }
                Some(Phase::Running { started_ms }) => {
                    spans.extend(self.staged(&order, news.run, started_ms));
                }
                Some(phase @ Phase::Ended { started_ms, .. }) => {
                    let first = if started_ms > 0 {
                        started_ms
                    } else {
                        news.at_ms
                    };
                    spans.extend(self.staged(&order, news.run, first));
                    spans.push((order, ended(&order, news, phase)));
                }
                Some(Phase::Unknown | Phase::Staging) => {}
            }
        }
    }

    /// The staging of a run, unless it was told or began before this node.
    fn staged(&mut self, order: &OrderId, run: RunId, to_ms: u64) -> Option<(OrderId, Span)> {
        let from_ms = self.staging.remove(&run)?;
        let id = ids::stage(order, "stage", (run.task.into(), run.attempt));
        let under = ids::lease(&run.lease);
        let span = Span::new(order, ("stage", id), under, (from_ms, to_ms));
        Some((*order, of_run(span, run)))
    }
}

fn of_run(span: Span, run: RunId) -> Span {
    span.of_the_seller()
        .with("gridbay.lease", run.lease.to_hex())
        .with("gridbay.rank", count(run.task))
        .with("gridbay.attempt", count(run.attempt))
}

fn ended(order: &OrderId, news: &RunNews, phase: Phase) -> Span {
    let (run, at_ms) = (news.run, news.at_ms);
    let (exit, started_ms, ended_ms, cpu_ms, rss_kib) = match phase {
        Phase::Ended {
            exit,
            started_ms,
            ended_ms,
            cpu_ms,
            rss_kib,
        } => (exit, started_ms, ended_ms, cpu_ms, rss_kib),
        _ => (JobExit::Lost, 0, 0, 0, 0),
    };
    // One that never ran has no times of its own.
    let known = |ms: u64| if ms > 0 { ms } else { at_ms };
    let (word, code) = match exit {
        JobExit::Code(code) => ("code", Some(i64::from(code))),
        JobExit::Signal(_) => ("signal", None),
        JobExit::TimeLimit => ("time_limit", None),
        JobExit::Stopped => ("stopped", None),
        JobExit::DiskLimit => ("disk_limit", None),
        JobExit::Lost => ("lost", None),
    };
    let number = (run.task.into(), run.attempt);
    let (id, under) = (
        ids::stage(order, "run", number),
        ids::stage(order, "job", number),
    );
    let times = (known(started_ms), known(ended_ms));
    of_run(Span::new(order, ("run", id), under, times), run)
        .with("gridbay.end", word)
        .with("gridbay.cpu_ms", count(cpu_ms))
        .with("gridbay.rss_kib", count(rss_kib))
        .with_some("gridbay.exit_code", code)
        .failed(code != Some(0), Some(word))
}
