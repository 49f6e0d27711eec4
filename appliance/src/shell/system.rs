//! What the system is like: network, clock, machine, room on the disk.

use super::balloon;
use super::command::Command;
use super::files::read_bounded;
use super::places::Places;
use crate::image::Image;
use crate::seen::{Clock, Machine, Network};
use crate::text::clean;
use serde::Deserialize;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Longest time for a small program.
const QUICK: Duration = Duration::from_secs(5);
/// Largest file of `/proc` read.
const PROC_BYTES: u64 = 256 * 1024;
/// Most addresses that are shown.
const ADDRESSES: usize = 8;

/// Reads what the image says of itself; nothing if it says nothing.
pub fn image(places: &Places) -> Image {
    let bytes = read_bounded(&places.image, PROC_BYTES).unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}

/// The clock, held against the image's date.
pub fn clock(image: &Image) -> Clock {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let seconds = now.unwrap_or_default().as_secs();
    Clock {
        before_image: seconds < image.built,
        synchronised: Path::new("/run/systemd/timesync/synchronized").exists(),
        minute: u32::try_from(seconds / 60 % (24 * 60)).unwrap_or_default(),
    }
}

/// Addresses, by `ip`, and whether the kernel's tables have a default route.
pub fn network() -> Network {
    let table = |path: &str| {
        let bytes = read_bounded(Path::new(path), PROC_BYTES).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let output = Command::new("ip").args(["-j", "addr"]).output(QUICK);
    Network {
        addresses: addresses(&output.unwrap_or_default()),
        route: has_route_4(&table("/proc/net/route"))
            || has_route_6(&table("/proc/net/ipv6_route")),
    }
}

fn addresses(json: &[u8]) -> Vec<String> {
    #[derive(Deserialize)]
    struct Interface {
        #[serde(default)]
        ifname: String,
        #[serde(default)]
        addr_info: Vec<Address>,
    }
    #[derive(Deserialize)]
    struct Address {
        #[serde(default)]
        local: String,
        #[serde(default)]
        scope: String,
    }
    let interfaces: Vec<Interface> = serde_json::from_slice(json).unwrap_or_default();
    let outer = interfaces.into_iter().filter(|one| one.ifname != "lo");
    let addresses = outer.flat_map(|interface| interface.addr_info);
    addresses
        .filter(|address| address.scope == "global" && !address.local.is_empty())
        .map(|address| clean(&address.local, 45))
        .take(ADDRESSES)
        .collect()
}

/// Columns: interface, destination, gateway, flags, counts, metric, mask.
fn has_route_4(table: &str) -> bool {
    let mut lines = table
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>());
    lines.any(|words| words.get(1) == Some(&"00000000") && words.get(7) == Some(&"00000000"))
}

/// Columns: destination, its length, source, its length, next hop, numbers, interface. The
/// kernel's own refusal of everything stands there as a route of `lo`.
fn has_route_6(table: &str) -> bool {
    let mut lines = table
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>());
    lines.any(|words| words.get(1) == Some(&"00") && words.last().is_some_and(|name| *name != "lo"))
}

/// Free and all bytes of the file system that a folder lies on.
pub fn room(folder: &Path) -> Option<(u64, u64)> {
    let command = Command::new("stat").args(["-f", "-c", "%a %b %S"]);
    let output = command.path(folder).output(QUICK).ok()?;
    parse_room(&String::from_utf8_lossy(&output))
}

fn parse_room(text: &str) -> Option<(u64, u64)> {
    let numbers: Result<Vec<u64>, _> = text.split_whitespace().map(str::parse).collect();
    match numbers.ok()?[..] {
        [free, all, size] => Some((free.checked_mul(size)?, all.checked_mul(size)?)),
        _ => None,
    }
}

/// The machine, with the bytes of its data partition.
pub fn machine(disk: u64) -> Machine {
    let vcpu = std::thread::available_parallelism().map_or(1, usize::from);
    let about = read_bounded(Path::new("/proc/meminfo"), PROC_BYTES).unwrap_or_default();
    Machine {
        vcpu: u32::try_from(vcpu).unwrap_or(u32::MAX),
        memory_mib: memory_mib(&String::from_utf8_lossy(&about))
            .saturating_sub(balloon::taken_mib()),
        disk_mib: disk >> 20,
    }
}

fn memory_mib(about: &str) -> u64 {
    let line = about
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or_default() >> 10
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_the_system_are_read_and_garbage_is_nothing() {
        let json = br#"[{"ifname":"lo","addr_info":[{"local":"127.0.0.1","scope":"host"}]},
            {"ifname":"eth0","addr_info":[{"local":"192.0.2.7","scope":"global"},
            {"local":"fe80::1","scope":"link"}]},{"ifname":"eth1"}]"#;
        assert_eq!(addresses(json), ["192.0.2.7"]);
        assert!(addresses(b"garbage").is_empty());
        let head = "Iface Destination Gateway Flags RefCnt Use Metric Mask MTU\n";
        let near = "eth0\t0002A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\n";
        let far = "eth0\t00000000\t0102A8C0\t0003\t0\t0\t0\t00000000\t0\n";
        assert!(!has_route_4(&[head, near].concat()) && has_route_4(&[head, near, far].concat()));
        let zero = "0".repeat(32);
        let line = |name: &str| format!("{zero} 00 {zero} 00 {zero} 1 1 0 200200 {name}\n");
        assert!(!has_route_6(&line("lo")) && has_route_6(&line("eth0")));
        assert!(!has_route_4("garbage") && !has_route_6(""));
        assert_eq!(parse_room("10 20 4096\n"), Some((40_960, 81_920)));
        assert_eq!(parse_room("10 20"), None);
        assert_eq!(parse_room("1 18446744073709551615 4096"), None);
        assert_eq!(memory_mib("MemTotal:  2048000 kB\nMemFree: 1 kB\n"), 2_000);
        assert_eq!(memory_mib("x"), 0);
    }

    #[test]
    fn this_machine_can_be_measured() {
        let (free, all) = room(Path::new("/")).unwrap();
        assert!(free <= all && all > 0);
        let machine = machine(all);
        assert!(machine.vcpu > 0 && machine.memory_mib > 0);
    }
}
