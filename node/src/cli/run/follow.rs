//! Following a job: its state and the streams of its ranks.
//!
//! Streams of several ranks are told apart by whole lines: a piece without a line end waits for the
//! rest of its line, so that lines of different ranks never mix. A node that restarts is waited
//! for, because its jobs go on. A task that is tried again puts out anew, after the rest of the
//! attempt before. Where no stream has what was asked for, a rank or an attempt, that is a failure:
//! silence would pass for a rank that put nothing out.

use super::waiting::Waiting;
use crate::api::client::{Client, body};
use crate::api::types::{JobId, JobRecord, NodeStatus, Stall, Stream};
use crate::api::{ApiError, ErrorCode};
use crate::cli::error::{CliError, During as _};
use crate::cli::exit::Exit;
use crate::ui::{self, WriteError};
use std::time::{Duration, Instant};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Between two looks at the job.
const PAUSE: Duration = Duration::from_millis(100);
/// Between two looks at whether the network stands still.
const STILL: Duration = Duration::from_secs(2);
/// How long a node may be away.
const AWAY: Duration = Duration::from_secs(60);
/// Looks at streams of a job that ended but whose streams have not.
const LAST_LOOKS: u32 = 50;
/// Bytes of an unfinished line that are held back.
const LINE: usize = 64 * 1024;
/// Bytes of one piece at the most.
const PIECE: usize = 4 * 1024 * 1024;

/// Where output goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) enum Output {
    /// To this process's streams, with the rank before each line if asked for.
    Streams {
        /// Whether lines begin with their rank.
        label: bool,
    },
    /// Nowhere.
    None,
}

/// One stream of one rank.
struct Tail {
    rank: u32,
    stream: Stream,
    from: u64,
    last: bool,
    held: Vec<u8>,
    /// The attempt that is followed; the present one until the first answer.
    attempt: Option<u32>,
    /// None of a rank that has not run yet.
    present: Option<u32>,
}

/// A job being followed.
pub(in crate::cli) struct Follower {
    client: Client,
    id: JobId,
    tails: Vec<Tail>,
    label: bool,
    /// An earlier attempt, instead of the present one.
    attempt: Option<u32>,
    /// Whether any stream has been there.
    heard: bool,
    /// Where it is told what the job waits for.
    waiting: Option<Waiting>,
}

/// How following ended.
pub(in crate::cli) struct Ended {
    pub(in crate::cli) record: JobRecord,
    /// Whether the user ended the job.
    pub(in crate::cli) interrupted: bool,
}

impl Follower {
    pub(in crate::cli) fn new(
        client: Client,
        record: &JobRecord,
        rank: Option<u32>,
        output: Output,
    ) -> Follower {
        let ranks = match (rank, output) {
            (_, Output::None) => 0..0,
            (Some(rank), _) => rank..rank.saturating_add(1),
            (None, _) => 0..record.nodes,
        };
        let tail = |rank, stream| Tail {
            rank,
            stream,
            from: 0,
            last: false,
            held: Vec::new(),
            attempt: None,
            present: None,
        };
        Follower {
            client,
            id: record.id.clone(),
            tails: ranks
                .flat_map(|r| [tail(r, Stream::Stdout), tail(r, Stream::Stderr)])
                .collect(),
            label: output == Output::Streams { label: true },
            attempt: None,
            heard: false,
            waiting: None,
        }
    }
    /// Tells what the job waits for, as long as it does.
    pub(in crate::cli) fn telling(mut self) -> Follower {
        self.waiting = Some(Waiting::new());
        self
    }
    /// Looks at what an earlier attempt put out.
    pub(in crate::cli) fn of_attempt(&mut self, attempt: Option<u32>) {
        self.attempt = attempt;
    }
    /// Prints what there is.
    pub(in crate::cli) async fn catch_up(&mut self) -> Result<(), CliError> {
        while self.pump().await? {}
        self.flush()
    }
    /// Prints until the job ends; leaves the job alone when interrupted.
    pub(in crate::cli) async fn until_end(&mut self) -> Result<JobRecord, CliError> {
        let mut away = None;
        loop {
            if let Some(record) = self.look(&mut away).await? {
                self.drain().await?;
                return Ok(record);
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
    /// The same, but the first interrupt cancels the job and the second one leaves; the first one
    /// does while no block is made, because the job would not end.
    pub(in crate::cli) async fn until_end_or_cancel(
        &mut self,
        mut signals: Signals,
    ) -> Result<Ended, CliError> {
        let mut interrupted = false;
        let (client, id) = (self.client.clone(), self.id.clone());
        let mut looks = tokio::time::interval(STILL);
        let mut end = std::pin::pin!(self.until_end());
        loop {
            tokio::select! {
                record = &mut end => {
                    return record.map(|record| Ended { record, interrupted });
                }
                () = signals.next() => {
                    if interrupted {
                        return Err(left(&id));
                    }
                    interrupted = true;
                    ui::note(
                        "ending the job; a sealed bid still competes, and if it wins its first \
                         slot is paid; once more to leave at once",
                    );
                    let path = format!("/jobs/{id}/cancel");
                    let cancelled = client.post::<JobRecord>(&path, &(), None).await;
                    cancelled.during("the job was not cancelled")?;
                    looks.reset_immediately();
                }
                _ = looks.tick(), if interrupted => {
                    let status: Result<NodeStatus, ApiError> = client.get("/node").await;
                    if let Some(stall) = status.ok().and_then(|status| status.stall) {
                        return Err(stands_still(&id, &stall));
                    }
                }
            }
        }
    }

    /// One look: prints new output; gives the record once it is final.
    async fn look(&mut self, away: &mut Option<Instant>) -> Result<Option<JobRecord>, CliError> {
        let what = "the job is no longer followed";
        let record: Result<JobRecord, ApiError> =
            self.client.get(&format!("/jobs/{}", self.id)).await;
        let record = match record {
            Err(error) if error.code == ErrorCode::Unreachable => {
                let since = *away.get_or_insert_with(|| {
                    ui::note("the node is away; the job goes on, waiting for the node");
                    Instant::now()
                });
                if since.elapsed() < AWAY {
                    return Ok(None);
                }
                let next = format!("start the node, then: gridbay job logs -f {}", self.id);
                return Err(CliError::new(Exit::UNREACHABLE, what, error.message, next));
            }
            other => other.during(what)?,
        };
        *away = None;
        if record.state.is_final() {
            return Ok(Some(record));
        }
        if record.running_ms.is_some() {
            self.pump().await?;
        }
        if let Some(waiting) = &mut self.waiting {
            waiting.look(&self.client, &record).await;
        }
        Ok(None)
    }
    /// Prints the rest of a job that ended.
    async fn drain(&mut self) -> Result<(), CliError> {
        for _ in 0..LAST_LOOKS {
            while self.pump().await? {}
            if self.tails.iter().all(|tail| tail.last) {
                break;
            }
            tokio::time::sleep(PAUSE).await;
        }
        self.flush()
    }
    /// Fetches one piece of every stream; whether there was anything new. Fails if none has what
    /// was asked for.
    pub(in crate::cli) async fn pump(&mut self) -> Result<bool, CliError> {
        let (mut any, mut none) = (false, None);
        for tail in &mut self.tails {
            if tail.last {
                continue;
            }
            let before = (tail.attempt, tail.from);
            match fetch(&self.client, &self.id, tail, self.attempt).await {
                Ok(piece) => {
                    tail.print(&piece, self.label)?;
                    if self.attempt.is_none() {
                        tail.go_on();
                    }
                    any |= before != (tail.attempt, tail.from);
                    self.heard = true;
                }
                // So many attempts came after the one that was followed that it is kept no longer.
                Err(error) if error.code == ErrorCode::NotFound && tail.attempt.is_some() => {
                    (tail.attempt, tail.from, any) = (None, 0, true);
                }
                // Other ranks may have had the attempt that was asked for.
                Err(error) if error.code == ErrorCode::NotFound => {
                    tail.last = true;
                    none = Some(error);
                }
                // A node that is away comes back.
                Err(error) if error.code == ErrorCode::Unreachable => {}
                Err(error) => return Err(error).during("the output is incomplete"),
            }
        }
        match none.filter(|_| !self.heard) {
            Some(error) => Err(error).during("no such output"),
            None => Ok(any),
        }
    }
    fn flush(&mut self) -> Result<(), CliError> {
        for tail in &mut self.tails {
            let rest = std::mem::take(&mut tail.held);
            tail.write(&rest, self.label)?;
        }
        Ok(())
    }
}

fn left(id: &JobId) -> CliError {
    CliError::new(
        Exit::INTERRUPTED,
        "left before the job ended",
        "interrupted twice",
        format!("gridbay job describe {id}"),
    )
}

/// The job ends once blocks are made again.
fn stands_still(id: &JobId, stall: &Stall) -> CliError {
    CliError::new(
        Exit::INTERRUPTED,
        "left before the job ended",
        stall.in_words(),
        format!(
            "its order is cancelled as soon as blocks are made again, and what is locked comes back \
             then: gridbay job describe {id}"
        ),
    )
}

async fn fetch(
    client: &Client,
    id: &JobId,
    tail: &mut Tail,
    attempt: Option<u32>,
) -> Result<Vec<u8>, ApiError> {
    let stream = match tail.stream {
        Stream::Stdout => "stdout",
        Stream::Stderr => "stderr",
    };
    let (rank, from) = (tail.rank, tail.from);
    let mut path = format!("/jobs/{id}/logs?rank={rank}&stream={stream}&from={from}");
    if let Some(attempt) = attempt.or(tail.attempt) {
        path += &format!("&attempt={attempt}");
    }
    let response = client.download(&path).await?;
    let header = |name: &str| {
        let value = response.headers().get(name);
        value.and_then(|v| v.to_str().ok()).map(str::to_owned)
    };
    let next = header("gridbay-next-offset").and_then(|v| v.parse().ok());
    let last = header("gridbay-last").as_deref() == Some("true");
    let present = header("gridbay-present-attempt").and_then(|v| v.parse().ok());
    let bytes = body(response, PIECE).await?;
    tail.from = next.unwrap_or(from + bytes.len() as u64);
    tail.last = last;
    tail.present = present;
    tail.attempt = tail.attempt.or(present);
    Ok(bytes.to_vec())
}

impl Tail {
    /// The next attempt, if this one is over and not the present one.
    fn go_on(&mut self) {
        let next = self.attempt.map_or(0, |attempt| attempt.saturating_add(1));
        if self.last && self.present.is_some_and(|present| next <= present) {
            (self.attempt, self.from, self.last) = (Some(next), 0, false);
        }
    }
    /// Prints whole lines, holds the rest back.
    fn print(&mut self, piece: &[u8], label: bool) -> Result<(), CliError> {
        self.held.extend_from_slice(piece);
        let whole = self.held.iter().rposition(|b| *b == b'\n').map(|at| at + 1);
        let ready = match whole {
            _ if self.last || self.held.len() > LINE => self.held.len(),
            whole => whole.unwrap_or(0),
        };
        let rest = self.held.split_off(ready);
        let lines = std::mem::replace(&mut self.held, rest);
        self.write(&lines, label)
    }
    fn write(&self, lines: &[u8], label: bool) -> Result<(), CliError> {
        if lines.is_empty() {
            return Ok(());
        }
        let write = |bytes: &[u8]| match self.stream {
            Stream::Stdout => ui::out(bytes),
            Stream::Stderr => ui::err(bytes),
        };
        let written = if label {
            write(&labelled(self.rank, lines))
        } else {
            write(lines)
        };
        match written {
            // The reader of the output has left; the job is still waited for.
            Err(error) if error.is_closed() => Ok(()),
            other => Ok::<(), WriteError>(other?).map_err(CliError::from),
        }
    }
}

fn labelled(rank: u32, lines: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(lines.len() + 16);
    for line in lines.split_inclusive(|b| *b == b'\n') {
        text.extend_from_slice(format!("{rank}: ").as_bytes());
        text.extend_from_slice(line);
    }
    text
}

/// Ctrl-C, and the polite kill. From when it is made on they end nothing by themselves: what comes
/// between an order and its answer is not lost.
pub(in crate::cli) struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    pub(in crate::cli) fn new() -> Result<Signals, CliError> {
        let listen = |kind| {
            signal(kind).map_err(|error| {
                let what = "the job is not followed";
                CliError::new(Exit::FAILED, what, error.to_string(), "gridbay job logs -f")
            })
        };
        Ok(Signals {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
        })
    }
    pub(in crate::cli) async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_begin_each_line() {
        assert_eq!(labelled(3, b"a\nb"), b"3: a\n3: b");
        assert_eq!(labelled(0, b"\n"), b"0: \n");
    }
}
