//! The process, under the names that Prometheus' own libraries use.

use super::text::{Text, seconds};
use nix::sys::resource::{Resource, UsageWho, getrlimit, getrusage};
use std::fs;

/// Figures of this process; those that the system does not tell are left out.
pub(super) fn metrics(text: &mut Text, started_ms: u64) {
    if let Ok(used) = getrusage(UsageWho::RUSAGE_SELF) {
        let times = [used.user_time(), used.system_time()];
        let micros = |time: nix::sys::time::TimeVal| {
            let (s, us) = (time.tv_sec(), time.tv_usec());
            u64::try_from(s.saturating_mul(1_000_000).saturating_add(us)).unwrap_or(0)
        };
        let sum = times.into_iter().map(micros).sum();
        text.value("process_cpu_seconds_total", seconds(sum));
    }
    if let Ok(open) = fs::read_dir("/proc/self/fd") {
        // One of them is that of this listing.
        let open = open.count().saturating_sub(1);
        text.value("process_open_fds", open);
    }
    if let Ok((most, _)) = getrlimit(Resource::RLIMIT_NOFILE) {
        text.value("process_max_fds", most);
    }
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    for (name, field) in [
        ("process_resident_memory_bytes", "VmRSS:"),
        ("process_virtual_memory_bytes", "VmSize:"),
    ] {
        if let Some(bytes) = kibibytes(&status, field) {
            text.value(name, bytes);
        }
    }
    let started = seconds(started_ms.saturating_mul(1_000));
    text.value("process_start_time_seconds", started);
}

/// A field of `/proc/self/status`, in bytes.
fn kibibytes(status: &str, field: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    let count: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    count.checked_mul(1_024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_all_of_them() {
        let mut text = Text::default();
        metrics(&mut text, 1_500);
        let values = text.0.lines().filter(|line| !line.starts_with('#'));
        assert_eq!(values.count(), 6, "{}", text.0);
        assert!(text.0.ends_with("process_start_time_seconds 1.5\n"));
        let status = "Name:\tx\nVmSize:\t    2048 kB\nVmRSS:\t 12 kB\n";
        assert_eq!(kibibytes(status, "VmRSS:"), Some(12 * 1_024));
        assert_eq!(kibibytes(status, "VmPeak:"), None);
    }
}
