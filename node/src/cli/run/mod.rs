//! `run`: one command from a program on this machine to its results.
//!
//! 1. Ask for the cost; tell it in one line; refuse an order that cannot be paid or met.
//! 2. Stage the program and its inputs by content.
//! 3. Submit under a fresh idempotency key; repeat that safely if the answer is lost.
//! 4. Stream the output, fetch the declared files, end with the job's code.
//!
//! Ctrl-C ends the job; a second one leaves at once.

pub(super) mod buying;
pub(super) mod follow;
mod leads;
mod parallel;
mod stage;

use super::context::{Context, Format};
use super::error::{CliError, During as _};
use super::exit::Exit;
use super::{cluster, files, text};
use crate::api::client::Client;
use crate::api::types::{JobReason, JobRecord, JobRequest, JobState};
use crate::buy::flags::NOT_SENT;
use crate::config::parse;
use crate::keys::random;
use crate::ui;
use buying::Buying;
use clap::Args;
use follow::{Follower, Output, Signals};
use gridbay_protocol::ids::to_hex;
use gridbay_protocol::job::JobExit;
use gridbay_protocol::units::Credits;
use leads::Leads;
use parallel::Parallel;
use std::path::PathBuf;
use std::time::Duration;

/// Options that say how an order is bought, followed or kept, which a cluster that is held is not.
const BOUGHT: [&str; 14] = [
    "nodes",
    "array",
    "max_price",
    "time",
    "class",
    "budget",
    "relay_price",
    "no_relay",
    "checkpoint",
    "network",
    "internet",
    "forward",
    "name",
    "detach",
];

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
    /// Name of the job
    #[arg(long)]
    pub(super) name: Option<String>,
    /// Folder for files that come back
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(super) dest: PathBuf,
    /// Begin each line of output with its rank
    #[arg(long)]
    pub(super) label: bool,
    /// Print the job's id and do not wait
    #[arg(long)]
    pub(super) detach: bool,
    /// Program and arguments; a program with a slash is brought along from this machine
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
            None => at.wait(self.go(at)),
        }
    }

    async fn go(self, at: &Context) -> Result<Exit, CliError> {
        let client = at.client()?;
        let want = self.buying.want(&self.command)?;
        let plan = stage::Plan::new(&self)?;
        let more = self.parallel.port().filter(|_| !self.detach);
        let doors = self.leads.open(want.all_nodes(), more)?;
        let want = self.buying.quoted(&client, want).await?;
        let request = plan.stage(&client, want).await?;
        let signals = Signals::new()?;
        let record = submit(&client, &request).await?;
        if self.detach {
            at.show(&record, |record| format!("{}\n", record.id))?;
            return Ok(Exit::OK);
        }
        ui::note(&format!("job {}", record.id));
        let leading = leads::lead(doors, client.clone(), record.id.to_string());
        let output = match at.format {
            Format::Table => Output::Streams { label: self.label },
            Format::Json => Output::None,
        };
        let mut follower = Follower::new(client.clone(), &record, None, output);
        let ended = follower.until_end_or_cancel(signals).await;
        leading.abort();
        let ended = ended?;
        let record = ended.record;
        if !record.files.is_empty() {
            files::fetch(&client, &record, &self.dest).await?;
        }
        for path in missing(&request, &record) {
            ui::note(&format!("no rank brought back {path}"));
        }
        ui::note(&end_line(&record));
        if at.format == Format::Json {
            at.show(&record, |_| String::new())?;
        }
        Ok(if ended.interrupted {
            Exit::INTERRUPTED
        } else {
            exit_of(&record)
        })
    }
}

/// Submits; a lost answer is asked for again under the same key.
async fn submit(client: &Client, request: &JobRequest) -> Result<JobRecord, CliError> {
    let key = to_hex(&random().during(NOT_SENT)?);
    match client.post("/jobs", request, Some(&key)).await {
        Err(error) if error.code == crate::api::ErrorCode::Unreachable => {
            tokio::time::sleep(Duration::from_millis(500)).await;
            client.post("/jobs", request, Some(&key)).await
        }
        other => other,
    }
    .during(NOT_SENT)
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

fn end_line(record: &JobRecord) -> String {
    let reason = record
        .reason
        .map_or(String::new(), |r| format!(" ({})", r.name()));
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
    if record.state != JobState::Done {
        line += &format!("; gridbay job why {}", record.id);
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
mod tests {
    use super::*;
    use crate::api::types::{Ahead, How, NodeGroup, Start};
    use clap::Parser as _;
    use gridbay_protocol::ids::OfferId;
    use gridbay_protocol::mechanism::reservation::Channels;

    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        run: RunArgs,
    }

    fn want(words: &[&str]) -> Option<(u32, How)> {
        let words = ["run"].iter().chain(words).chain(&["--", "true"]);
        let line = Line::try_parse_from(words).ok()?;
        let want = line.run.buying.want(&line.run.command).ok()?;
        Some((want.nodes, want.how))
    }

    #[test]
    fn a_reservation() {
        let id = "ab".repeat(32);
        let group = format!("2={id}");
        let words = [
            "--reserve",
            "-n",
            "4",
            "--group",
            &group,
            "--from",
            "2h",
            "--until",
            "@900",
            "--channel",
            "1-8",
        ];
        let ahead = Ahead {
            groups: vec![NodeGroup {
                nodes: 2,
                offers: vec![OfferId([0xab; 32])],
            }],
            from: Start::In(7_200),
            until: Some(Start::Slot(900)),
            channels: Some(Channels { low: 1, high: 8 }),
        };
        assert_eq!(want(&words), Some((4, How::Reservation(ahead))));
        let (nodes, _) = want(&["--reserve", "--group", &group]).unwrap();
        assert_eq!(nodes, 2, "as many as the groups have");
        let (nodes, how) = want(&["--reserve"]).unwrap();
        assert_eq!((nodes, how.name()), (1, "reservation"));
    }

    #[test]
    fn wrong_words() {
        let id = "ab".repeat(32);
        for words in [
            &["--from", "2h"][..],
            &["--reserve", "--buy"],
            &["--reserve", "--array", "3"],
            &[
                "--reserve",
                "--provider",
                "b",
                "--jobs",
                "2",
                "--value",
                "1",
            ],
            &["--reserve", "--group", "2"],
            &["--reserve", "--group", "2=x"],
            &["--reserve", "--group", &format!("0={id}")],
            &["--reserve", "--from", "soon"],
            &["--reserve", "--until", "@x"],
            &["--reserve", "--channel", "8-1"],
        ] {
            assert_eq!(want(words), None, "{words:?}");
        }
    }
}
