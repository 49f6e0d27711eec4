//! The shell in which a page's commands run.
//!
//! Its folder is made for it and is its home as well; what it prints of that folder reads `~`. Of
//! the environment it is given a search path, and where Rust's tools and their output lie; and
//! `GRIDBAY` is the folder from which pages are walked, a clone. When it goes out of scope, what it
//! started ends, and its folder is removed.

use crate::network::clear_processes;
use anyhow::{Context as _, bail};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};
use std::{env, fs, process, thread};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

/// The longest that one command may take: a contributor compiles.
const COMMAND: Duration = Duration::from_secs(900);
/// How long what was started has to end by itself.
const END: Duration = Duration::from_secs(5);
/// Programs that pages name; they lie beside this one.
const PROGRAMS: [&str; 2] = ["gridbay", "gridbay-testnet"];

/// What a command printed, on either stream, and its exit code.
#[derive(Clone, Debug)]
pub(super) struct Printed {
    pub(super) text: String,
    pub(super) code: i32,
}

/// A shell with its folder.
#[derive(Debug)]
pub(super) struct Shell {
    folder: PathBuf,
    group: Pid,
    child: Child,
    input: ChildStdin,
    codes: Lines<BufReader<ChildStdout>>,
    steps: usize,
}

impl Shell {
    /// Starts one that finds the programs in `programs` first.
    pub(super) fn start(programs: &Path) -> anyhow::Result<Shell> {
        let folder = env::temp_dir().join(format!("gridbay-page-{}", process::id()));
        fs::create_dir(&folder).with_context(|| format!("{} cannot be made", folder.display()))?;
        let folder = folder.canonicalize()?;
        fs::create_dir(folder.join("home"))?;
        fs::create_dir(folder.join("bin"))?;
        for name in PROGRAMS {
            let program = programs.join(name);
            if !program.exists() {
                let _ = fs::remove_dir_all(&folder);
                bail!(
                    "there is no {}; make it with: cargo build -p gridbay-node -p gridbay-testnet",
                    program.display()
                );
            }
            std::os::unix::fs::symlink(program, folder.join("bin").join(name))?;
        }
        let path = env::var("PATH").unwrap_or_default();
        let mut command = Command::new("bash");
        command
            .args(["--noprofile", "--norc", "-s"])
            .current_dir(folder.join("home"))
            .env_clear()
            .env("HOME", folder.join("home"))
            .env("PATH", format!("{}:{path}", folder.join("bin").display()))
            .env("LC_ALL", "C.UTF-8")
            .env("GRIDBAY", env::current_dir()?)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0);
        for (name, own) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
            let given = env::var_os(name).map(PathBuf::from);
            let usual = env::var_os("HOME").map(|home| Path::new(&home).join(own));
            if let Some(place) = given.or(usual) {
                command.env(name, place);
            }
        }
        if let Some(target) = env::var_os("CARGO_TARGET_DIR") {
            command.env("CARGO_TARGET_DIR", target);
        }
        let mut child = command.spawn().context("bash does not start")?;
        let pid = child.id().and_then(|pid| i32::try_from(pid).ok());
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let (Some(pid), Some(input), Some(output)) = (pid, input, output) else {
            bail!("bash ended at once");
        };
        Ok(Shell {
            folder,
            group: Pid::from_raw(pid),
            child,
            input,
            codes: BufReader::new(output).lines(),
            steps: 0,
        })
    }

    /// Writes a file in its home.
    pub(super) fn write(&self, name: &str, text: &str) -> anyhow::Result<()> {
        let path = self.folder.join("home").join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        Ok(fs::write(path, text)?)
    }

    /// Runs a command to its end.
    pub(super) async fn run(&mut self, text: &str) -> anyhow::Result<Printed> {
        self.steps += 1;
        let step = self.folder.join(format!("step-{}", self.steps));
        let output = step.with_extension("out");
        fs::write(&step, format!("{text}\n"))?;
        // Sourced, so that variables, folders and jobs in the background last to the next one.
        let line = format!(
            ". '{}' </dev/null >'{}' 2>&1; echo $?\n",
            step.display(),
            output.display()
        );
        self.input.write_all(line.as_bytes()).await?;
        let code = match timeout(COMMAND, self.codes.next_line()).await {
            Ok(line) => line?.context("the command ended the shell")?,
            Err(_) => bail!(
                "`{text}` did not end in {} s; it printed\n{}",
                COMMAND.as_secs(),
                self.printed(&output)
            ),
        };
        Ok(Printed {
            text: self.printed(&output),
            code: code.trim().parse().context("the shell told no exit code")?,
        })
    }

    fn printed(&self, output: &Path) -> String {
        let text = String::from_utf8_lossy(&fs::read(output).unwrap_or_default()).into_owned();
        text.replace(&self.folder.join("home").display().to_string(), "~")
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        let _ = killpg(self.group, Signal::SIGTERM);
        let until = Instant::now() + END;
        // The shell itself is a zombie of this process until it is waited for.
        while Instant::now() < until {
            let _ = self.child.try_wait();
            if killpg(self.group, None).is_err() {
                break;
            }
            thread::sleep(Duration::from_millis(50));
        }
        let _ = killpg(self.group, Signal::SIGKILL);
        // Supervisors of jobs have groups of their own.
        let _ = clear_processes(&self.folder);
        let _ = fs::remove_dir_all(&self.folder);
    }
}
