//! The laboratory's end of a node: a process inside a host, and lines to and from it.

use super::super::{Lab, exec};
use super::node::WORD;
use super::words::{Answer, Wish};
use anyhow::{Context as _, bail};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A running node; killed when it goes out of scope.
pub(super) struct Host {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Drop for Host {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Host {
    pub(super) fn start(lab: &Lab, host: &str, program: &Path, rank: u32) -> anyhow::Result<Host> {
        let mut command = Command::new(program);
        command.args([WORD, &rank.to_string()]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = exec::spawn(lab, host, &mut command)?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (input, output) = pipes.context("its ends are pipes")?;
        Ok(Host {
            child,
            input,
            output: BufReader::new(output),
        })
    }

    /// Says a wish, without waiting for the answer.
    pub(super) fn say(&mut self, wish: &Wish) -> anyhow::Result<()> {
        let line = serde_json::to_string(wish)?;
        Ok(writeln!(self.input, "{line}")?)
    }

    /// The answer to the oldest wish that has none.
    pub(super) fn hear(&mut self) -> anyhow::Result<Answer> {
        let mut line = String::new();
        if self.output.read_line(&mut line)? == 0 {
            bail!("a node has ended");
        }
        match serde_json::from_str(&line)? {
            Answer::Failed(why) => bail!("a node: {why}"),
            answer => Ok(answer),
        }
    }

    pub(super) fn ask(&mut self, wish: &Wish) -> anyhow::Result<Answer> {
        self.say(wish)?;
        self.hear()
    }
}
