//! One span as the exporter wants it.

use super::ids;
use gridbay_protocol::ids::OrderId;
use gridbay_protocol::units::{Credits, MICROS_PER_CREDIT};
use opentelemetry::trace::{SpanContext, SpanKind, Status, TraceFlags, TraceState};
use opentelemetry::{InstrumentationScope, KeyValue, SpanId, Value};
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanLinks};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A span of an order's trace, as it is put together.
#[derive(Clone, Debug)]
pub(super) struct Span(SpanData);

impl Span {
    /// A span of a name and an id, below another one.
    pub(super) fn new(
        order: &OrderId,
        (name, id): (&'static str, SpanId),
        parent: SpanId,
        (from_ms, to_ms): (u64, u64),
    ) -> Span {
        let (trace, flags) = (ids::trace(order), TraceFlags::SAMPLED);
        let scope = InstrumentationScope::builder("gridbay");
        Span(SpanData {
            span_context: SpanContext::new(trace, id, flags, false, TraceState::NONE),
            parent_span_id: parent,
            parent_span_is_remote: false,
            span_kind: SpanKind::Internal,
            name: name.into(),
            start_time: at(from_ms.min(to_ms)),
            end_time: at(to_ms),
            attributes: vec![KeyValue::new("gridbay.order", order.to_hex())],
            dropped_attributes_count: 0,
            events: SpanEvents::default(),
            links: SpanLinks::default(),
            status: Status::Unset,
            instrumentation_scope: scope.with_version(env!("CARGO_PKG_VERSION")).build(),
        })
    }
    /// With an attribute more.
    pub(super) fn with(mut self, name: &'static str, value: impl Into<Value>) -> Span {
        self.0.attributes.push(KeyValue::new(name, value));
        self
    }
    /// The same, if there is a value.
    pub(super) fn with_some(self, name: &'static str, value: Option<impl Into<Value>>) -> Span {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }
    /// Marked as failed, where it did.
    pub(super) fn failed(mut self, failed: bool, why: Option<&str>) -> Span {
        if failed {
            self.0.status = Status::error(why.unwrap_or_default().to_owned());
        }
        self
    }
    /// The seller's part, of which the buyer's node sends the parent.
    pub(super) fn of_the_seller(mut self) -> Span {
        (self.0.span_kind, self.0.parent_span_is_remote) = (SpanKind::Server, true);
        self
    }
    /// As it is sent.
    pub(super) fn done(self) -> SpanData {
        self.0
    }
}

/// An amount as a number of credits, which collectors can compare.
pub(super) fn in_credits(amount: Credits) -> f64 {
    amount.micros() as f64 / MICROS_PER_CREDIT as f64
}

/// A count as attributes have it.
pub(super) fn count(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}

fn at(ms: u64) -> SystemTime {
    let time = UNIX_EPOCH.checked_add(Duration::from_millis(ms));
    time.unwrap_or(UNIX_EPOCH)
}
