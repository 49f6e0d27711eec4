//! Other processes: the node's, and a neighbour's.

use super::attempt::{Answer, Probe, Reached, Refused, fails, io_fails, probe, told};
use super::raw::{Arg::M, Arg::N, call};
use crate::probe::env;
use nix::libc;
use std::fs;

/// All of them.
pub(crate) const PROCESSES: &[Probe] = &[
    probe("signal-node", || signal(env::NODE)),
    probe("signal-neighbour", || signal(env::NEIGHBOUR)),
    probe("signal-by-descriptor", || {
        let opened = call(libc::SYS_pidfd_open, &mut [N(pid(env::NODE)), N(0)]);
        let sent = opened.and_then(|fd| {
            let args = &mut [N(fd as u64), N(0), N(0), N(0)];
            call(libc::SYS_pidfd_send_signal, args)
        });
        fails(sent)
    }),
    probe("limits-of-node", || {
        // NOFILE of 3, soft and hard: the node would die of it.
        let mut few = [3, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0];
        let args = &mut [N(pid(env::NODE)), N(7), M(&mut few), N(0)];
        fails(call(libc::SYS_prlimit64, args))
    }),
    probe("read-limits-of-node", || {
        let mut now = [0; 16];
        let args = &mut [N(pid(env::NODE)), N(7), N(0), M(&mut now)];
        fails(call(libc::SYS_prlimit64, args))
    }),
    probe("priority-of-node", || {
        let args = &mut [N(0), N(pid(env::NODE)), N(19)];
        fails(call(libc::SYS_setpriority, args))
    }),
    probe("affinity-of-node", || {
        let mut first = [1, 0, 0, 0, 0, 0, 0, 0];
        let args = &mut [N(pid(env::NODE)), N(8), M(&mut first)];
        fails(call(libc::SYS_sched_setaffinity, args))
    }),
    probe("scheduler-of-node", || {
        // SCHED_IDLE.
        let mut none = [0; 4];
        let args = &mut [N(pid(env::NODE)), N(5), M(&mut none)];
        fails(call(libc::SYS_sched_setscheduler, args))
    }),
    probe("disk-priority-of-node", || {
        // One process, class idle.
        let args = &mut [N(1), N(pid(env::NODE)), N(3 << 13)];
        fails(call(libc::SYS_ioprio_set, args))
    }),
    probe("memory-of-node", || of_node("mem")),
    probe("environment-of-node", || of_node("environ")),
    probe("descriptors-of-node", || {
        let path = format!("/proc/{}/fd", pid(env::NODE));
        io_fails(fs::read_dir(path))
    }),
    probe("namespaces-of-node", || {
        let path = format!("/proc/{}/ns/mnt", pid(env::NODE));
        io_fails(fs::File::open(path))
    }),
    probe("environment-of-neighbour", || {
        let path = format!("/proc/{}/environ", pid(env::NEIGHBOUR));
        io_fails(fs::read(path))
    }),
    probe("inherited-descriptors", || {
        // The folder that is read is one itself, and closed before they are looked at.
        let open = fs::read_dir("/proc/self/fd")
            .into_iter()
            .flatten()
            .flatten();
        let numbers = open.filter_map(|e| e.file_name().to_str()?.parse::<i32>().ok());
        let numbers: Vec<i32> = numbers.collect();
        let there = |fd: &i32| fs::read_link(format!("/proc/self/fd/{fd}")).is_ok();
        match numbers.into_iter().filter(|fd| *fd > 2).find(there) {
            Some(fd) => Reached(format!("descriptor {fd}")),
            None => Refused("none".to_owned()),
        }
    }),
    probe("capabilities", || {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let sets = ["CapInh:", "CapPrm:", "CapEff:", "CapBnd:", "CapAmb:"];
        let some = |line: &&str| {
            let value = sets.iter().find_map(|set| line.strip_prefix(set));
            value.is_some_and(|value| !value.trim().trim_start_matches('0').is_empty())
        };
        // The bounding set is of no use without a way to new privileges.
        let held = status.lines().filter(|line| !line.starts_with("CapBnd:"));
        match held.clone().find(some) {
            Some(line) => Reached(line.to_owned()),
            None => Refused("none".to_owned()),
        }
    }),
    probe("become-urgent", || {
        fails(call(
            libc::SYS_setpriority,
            &mut [N(0), N(0), N(-5_i64 as u64)],
        ))
    }),
    probe("become-realtime", || {
        let mut priority = [1, 0, 0, 0];
        let args = &mut [N(0), N(1), M(&mut priority)];
        fails(call(libc::SYS_sched_setscheduler, args))
    }),
];

fn pid(name: &str) -> u64 {
    told(name).parse().unwrap_or(u64::from(u32::MAX >> 1))
}

fn signal(name: &str) -> Answer {
    fails(call(libc::SYS_kill, &mut [N(pid(name)), N(0)]))
}

fn of_node(file: &str) -> Answer {
    io_fails(fs::File::open(format!("/proc/{}/{file}", pid(env::NODE))))
}
