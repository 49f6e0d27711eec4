//! The node's own command line, used as a user would: by running this program again.

use crate::network::word::NODE_WORD;
use anyhow::{Context as _, bail};
use std::ffi::OsStr;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// Lines of a failed command's output that an error quotes.
const COMPLAINT_LINES: usize = 8;

/// A command of `gridbay` for the data folder `data`. Settings of the caller's own environment are
/// not for these nodes.
pub fn command(program: &Path, data: &Path) -> Command {
    let mut command = Command::new(program);
    command.arg(NODE_WORD).arg("--data").arg(data);
    let names = std::env::vars_os().map(|(name, _)| name);
    for name in names.filter(|n| n.to_string_lossy().starts_with("GRIDBAY_")) {
        command.env_remove(name);
    }
    command
}

/// QUIC and TCP on one port of a host.
pub(crate) fn both_transports(host: &str, port: u16) -> [String; 2] {
    [
        format!("/ip4/{host}/udp/{port}/quic-v1"),
        format!("/ip4/{host}/tcp/{port}"),
    ]
}

/// Runs a command to its end; returns what it printed, or fails with what it complained about.
pub async fn run<W: AsRef<OsStr>>(
    program: &Path,
    data: &Path,
    words: &[W],
) -> anyhow::Result<String> {
    let mut command = command(program, data);
    // In a group of its own: an interrupt from the keyboard is for the laboratory alone.
    command.args(words).stdin(Stdio::null()).process_group(0);
    let mut command = tokio::process::Command::from(command);
    let done = command
        .kill_on_drop(true)
        .output()
        .await
        .with_context(|| format!("cannot run {}", program.display()))?;
    if !done.status.success() {
        let words: Vec<_> = words.iter().map(|w| w.as_ref().to_string_lossy()).collect();
        let printed = [done.stdout, done.stderr].map(|b| String::from_utf8_lossy(&b).into_owned());
        let lines: Vec<&str> = printed.iter().flat_map(|text| text.lines()).collect();
        let from = lines.len().saturating_sub(COMPLAINT_LINES);
        bail!(
            "`gridbay {}` failed ({}): {}",
            words[..words.len().min(2)].join(" "),
            done.status,
            lines[from..].join("; ")
        );
    }
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}
