//! What `/proc` tells of the host, and lets be changed.

use super::attempt::{Answer, Probe, Reached, Refused, empty, io_fails, probe, told};
use crate::probe::env;
use std::fs::{self, OpenOptions};
use std::io::{self, Read as _, Write as _};

/// Bytes of a file that say enough.
const ENOUGH: u64 = 4_096;

/// All of them.
pub(crate) const PROC: &[Probe] = &[
    probe("init-cmdline", || empty(some("/proc/1/cmdline"))),
    probe("init-environment", || empty(some("/proc/1/environ"))),
    probe("init-mounts", || empty(some("/proc/1/mountinfo"))),
    probe("init-maps", || empty(some("/proc/1/maps"))),
    probe("init-root", || io_fails(fs::read_dir("/proc/1/root/"))),
    probe("init-descriptors", || io_fails(fs::read_dir("/proc/1/fd"))),
    probe("kernel-cmdline", || empty(some("/proc/cmdline"))),
    probe("kernel-log", || {
        // Only opened: reading would wait.
        match OpenOptions::new().read(true).open("/proc/kmsg") {
            Ok(file) if file.metadata().is_ok_and(|m| !m.file_type().is_file()) => {
                Refused("masked".to_owned())
            }
            other => io_fails(other),
        }
    }),
    probe("kernel-memory", || empty(some("/proc/kcore"))),
    probe("kernel-symbols", || empty(some("/proc/kallsyms"))),
    probe("kernel-keys", || empty(some("/proc/keys"))),
    probe("kernel-timers", || empty(some("/proc/timer_list"))),
    probe("kernel-modules", || empty(some("/proc/modules"))),
    probe("boot-id", || empty(some("/proc/sys/kernel/random/boot_id"))),
    probe("sysrq", || writes_to("/proc/sysrq-trigger", "h")),
    probe("core-pattern", || {
        writes_to("/proc/sys/kernel/core_pattern", "x")
    }),
    probe("host-setting", || {
        writes_to("/proc/sys/vm/drop_caches", "1")
    }),
    probe("own-setting", || writes_to("/proc/sys/kernel/shmmax", "1")),
    probe("id-map", || writes_to("/proc/self/uid_map", "0 0 1\n")),
    probe("order-of-ending", || {
        writes_to("/proc/self/oom_score_adj", "-100")
    }),
    probe("cgroup-path", || {
        let text = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let outside = text.lines().find(|line| !line.ends_with(":/"));
        match outside {
            Some(line) => Reached(line.to_owned()),
            None => Refused("none but its own root".to_owned()),
        }
    }),
    probe("host-mounts", || {
        let text = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let at = |line: &&str| line.split(' ').nth(4).is_some_and(is_outside);
        match text.lines().find(at) {
            Some(line) => Reached(line.to_owned()),
            None => Refused("none but its view".to_owned()),
        }
    }),
    probe("host-processes", || {
        let mark = told(env::MARK);
        let told_by = |pid: &u32| {
            let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).contains(&mark)
        };
        match pids().into_iter().find(told_by) {
            Some(pid) => Reached(format!("the command line of process {pid}")),
            None => Refused("none is seen".to_owned()),
        }
    }),
    probe("host-name", || {
        let own = nix::unistd::gethostname().unwrap_or_default();
        match own.to_string_lossy() == told(env::HOST) {
            true => Reached("the host's".to_owned()),
            false => Refused("its own".to_owned()),
        }
    }),
];

/// A mount point that no view has.
fn is_outside(at: &str) -> bool {
    ["/sys", "/run", "/home", "/var", "/boot", "/root", "/old"]
        .iter()
        .any(|folder| at == *folder || at.starts_with(&format!("{folder}/")) && !is_program(at))
}

/// The program of the probes itself is shown to the job.
fn is_program(at: &str) -> bool {
    std::env::current_exe().is_ok_and(|own| own.as_os_str() == at)
}

fn pids() -> Vec<u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter_map(|name| name.parse().ok()).collect()
}

fn some(path: &str) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(ENOUGH).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Writes; a mask takes what is written and does nothing with it.
fn writes_to(path: &str, text: &str) -> Answer {
    match OpenOptions::new().write(true).open(path) {
        Ok(file) if file.metadata().is_ok_and(|m| !m.file_type().is_file()) => {
            Refused("masked".to_owned())
        }
        Ok(mut file) => io_fails(file.write_all(text.as_bytes())),
        Err(error) => Refused(error.to_string()),
    }
}
