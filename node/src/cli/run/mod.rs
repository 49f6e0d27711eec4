//! `run`: one command from a program on this machine to its results.
//!
//! 1. Ask for the cost; tell it in one line; refuse an order that cannot be paid or met.
//! 2. Stage the program and its inputs by content.
//! 3. Submit under an idempotency key; repeat that safely if the answer is lost.
//! 4. Stream the output, fetch the declared files, end with the job's code.
//!
//! Ctrl-C ends the job; a second one leaves at once. Where there is no network, all of it happens
//! in a market of the job's own ([`private`]).

pub(super) mod buying;
mod cheaper;
pub(super) mod dry;
pub(super) mod follow;
mod leads;
mod parallel;
pub(super) mod private;
mod stage;
mod unread;
mod waiting;

pub(super) use stage::pieces;

use super::context::{Context, Format};
use super::error::CliError;
use super::exit::Exit;
use super::once::{Deed, Once};
use super::{cluster, files, text};
use crate::api::client::Client;
use crate::api::types::{JobReason, JobRecord, JobRequest, JobState, Want};
use crate::buy::flags::NOT_SENT;
use crate::config::parse;
use crate::job::dropped;
use crate::ui;
use buying::Buying;
use clap::Args;
use follow::{Follower, Output, Signals};
use futures::FutureExt as _;
use gridbay_protocol::job::JobExit;
use gridbay_protocol::units::Credits;
use leads::Leads;
use parallel::Parallel;
use private::Market;
use std::path::PathBuf;
use std::time::Duration;
use unread::Unread;

/// Options that say how an order is bought, followed or kept, which a cluster that is held is not.
const BOUGHT: [&str; 22] = [
    "nodes",
    "array",
    "max_price",
    "time",
    "class",
    "cpus",
    "memory",
    "disk",
    "budget",
    "relay_price",
    "no_relay",
    "checkpoint",
    "network",
    "internet",
    "forward",
    "name",
    "project",
    "detach",
    "keep",
    "anyway",
    "key",
    "dry_run",
];
/// The order, with its job.
const ORDER: Deed = Deed {
    path: "/jobs",
    undone: NOT_SENT,
    unknown: "it is not known whether the order was sent",
    look: "gridbay job list",
};

/// Run a program on leased nodes and wait for it
#[derive(Clone, Debug, Args)]
#[command(override_usage = "gridbay run [OPTIONS] -- <PROGRAM> [ARGUMENTS]...")]
pub(super) struct RunArgs {
    #[command(flatten)]
    pub(super) buying: Buying,
    /// A cluster that is held already runs it, and nothing is bought
    #[arg(long, value_name = "ID", conflicts_with_all = BOUGHT)]
    cluster: Option<String>,
    /// A file or folder to bring along, as PATH or PATH:NAME
    #[arg(long, value_name = "PATH")]
    pub(super) input: Vec<String>,
    /// A file to bring back
    #[arg(long, value_name = "PATH")]
    pub(super) output: Vec<String>,
    /// Folder in which the job keeps its progress: its next attempt finds it there
    #[arg(long, value_name = "DIR")]
    pub(super) checkpoint: Option<String>,
    /// Time that the job wants to save before it is stopped [default: 20s]
    #[arg(long, requires = "checkpoint", value_parser = parse::duration)]
    pub(super) grace: Option<Duration>,
    /// How often the checkpoint is fetched while the job runs [default: 5m]
    #[arg(long, requires = "checkpoint", value_parser = parse::duration)]
    pub(super) every: Option<Duration>,
    /// A variable for the job
    #[arg(long, value_name = "NAME=VALUE")]
    pub(super) env: Vec<String>,
    /// Let the tasks reach one another: rank0, rank1, ... in a network of their own
    #[arg(long)]
    pub(super) network: bool,
    /// Only at sellers that let their jobs reach the web, by a proxy that $https_proxy names
    #[arg(long)]
    pub(super) internet: bool,
    #[command(flatten)]
    pub(super) leads: Leads,
    #[command(flatten)]
    pub(super) parallel: Parallel,
    #[command(flatten)]
    once: Once,
    /// Name of the job
    #[arg(long)]
    pub(super) name: Option<String>,
    /// The project that pays for the job: gridbay project list
    #[arg(long)]
    pub(super) project: Option<String>,
    /// Folder for files that come back
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(super) dest: PathBuf,
    /// Begin each line of output with its rank
    #[arg(long)]
    pub(super) label: bool,
    /// Print the job's id and do not wait
    #[arg(long)]
    pub(super) detach: bool,
    /// Say what would be sent, what it costs and whether it can win, and send nothing
    #[arg(long)]
    dry_run: bool,
    /// Where there is no network yet: let the private market stay that is made for the job
    #[arg(long)]
    pub(super) keep: bool,
    /// Program and arguments; one named by a path from here, as in ./x, is brought along; a plain
    /// name or an absolute path is the seller's
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "PROGRAM"
    )]
    pub(super) command: Vec<String>,
}

impl RunArgs {
    pub(super) fn run(self, at: &Context) -> Result<Exit, CliError> {
        match &self.cluster {
            Some(id) => cluster::run::run(at, id, stage::Plan::new(&self)?.errand(&self)),
            None => at.wait(async {
                let want = self.buying.want(&self.command)?;
                let plan = stage::Plan::new(&self)?;
                let mut signals = Signals::new()?;
                let alone = private::is_needed(at, &self, &want.how)?;
                if self.dry_run {
                    return match alone {
                        true => dry::tell_alone(at, plan.order(want)),
                        false => {
                            let order = plan.order(want);
                            dry::tell(at, &at.client()?, &self.buying, order).await
                        }
                    };
                }
                if !alone {
                    return self.go(at, want, plan, signals, true).await;
                }
                let keep = self.keep;
                let market = tokio::select! {
                    market = Market::open(at, keep, &self.buying.fit) => market?,
                    () = signals.next() => return Err(interrupted()),
                };
                self.go(market.context(), want, plan, signals, keep).await
            }),
        }
    }

    async fn go(
        self,
        at: &Context,
        want: Want,
        plan: stage::Plan,
        mut signals: Signals,
        stays: bool,
    ) -> Result<Exit, CliError> {
        let client = at.client()?;
        let more = self.parallel.port().filter(|_| !self.detach);
        let doors = self.leads.open(want.all_nodes(), more)?;
        let request = tokio::select! {
            request = self.request(&client, want, plan) => request?,
            () = signals.next() => return Err(interrupted()),
        };
        let mut unread = Unread::default();
        unread.look();
        // An interrupt that came while the last words were written still stops the order.
        if signals.next().now_or_never().is_some() {
            return Err(interrupted());
        }
        let record: JobRecord = self.once.post(&client, &ORDER, &request).await?;
        if self.detach {
            at.show(&record, |record| format!("{}\n", record.id))?;
            return Ok(Exit::OK);
        }
        ui::note(&format!("job {}", record.id));
        let leading = leads::lead(doors, client.clone(), record.id.to_string());
        let output = match at.format {
            Format::Json => Output::None,
            _ => Output::Streams { label: self.label },
        };
        let mut follower = Follower::new(client.clone(), &record, None, output).telling();
        let ended = follower.until_end_or_cancel(signals).await;
        leading.abort();
        let ended = ended?;
        unread.look();
        let record = ended.record;
        if !record.files.is_empty() {
            files::fetch(&client, &record, &self.dest).await?;
        }
        tell_dropped(&record);
        ui::note(&match stays {
            true => end_line(&record),
            // Nobody is there to be asked any more.
            false => end(&record),
        });
        if at.format == Format::Json {
            at.show(&record, |_| String::new())?;
        }
        let exit = match ended.interrupted {
            true => Exit::INTERRUPTED,
            false => exit_of(&record),
        };
        all_here(&missing(&request, &record), &record, exit)
    }

    /// Tells the cost and uploads the files.
    async fn request(
        &self,
        client: &Client,
        want: Want,
        plan: stage::Plan,
    ) -> Result<JobRequest, CliError> {
        let want = self.buying.quoted(client, want).await?;
        ui::note(&plan.whose());
        plan.stage(client, want).await
    }
}

/// Says how much of the output is nowhere, and what to do.
pub(super) fn tell_dropped(record: &JobRecord) {
    if let Some(said) = dropped::in_words(&record.exits) {
        ui::note(&format!("{said}; {}", dropped::REMEDY));
    }
}

fn interrupted() -> CliError {
    let next = "nothing was bought; give the command again";
    CliError::new(Exit::INTERRUPTED, NOT_SENT, "interrupted before", next)
}

/// The exit code of a job of which these declared outputs did not come: where all else went well it
/// failed, for what was asked for is not here, whatever the program says.
fn all_here(missing: &[&str], record: &JobRecord, exit: Exit) -> Result<Exit, CliError> {
    if missing.is_empty() {
        return Ok(exit);
    }
    let why = format!("no rank brought back {}", missing.join(", "));
    if exit != Exit::OK {
        ui::note(&why);
        return Ok(exit);
    }
    let next = format!("see what it wrote: gridbay job logs {}", record.id);
    Err(CliError {
        details: serde_json::json!({ "missing": missing }),
        ..CliError::new(Exit::FAILED, "a declared output is missing", why, next)
    })
}

fn missing<'a>(request: &'a JobRequest, record: &JobRecord) -> Vec<&'a str> {
    let is_here = |path: &&str| record.files.iter().any(|f| f.path == **path);
    let declared = request.outputs.iter().map(String::as_str);
    declared.filter(|path| !is_here(path)).collect()
}

/// The cost of a job, and the money that its order still holds: the ledger settles after the last
/// task ends.
fn money(record: &JobRecord) -> String {
    let locked = record.locked > Credits::ZERO;
    let unpaid = record.state == JobState::Done && record.paid == Credits::ZERO;
    if unpaid && record.how.way().pays_with_the_slot() {
        return "pays when the slot ends".to_owned();
    }
    match locked {
        true => format!(
            "paid {} credits so far, {} still locked",
            record.paid, record.locked
        ),
        false => format!("paid {} credits", record.paid),
    }
}

/// The reason of a job's state in a word or two, with the first code that is not 0.
pub(super) fn cause(record: &JobRecord) -> Option<String> {
    let reason = record.reason?;
    let code = record.exits.iter().find_map(|ended| match ended.exit {
        JobExit::Code(code) if code != 0 => Some(format!("exit code {code}")),
        JobExit::Signal(signal) => Some(format!("signal {signal}")),
        _ => None,
    });
    let said = code.filter(|_| reason == JobReason::ExitCode);
    Some(said.unwrap_or_else(|| reason.name().to_owned()))
}

pub(super) fn end_line(record: &JobRecord) -> String {
    let line = end(record);
    match record.state {
        JobState::Done => line,
        _ => format!("{line}; gridbay job why {}", record.id),
    }
}

fn end(record: &JobRecord) -> String {
    let reason = cause(record).map_or(String::new(), |said| format!(" ({said})"));
    let money = money(record);
    let mut line = format!("{}{reason}, {money}", record.state.name());
    if let (Some(from), Some(to)) = (record.running_ms, record.ended_ms) {
        let waited = from.saturating_sub(record.accepted_ms);
        line += &format!(
            ", waited {}, ran {}",
            text::span(waited),
            text::span(to.saturating_sub(from))
        );
    }
    line
}

/// The job's own code: of the first rank that did not end with 0. A job that never ran ends with
/// the code of its reason.
pub(super) fn exit_of(record: &JobRecord) -> Exit {
    if record.state == JobState::Done {
        return Exit::OK;
    }
    let of_rank = |exit: JobExit| match exit {
        JobExit::Code(0) => None,
        JobExit::Code(code) => Some(u8::try_from(code).unwrap_or(1)),
        JobExit::Signal(signal) => Some(u8::try_from(signal.saturating_add(128)).unwrap_or(1)),
        JobExit::TimeLimit => Some(Exit::TIMEOUT.0),
        JobExit::Stopped | JobExit::Lost | JobExit::DiskLimit => Some(Exit::FAILED.0),
    };
    if record.state == JobState::Failed
        && let Some(code) = record.exits.iter().find_map(|e| of_rank(e.exit))
    {
        return Exit(code);
    }
    match record.reason {
        Some(JobReason::NoUnits | JobReason::NoRoom | JobReason::Unstaked) => Exit::NO_MATCH,
        Some(
            JobReason::NoGain
            | JobReason::Outbid
            | JobReason::TimedOut
            | JobReason::TooDear
            | JobReason::Preempted,
        ) => Exit::OUTBID,
        Some(JobReason::Unfunded) => Exit::FUNDS,
        Some(JobReason::TimeLimit | JobReason::LeaseEnded) => Exit::TIMEOUT,
        Some(JobReason::Refused | JobReason::NotSigned) => Exit::REFUSED,
        _ => Exit::FAILED,
    }
}

#[cfg(test)]
mod tests;
