//! `probe`: hostile jobs, in every tier, as root and as an ordinary user.

use crate::probe::{self, Outcome, Row, home_of};
use crate::say;
use anyhow::{Context as _, bail};
use clap::{Args, ValueEnum};
use gridbay_node::ui::Table;
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// Whom root becomes for the second part: an id that nobody has.
const NOBODY: u32 = 1_999_999_999;
/// A group that this user is in besides its own, as users are.
const GROUP: u32 = 1_999_999_998;

/// Tries out of jobs what hostile ones try, and tells how far it came
#[derive(Debug, Args)]
pub(super) struct ProbeArgs {
    /// How to print: a table, or one JSON object a line
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    output: Output,
    /// Run in this folder, as the present user alone
    #[arg(long, hide = true)]
    home: Option<PathBuf>,
    /// Have a node's launcher start the jobs, which it does in the best tier alone
    #[arg(long, hide = true, requires = "home", conflicts_with = "user")]
    launcher: Option<PathBuf>,
    /// Take quotas for the disk of jobs from this folder
    #[arg(long, hide = true, requires = "home", conflicts_with = "user")]
    quotas: Option<PathBuf>,
    /// Become this user first
    #[arg(long, hide = true, requires = "home")]
    user: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Output {
    Table,
    Json,
}

impl ProbeArgs {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let root = nix::unistd::geteuid().is_root();
        if let (Some(home), Some(user)) = (&self.home, self.user) {
            return Err(again_as(user, home)?.into());
        }
        if let Some(home) = &self.home {
            let print = &mut |row: &Row| json(row);
            let (launcher, quotas) = (self.launcher.as_deref(), self.quotas.as_deref());
            probe::run(home, launcher, quotas, name(root), print)?;
            return Ok(ExitCode::SUCCESS);
        }
        let folder = Folder::make()?;
        let mut rows = part(&folder.0, root, None)?;
        if root {
            rows.extend(part(&folder.0, false, Some(NOBODY))?);
        }
        match self.output {
            Output::Json => rows.iter().for_each(json),
            Output::Table => table(&rows),
        }
        let holes = rows.iter().filter(|row| row.is_a_hole()).count();
        say::note(&summary(&rows, holes));
        Ok(ExitCode::from(u8::from(holes > 0 || rows.is_empty())))
    }
}

fn name(root: bool) -> &'static str {
    if root { "root" } else { "user" }
}

/// One user's probes, in a process of their own.
fn part(folder: &Path, root: bool, user: Option<u32>) -> anyhow::Result<Vec<Row>> {
    let owner = user.map(|id| (id, GROUP));
    let (home, program) = home_of(folder, name(root), owner)?;
    let mut command = Command::new(program);
    command.args(["probe", "--home"]).arg(&home);
    command.current_dir("/").stdout(Stdio::piped());
    if let Some(id) = user {
        command.arg("--user").arg(id.to_string());
    }
    let done = command.spawn()?.wait_with_output()?;
    if !done.status.success() {
        bail!("the probes as {} did not come to their end", name(root));
    }
    let text = String::from_utf8(done.stdout)?;
    let rows = text.lines().map(serde_json::from_str);
    rows.collect::<Result<_, _>>()
        .context("a row of the probes")
}

/// Becomes a user and runs this program again; comes back only with an error. A process that has
/// just changed its user is closed to its own kind, a program that it executes is not.
fn again_as(user: u32, home: &Path) -> anyhow::Result<std::io::Error> {
    use nix::unistd::{Gid, Uid, setgid, setgroups, setuid};
    setgroups(&[Gid::from_raw(GROUP)])?;
    setgid(Gid::from_raw(user))?;
    setuid(Uid::from_raw(user))?;
    let mut command = Command::new(home.join("program"));
    Ok(command.args(["probe", "--home"]).arg(home).exec())
}

fn json(row: &Row) {
    if let Ok(line) = serde_json::to_string(row) {
        let _ = writeln!(std::io::stdout().lock(), "{line}");
    }
}

fn table(rows: &[Row]) {
    let mut table = Table::new(&["PROBE", "TIER", "AS", "SOLD", "RESULT", "DETAIL"]);
    for row in rows {
        let sold = if row.sold { "yes" } else { "no" };
        let detail = match row.result {
            Outcome::Broken => row.detail.as_str(),
            _ => "",
        };
        let tier = row.tier.to_string();
        let result = row.result.name();
        let cells = [row.probe.as_str(), &tier, &row.user, sold, result, detail];
        table.row(cells.map(ToOwned::to_owned));
    }
    say::line(table.render().trim_end());
}

/// The last line: how the probes ended, and how many of those that succeeded count.
fn summary(rows: &[Row], holes: usize) -> String {
    let ended = [
        Outcome::Enforced,
        Outcome::Watched,
        Outcome::Kept,
        Outcome::Broken,
    ]
    .map(|outcome| {
        let count = rows.iter().filter(|row| row.result == outcome).count();
        format!("{} {count}", outcome.name())
    });
    format!(
        "{} probes: {}; {holes} broken in a tier that is sold to strangers",
        rows.len(),
        ended.join(", ")
    )
}

/// A folder of this run, which goes with it.
struct Folder(PathBuf);

impl Folder {
    fn make() -> anyhow::Result<Folder> {
        use std::os::unix::fs::DirBuilderExt as _;
        // Not in /tmp: jobs have one of their own, which would hide the program.
        let path = PathBuf::from(format!("/var/tmp/gridbay-probe-{}", std::process::id()));
        let made = std::fs::DirBuilder::new().mode(0o711).create(&path);
        made.with_context(|| format!("cannot make {}", path.display()))?;
        Ok(Folder(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_node::executor::Tier;

    #[test]
    fn the_last_line_counts_every_outcome() {
        let row = |tier, result| Row::new("a", tier, "root", result, String::new());
        let rows = [
            row(Tier::Namespaces, Outcome::Enforced),
            row(Tier::Namespaces, Outcome::Enforced),
            row(Tier::Plain, Outcome::Watched),
            row(Tier::Plain, Outcome::Broken),
        ];
        assert_eq!(
            summary(&rows, 0),
            "4 probes: enforced 2, watched 1, kept 0, broken 1; \
             0 broken in a tier that is sold to strangers"
        );
    }
}
