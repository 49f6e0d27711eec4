//! `job list|describe|logs|get|why|wait|cancel`.

mod attempts;
mod logs;

use super::context::Context;
use super::error::{CliError, During as _};
use super::exit::Exit;
use super::listing::PAGE;
use super::meant::Meant;
use super::run::follow::{Follower, Output};
use super::run::{cause, end_line, exit_of, tell_dropped};
use super::{files, text};
use crate::api::client::Client;
use crate::api::types::{JobReason, JobRecord, Why, WhyCheck};
use crate::buy::share_in_words;
use crate::config::parse;
use crate::ui::{self, Table};
use clap::Subcommand;
use gridbay_protocol::job::JobExit;
use logs::LogsArgs;
use std::cmp::Reverse;
use std::path::PathBuf;
use std::time::Duration;

/// Jobs of this node.
#[derive(Clone, Debug, Subcommand)]
pub(super) enum JobCommand {
    /// List jobs that have not ended
    List {
        /// Those that ended too
        #[arg(long)]
        all: bool,
        /// The latest of them, so many at the most
        #[arg(long, value_name = "COUNT")]
        limit: Option<usize>,
        /// Show the list again every two seconds
        #[arg(long)]
        watch: bool,
    },
    /// Show everything about a job
    #[command(visible_alias = "show")]
    Describe {
        /// Its id, how that begins (8 digits or more), or its name
        id: Meant,
    },
    /// Print what a job has written
    Logs(LogsArgs),
    /// Fetch the files a job brought back
    Get {
        /// Its id, how that begins, or its name
        id: Meant,
        /// Folder to write to; several nodes get folders rank0, rank1, ... in it
        #[arg(long, value_name = "DIR", default_value = ".")]
        dest: PathBuf,
    },
    /// Explain why a job is in its state, and what would change it
    Why {
        /// Its id, how that begins, or its name
        id: Meant,
    },
    /// Wait until a job has ended: with its code, as run does
    Wait {
        /// Its id, how that begins, or its name
        id: Meant,
        /// Give up after this time; the job goes on
        #[arg(long, value_name = "TIME", value_parser = parse::duration)]
        timeout: Option<Duration>,
    },
    /// End a job: its order at once, its lease with the running slot
    Cancel {
        /// Its id, how that begins, or its name
        id: Meant,
    },
}

impl JobCommand {
    pub(super) fn run(self, at: &Context) -> Result<Exit, CliError> {
        at.wait(async {
            let client = at.client()?;
            match self {
                JobCommand::List { all, limit, watch } => {
                    if !all && at.format.is_text() {
                        ui::note("jobs that have not ended; --all for all");
                    }
                    at.shown(watch, async || list(at, &client, all, limit).await)
                        .await?;
                }
                JobCommand::Describe { id } => {
                    let record = read(&client, &id, "no such job").await?;
                    at.tell(&record, |job| describe(job) + &attempts::table(job))?;
                }
                JobCommand::Logs(args) => args.run(&client).await?,
                JobCommand::Get { id, dest } => {
                    let record = read(&client, &id, "the results were not fetched").await?;
                    let written = files::fetch(&client, &record, &dest).await?;
                    let shown = |paths: &Vec<PathBuf>| {
                        let line = |p: &PathBuf| format!("{}\n", p.display());
                        paths.iter().map(line).collect()
                    };
                    at.tell(&written, shown)?;
                    tell_dropped(&record);
                }
                JobCommand::Why { id } => why(at, &client, &id).await?,
                JobCommand::Wait { id, timeout } => return wait(at, &client, &id, timeout).await,
                JobCommand::Cancel { id } => cancel(at, &client, &id).await?,
            }
            Ok(Exit::OK)
        })
    }
}

/// Ends a job, or takes its bid back: the same deed.
pub(super) async fn cancel(at: &Context, client: &Client, id: &Meant) -> Result<(), CliError> {
    let record = client.post(&format!("/jobs/{id}/cancel"), &(), None).await;
    let record: JobRecord = record.during("the job was not cancelled")?;
    at.tell(&record, |r| {
        format!("job {} {}\n", r.id, text::given_up(r.state))
    })
}

async fn read(client: &Client, id: &Meant, what: &str) -> Result<JobRecord, CliError> {
    client.get(&format!("/jobs/{id}")).await.during(what)
}

async fn wait(
    at: &Context,
    client: &Client,
    id: &Meant,
    timeout: Option<Duration>,
) -> Result<Exit, CliError> {
    let what = "the job is no longer waited for";
    let record = read(client, id, what).await?;
    let mut follower = Follower::new(client.clone(), &record, None, Output::None);
    let ended = match timeout {
        None => follower.until_end().await?,
        Some(time) => tokio::time::timeout(time, follower.until_end())
            .await
            .map_err(|_| {
                let why = format!("it has not ended within {}", text::span(millis(time)));
                let next = format!("gridbay job why {}", record.id);
                CliError::new(Exit::TIMEOUT, what, why, next)
            })??,
    };
    tell_dropped(&ended);
    at.tell(&ended, |job| end_line(job) + "\n")?;
    Ok(exit_of(&ended))
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

async fn list(
    at: &Context,
    client: &Client,
    all: bool,
    limit: Option<usize>,
) -> Result<(), CliError> {
    let few = limit.filter(|few| *few <= PAGE);
    let few = few.map_or_else(String::new, |few| format!("&limit={few}"));
    let jobs = client.get(&format!("/jobs?all={all}{few}")).await;
    let jobs: Vec<JobRecord> = jobs.during("no list of jobs")?;
    let jobs = latest(jobs, limit);
    at.show(&jobs, |jobs| {
        Table::of(
            jobs,
            &[
                ("ID", &|j| j.id.to_string()),
                ("NAME", &|j| j.name.clone()),
                ("STATE", &|j| j.state.name().to_owned()),
                (">TIME", &ran),
                ("->NODES", &|j| j.nodes.to_string()),
                ("CLASS", &classes),
                ("->PRICE/H", &|j| text::or_dash(j.price)),
                (">PAID", &|j| j.paid.to_string()),
                ("SELLERS(REASON)", &place),
            ],
        )
    })
}

/// The jobs that were accepted last, the newest first; all as they are without a limit.
fn latest(mut jobs: Vec<JobRecord>, limit: Option<usize>) -> Vec<JobRecord> {
    if let Some(limit) = limit {
        jobs.sort_by_key(|job| Reverse(job.accepted_ms));
        jobs.truncate(limit);
    }
    jobs
}

/// How long a job has run, or ran.
fn ran(job: &JobRecord) -> String {
    match (job.running_ms, job.ended_ms) {
        (Some(from), Some(to)) => text::span(to.saturating_sub(from)),
        (Some(from), None) if !job.state.is_final() => {
            text::span(text::now_ms().saturating_sub(from))
        }
        (_, _) => "-".to_owned(),
    }
}

fn place(job: &JobRecord) -> String {
    let names = job.sellers.iter().map(|s| match &s.name {
        Some(name) => name.clone(),
        None => s.account.to_string(),
    });
    let names: Vec<String> = names.collect();
    let reason = cause(job);
    match (names.is_empty(), reason) {
        (_, Some(reason)) => format!("{}({reason})", names.join(",")),
        (true, None) => "-".to_owned(),
        (false, None) => names.join(","),
    }
}

fn describe(job: &JobRecord) -> String {
    let exits: Vec<String> = job
        .exits
        .iter()
        .map(|e| format!("rank {}: {}{}", e.rank, exit(e.exit), dropped(e.dropped)))
        .collect();
    let files: Vec<String> = job
        .files
        .iter()
        .map(|f| format!("rank {}: {} ({} bytes)", f.rank, f.path, f.bytes))
        .collect();
    text::fields(&[
        ("job", job.id.to_string()),
        ("order", text::or_dash(job.order.map(|o| o.to_hex()))),
        ("name", job.name.clone()),
        ("command", job.argv.join(" ")),
        ("state", job.state.name().to_owned()),
        ("reason", text::or_dash(job.reason.map(JobReason::name))),
        ("nodes", nodes(job)),
        (
            "limits",
            format!(
                "{} per node-hour, {} in all, {}",
                job.max_price,
                job.budget,
                text::span(u64::from(job.seconds) * 1_000)
            ),
        ),
        ("worth", text::or_dash(worth(job))),
        ("accepted", text::moment(job.accepted_ms)),
        ("committed at", text::or_dash(job.committed_height)),
        ("opened at", text::or_dash(job.opened_height)),
        ("won at", text::or_dash(job.won_height)),
        ("lease", text::or_dash(job.lease.map(|l| l.to_hex()))),
        ("sellers", place(job)),
        ("running", text::or_dash(job.running_ms.map(text::moment))),
        ("ended", text::or_dash(job.ended_ms.map(text::moment))),
        ("exits", exits.join(", ")),
        ("files", files.join(", ")),
        ("paid", job.paid.to_string()),
        ("locked", job.locked.to_string()),
        ("price", text::or_dash(job.price)),
        ("lost leases", job.preemptions.to_string()),
        ("progress", text::or_dash(attempts::kept(job))),
        (
            "lost work",
            text::span(job.lost_seconds.saturating_mul(1_000)),
        ),
        ("network", text::or_dash(network(job))),
        (
            "share",
            text::or_dash(job.share.as_ref().map(share_in_words)),
        ),
    ])
}

/// How long the network of its last lease took.
fn network(job: &JobRecord) -> Option<String> {
    let last = job.networks.last()?;
    let seconds = last.setup.ms as f64 / 1_000.0;
    let lease = last.lease.to_hex();
    let members = last.setup.members;
    Some(format!(
        "{members} members reached one another {seconds:.2} s after lease {lease}"
    ))
}

/// How a rank ended, in the words of the API.
fn exit(exit: JobExit) -> String {
    match exit {
        JobExit::Code(code) => format!("code {code}"),
        JobExit::Signal(signal) => format!("signal {signal}"),
        JobExit::TimeLimit => JobReason::TimeLimit.name().to_owned(),
        JobExit::Stopped => "stopped".to_owned(),
        JobExit::Lost => JobReason::Lost.name().to_owned(),
        JobExit::DiskLimit => JobReason::DiskLimit.name().to_owned(),
    }
}

/// What of its output is nowhere.
fn dropped(bytes: u64) -> String {
    match bytes {
        0 => String::new(),
        bytes => format!(", {bytes} bytes of output dropped"),
    }
}

/// The worth of a job, and its bid for the time it still needs.
fn worth(job: &JobRecord) -> Option<String> {
    let (worth, left) = (job.worth?, job.left_seconds?);
    let when = match job.state.is_final() {
        true => String::new(),
        false => format!(
            "; {} to go, so it bids {} per node-hour",
            text::span(left * 1_000),
            job.max_price
        ),
    };
    Some(format!("{} when it is done{when}", worth.worth))
}

async fn why(at: &Context, client: &Client, id: &Meant) -> Result<(), CliError> {
    let why = client.get(&format!("/jobs/{id}/why")).await;
    let why: Why = why.during("no explanation")?;
    at.tell(&why, |why| {
        let met = |check: &WhyCheck| if check.met { "yes" } else { "no" }.to_owned();
        let table = Table::of(
            &why.checks,
            &[
                ("MET", &met),
                ("CONDITION", &|c| c.condition.clone()),
                ("FIGURES", &|c| c.figures.clone()),
            ],
        );
        let mut shown = format!("{}: {}\n", why.state.name(), ui::clean(&why.summary));
        if let Some(stall) = &why.stall {
            shown += &format!("{}\n", ui::clean(stall));
        }
        if !why.checks.is_empty() {
            shown += &format!("\n{table}");
        }
        for remedy in &why.remedies {
            shown += &format!("try: {}\n", ui::clean(remedy));
        }
        shown
    })
}
/// Nodes, class by class.
fn nodes(job: &JobRecord) -> String {
    let also = job.how.also();
    let others = also
        .iter()
        .fold(0, |sum: u32, also| sum.saturating_add(also.nodes));
    let mut text = format!(
        "{} of class {}",
        job.nodes.saturating_sub(others),
        job.class
    );
    for also in also {
        text += &format!(", {} of class {}", also.nodes, also.class);
    }
    text
}

/// The names of its classes.
fn classes(job: &JobRecord) -> String {
    let also = job.how.also().iter().map(|also| also.class.as_str());
    let all: Vec<&str> = [job.class.as_str()].into_iter().chain(also).collect();
    all.join(" + ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exit_is_told_in_the_words_of_reasons() {
        for (how, text) in [
            (JobExit::Code(3), "code 3"),
            (JobExit::Signal(9), "signal 9"),
            (JobExit::TimeLimit, "time_limit"),
            (JobExit::Stopped, "stopped"),
            (JobExit::Lost, "lost"),
            (JobExit::DiskLimit, "disk_limit"),
        ] {
            assert_eq!(exit(how), text);
        }
        assert_eq!(dropped(0), "");
        assert_eq!(dropped(7), ", 7 bytes of output dropped");
    }
}
