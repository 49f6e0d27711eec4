//! A disk that is attached names its partitions as the machine's own are named.

use super::super::bench::Bench;
use super::super::disk::{self, done};
use super::super::machine::Spec;
use super::boot::{BOOT, READY};
use anyhow::ensure;
use std::fs::File;
use std::process::Command;

/// How the machine says that it cannot choose.
const TWO: &str = "gridbay-appliance: error two disks have a partition gridbay-root-a";

/// Its own data partition is used, whatever another disk calls its own; two systems of one name
/// are not started at all until one is gone.
pub(super) async fn disks(bench: &Bench) -> anyhow::Result<String> {
    let settings = bench.settings("posing", "").await?;
    let invite = bench.disk("posing", &[("invite.toml", &settings)])?;
    let poser = bench.folder.join("poser.raw");
    File::create(&poser)?.set_len(64 << 20)?;
    let mut table = Command::new("sh");
    let script = "printf 'label: gpt\\nname=gridbay-data\\n' | /usr/sbin/sfdisk -q \"$0\"";
    done(table.args(["-c", script]).arg(&poser))?;
    let mut machine = bench.boot(Spec {
        disks: vec![poser, invite.clone()],
        ..Spec::new("posing", 5)
    })?;
    machine.says(READY, BOOT).await?;
    let mut shell = machine.shell().await?;
    let own = shell.good("findmnt -no SOURCE /data").await?;
    ensure!(own.trim() == "/dev/vda5", "/data is on {own}");
    drop(shell);

    machine.cut();
    let mut whole = Command::new("qemu-img");
    let copy = bench.folder.join("whole.raw");
    let overlay = disk::copy(&bench.image, &bench.folder, "whole")?;
    whole
        .args(["convert", "-O", "raw"])
        .arg(&overlay)
        .arg(&copy);
    done(&mut whole)?;
    machine.spec().disks = vec![copy, invite.clone()];
    machine.start()?;
    machine.says(TWO, BOOT).await?;
    machine.cut();
    machine.spec().disks = vec![invite];
    machine.start()?;
    machine.says(READY, BOOT).await?;
    Ok("another disk's data partition is left alone, and two systems of one name wait".to_owned())
}
