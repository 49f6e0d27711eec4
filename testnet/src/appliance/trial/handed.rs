//! Updates that the agent takes by itself: from its owner's node, and from an attached disk.
//!
//! 1. A founder is the owner. It hands over a damaged update, which is refused with a note, and
//!    then a whole one, which is taken.
//! 2. A disk is attached from the start. While its builder is a stranger it is refused; once the
//!    machine trusts the builder, it is taken.
//!
//! The parts are those of the image, so that the new system says that it was built when the old one
//! was. Only the header tells a later time.

use super::super::bench::Bench;
use super::super::disk;
use super::super::machine::{Firmware, Spec};
use super::super::update::{Builder, Initrd};
use super::boot::{BOOT, READY, WAITING};
use super::owned::{OWNER, add, asked, settings};
use super::update::{Running, Status, TAKEN};
use anyhow::{Context as _, ensure};
use std::fs;
use std::path::Path;
use std::time::Instant;

/// What the updates call themselves.
const VERSION: &str = "9.9.9-handed";
/// For the agent to see, check and write an update, and for the machine to come up again, seconds.
const SEEN: u64 = 240;

pub(super) async fn by_its_owner(bench: &Bench) -> anyhow::Result<String> {
    let name = "handed";
    let builder = Builder::new(&bench.image, &bench.folder, name)?;
    let settings = settings(bench, name, "").await?;
    let mut machine = bench.boot(Spec {
        firmware: Firmware::Bios,
        disks: vec![bench.disk(name, &[("invite.toml", &settings)])?],
        ..Spec::new(name, 1)
    })?;
    machine.says(READY, BOOT).await?;
    let shell = machine.shell().await?;
    let mut running = Running::new(machine, shell, "");
    running.trust(&builder).await?;
    add(bench, OWNER, name, &mut running.shell).await?;

    let good = builder.newer(VERSION, Initrd::Whole)?;
    let bad = bench.folder.join("handed.damaged");
    damage(&good, &bad)?;
    hand(bench, name, &bad).await?;
    let refused = |status: &Status| status.notes.contains("is not what was signed");
    let status = running.until("refused", SEEN, refused).await?;
    ensure!(status.slot == "a" && status.trial.is_empty(), "{status:?}");
    let there = running.shell.run("ls /data/gridbay/owner-update").await?;
    ensure!(there.1 != 0, "what was refused stays");

    let before = running.shell.boot_id().await?;
    let began = Instant::now();
    hand(bench, name, &good).await?;
    let moved = began.elapsed().as_secs_f64();
    let again = running.again(&before, began).await?.as_secs_f64();
    let on_trial = |status: &Status| status.slot == "b";
    running.until("in slot b", BOOT, on_trial).await?;
    let good = |status: &Status| status.state == "ready" && status.trial.is_empty();
    running.until("taken", BOOT + TAKEN, good).await?;
    let settings = running.settings().await?;
    ensure!(settings == "slot=b trial= tries=0", "{settings}");
    let told = asked(bench, &["appliance", "status", name]).await?;
    ensure!(told["agent"]["state"] == "ready", "{told}");
    Ok(format!(
        "a damaged one is refused with a note; a whole one is there after {moved:.0} s, up in b \
         after {again:.0} s, taken after {:.0} s",
        began.elapsed().as_secs_f64()
    ))
}

pub(super) async fn on_a_disk(bench: &Bench) -> anyhow::Result<String> {
    let name = "attached";
    let builder = Builder::new(&bench.image, &bench.folder, name)?;
    let update = builder.newer(VERSION, Initrd::Whole)?;
    let mut machine = bench.boot(Spec {
        firmware: Firmware::Bios,
        disks: vec![disk::of_file(&bench.folder, name, &update)?.0],
        ..Spec::new(name, 1)
    })?;
    machine.says(WAITING, BOOT).await?;
    let shell = machine.shell().await?;
    let mut running = Running::new(machine, shell, "");
    let refused = |status: &Status| status.notes.contains("on disk vdb is not taken");
    running.until("refused", SEEN, refused).await?;
    let before = running.shell.boot_id().await?;
    let began = Instant::now();
    running.trust(&builder).await?;
    let again = running.again(&before, began).await?.as_secs_f64();
    let good = |status: &Status| {
        status.slot == "b" && status.state == "waiting" && status.trial.is_empty()
    };
    running.until("taken", BOOT + TAKEN, good).await?;
    let settings = running.settings().await?;
    ensure!(settings == "slot=b trial= tries=0", "{settings}");
    Ok(format!(
        "a stranger's is refused with a note; a known builder's is up in b after {again:.0} s, and \
         taken"
    ))
}

async fn hand(bench: &Bench, name: &str, file: &Path) -> anyhow::Result<()> {
    let file = file.to_str().context("the update's name is no text")?;
    let words = ["appliance", "update", name, file];
    bench.cli(OWNER, &words).await.map(drop)
}

/// A copy whose last byte is another one.
fn damage(from: &Path, to: &Path) -> anyhow::Result<()> {
    let mut bytes = fs::read(from)?;
    let last = bytes.last_mut().context("the update is empty")?;
    *last ^= 1;
    Ok(fs::write(to, bytes)?)
}
