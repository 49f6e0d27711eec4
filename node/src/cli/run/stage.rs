//! The files of a job: its program and inputs, by content.
//!
//! The plan is made, and every mistake in it found, before anything is sent.

use super::RunArgs;
use super::dry::Order;
use crate::api::client::Client;
use crate::api::types::{JobRequest, JobWorth, Relays, Staged, Want};
use crate::buy::flags::NOT_SENT;
use crate::cli::cluster::run::Errand;
use crate::cli::error::{CliError, During as _};
use crate::cli::exit::Exit;
use crate::cli::progress::Progress;
use crate::ui;
use futures::stream;
use gridbay_protocol::checkpoint::{
    Checkpoint, EVERY_DEFAULT, EVERY_SECONDS, GRACE_DEFAULT, GRACE_SECONDS,
};
use gridbay_protocol::job::{InputFile, JOB_ITEMS, content_id, path_is_inside};
use hyper::body::Bytes;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::ops::RangeInclusive;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::fs::File;
use tokio::io::AsyncReadExt as _;

/// Bytes read at once.
const PIECE: u64 = 64 * 1024;

/// A job before its files are staged.
pub(super) struct Plan {
    name: Option<String>,
    /// As the user names it.
    program: String,
    argv: Vec<String>,
    env: BTreeMap<String, String>,
    /// By path in the job's folder.
    files: BTreeMap<String, PathBuf>,
    outputs: Vec<String>,
    checkpoint: Option<Checkpoint>,
    project: Option<String>,
    worth: Option<JobWorth>,
    network: bool,
    internet: bool,
    relays: Relays,
}

fn usage(why: impl Into<String>, next: &str) -> CliError {
    CliError::new(Exit::USAGE, NOT_SENT, why, next)
}

impl Plan {
    pub(super) fn new(args: &RunArgs) -> Result<Plan, CliError> {
        let mut plan = Plan {
            name: args.name.clone(),
            program: args.command.first().cloned().unwrap_or_default(),
            internet: args.internet,
            network: args.network || args.parallel.is_asked() || args.leads.is_asked(),
            relays: args.buying.relays(),
            worth: args.buying.ways.worth()?,
            argv: args.command.clone(),
            env: BTreeMap::new(),
            files: BTreeMap::new(),
            outputs: args.output.iter().map(|p| plain(p)).collect(),
            checkpoint: checkpoint(args)?,
            project: args.project.clone(),
        };
        if !plan.network {
            args.buying.needs_network()?;
        }
        plan.outputs.sort();
        plan.outputs.dedup();
        if let Some(bad) = plan.outputs.iter().find(|p| !path_is_inside(p)) {
            return Err(usage(
                format!("--output {bad} leaves the job's folder"),
                "name it relative to where the program runs",
            ));
        }
        for variable in &args.env {
            let (name, value) = variable
                .split_once('=')
                .filter(|(name, _)| !name.is_empty())
                .ok_or_else(|| {
                    let why = format!("--env {variable} is no NAME=VALUE");
                    usage(why, "as in --env THREADS=4")
                })?;
            plan.env.insert(name.to_owned(), value.to_owned());
        }
        for input in &args.input {
            plan.add_input(input)?;
        }
        plan.add_program()?;
        plan.argv = args.parallel.command(plan.argv);
        plan.check_checkpoint()?;
        Ok(plan)
    }
    /// A checkpoint takes the place of what lies in its folder, so no input does.
    fn check_checkpoint(&self) -> Result<(), CliError> {
        let Some(checkpoint) = &self.checkpoint else {
            return Ok(());
        };
        let input = |path: &String| InputFile {
            path: path.clone(),
            content: content_id(b""),
            bytes: 0,
            executable: false,
        };
        let inputs: Vec<InputFile> = self.files.keys().map(input).collect();
        match checkpoint.is_valid(&inputs) {
            true => Ok(()),
            false => Err(usage(
                format!(
                    "--checkpoint {} leaves the job's folder, or an input lies there",
                    checkpoint.folder
                ),
                "name a folder of its own, relative to where the program runs",
            )),
        }
    }
    /// A program named by a path from here comes along, unless it is among the inputs. One with a
    /// plain name or an absolute path is the seller's.
    fn add_program(&mut self) -> Result<(), CliError> {
        let program = self.argv.first().cloned().unwrap_or_default();
        let path = Path::new(&program);
        if is_sellers(&program) || self.files.contains_key(&plain(&program)) {
            return Ok(());
        }
        let name = base_name(path)?;
        may_run(&program, path)?;
        self.argv[0] = format!("./{name}");
        self.add(name, path)
    }
    fn add_input(&mut self, input: &str) -> Result<(), CliError> {
        let (path, name) = match input.rsplit_once(':') {
            _ if Path::new(input).exists() => (Path::new(input), None),
            Some((path, name)) => (Path::new(path), Some(plain(name))),
            None => (Path::new(input), None),
        };
        let name = match name {
            Some(name) => name,
            None if path.is_relative() && path_is_inside(&plain(input)) => plain(input),
            None => base_name(path)?,
        };
        self.add(name, path)
    }
    /// Adds a file, or what lies in a folder.
    fn add(&mut self, name: String, path: &Path) -> Result<(), CliError> {
        let failed = |error: io::Error| {
            let why = format!("{}: {error}", path.display());
            CliError::new(
                Exit::NOT_FOUND,
                NOT_SENT,
                why,
                "check the names of the files",
            )
        };
        if !path_is_inside(&name) {
            let why = format!("`{name}` leaves the job's folder");
            return Err(usage(why, "give it a name with --input PATH:NAME"));
        }
        if fs::metadata(path).map_err(failed)?.is_dir() {
            for entry in fs::read_dir(path).map_err(failed)? {
                let inner = entry.map_err(failed)?.path();
                self.add(format!("{name}/{}", base_name(&inner)?), &inner)?;
            }
            return Ok(());
        }
        if self.files.insert(name.clone(), path.to_owned()).is_some() {
            let why = format!("two inputs would be called {name}");
            return Err(usage(why, "rename one with --input PATH:NAME"));
        }
        if self.files.len() > JOB_ITEMS {
            let why = format!("more than {JOB_ITEMS} files");
            return Err(usage(why, "pack them into an archive"));
        }
        Ok(())
    }
    /// The sentence that tells whose program runs, and which of its arguments are files that stay
    /// here.
    pub(super) fn whose(&self) -> String {
        let stay = self.argv.iter().skip(1).filter(|word| self.stays(word));
        let stay: Vec<String> = stay
            .map(|file| {
                format!(
                    "; {file} is not brought along: --input {}",
                    ui::quoted(file)
                )
            })
            .collect();
        format!("{}{}", self.whose_program(), stay.concat())
    }
    /// Whether an argument is a file here that the job will not find.
    fn stays(&self, word: &str) -> bool {
        let path = Path::new(word);
        path.is_relative() && path.is_file() && !self.files.contains_key(&plain(word))
    }
    fn whose_program(&self) -> String {
        let program = self.program.as_str();
        match is_sellers(program) {
            false => format!("{program} is brought along from this machine"),
            true if !program.contains('/') && Path::new(program).is_file() => format!(
                "{program} is the seller's program; the file of that name here is brought along \
                 as ./{program}"
            ),
            true if is_own(program) => format!(
                "{program} is the seller's program; the file of that name here is brought along \
                 by --input, or by its path from this folder"
            ),
            true => format!("{program} is the seller's program"),
        }
    }
    /// The order with it, as `--dry-run` tells it.
    pub(super) fn order(self, want: Want) -> Order {
        Order {
            want,
            program: self.whose(),
            argv: self.argv,
            inputs: self.files.into_keys().collect(),
            outputs: self.outputs,
        }
    }
    /// The job of a cluster that is held: nothing is uploaded.
    pub(super) fn errand(self, args: &RunArgs) -> Errand {
        Errand {
            files: self.files,
            argv: self.argv,
            env: self.env,
            outputs: self.outputs,
            dest: args.dest.clone(),
            label: args.label,
            is_led: args.parallel.is_asked(),
            has_clients: args.parallel.port().is_some(),
        }
    }
    /// Uploads all files and makes the request.
    pub(super) async fn stage(self, client: &Client, want: Want) -> Result<JobRequest, CliError> {
        let mut inputs = Vec::new();
        for (path, place) in self.files {
            let failed = |error: io::Error| {
                let why = format!("{}: {error}", place.display());
                CliError::new(
                    Exit::NOT_FOUND,
                    NOT_SENT,
                    why,
                    "check the names of the files",
                )
            };
            let file = File::open(&place).await.map_err(failed)?;
            let meta = file.metadata().await.map_err(failed)?;
            let progress = Progress::new(format!("bringing along {path}"), meta.len());
            let file = pieces(file, progress);
            let staged = client.upload("/content", meta.len(), file).await;
            let staged: Staged = staged.during(NOT_SENT)?;
            inputs.push(InputFile {
                path,
                content: staged.content,
                bytes: staged.bytes,
                executable: meta.permissions().mode() & 0o111 != 0,
            });
        }
        Ok(JobRequest {
            project: self.project,
            worth: self.worth,
            name: self.name,
            want,
            argv: self.argv,
            env: self.env.into_iter().collect(),
            inputs,
            outputs: self.outputs,
            network: self.network,
            internet: self.internet,
            relays: self.relays,
            checkpoint: self.checkpoint,
        })
    }
}

/// Whether a program is one that the seller's machine has.
fn is_sellers(program: &str) -> bool {
    !program.contains('/') || program.starts_with('/')
}

/// Whether an absolute path names a program of this machine's user more likely than one that the
/// system of a seller has, too.
fn is_own(program: &str) -> bool {
    const SYSTEM: [&str; 5] = ["/bin/", "/sbin/", "/usr/", "/opt/", "/run/"];
    let path = Path::new(program);
    path.is_absolute() && path.is_file() && !SYSTEM.iter().any(|at| program.starts_with(at))
}

/// How the job keeps its progress, by its options.
fn checkpoint(args: &RunArgs) -> Result<Option<Checkpoint>, CliError> {
    let Some(folder) = &args.checkpoint else {
        return Ok(None);
    };
    let seconds = |option: &str, given: Option<Duration>, default, within| {
        let seconds = given.map_or(Some(default), |time| {
            u32::try_from(time.as_millis().div_ceil(1_000)).ok()
        });
        let allowed: RangeInclusive<u32> = within;
        seconds.filter(|s| allowed.contains(s)).ok_or_else(|| {
            let (least, most) = (allowed.start(), allowed.end());
            let why = format!("--{option} is not within {least} to {most} seconds");
            usage(why, "see gridbay run --help")
        })
    };
    Ok(Some(Checkpoint {
        folder: plain(folder),
        grace_seconds: seconds("grace", args.grace, GRACE_DEFAULT, GRACE_SECONDS)?,
        every_seconds: seconds("every", args.every, EVERY_DEFAULT, EVERY_SECONDS)?,
    }))
}

/// The path without a leading `./` and without closing slashes.
fn plain(path: &str) -> String {
    let path = path.trim_end_matches('/');
    path.strip_prefix("./").unwrap_or(path).to_owned()
}

/// Refuses a program here that no machine could start.
fn may_run(program: &str, path: &Path) -> Result<(), CliError> {
    let Ok(meta) = fs::metadata(path) else {
        // Told with the other files.
        return Ok(());
    };
    if meta.is_dir() {
        let why = format!("{program} is a folder");
        return Err(usage(
            why,
            "name a program in it, and the folder by --input",
        ));
    }
    if meta.permissions().mode() & 0o111 == 0 {
        let why = format!("{program} may not be executed");
        let next = format!("allow it: chmod +x {}", ui::quoted(program));
        return Err(usage(why, &next));
    }
    Ok(())
}

fn base_name(path: &Path) -> Result<String, CliError> {
    let name = path.file_name().and_then(|name| name.to_str());
    name.map(str::to_owned).ok_or_else(|| {
        let why = format!("{} has no plain name", path.display());
        usage(why, "give it one with --input PATH:NAME")
    })
}

pub(in crate::cli) fn pieces(
    file: File,
    progress: Progress,
) -> impl futures::Stream<Item = io::Result<Bytes>> + Send + 'static {
    stream::try_unfold((file, progress), |(mut file, mut progress)| async move {
        let mut piece = Vec::new();
        let read = (&mut file).take(PIECE).read_to_end(&mut piece).await?;
        progress.add(read);
        Ok((read > 0).then(|| (Bytes::from(piece), (file, progress))))
    })
}

#[cfg(test)]
mod tests;
