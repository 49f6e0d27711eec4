//! The `gridbay-appliance` program.

use clap::{Parser, Subcommand, ValueEnum};
use gridbay_appliance::data::prepare;
use gridbay_appliance::screen;
use gridbay_appliance::shell::care::{self, Drained};
use gridbay_appliance::shell::places::Places;
use gridbay_appliance::shell::update::cli::UpdateCommand;
use gridbay_appliance::shell::watch::Watch;
use gridbay_appliance::status::{NAME, Status};
use gridbay_appliance::text::{clean, what_runs};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread::sleep;
use std::time::Duration;

/// Between two looks of the console at the status.
const CONSOLE: Duration = Duration::from_secs(1);
/// Longest line.
const LINE: usize = 2_000;

/// The first-boot agent of the gridbay appliance
#[derive(Debug, Parser)]
#[command(name = "gridbay-appliance", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Prepare and mount the data partition; for the start of the system
    Data {
        /// The partition
        #[arg(long, default_value = "/dev/gridbay/gridbay-data")]
        device: PathBuf,
        /// Seconds to wait for it to appear
        #[arg(long, default_value_t = 10)]
        wait: u64,
    },
    /// Bring the node up and keep it selling; for the system's service
    Run,
    /// Show what the appliance is doing
    Status {
        /// Form of the output
        #[arg(short = 'o', long = "format", value_enum, default_value_t = Format::Table)]
        format: Format,
    },
    /// Draw the status on a terminal, again at each change
    Console,
    /// Take no new leases, and wait for those that run to end; before a reboot
    Drain {
        /// Longest wait
        #[arg(long, default_value_t = 120)]
        seconds: u64,
    },
    #[command(flatten)]
    Update(UpdateCommand),
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// For people
    Table,
    /// For programs
    Json,
}

fn main() -> ExitCode {
    let result = run(Cli::parse().command, &Places::system());
    result.unwrap_or_else(|error| {
        // There is nobody left to tell.
        drop(writeln!(
            io::stderr(),
            "gridbay-appliance: {}",
            clean(&error.to_string(), LINE)
        ));
        ExitCode::FAILURE
    })
}

fn run(command: Command, places: &Places) -> io::Result<ExitCode> {
    match command {
        Command::Data { device, wait } => data(places, &device, wait)?,
        Command::Run => Watch::new(places.clone())?.run(|line| drop(say(line)))?,
        Command::Status { format } => status(places, format)?,
        Command::Console => console(places)?,
        Command::Drain { seconds } => drain(places, seconds)?,
        Command::Update(command) => command.run(places, |line| drop(say(line)), print)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// One line on standard output, as the journal and the serial console show it.
fn say(line: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "gridbay-appliance: {}", clean(line, LINE))?;
    out.flush()
}

/// One line for programs on standard output.
fn print(line: &str) -> io::Result<()> {
    writeln!(io::stdout().lock(), "{}", clean(line, LINE))
}

/// The boot goes on whatever comes out: the agent tells.
fn data(places: &Places, device: &Path, wait: u64) -> io::Result<()> {
    let report = prepare::run(places, device, Duration::from_secs(wait))?;
    say(&match (report.mounted, report.reason.as_str()) {
        (true, "") => "data mounted".to_owned(),
        (true, note) => format!("data mounted; {note}"),
        (false, reason) => format!("data error {reason}; {}", report.hint),
    })
}

fn status(places: &Places, format: Format) -> io::Result<()> {
    let status = Status::read(&places.run.join(NAME)).map_err(|error| {
        let hint = "see systemctl status gridbay-appliance";
        io::Error::other(format!("the agent has told no status ({error}); {hint}"))
    })?;
    let text = match format {
        Format::Table => status.text(),
        Format::Json => format!(
            "{}\n",
            serde_json::to_string_pretty(&status).map_err(io::Error::other)?
        ),
    };
    io::stdout().lock().write_all(text.as_bytes())
}

fn console(places: &Places) -> io::Result<()> {
    let mut to = io::stdout().lock();
    let mut shown = None;
    loop {
        let status = Status::read(&places.run.join(NAME)).unwrap_or_else(|_| Status {
            state: "starting".to_owned(),
            reason: "the agent has not said anything yet".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            ..Status::default()
        });
        if shown.as_ref() != Some(&status) {
            let rows = screen::draw(&status).join("\r\n");
            write!(to, "{}{rows}\r\n", screen::CLEAR)?;
            to.flush()?;
            shown = Some(status);
        }
        sleep(CONSOLE);
    }
}

fn drain(places: &Places, seconds: u64) -> io::Result<()> {
    say(&match care::drain(places, Duration::from_secs(seconds))? {
        Drained::Empty => "drained; no lease runs".to_owned(),
        Drained::Late(units, jobs) => {
            format!("not drained in {seconds} s: {}", what_runs(units, jobs))
        }
        Drained::NoNode(failure) => format!("there is no node to drain: {}", failure.why),
    })
}
