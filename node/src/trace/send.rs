//! Sends what waits to the collector, by the exporter of OpenTelemetry over the node's own HTTP.

use super::handle::Sender;
use super::outbox::{Batch, Outbox};
use crate::config::TracesConfig;
use crate::post::{self, Aim};
use hyper::StatusCode;
use opentelemetry::KeyValue;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{ExporterBuildError, SpanExporter};
use opentelemetry_otlp::{Protocol, RetryPolicy, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{SpanData, SpanExporter as _};
use std::pin::Pin;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Time for one request.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);
/// Spans gather for so long before they are sent.
const GATHER: Duration = Duration::from_secs(1);
/// The pause after a failure, which doubles with each further one.
const PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// What became of a request.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Sent,
    /// The collector will not have it, now or later.
    Refused(String),
    /// It may later.
    Failed(String),
}

/// The exporter, and the way that its requests take.
#[derive(Debug)]
pub(super) struct Courier {
    exporter: SpanExporter,
    way: Arc<Way>,
    failing: bool,
    gather: Duration,
}

/// The node's own HTTP under the exporter. Whatever address a request names, it goes to the one of
/// the settings.
#[derive(Debug)]
struct Way {
    aim: Aim,
    /// What came of the last request: the exporter tells too little of it.
    last: Mutex<Option<Result<StatusCode, String>>>,
}

impl HttpClient for Way {
    fn send_bytes<'a, 'f>(
        &'a self,
        request: Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'f>>
    where
        'a: 'f,
        Self: 'f,
    {
        Box::pin(async move {
            let (head, body) = request.into_parts();
            let answer = post::post(&self.aim, head.headers, body).await;
            let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
            *last = Some(answer.clone());
            let mut response = Response::new(Bytes::new());
            *response.status_mut() = answer?;
            Ok(response)
        })
    }
}

impl Courier {
    /// An exporter to the collector of the settings.
    pub(super) fn new(
        config: &TracesConfig,
        from: &Sender,
        (patience, gather): (Duration, Duration),
    ) -> Result<Courier, ExporterBuildError> {
        let to = config.endpoint.clone();
        let scheme = if to.tls { "https" } else { "http" };
        let address = format!("{scheme}://{}{}", to.authority, to.target);
        let way = Arc::new(Way {
            aim: Aim {
                to,
                authorities: config.authorities.clone(),
                setting: "traces.authorities",
                patience,
            },
            last: Mutex::new(None),
        });
        let client: Arc<dyn HttpClient> = way.clone();
        let mut exporter = SpanExporter::builder()
            .with_http()
            .with_shared_http_client(client)
            .with_endpoint(address)
            .with_protocol(Protocol::HttpJson)
            // Its own attempts sleep on the thread that they run on.
            .with_retry_policy(RetryPolicy::disabled())
            .build()?;
        let about = [
            KeyValue::new("service.instance.id", from.name.clone()),
            KeyValue::new("service.version", env!("CARGO_PKG_VERSION")),
            KeyValue::new("gridbay.network", from.network.clone()),
        ];
        let resource = Resource::builder_empty().with_service_name("gridbay");
        exporter.set_resource(&resource.with_attributes(about).build());
        Ok(Courier {
            exporter,
            way,
            failing: false,
            gather,
        })
    }
    /// The same with the usual times.
    pub(super) fn usual(
        config: &TracesConfig,
        from: &Sender,
    ) -> Result<Courier, ExporterBuildError> {
        Courier::new(config, from, (PATIENCE, GATHER))
    }

    /// Sends the next batch, however long that takes, and tells up to where all was told with it.
    pub(super) async fn carry(&mut self, outbox: &Outbox) -> Batch {
        loop {
            outbox.filled().await;
            tokio::time::sleep(self.gather).await;
            if let Some(batch) = outbox.take() {
                self.deliver(&batch.spans, outbox).await;
                return batch;
            }
        }
    }

    async fn deliver(&mut self, spans: &[SpanData], outbox: &Outbox) {
        let (counts, number) = (outbox.counts(), spans.len() as u64);
        let mut pause = PAUSE;
        loop {
            match self.attempt(spans.to_vec()).await {
                Outcome::Sent => {
                    counts.sent.fetch_add(number, Relaxed);
                    if std::mem::take(&mut self.failing) {
                        tracing::info!("traces arrive again");
                    }
                    return;
                }
                Outcome::Refused(why) => {
                    counts.refused.fetch_add(number, Relaxed);
                    self.complain(&why);
                    return;
                }
                Outcome::Failed(why) => {
                    counts.failures.fetch_add(1, Relaxed);
                    self.complain(&why);
                    tokio::time::sleep(pause).await;
                    pause = LONGEST_PAUSE.min(pause * 2);
                }
            }
        }
    }

    /// Says it once, until traces arrive again.
    fn complain(&mut self, why: &str) {
        if !std::mem::replace(&mut self.failing, true) {
            tracing::warn!(%why, "traces do not arrive, which is said once");
        }
    }

    async fn attempt(&self, spans: Vec<SpanData>) -> Outcome {
        let exported = self.exporter.export(spans).await;
        let mut last = self.way.last.lock().unwrap_or_else(PoisonError::into_inner);
        match (last.take(), exported) {
            (Some(Err(why)), _) => Outcome::Failed(why),
            (Some(Ok(status)), _) => judged(status),
            (None, Ok(())) => Outcome::Sent,
            (None, Err(error)) => Outcome::Refused(error.to_string()),
        }
    }
}

/// The meaning of an answer, by the specification of OTLP.
fn judged(status: StatusCode) -> Outcome {
    match status.as_u16() {
        200..300 => Outcome::Sent,
        408 | 429 | 500.. => Outcome::Failed(format!("the collector answers {status}")),
        _ => Outcome::Refused(format!("the collector answers {status}")),
    }
}

#[cfg(test)]
mod tests;
