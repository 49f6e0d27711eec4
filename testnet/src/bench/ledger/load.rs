//! The steps of load.

use super::super::crowd;
use super::super::spread::percentile;
use super::decisions::Decisions;
use super::mix::Mix;
use super::stages::Stages;
use crate::network::Node;
use anyhow::Context as _;
use gridbay_node::api::types::{BlockInfo, TransferOutcome, TransferRequest, TransfersRequest};
use gridbay_node::api::{ApiError, ErrorCode};
use gridbay_protocol::ids::AccountId;
use gridbay_protocol::units::Credits;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::{Request, StatusCode, header};
use hyper_util::rt::TokioIo;
use serde::Serialize;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::net::UnixStream;
use tokio::sync::Mutex;
use tokio::task::JoinSet;

/// Until a client asks again that nobody has told when.
const LITTLE: Duration = Duration::from_millis(200);
/// Micro-credits of a payment.
const MICROS: u64 = 100;

/// What came of a step.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Step {
    /// For people.
    pub(crate) load: String,
    /// Payments acknowledged.
    pub(crate) done: u64,
    /// The same in a second, of the time until the last answer.
    pub(crate) per_second: u64,
    /// Median, from when a payment was due to its answer.
    pub(crate) p50_ms: u64,
    /// 95th percentile.
    pub(crate) p95_ms: u64,
    /// 99th percentile.
    pub(crate) p99_ms: u64,
    /// Payments refused: they did not take effect.
    pub(crate) refused: u64,
    /// Payments that failed with an unknown end.
    pub(crate) unknown: u64,
    /// Mean milliseconds from a block to the next.
    pub(crate) block_ms: u64,
    /// Median from the proposal of a block to its decision at the first node; 0 if it is not known.
    pub(crate) decided_ms: u64,
    /// Cores that all nodes used together.
    pub(crate) cores: f64,
    /// The same by stage.
    pub(crate) stages: Stages,
    /// The first failure, if there was one.
    pub(crate) failure: Option<String>,
    /// Orders beside the payments, if there were any.
    pub(crate) mix: Option<Mix>,
}

/// The payments of a request.
#[derive(Clone)]
pub(crate) struct Pay {
    path: &'static str,
    body: Bytes,
    list: u64,
    /// Micro-credits of each.
    pub(super) micros: i64,
}

/// The end of one request: its milliseconds, and its payments.
#[derive(Default)]
struct Answered {
    ms: u64,
    done: u64,
    refused: u64,
    unknown: u64,
    /// Seconds until the same has a chance again, if it was refused as too much.
    again: u64,
    failure: Option<String>,
}

impl Pay {
    /// Equal payments to an account, so many in a request.
    pub(crate) fn new(to: AccountId, list: usize) -> anyhow::Result<Pay> {
        let transfer = TransferRequest {
            to,
            amount: Credits::from_micros(MICROS).context("an amount")?,
            memo: None,
        };
        let (path, body) = match list {
            1 => ("/ledger/transfer", serde_json::to_vec(&transfer)?),
            _ => {
                let transfers = vec![transfer; list];
                let many = TransfersRequest { transfers };
                ("/ledger/transfers", serde_json::to_vec(&many)?)
            }
        };
        Ok(Pay {
            path,
            body: body.into(),
            list: list as u64,
            micros: MICROS as i64,
        })
    }

    /// Counts an answer.
    fn count(&self, status: StatusCode, body: &[u8], to: &mut Answered) -> Result<(), String> {
        let told = |error: serde_json::Error| format!("{status}: {error}");
        if !status.is_success() {
            let error: ApiError = serde_json::from_slice(body).map_err(told)?;
            (0..self.list).for_each(|_| to.count(&error));
        } else if self.list == 1 {
            to.done = 1;
        } else {
            let outcomes: Vec<TransferOutcome> = serde_json::from_slice(body).map_err(told)?;
            for outcome in outcomes {
                match outcome.error {
                    None => to.done += 1,
                    Some(error) => to.count(&error),
                }
            }
        }
        Ok(())
    }
}

impl Answered {
    fn count(&mut self, error: &ApiError) {
        let nothing = error.details.get("done") == Some(&serde_json::Value::Bool(false));
        match error.code {
            ErrorCode::Timeout | ErrorCode::Internal | ErrorCode::Unreachable if !nothing => {
                self.unknown += 1;
            }
            ErrorCode::Busy | ErrorCode::TooMany => {
                self.refused += 1;
                self.again = self.again.max(error.retry_after());
            }
            _ => self.refused += 1,
        }
        self.failure.get_or_insert_with(|| error.to_string());
    }
}

/// Requests of this process so far.
static ASKED: AtomicU64 = AtomicU64::new(0);

/// A connection that stays, as those of programs do.
pub(super) struct Line {
    socket: PathBuf,
    sender: Option<SendRequest<Full<Bytes>>>,
}

impl Line {
    fn to(node: &Node) -> Line {
        Line {
            socket: node.client().socket().to_owned(),
            sender: None,
        }
    }

    async fn open(&self) -> anyhow::Result<SendRequest<Full<Bytes>>> {
        let stream = UnixStream::connect(&self.socket).await?;
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        // Ends with the sender; what breaks it is seen by the request.
        tokio::spawn(connection);
        Ok(sender)
    }

    /// The status and the body of an answer.
    async fn post(&mut self, path: &str, body: Bytes) -> anyhow::Result<(StatusCode, Bytes)> {
        let mut sender = match self.sender.take() {
            // The node closes what has rested for long.
            Some(sender) if !sender.is_closed() => sender,
            _ => self.open().await?,
        };
        let n = ASKED.fetch_add(1, Ordering::Relaxed);
        let request = Request::post(format!("/api/v1{path}"))
            .header(header::HOST, "localhost")
            .header(header::CONTENT_TYPE, "application/json")
            // As the command and the Python library ask: so that a lost answer costs nothing.
            .header("idempotency-key", format!("payment-{n:012}"))
            .body(Full::new(body))?;
        let answer = sender.send_request(request).await?;
        let status = answer.status();
        let whole = answer.into_body().collect().await?.to_bytes();
        self.sender = Some(sender);
        Ok((status, whole))
    }

    /// Asks for the payments; the time of the answer runs from when they were due.
    async fn ask(&mut self, pay: &Pay, due: Instant) -> Answered {
        let mut answered = Answered::default();
        let sent = self.post(pay.path, pay.body.clone()).await;
        let outcome = sent.map_err(|error| error.to_string());
        let outcome = outcome.and_then(|(status, body)| pay.count(status, &body, &mut answered));
        if let Err(failure) = outcome {
            answered.unknown += pay.list;
            answered.failure.get_or_insert(failure);
        }
        answered.ms = due.elapsed().as_millis() as u64;
        answered
    }
}

/// Payments at a rate, in turn at every node.
pub(crate) async fn open(
    nodes: &[&Node],
    pay: &Pay,
    rate: u64,
    time: Duration,
) -> anyhow::Result<Step> {
    let requests = (time.as_millis() as u64 * rate / 1_000 / pay.list).max(1);
    let before = Before::now(nodes).await?;
    let began = Instant::now();
    let mut asked = JoinSet::new();
    // Lines whose request is answered: as many stay open as are needed at a time.
    let free: Arc<Mutex<Vec<Vec<Line>>>> = Arc::default();
    free.lock().await.resize_with(nodes.len(), Vec::new);
    for n in 0..requests {
        let due = began + Duration::from_micros(n * pay.list * 1_000_000 / rate);
        tokio::time::sleep_until(due.into()).await;
        let at = n as usize % nodes.len();
        let line = free.lock().await[at].pop();
        let mut line = line.unwrap_or_else(|| Line::to(nodes[at]));
        let (pay, free) = (pay.clone(), Arc::clone(&free));
        asked.spawn(async move {
            let answer = line.ask(&pay, due).await;
            free.lock().await[at].push(line);
            answer
        });
    }
    let answers = asked.join_all().await;
    let load = format!("{rate} a second");
    sum(load, answers, before, nodes, pay.list).await
}

/// Clients that ask again as soon as they are answered.
pub(crate) async fn closed(
    nodes: &[&Node],
    pay: &Pay,
    clients: usize,
    time: Duration,
) -> anyhow::Result<Step> {
    let before = Before::now(nodes).await?;
    let began = Instant::now();
    let mut asked = JoinSet::new();
    for n in 0..clients {
        let (mut line, pay) = (Line::to(nodes[n % nodes.len()]), pay.clone());
        asked.spawn(async move {
            let mut answers = Vec::new();
            while began.elapsed() < time {
                let answer = line.ask(&pay, Instant::now()).await;
                // One that is refused comes again when it is told to, as an honest client does.
                if answer.done == 0 {
                    let told = Duration::from_secs(answer.again).max(LITTLE);
                    let left = time.saturating_sub(began.elapsed());
                    tokio::time::sleep(told.min(left)).await;
                }
                answers.push(answer);
            }
            answers
        });
    }
    let answers: Vec<Answered> = asked.join_all().await.into_iter().flatten().collect();
    let load = format!("{clients} clients");
    sum(load, answers, before, nodes, pay.list).await
}

/// The nodes as a step begins.
struct Before {
    at: Instant,
    used: Duration,
    height: u64,
    decisions: Decisions,
    stages: Stages,
}

impl Before {
    async fn now(nodes: &[&Node]) -> anyhow::Result<Before> {
        let first = nodes.first().context("no node")?;
        let head: BlockInfo = first.client().get("/ledger/head").await?;
        let mut metrics = Vec::new();
        for node in nodes {
            metrics.push(node.client().metrics().await?);
        }
        Ok(Before {
            at: Instant::now(),
            used: crowd::used(nodes.iter().copied())?,
            height: head.height,
            decisions: metrics
                .first()
                .map_or_else(Decisions::default, |m| Decisions::read(m)),
            stages: Stages::now(nodes, &metrics)?,
        })
    }
}

async fn sum(
    load: String,
    answers: Vec<Answered>,
    before: Before,
    nodes: &[&Node],
    list: u64,
) -> anyhow::Result<Step> {
    let took = before.at.elapsed();
    let after = Before::now(nodes).await?;
    let blocks = after.height.saturating_sub(before.height).max(1);
    let used = after.used.saturating_sub(before.used);
    let decided = after.decisions.percentile(&before.decisions, 50);
    let mut ms: Vec<u64> = answers
        .iter()
        .filter(|answer| answer.done > 0)
        .map(|answer| answer.ms)
        .collect();
    ms.sort_unstable();
    let done = answers.iter().map(|answer| answer.done).sum::<u64>();
    let load = match list {
        1 => load,
        _ => format!("{load}, {list} a request"),
    };
    Ok(Step {
        load,
        done,
        per_second: done * 1_000 / (took.as_millis() as u64).max(1),
        p50_ms: percentile(&ms, 50),
        p95_ms: percentile(&ms, 95),
        p99_ms: percentile(&ms, 99),
        refused: answers.iter().map(|answer| answer.refused).sum(),
        unknown: answers.iter().map(|answer| answer.unknown).sum(),
        block_ms: took.as_millis() as u64 / blocks,
        decided_ms: decided.unwrap_or(0),
        cores: used.as_secs_f64() / took.as_secs_f64().max(0.001),
        stages: after.stages.since(&before.stages, took.as_secs_f64()),
        failure: answers.into_iter().find_map(|answer| answer.failure),
        mix: None,
    })
}
