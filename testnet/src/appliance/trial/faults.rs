//! What goes wrong: each fault gives a state and its reason on the console, none a loop of boots,
//! none costs the keys, and once it is over the machine is ready again.

use super::super::bench::{Bench, PATIENCE};
use super::super::machine::{Machine, Spec};
use super::super::shell::Shell;
use super::boot::{BOOT, READY};
use crate::network::{Network, Plan, RunFolder};
use crate::say::Progress;
use anyhow::{Context as _, ensure};
use std::process::Command;
use std::time::Duration;

/// How the agent's lines on the console begin where something is wrong.
const ERROR: &str = "gridbay-appliance: error";
/// The reason told of a text that is no invitation.
const GARBAGE: &str = "error the invitation was not taken";
/// What the ledger says of an invitation after its time, and of one that was used.
const EXPIRED: &str = "is not valid at";
const USED: &str = "was used";
/// The reasons told without a way to others, and without a cable.
const ALONE: &str = "no node of the network was reached";
const UNPLUGGED: &str = "no network interface has an address";
/// For a state to change, seconds.
const CHANGE: u64 = 90;
/// For which a machine with a fault is watched.
const WATCHED: Duration = Duration::from_secs(60);

/// Starts a machine that is off with this configuration, and waits for a line of its console.
async fn again(
    bench: &Bench,
    machine: &mut Machine,
    (name, settings): (&str, &str),
    line: &str,
) -> anyhow::Result<()> {
    machine.cut();
    machine.spec().disks = vec![bench.disk(name, &[("invite.toml", settings)])?];
    machine.start()?;
    machine.says(line, BOOT).await?;
    Ok(())
}

pub(super) async fn invitations(bench: &Bench) -> anyhow::Result<String> {
    let mut machine = Machine::new(&bench.image, &bench.folder, Spec::new("invitations", 3))?;
    let used = bench.invitation("1").await?;
    let garbage = bench.with("gridbay1thisisnotone", "bad", "");
    again(bench, &mut machine, ("garbage", &garbage), GARBAGE).await?;
    let expired = expired(bench, &mut machine).await?;
    let good = bench.with(&used, "first", "");
    again(bench, &mut machine, ("good", &good), READY).await?;
    let own = machine.shell().await?.keys().await?;
    ensure!(own == expired.keys, "an expired invitation cost the keys");
    // The same invitation for another machine: it was used.
    let mut other = Machine::new(&bench.image, &bench.folder, Spec::new("reused", 4))?;
    again(bench, &mut other, ("reused", &good), USED).await?;
    let said = state(&mut other.shell().await?).await?;
    ensure!(said.contains("error") && said.contains(USED), "{said}");
    drop(other);
    // Another federation's, for the machine that has joined: it keeps what it has.
    let folder = RunFolder::create("appliance-foreign")?;
    let plan = Plan::local("foreign", 1, 0);
    let program = bench.network.program().clone();
    let foreign = Network::start(program, folder, plan, PATIENCE, &Progress::silent()).await?;
    let words = ["invite", "--endowment", "1"];
    let at = foreign.node("v1").home.path().to_owned();
    let token = crate::network::cli::run(foreign.program(), &at, &words).await?;
    let strange = bench.with(token.trim(), "first", "");
    again(
        bench,
        &mut machine,
        ("strange", &strange),
        "the disk's settings are not used",
    )
    .await?;
    let after = machine.shell().await?.keys().await?;
    ensure!(own == after, "the node's key changed from {own} to {after}");
    Ok(format!(
        "garbage, expired, used and foreign ones are told; expired: {}; used: {said}",
        expired.said
    ))
}

/// What an expired invitation leaves.
struct Expired {
    /// On the console.
    said: String,
    /// The node's keys.
    keys: String,
}

/// An invitation of the right federation, for a machine that has not joined, after its time.
async fn expired(bench: &Bench, machine: &mut Machine) -> anyhow::Result<Expired> {
    let short = bench.invitation_for("1", "1s").await?;
    tokio::time::sleep(Duration::from_secs(3)).await;
    let expired = bench.with(&short, "late", "");
    again(bench, machine, ("expired", &expired), EXPIRED).await?;
    let mut shell = machine.shell().await?;
    let said = state(&mut shell).await?;
    ensure!(said.contains("error") && said.contains(EXPIRED), "{said}");
    let status = shell.status().await?;
    let hint = status["hint"].as_str().unwrap_or_default();
    ensure!(
        !hint.is_empty() && machine.said().contains(hint),
        "the hint: {hint:?}"
    );
    Ok(Expired {
        said,
        keys: shell.keys().await?,
    })
}

/// The state as the agent tells it.
async fn state(shell: &mut Shell) -> anyhow::Result<String> {
    let status = shell.status().await?;
    let text = |key: &str| status[key].as_str().unwrap_or_default().to_owned();
    Ok(format!("{}: {}", text("state"), text("reason")))
}

/// A minute later the same boot still tells of an error.
async fn stays(shell: &mut Shell) -> anyhow::Result<()> {
    let before = shell.boot_id().await?;
    tokio::time::sleep(WATCHED).await;
    let now = shell.boot_id().await?;
    ensure!(now == before, "it started again");
    let said = state(shell).await?;
    ensure!(said.starts_with("error: "), "{said}");
    Ok(())
}

/// At first nothing answers, then the cable is out from the start until it is put in.
pub(super) async fn network(bench: &Bench) -> anyhow::Result<String> {
    let settings = bench.settings("offline", "").await?;
    let mut machine = bench.boot(Spec {
        online: false,
        disks: vec![bench.disk("offline", &[("invite.toml", &settings)])?],
        ..Spec::new("offline", 5)
    })?;
    machine.says(ERROR, BOOT + CHANGE).await?;
    let mut shell = machine.shell().await?;
    let alone = state(&mut shell).await?;
    ensure!(alone.contains(ALONE), "{alone}");
    let own = shell.keys().await?;
    stays(&mut shell).await?;
    machine.cut();
    machine.spec().online = true;
    machine.start()?;
    machine.cable("off").await?;
    machine.says(UNPLUGGED, BOOT + CHANGE).await?;
    let mut shell = machine.shell().await?;
    let unplugged = state(&mut shell).await?;
    ensure!(unplugged.contains(UNPLUGGED), "{unplugged}");
    let boot = shell.boot_id().await?;
    machine.cable("on").await?;
    let took = machine.says(READY, BOOT).await?.as_secs();
    ensure!(own == shell.keys().await?, "the keys changed");
    ensure!(boot == shell.boot_id().await?, "it started again");
    Ok(format!(
        "{alone}; {unplugged}; with the cable ready after {took} s"
    ))
}

pub(super) async fn clock(bench: &Bench) -> anyhow::Result<String> {
    let settings = bench.settings("late", "").await?;
    let mut machine = bench.boot(Spec {
        clock: Some("2020-01-01"),
        online: false,
        disks: vec![bench.disk("late", &[("invite.toml", &settings)])?],
        ..Spec::new("late", 6)
    })?;
    machine.says("clock", BOOT + CHANGE).await?;
    let mut shell = machine.shell().await?;
    let said = state(&mut shell).await?;
    ensure!(said.starts_with("error: the clock"), "{said}");
    let own = shell.keys().await?;
    machine.cut();
    machine.spec().clock = None;
    machine.spec().online = true;
    machine.start()?;
    let took = machine.says(READY, BOOT).await?.as_secs();
    let after = machine.shell().await?.keys().await?;
    ensure!(own == after, "the keys changed");
    Ok(format!("{said}; with the right time ready after {took} s"))
}

pub(super) async fn full(bench: &Bench) -> anyhow::Result<String> {
    let settings = bench.settings("full", "").await?;
    let mut machine = bench.boot(Spec {
        disks: vec![bench.disk("full", &[("invite.toml", &settings)])?],
        ..Spec::new("full", 7)
    })?;
    machine.says(READY, BOOT).await?;
    let mut shell = machine.shell().await?;
    let own = shell.keys().await?;
    // As root, so that the part kept for root goes as well.
    shell.run("dd if=/dev/zero of=/data/filler bs=4M").await?;
    machine.says("disk is full", CHANGE).await?;
    let said = state(&mut shell).await?;
    machine.cut();
    machine.start()?;
    machine.says("disk is full", BOOT).await?;
    let mut shell = machine.shell().await?;
    shell.good("rm /data/filler").await?;
    machine.says(READY, BOOT).await?;
    ensure!(own == shell.keys().await?, "the keys changed");
    Ok(said)
}

pub(super) async fn corrupt(bench: &Bench) -> anyhow::Result<String> {
    let settings = bench.settings("corrupt", "").await?;
    let mut machine = bench.boot(Spec {
        disks: vec![bench.disk("corrupt", &[("invite.toml", &settings)])?],
        ..Spec::new("corrupt", 8)
    })?;
    machine.says(READY, BOOT).await?;
    let mut shell = machine.shell().await?;
    let own = shell.keys().await?;
    let partition = shell.good("cat /sys/class/block/vda5/start").await?;
    let at: u64 = partition.trim().parse()?;
    shell.good("sync").await?;
    machine.cut();
    let write = format!("write -P 0x55 {} 64k", at * 512);
    let mut spoil = Command::new("qemu-io");
    let spoilt = spoil.args(["-c", &write]).arg(machine.disk()).output()?;
    ensure!(
        spoilt.status.success(),
        "{}",
        String::from_utf8_lossy(&spoilt.stderr)
    );
    machine.start()?;
    machine.says(ERROR, BOOT).await?;
    let mut shell = machine.shell().await?;
    let said = state(&mut shell).await?;
    ensure!(said.contains("superblock is damaged"), "{said}");
    stays(&mut shell).await?;
    // The hint's command mends it, and the keys are there.
    let status = shell.status().await?;
    let command = hinted(status["hint"].as_str().unwrap_or_default())?;
    let (_, code) = shell.run(&command).await?;
    ensure!(code <= 2, "`{command}` ends with {code}");
    machine.cut();
    machine.start()?;
    machine.says(READY, BOOT).await?;
    let after = machine.shell().await?.keys().await?;
    ensure!(own == after, "the keys changed");
    Ok(said)
}

/// The command that a hint gives to mend a partition, as a person types it who says yes to all.
fn hinted(hint: &str) -> anyhow::Result<String> {
    let (_, command) = hint
        .split_once("e2fsck ")
        .context("the hint has no e2fsck")?;
    let (words, place) = command
        .split_once(" on the partition ")
        .context("the hint names no partition")?;
    ensure!(
        [words, place].iter().all(|text| text.chars().all(plain)),
        "the hint: {hint}"
    );
    Ok(format!("e2fsck -y {words} /dev/gridbay/{place}"))
}

/// Whether a character means nothing to a shell.
fn plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-' || c == ' '
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hints_command_is_taken_as_it_stands() {
        let hint = "try on the copy: e2fsck -b 32768 on the partition gridbay-data";
        let wanted = "e2fsck -y -b 32768 /dev/gridbay/gridbay-data";
        assert_eq!(hinted(hint).unwrap(), wanted);
        for hint in ["", "e2fsck -f", "e2fsck -f; reboot on the partition a"] {
            assert!(hinted(hint).is_err(), "{hint}");
        }
    }
}
