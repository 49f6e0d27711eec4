//! Updates of the system: one that becomes ready is taken, and one that does not is left.
//!
//! 1. Updates are made with the image's own `gridbay-appliance`, of the parts beside the image, and
//!    signed with a key of the trial. The machine is told of it in its memory: its root is
//!    read-only, so an image that takes updates of one key alone stays as it is.
//! 2. The boot loader starts each machine, since it is half of what is tried.
//! 3. A machine without an invitation does as well as another: the agent takes a system that waits
//!    as the one before did.

use super::super::bench::Bench;
use super::super::machine::{Firmware, Machine, Spec};
use super::super::shell::Shell;
use super::super::update::{Builder, Initrd};
use super::boot::{BOOT, READY, WAITING};
use anyhow::ensure;
use std::time::{Duration, Instant};

/// For a machine to come up again, both tries of a new system among it, seconds.
const AGAIN: u64 = 3 * BOOT;
/// For a system on trial to be taken once it is good, seconds.
pub(super) const TAKEN: u64 = 150;
/// What the command says last.
const REBOOTS: &str = "reboots to try version";
/// What the updates call themselves.
pub(super) const VERSION: &str = "9.9.9-trial";

/// A machine that runs, and the device of its update.
pub(super) struct Running {
    pub(super) machine: Machine,
    pub(super) shell: Shell,
    pub(super) device: &'static str,
}

impl Running {
    pub(super) fn new(machine: Machine, shell: Shell, device: &'static str) -> Running {
        Running {
            machine,
            shell,
            device,
        }
    }
    /// A machine that waits for an invitation, with an update as its second disk.
    async fn waiting(bench: &Bench, spec: Spec, initrd: Initrd) -> anyhow::Result<Running> {
        let builder = Builder::new(&bench.image, &bench.folder, &spec.name)?;
        let mut machine = bench.boot(Spec {
            firmware: Firmware::Bios,
            disks: vec![builder.update(VERSION, initrd)?],
            ..spec
        })?;
        machine.says(WAITING, BOOT).await?;
        let shell = machine.shell().await?;
        let mut running = Running::new(machine, shell, "/dev/vdb");
        running.trust(&builder).await?;
        Ok(running)
    }
    /// Has the running system trust the trial's key.
    pub(super) async fn trust(&mut self, builder: &Builder) -> anyhow::Result<()> {
        let public = builder.public();
        let command = format!("echo {public} > /usr/lib/gridbay/update-keys");
        self.shell.good(&command).await.map(drop)
    }
    /// Writes the update and reboots; answers once another boot answers, and after how long.
    pub(super) async fn update(&mut self) -> anyhow::Result<Duration> {
        let before = self.shell.boot_id().await?;
        let began = Instant::now();
        let command = format!("gridbay-appliance update {} --reboot", self.device);
        // The reboot may end the command, or the shell before it answers.
        if let Ok((said, _)) = self.shell.run(&command).await {
            ensure!(said.contains(REBOOTS), "the update was refused: {said}");
        }
        self.again(&before, began).await
    }
    /// Waits until another boot answers than one of this id; how long that took.
    pub(super) async fn again(&mut self, before: &str, began: Instant) -> anyhow::Result<Duration> {
        while began.elapsed() < Duration::from_secs(AGAIN) {
            let greeted = self.shell.greet().await.is_ok();
            if greeted && self.shell.boot_id().await.is_ok_and(|now| now != before) {
                return Ok(began.elapsed());
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        anyhow::bail!("it did not come up again: {}", self.machine.said());
    }
    /// Whether the boot loader says that the system that runs is on trial.
    async fn on_trial(&mut self) -> anyhow::Result<bool> {
        let line = self.shell.good("cat /proc/cmdline").await?;
        Ok(line.contains("gridbay.trial"))
    }
    /// Waits until the status is as wanted.
    pub(super) async fn until(
        &mut self,
        what: &str,
        within: u64,
        wanted: impl Fn(&Status) -> bool,
    ) -> anyhow::Result<Status> {
        let began = Instant::now();
        loop {
            let status = self.status().await;
            match status {
                Ok(status) if wanted(&status) => return Ok(status),
                _ if began.elapsed() < Duration::from_secs(within) => {}
                Ok(status) => anyhow::bail!("it is not {what}: {status:?}"),
                Err(error) => return Err(error),
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    }
    pub(super) async fn status(&mut self) -> anyhow::Result<Status> {
        let value = self.shell.status().await?;
        let text = |key: &str| value[key].as_str().unwrap_or_default().to_owned();
        Ok(Status {
            state: text("state"),
            slot: text("slot"),
            trial: text("trial"),
            notes: value["notes"].to_string(),
        })
    }
    /// The boot settings as they lie on the disk. The agent mounts their partition to write, for a
    /// moment, also after its status tells what it writes; until it is done nobody mounts to read.
    pub(super) async fn settings(&mut self) -> anyhow::Result<String> {
        let look = "mkdir -p /run/look; \
                    for _ in $(seq 100); do \
                        findmnt -S /dev/vda2 >/dev/null || break; sleep 0.1; \
                    done; mount -t vfat -o ro /dev/vda2 /run/look \
                    && head -n 4 /run/look/grub/env | tail -n 3 | tr '\\n' ' '; umount /run/look";
        Ok(self.shell.good(look).await?.trim().to_owned())
    }
}

/// What the agent tells.
#[derive(Debug)]
pub(super) struct Status {
    pub(super) state: String,
    pub(super) slot: String,
    pub(super) trial: String,
    pub(super) notes: String,
}

pub(super) async fn taken(bench: &Bench) -> anyhow::Result<String> {
    let name = "updated";
    let builder = Builder::new(&bench.image, &bench.folder, name)?;
    let settings = bench.settings(name, "").await?;
    let invite = bench.disk(name, &[("invite.toml", &settings)])?;
    // One that the build signed is for a machine that trusts nobody else.
    let built = builder.built()?;
    let update = match &built {
        Some(update) => update.clone(),
        None => builder.update(VERSION, Initrd::Whole)?,
    };
    let mut machine = bench.boot(Spec {
        firmware: Firmware::Bios,
        disks: vec![invite, update],
        ..Spec::new(name, 1)
    })?;
    machine.says(READY, BOOT).await?;
    let shell = machine.shell().await?;
    let mut running = Running::new(machine, shell, "/dev/vdc");
    if built.is_none() {
        running.trust(&builder).await?;
    }
    let again = running.update().await?;
    let on_trial = running.until("in slot b", BOOT, |status| status.slot == "b");
    ensure!(!on_trial.await?.trial.is_empty(), "b is not on trial");
    let good = |status: &Status| status.state == "ready" && status.trial.is_empty();
    let began = Instant::now();
    running.until("taken", BOOT + TAKEN, good).await?;
    let settings = running.settings().await?;
    ensure!(settings == "slot=b trial= tries=0", "{settings}");
    Ok(format!(
        "{} update: up in b after {:.0} s, ready and taken {:.0} s later",
        if built.is_some() {
            "the build's"
        } else {
            "an own"
        },
        again.as_secs_f64(),
        began.elapsed().as_secs_f64()
    ))
}

pub(super) async fn left(bench: &Bench) -> anyhow::Result<String> {
    back(bench, Spec::new("broken", 1), (Initrd::Broken, 0)).await
}

/// A new system that starts, whose agent does not run: the timer that needs no agent ends each of
/// its tries. The machine's owner shortens the timer, as a trial has no half an hour.
pub(super) async fn mute(bench: &Bench) -> anyhow::Result<String> {
    let spec = Spec {
        units: vec![
            (
                "systemd.unit-dropin.gridbay-appliance.service",
                "[Unit]\nConditionKernelCommandLine=!gridbay.trial\n",
            ),
            (
                "systemd.unit-dropin.gridbay-trial.timer",
                "[Timer]\nOnBootSec=\nOnBootSec=60s\n",
            ),
        ],
        ..Spec::new("mute", 1)
    };
    back(bench, spec, (Initrd::Whole, 2)).await
}

/// An update that is tried and left: the system before runs again, and tells. The new one comes as
/// far as a shell so many times.
async fn back(
    bench: &Bench,
    spec: Spec,
    (initrd, starts): (Initrd, u32),
) -> anyhow::Result<String> {
    let mut running = Running::waiting(bench, spec, initrd).await?;
    let began = Instant::now();
    running.update().await?;
    let mut seen = 0;
    while running.on_trial().await? {
        seen += 1;
        let before = running.shell.boot_id().await?;
        running.again(&before, Instant::now()).await?;
    }
    let again = began.elapsed();
    ensure!(seen == starts, "the new system started {seen} times");
    let note = format!("the update {VERSION} did not become ready and was left");
    let told = |status: &Status| status.slot == "a" && status.notes.contains(&note);
    let status = running
        .until("back in slot a with a note", BOOT, told)
        .await?;
    ensure!(
        status.trial.is_empty() && status.state == "waiting",
        "{status:?}"
    );
    let settings = running.settings().await?;
    ensure!(settings == "slot=a trial= tries=0", "{settings}");
    Ok(format!(
        "back in a after {:.0} s, and told",
        again.as_secs_f64()
    ))
}
