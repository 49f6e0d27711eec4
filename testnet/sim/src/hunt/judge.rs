//! Whether anything fails with a fault that does not fail without it.

use super::finder::Finder;
use super::tree::Tree;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Packages whose tests judge, what is quick first.
const PACKAGES: &[&str] = &["protocol", "ledger", "host", "core", "sim"];
/// Words that are kept of the line about a seed; the rest tells the whole record that is wrong.
const WORDS: usize = 24;
/// Between two looks at a running program.
const LOOK: Duration = Duration::from_millis(50);

/// How a program ended, and what it wrote.
#[derive(Debug)]
struct Ended {
    /// Whether it ended well; `None` if its time was over.
    well: Option<bool>,
    said: String,
}

/// The seed or test that found a fault.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// A seed of the simulator, and the line that tells what broke.
    Seed(String),
    /// A test of a package.
    Test(String),
    /// Nothing.
    Missed,
}

/// Builds and runs what is in a copy of the sources.
#[derive(Debug)]
pub(crate) struct Judge<'t> {
    tree: &'t Tree,
    /// Build folder, logs, and the simulator without a fault.
    folder: PathBuf,
}

impl<'t> Judge<'t> {
    /// Builds the program without a fault.
    ///
    /// # Errors
    /// It cannot be built or kept.
    pub(crate) fn new(tree: &'t Tree, folder: &Path) -> io::Result<Judge<'t>> {
        let folder = folder.to_owned();
        let judge = Judge { tree, folder };
        judge.build()?;
        std::fs::copy(judge.simulator(), judge.sound())?;
        Ok(judge)
    }
    /// Looks for the fault that is planted now, first where it was `known` to be found.
    ///
    /// # Errors
    /// The patched program cannot be built or run.
    pub(crate) fn hunt(
        &self,
        known: Option<&Finder>,
        seeds: &str,
        limit: Duration,
    ) -> io::Result<Found> {
        if let Some(Finder::Test { package, test }) = known
            && let Some(test) = self.by_tests(package, Some(test))?
        {
            return Ok(Found::Test(format!("{package}: {test}")));
        }
        self.build()?;
        if let Some(Finder::Seed(seed)) = known
            && let Some(line) = self.by_seeds(&format!("{seed}..{}", seed + 1), limit)?
        {
            return Ok(Found::Seed(line));
        }
        if let Some(line) = self.by_seeds(seeds, limit)? {
            return Ok(Found::Seed(line));
        }
        for package in PACKAGES {
            if let Some(test) = self.by_tests(package, None)? {
                return Ok(Found::Test(format!("{package}: {test}")));
            }
        }
        Ok(Found::Missed)
    }
    /// Whether the tree as it is compiles, tests aside.
    ///
    /// # Errors
    /// It does not, or cargo cannot be run.
    pub(crate) fn check(tree: &'t Tree, folder: &Path) -> io::Result<()> {
        let folder = folder.to_owned();
        let judge = Judge { tree, folder };
        judge.cargo("check", &["--package", "gridbay-sim"])
    }
    fn build(&self) -> io::Result<()> {
        self.cargo("build", &["--release", "--package", "gridbay-sim"])
    }
    fn cargo(&self, command: &str, args: &[&str]) -> io::Result<()> {
        let mut cargo = self.command("cargo");
        cargo.args([command, "--quiet", "--locked"]).args(args);
        let ended = self.run(cargo, Duration::MAX)?;
        match ended.well {
            Some(true) => Ok(()),
            _ => Err(io::Error::other(ended.said)),
        }
    }
    /// The line of the first seed that fails with the fault and passes without it.
    fn by_seeds(&self, seeds: &str, limit: Duration) -> io::Result<Option<String>> {
        let mut run = self.command(self.simulator());
        run.args(["run", "--first", "--seeds", seeds]);
        let ended = self.run(run, limit)?;
        let failed = ended.said.lines().find(|line| line.contains("FAILED"));
        let Some((line, seed)) = failed.and_then(|line| Some((line, seed_of(line)?))) else {
            return Ok(None);
        };
        let mut again = self.command(self.sound());
        again.args(["run", "--seeds", &format!("{seed}..{}", seed + 1)]);
        let sound = self.run(again, Duration::MAX)?;
        let noise = sound.said.contains("FAILED");
        let words = line.split_whitespace().take(WORDS);
        Ok((!noise).then(|| words.collect::<Vec<_>>().join(" ")))
    }
    /// The first test of a package that fails; of those alone that a name is part of, if given.
    fn by_tests(&self, package: &str, name: Option<&str>) -> io::Result<Option<String>> {
        let mut test = self.command("cargo");
        test.args(["test", "--locked", "--package"]);
        test.arg(format!("gridbay-{package}")).args(name);
        let ended = self.run(test, Duration::MAX)?;
        if ended.well == Some(true) {
            return Ok(None);
        }
        let failed = |line: &str| {
            Some(
                line.strip_prefix("test ")?
                    .split_once(" ... FAILED")?
                    .0
                    .to_owned(),
            )
        };
        match ended.said.lines().find_map(failed) {
            Some(test) => Ok(Some(test)),
            None if ended.said.contains("could not compile") => Err(io::Error::other(ended.said)),
            None => Ok(Some("it does not end well".to_owned())),
        }
    }
    fn simulator(&self) -> PathBuf {
        self.folder.join("build/release/gridbay-sim")
    }
    fn sound(&self) -> PathBuf {
        self.folder.join("gridbay-sim")
    }
    fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.tree.path());
        command.env("CARGO_TARGET_DIR", self.folder.join("build"));
        // A fault is a line or two: only the code that depends on them is built anew.
        command.env("CARGO_INCREMENTAL", "1");
        // A fault may leave code behind that nothing reaches.
        command.env("RUSTFLAGS", "--cap-lints=allow");
        command.env("PROPTEST_DISABLE_FAILURE_PERSISTENCE", "1");
        command
    }
    /// Runs a program for a while at most. Its output goes through a file, since a pipe that nobody
    /// reads would stop it.
    fn run(&self, mut command: Command, limit: Duration) -> io::Result<Ended> {
        let path = self.folder.join("said");
        let log = File::create(&path)?;
        command.stdin(Stdio::null()).stderr(log.try_clone()?);
        let mut child = command.stdout(log).spawn()?;
        let began = Instant::now();
        let well = loop {
            if let Some(status) = child.try_wait()? {
                break Some(status.success());
            }
            if began.elapsed() >= limit {
                child.kill()?;
                child.wait()?;
                break None;
            }
            sleep(LOOK);
        };
        let said = std::fs::read(&path)?;
        let said = String::from_utf8_lossy(&said).into_owned();
        Ok(Ended { well, said })
    }
}

/// The seed that a line of `sim run` is about.
fn seed_of(line: &str) -> Option<u64> {
    line.strip_prefix("seed")?
        .split_whitespace()
        .next()?
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seed_of_a_line_is_its_second_word() {
        let line = "seed     12  4 validators  FAILED  I5: a clearing is not its recomputation";
        assert_eq!(seed_of(line), Some(12));
        assert_eq!(seed_of("100 passed, 0 failed"), None);
    }
}
