//! `run`: one command from a program on this machine to its results.
//!
//! 1. Ask what it can cost; say so in one line; refuse what cannot be paid or met.
//! 2. Stage the program and its inputs by content.
//! 3. Submit under a fresh idempotency key; repeat that safely if the answer is lost.
//! 4. Stream the output, fetch the declared files, end with the job's code.
//!
//! Ctrl-C ends the job; a second one leaves at once.

mod contract;
mod deadline;
pub(super) mod follow;
mod reserve;
mod share;
mod stage;
mod worth;

use super::context::{Context, Format};
use super::error::{CliError, During as _, NOT_SENT};
use super::exit::Exit;
use super::{files, text};
use crate::api::client::Client;
use crate::api::types::{Also, How, JobReason, JobRecord, JobRequest, JobState, Quote, Want};
use crate::config::parse;
use crate::keys::random;
use crate::ui;
use clap::Args;
use follow::{Follower, Output};
use gridbay_protocol::ids::to_hex;
use gridbay_protocol::job::JobExit;
use gridbay_protocol::limits;
use gridbay_protocol::units::Credits;
use reserve::ReserveArgs;
pub(super) use share::thousandths;
use std::path::PathBuf;
use std::time::Duration;

const NODES: std::ops::RangeInclusive<i64> = 1..=limits::ORDER_UNITS as i64;

/// Run a program on leased nodes and wait for it
#[derive(Clone, Debug, Args)]
#[command(override_usage = "gridbay run [OPTIONS] -- <PROGRAM> [ARGUMENTS]...")]
pub(super) struct RunArgs {
    /// Nodes, all or none [default: 1]
    #[arg(long, short = 'n', value_parser = clap::value_parser!(u32).range(NODES))]
    pub(super) nodes: Option<u32>,
    /// Tasks of which fewer are of use too
    #[arg(long, conflicts_with = "nodes", value_parser = clap::value_parser!(u32).range(NODES))]
    pub(super) array: Option<u32>,
    /// Most credits per node-hour [default: what the node suggests]
    #[arg(long, value_name = "CREDITS", value_parser = parse::credits)]
    pub(super) max_price: Option<Credits>,
    /// Hard limit on the running time
    #[arg(long, short = 't', default_value = "1h", value_parser = parse::duration)]
    pub(super) time: Duration,
    /// Name of the class [default: the network's first]
    #[arg(long)]
    pub(super) class: Option<String>,
    /// Most credits for everything
    #[arg(long, value_name = "CREDITS", value_parser = parse::credits)]
    pub(super) budget: Option<Credits>,
    /// Buy now instead of bidding: dearer, at once, not preempted
    #[arg(long, conflicts_with = "array")]
    pub(super) buy: bool,
    /// With --buy: nodes of another class too, with the others all or none; as in --also large=2
    #[arg(long, value_name = "CLASS=NODES", requires = "buy", value_parser = also)]
    pub(super) also: Vec<Also>,
    /// With --buy: wait so long for nodes if there are not enough
    #[arg(long, value_name = "DURATION", requires = "buy", value_parser = parse::duration)]
    pub(super) wait: Option<Duration>,
    /// With --buy: pay up to this on top to evict others' buys, where the federation allows it
    #[arg(long, value_name = "CREDITS", requires = "buy", value_parser = parse::credits)]
    pub(super) surcharge: Option<Credits>,
    /// Done by a deadline
    #[command(flatten)]
    pub(super) deadline: deadline::DeadlineArgs,
    #[command(flatten)]
    pub(super) reserve: ReserveArgs,
    #[command(flatten)]
    pub(super) share: share::ShareArgs,
    #[command(flatten)]
    worth: worth::WorthArgs,
    /// A file or folder to bring along, as PATH or PATH:NAME
    #[arg(long, value_name = "PATH")]
    pub(super) input: Vec<String>,
    /// A file to bring back
    #[arg(long, value_name = "PATH")]
    pub(super) output: Vec<String>,
    /// A variable for the job
    #[arg(long, value_name = "NAME=VALUE")]
    pub(super) env: Vec<String>,
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
    // Last: its heading would go on over what follows.
    #[command(flatten)]
    contract: contract::ContractArgs,
}

/// Reads nodes of a class.
fn also(text: &str) -> Result<Also, String> {
    let (class, nodes) = text.rsplit_once('=').ok_or("want CLASS=NODES")?;
    let nodes = nodes.parse().map_err(|_| "want a number of nodes")?;
    if class.is_empty() || !NODES.contains(&i64::from(nodes)) {
        return Err(format!(
            "want the name of a class and 1 to {} nodes",
            NODES.end()
        ));
    }
    let class = class.to_owned();
    Ok(Also { class, nodes })
}

impl RunArgs {
    pub(super) fn run(self, at: &Context) -> Result<Exit, CliError> {
        at.wait(self.go(at))
    }

    async fn go(self, at: &Context) -> Result<Exit, CliError> {
        let client = at.client()?;
        let want = self.want()?;
        let plan = stage::Plan::new(&self)?;
        let quote: Quote = client.post("/quote", &want, None).await.during(NOT_SENT)?;
        ui::note(&match &quote.deadline {
            Some(said) => deadline::line(said),
            None => cost_line(&quote, &want),
        });
        refuse_hopeless(&quote, &want)?;
        let request = plan.stage(&client, want).await?;
        let record = submit(&client, &request).await?;
        if self.detach {
            at.show(&record, |record| format!("{}\n", record.id))?;
            return Ok(Exit::OK);
        }
        ui::note(&format!("job {}", record.id));
        let output = match at.format {
            Format::Table => Output::Streams { label: self.label },
            Format::Json => Output::None,
        };
        let mut follower = Follower::new(client.clone(), &record, None, output);
        let ended = follower.until_end_or_cancel().await?;
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

    fn how(&self, seconds: u32) -> How {
        let program = self.command.first().map_or("", String::as_str);
        if let Some(how) = self.share.how(program) {
            return how;
        }
        if let Some(how) = self.deadline.how() {
            return how;
        }
        if let Some(how) = self.contract.how(seconds) {
            return How::Contract(how);
        }
        if let Some(how) = self.reserve.how() {
            return how;
        }
        if self.buy {
            let wait = self.wait.unwrap_or_default().as_millis().div_ceil(1_000);
            return How::Buy {
                wait_seconds: u32::try_from(wait).unwrap_or(u32::MAX),
                surcharge: self.surcharge.unwrap_or_default(),
                also: self.also.clone(),
            };
        }
        How::Ausubel {
            divisible: self.array.is_some(),
        }
    }

    fn want(&self) -> Result<Want, CliError> {
        let seconds = self.time.as_millis().div_ceil(1_000);
        let seconds = u32::try_from(seconds)
            .ok()
            .filter(|s| *s > 0)
            .ok_or_else(|| {
                let why = "the time is zero or longer than any lease";
                CliError::new(Exit::USAGE, NOT_SENT, why, "as in --time 30m")
            })?;
        let worth = self.worth.worth()?;
        let seconds = worth.map_or(seconds, |worth| seconds.max(worth.length_seconds));
        let mut want = Want {
            class: self.class.clone(),
            nodes: self
                .contract
                .jobs
                .or(self.array)
                .or(self.nodes)
                .or(self.reserve.nodes()?)
                .unwrap_or(1),
            max_price: self.max_price,
            seconds,
            budget: self.budget,
            how: self.how(seconds),
        };
        if let Some(worth) = worth {
            want.max_price = Some(worth::first_price(&worth, want.nodes));
            want.budget = want.budget.or(Some(worth::budget(&worth)));
        }
        Ok(want)
    }
}

/// The line that is said before anything is sent.
fn cost_line(quote: &Quote, want: &Want) -> String {
    if let How::Contract(how) = &want.how {
        return format!(
            "can cost at most {} credits ({} jobs of {} each, {} for one done within {}); {} owes {} for one that is not",
            quote.most,
            quote.nodes,
            text::span(u64::from(quote.seconds) * 1_000),
            how.value,
            text::span(u64::from(how.hold_seconds) * 1_000),
            how.provider,
            how.penalty
        );
    }
    if let Some(line) = share::cost_line(quote) {
        return line;
    }
    let nodes = match quote.nodes {
        1 => "1 node".to_owned(),
        n => format!("{n} nodes"),
    };
    if let Some(posted) = quote.posted {
        return format!(
            "pays {} credits if it wins ({nodes} for {}: {} per node-hour); the posted price is {posted}",
            quote.most,
            text::span(u64::from(quote.seconds) * 1_000),
            quote.max_price
        );
    }
    let likely = match quote.likely {
        Some(likely) => format!("likely {likely}"),
        None => "no price yet to tell what is likely".to_owned(),
    };
    format!(
        "can cost at most {} credits ({nodes} for {} at up to {} per node-hour); {likely}",
        quote.most,
        text::span(u64::from(quote.seconds) * 1_000),
        quote.max_price
    )
}

fn refuse_hopeless(quote: &Quote, want: &Want) -> Result<(), CliError> {
    if !quote.funded {
        let why = format!(
            "it can cost {} credits, {} can be spent",
            quote.most, quote.spendable
        );
        let next = "lower --budget, --max-price, --time or -n; see gridbay ledger balance";
        return Err(CliError::new(Exit::FUNDS, NOT_SENT, why, next));
    }
    if let Some(said) = &quote.deadline {
        return deadline::refuse(said);
    }
    share::refuse_hopeless(quote)?;
    let least = if want.how.is_divisible() {
        1
    } else {
        want.all_nodes()
    };
    if quote.units_offered < least {
        let why = format!(
            "{} units of class {} are offered, it needs {least}",
            quote.units_offered, quote.class
        );
        let next = "see other classes: gridbay market prices";
        return Err(CliError::new(Exit::NO_MATCH, NOT_SENT, why, next));
    }
    Ok(())
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

/// What a job has cost, and what its order still holds: the ledger settles after the last task ends.
fn money(record: &JobRecord) -> String {
    let locked = record.locked > Credits::ZERO;
    match record.how {
        // The order ends, and pays, with the slot in which its last task did.
        How::Deadline { .. } if record.state == JobState::Done && record.paid == Credits::ZERO => {
            "pays when the slot ends".to_owned()
        }
        _ if locked => format!(
            "paid {} credits so far, {} still locked",
            record.paid, record.locked
        ),
        _ => format!("paid {} credits", record.paid),
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
