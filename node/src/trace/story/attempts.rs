//! Attempts at ranks: the way to the first instruction, and the work.

use super::super::facts::{AttemptFact, Look, OrderFact};
use super::super::ids;
use super::super::span::{Span, count};
use super::{Spans, Story, time};
use opentelemetry::SpanId;

impl Story {
    /// What the attempts of an order have come to.
    pub(super) fn attempts(&self, fact: &OrderFact, look: &Look, spans: &mut Spans) {
        let before = self.orders.get(&fact.key);
        let before = before.filter(|before| before.id == fact.id);
        for (number, attempt) in &fact.attempts {
            let known = before.map(|before| before.attempts.get(number));
            let is_new = |of: fn(&AttemptFact) -> u64| match known {
                Some(known) => of(attempt) > 0 && known.map_or(0, of) == 0,
                None => of(attempt) > self.told.now_ms,
            };
            let (started, ended) = (is_new(|a| a.started_ms), is_new(|a| a.ended_ms));
            if started {
                spans.push((fact.id, self.start(fact, (*number, attempt), look)));
            }
            if ended && attempt.started_ms > 0 {
                spans.push((fact.id, job(fact, *number, attempt)));
            }
        }
    }

    /// From the lease, or the end of the attempt before, to the first instruction.
    fn start(
        &self,
        fact: &OrderFact,
        ((rank, number), attempt): ((u32, u32), &AttemptFact),
        look: &Look,
    ) -> Span {
        let earlier = number.checked_sub(1);
        let earlier = earlier.and_then(|number| fact.attempts.get(&(rank, number)));
        let earlier = earlier.filter(|earlier| earlier.lease == attempt.lease);
        let held = self.leases.get(&fact.id);
        let held = held.filter(|held| Some(held.lease) == attempt.lease);
        let won = (fact.lease == attempt.lease).then(|| time(look, fact.won));
        let begins = earlier.map(|earlier| earlier.ended_ms).filter(|ms| *ms > 0);
        let begins = begins.or(held.map(|held| held.since_ms)).or(won);
        let times = (begins.unwrap_or(attempt.started_ms), attempt.started_ms);
        let id = ids::stage(&fact.id, "start", (rank.into(), number));
        let span = Span::new(&fact.id, ("start", id), parent(fact, attempt), times);
        of_attempt(span, fact, (rank, number), attempt)
    }
}

/// From its first instruction to its end.
fn job(fact: &OrderFact, (rank, number): (u32, u32), attempt: &AttemptFact) -> Span {
    let id = ids::stage(&fact.id, "job", (rank.into(), number));
    let times = (attempt.started_ms, attempt.ended_ms);
    let span = Span::new(&fact.id, ("job", id), parent(fact, attempt), times);
    let end = attempt.end.as_deref();
    let failed = end != Some("done") || attempt.code.is_some_and(|code| code != 0);
    of_attempt(span, fact, (rank, number), attempt)
        .with_some("gridbay.end", attempt.end.clone())
        .with_some("gridbay.exit_code", attempt.code)
        .failed(failed, end)
}

fn parent(fact: &OrderFact, attempt: &AttemptFact) -> SpanId {
    let lease = attempt.lease.as_ref();
    lease.map_or_else(|| ids::root(&fact.id), ids::lease)
}

fn of_attempt(
    span: Span,
    fact: &OrderFact,
    (rank, number): (u32, u32),
    attempt: &AttemptFact,
) -> Span {
    span.with("gridbay.job", fact.job.clone())
        .with("gridbay.rank", count(rank))
        .with("gridbay.attempt", count(number))
        .with_some("gridbay.lease", attempt.lease.map(|lease| lease.to_hex()))
}
