//! Running programs inside a machine.

use super::{Lab, netns};
use anyhow::Context as _;
use std::convert::Infallible;
use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command};

/// This process becomes the program inside the machine; returns only if that fails. The calling
/// thread must be the only one.
pub fn become_inside(lab: &Lab, machine: &str, words: &[OsString]) -> anyhow::Result<Infallible> {
    let (program, words) = words.split_first().context("no command")?;
    netns::enter(&lab.path(machine)?)?;
    let error = Command::new(program).args(words).exec();
    Err(error).with_context(|| format!("cannot run {}", program.display()))
}

/// Starts a program inside the machine. The lab ends it when it ends itself.
pub fn spawn(lab: &Lab, machine: &str, command: &mut Command) -> anyhow::Result<Child> {
    let child = lab.inside(machine, || command.spawn())?;
    child.with_context(|| format!("cannot start {:?} in {machine}", command.get_program()))
}
