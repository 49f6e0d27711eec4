//! Boots: by either firmware, with each source of an invitation, and with none.

use super::super::bench::Bench;
use super::super::disk;
use super::super::machine::{Credential, Firmware, Machine, Spec};
use super::super::shell::Shell;
use super::owned::{OWNER, add, asked};
use anyhow::ensure;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// For a boot to end in a state, seconds: four times what a quiet machine takes.
pub(super) const BOOT: u64 = 240;
/// For the screen to show what the agent has told, seconds.
const SHOWN: u64 = 20;
/// How the agent's lines on the console begin.
pub(super) const READY: &str = "gridbay-appliance: ready";
pub(super) const WAITING: &str = "gridbay-appliance: waiting";

/// With the disk that `gridbay invite --image` writes, and an owner.
pub(super) async fn bios_with_a_disk(bench: &Bench) -> anyhow::Result<String> {
    let name = "bios";
    let disk = bench.folder.join("bios.img");
    let image = disk.display().to_string();
    let words = ["invite", "--endowment", "5", "--image", &image, "--owner"];
    bench.cli(OWNER, &words).await?;
    let (took, machine) = with_a_disk(bench, name, Firmware::Bios, disk).await?;
    add(bench, OWNER, name, &mut machine.shell().await?).await?;
    let status = asked(bench, &["appliance", "status", name]).await?;
    ensure!(status["agent"]["state"] == "ready", "{status}");
    Ok(told(took, &machine))
}

/// With a disk as clouds hand user data over.
pub(super) async fn uefi_with_a_disk(bench: &Bench) -> anyhow::Result<String> {
    let name = "uefi";
    let data = format!("#gridbay\n{}", bench.settings(name, "").await?);
    let disk = disk::iso(&bench.folder, (name, "CIDATA"), ("user-data", &data))?;
    let (took, machine) = with_a_disk(bench, name, Firmware::Uefi, disk).await?;
    Ok(told(took, &machine))
}

async fn with_a_disk(
    bench: &Bench,
    name: &'static str,
    firmware: Firmware,
    disk: PathBuf,
) -> anyhow::Result<(Duration, Machine)> {
    let mut machine = bench.boot(Spec {
        firmware,
        disks: vec![disk],
        ..Spec::new(name, 1)
    })?;
    let took = machine.says(READY, BOOT).await?;
    let mut shell = machine.shell().await?;
    sound(&mut shell, "READY").await?;
    Ok((took, machine))
}

/// Seconds to a state, and what the machine takes here.
fn told(took: Duration, machine: &Machine) -> String {
    let resident = machine.resident().unwrap_or_default();
    let took = took.as_secs_f64();
    format!("after {took:.1} s with 256 MiB; its process takes {resident} MiB here")
}

/// No unit failed, none waits for itself, nobody can log in, and the screen shows this state.
async fn sound(shell: &mut Shell, state: &str) -> anyhow::Result<()> {
    let failed = shell.good("systemctl --failed --no-legend --plain").await?;
    ensure!(failed.trim().is_empty(), "units failed: {failed}");
    let (cycles, _) = shell
        .run("journalctl -b --no-pager | grep -i 'ordering cycle'")
        .await?;
    ensure!(cycles.trim().is_empty(), "{cycles}");
    // The console is for what an owner has to know.
    let (noise, _) = shell.run("dmesg --level=emerg,alert,crit,err").await?;
    ensure!(!noise.contains("I/O error"), "{noise}");
    let open = shell.good("awk -F: '$2 !~ /^[!*]/' /etc/shadow").await?;
    ensure!(open.trim().is_empty(), "accounts with a password: {open}");
    let ways = "systemctl list-units --plain --no-legend 'getty*' 'serial-getty*' 'ssh*'";
    let ways = shell.good(ways).await?;
    ensure!(ways.trim().is_empty(), "ways to log in: {ways}");
    screen(shell, state).await
}

/// The first virtual console shows the state, by a service that has never ended.
async fn screen(shell: &mut Shell, state: &str) -> anyhow::Result<()> {
    let began = Instant::now();
    loop {
        // It has a row for each of the screen's, and no line ends.
        let said = shell.good("head -c 80 /dev/vcs1").await?;
        if said.starts_with("gridbay appliance") && said.trim_end().ends_with(state) {
            break;
        }
        ensure!(
            began.elapsed() < Duration::from_secs(SHOWN),
            "the screen begins with `{said}` instead of {state}"
        );
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    let service = "systemctl show gridbay-console.service -p ActiveState,SubState,NRestarts";
    let service = shell.good(service).await?;
    for line in ["ActiveState=active", "SubState=running", "NRestarts=0"] {
        ensure!(service.lines().any(|said| said == line), "{service}");
    }
    Ok(())
}

pub(super) async fn credential(bench: &Bench) -> anyhow::Result<String> {
    let invitation = bench.invitation("20").await?;
    let settings = bench.with(&invitation, "credential", "");
    let mut machine = bench.boot(Spec {
        credential: Some(Credential::Smbios(settings)),
        ..Spec::new("credential", 1)
    })?;
    let took = machine.says(READY, BOOT).await?;
    let mut shell = machine.shell().await?;
    sound(&mut shell, "READY").await?;
    // Ports of sockets that are open to others than the machine itself.
    let ports = "ss -Hltun | awk '{print $1, $5}' | grep -v '127\\.0\\.0\\|\\[::1\\]' | sort -u";
    let ports = shell.good(ports).await?;
    for line in ports.lines() {
        let port = line.rsplit(':').next().unwrap_or_default().trim();
        // DHCP's client, mDNS and questions under way beside the overlay. The firewall lets in
        // answers, DHCPv6 and mDNS to its group; whatever else a machine on the same wire asks of
        // these ports is dropped, as the scan by a buyer sees.
        let known = ["7411", "7412", "5353", "68", "546"].contains(&port);
        let asking = line.starts_with("udp") && port.parse().is_ok_and(|p: u16| p >= 32_768);
        ensure!(known || asking, "a port is open: {line}");
    }
    // The same machine again, on a larger disk, with the same invitation by another way and under
    // another name: the invitation has been used, nothing is lost, and the data has more room.
    let (before, room) = (shell.keys().await?, room(&mut shell).await?);
    machine.cut();
    disk::resize(machine.disk(), "+2G")?;
    let file = bench.folder.join("credential.toml");
    fs::write(&file, bench.with(&invitation, "renamed", ""))?;
    machine.spec().credential = Some(Credential::FwCfg(file));
    machine.start()?;
    let again = machine.says(READY, BOOT).await?.as_secs_f64();
    let mut shell = machine.shell().await?;
    ensure!(shell.keys().await? == before, "the keys changed");
    let name = shell.status().await?["name"].clone();
    ensure!(name == "renamed", "its name is {name}");
    let grown = self::room(&mut shell).await?;
    ensure!(
        (room + 1_900..room + 2_100).contains(&grown),
        "the data file system had {room} MiB, and has {grown}"
    );
    Ok(format!(
        "{}; again after {again:.1} s, by fw_cfg, renamed, its data grown from {room} \
         to {grown} MiB",
        told(took, &machine)
    ))
}

/// MiB of the data file system.
async fn room(shell: &mut Shell) -> anyhow::Result<u64> {
    let said = shell.good("df -m --output=size /data | tail -n 1").await?;
    Ok(said.trim().parse()?)
}

pub(super) async fn without(bench: &Bench) -> anyhow::Result<String> {
    let mut machine = bench.boot(Spec::new("without", 1))?;
    let took = machine.says(WAITING, BOOT).await?;
    let mut shell = machine.shell().await?;
    sound(&mut shell, "WAITING").await?;
    let state = shell.good("gridbay-appliance status").await?;
    ensure!(state.contains("GRIDBAY"), "it does not say how: {state}");
    let running = shell.run("systemctl is-active gridbay.service").await?;
    ensure!(running.1 != 0, "a node runs without an invitation");
    Ok(told(took, &machine))
}
