//! The folder of a private market: keys, settings, and a genesis with one member.

use crate::buy::flags::NOT_SENT;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::fit::Fit;
use crate::cli::found::{Pace, genesis};
use crate::cli::member::MemberArgs;
use crate::config::Home;
use gridbay_protocol::bank::Preset;
use gridbay_protocol::class::{Class, ClassKey, Isolation};
use gridbay_protocol::units::{Credits, MICROS_PER_CREDIT, Price};
use nix::unistd::mkdtemp;
use std::path::PathBuf;
use std::{env, fs, io, thread};

/// The one class.
pub(super) const CLASS: &str = "small";
/// Credits of its one member: enough for any order.
const ENDOWMENT: u64 = 1_000_000;
/// Memory of a unit, where the machine has that much for each of its processors.
const MEMORY_MIB: u64 = 1_024;
/// The least that a unit has.
const LEAST_MIB: u64 = 128;
/// Disk of a unit.
const DISK_MIB: u64 = 1_024;
/// Nobody else is to find the node, or to be found by it.
const SETTINGS: &str = "\
name = \"private\"
listen = [\"/ip4/127.0.0.1/udp/0/quic-v1\", \"/ip4/127.0.0.1/tcp/0\"]
mdns = \"off\"
upnp = \"off\"
cluster.port = 0
api.listen = \"127.0.0.1:0\"
";

/// Makes the folder, for this user alone.
pub(super) fn folder() -> Result<PathBuf, CliError> {
    let place = env::temp_dir();
    mkdtemp(&place.join("gridbay-XXXXXX")).map_err(|error| {
        let why = format!("no folder can be made in {}: {error}", place.display());
        CliError::new(Exit::FAILED, NOT_SENT, why, "name another place in $TMPDIR")
    })
}

/// Founds the network in it, with units as large as is asked; how many the machine can sell.
pub(super) fn found(home: &Home, fit: &Fit) -> Result<u32, CliError> {
    let next = "free room in the folder, or name another one in $TMPDIR; with --keep, by --data";
    let failed = |why: String| CliError::new(Exit::FAILED, NOT_SENT, why, next);
    let member = MemberArgs {
        name: "private".to_owned(),
        addresses: Vec::new(),
        endowment: Credits::from_micros(ENDOWMENT * MICROS_PER_CREDIT),
        credit_line: Credits::ZERO,
        weight: 1,
        power: 1,
        no_validator: false,
        out: None,
    };
    let member = member.described(home)?;
    let mut policy = Pace::Local.policy();
    policy.bank = Preset::Owners.policy(policy.block_interval_ms);
    let member = member.member(&policy.bank);
    let cores = thread::available_parallelism().map_or(1, |n| u32::try_from(n.get()).unwrap_or(1));
    let told = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let (units, key) = units(cores, available(&told), fit).ok_or_else(|| {
        let why = "this machine has no such node, and belongs to no network of others";
        let next = "ask for less by --cpus and --memory, or join a network: gridbay join";
        CliError::new(Exit::NO_MATCH, NOT_SENT, why, next)
    })?;
    let price = Credits::from_micros(MICROS_PER_CREDIT).unwrap_or_default();
    let class = Class {
        name: CLASS.to_owned(),
        key,
        reference_price: Price::from_hourly(price, policy.slot_ms()).unwrap_or_default(),
    };
    let genesis = genesis::of_now("private".to_owned(), policy, vec![class], vec![member]);
    let genesis = genesis.map_err(|error| failed(error.to_string()))?;
    let written = fs::write(home.config_file(), SETTINGS)
        .and_then(|()| fs::write(home.genesis(), genesis.encode()));
    written.map_err(|error: io::Error| failed(format!("{}: {error}", home.path().display())))?;
    Ok(units)
}

/// The units of a machine, as large as is asked; `None` if it has not one of them. What is not
/// asked is an equal share of half of the memory.
fn units(cores: u32, available_mib: u64, fit: &Fit) -> Option<(u32, ClassKey)> {
    let mib = |bytes: u64| bytes.div_ceil(1 << 20);
    let vcpu = fit.cpus.unwrap_or(1);
    let memory = fit.memory.map(|bytes| mib(bytes).max(1));
    let fitting = memory.map_or(u64::MAX, |memory| available_mib / memory);
    let units = (cores / vcpu).min(u32::try_from(fitting).unwrap_or(u32::MAX));
    let share = || (available_mib / 2 / u64::from(units.max(1))).clamp(LEAST_MIB, MEMORY_MIB);
    let key = ClassKey {
        vcpu,
        memory_mib: memory.unwrap_or_else(share),
        disk_mib: fit.disk.map_or(DISK_MIB, |bytes| mib(bytes).max(1)),
        gpu: 0,
        isolation: Isolation::Process,
        circle: "members".to_owned(),
    };
    (units > 0).then_some((units, key))
}

/// The available memory in MiB.
fn available(meminfo: &str) -> u64 {
    let line = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib = line.and_then(|rest| rest.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
    kib.unwrap_or(0) / 1_024
}

#[cfg(test)]
mod tests {
    use super::{Fit, available, units};

    #[test]
    fn what_is_available_is_read() {
        assert_eq!(available("MemTotal:  9 kB\nMemAvailable:   2048 kB\n"), 2);
        assert_eq!(available("nothing of that kind"), 0);
    }

    #[test]
    fn units_are_as_large_as_is_asked_and_share_the_rest() {
        let of = |cores, mib, fit: &Fit| {
            let made = units(cores, mib, fit);
            made.map(|(units, key)| (units, key.vcpu, key.memory_mib, key.disk_mib))
        };
        let any = Fit::default();
        assert_eq!(of(2, 16_384, &any), Some((2, 1, 1_024, 1_024)));
        assert_eq!(of(2, 2_000, &any), Some((2, 1, 500, 1_024)));
        assert_eq!(of(8, 256, &any), Some((8, 1, 128, 1_024)));
        let large = Fit {
            cpus: Some(2),
            memory: Some(3 << 30),
            disk: Some(5 << 30),
            ..any
        };
        assert_eq!(of(5, 16_384, &large), Some((2, 2, 3_072, 5_120)));
        assert_eq!(of(8, 4_000, &large), Some((1, 2, 3_072, 5_120)));
        assert_eq!(of(1, 16_384, &large), None);
        assert_eq!(of(8, 2_000, &large), None);
    }
}
