//! Attempts to use more than a job has bought: memory, processes, processors, files.

use super::attempt::{Answer, Probe, Reached, Refused, fails, io_fails, limit, text};
use super::raw::{Arg::M, Arg::N, Arg::T, call, child, file, spin, wait};
use nix::libc;
use std::fs::File;
use std::io::Write as _;
use std::time::{Duration, Instant};

/// Memory that the jobs of these probes may have.
pub(crate) const MEMORY: u64 = 256 << 20;
/// Processes that they may have.
pub(crate) const PROCESSES: u32 = 64;
/// Descriptors of each.
pub(crate) const DESCRIPTORS: u32 = 128;
/// Largest file.
pub(crate) const FILE: u64 = 8 << 20;
/// Processor seconds, where they matter.
pub(crate) const SECONDS: u64 = 2;

/// Memory that a job tries to hold where [`MEMORY`] is allowed.
const MUCH: u64 = 1_536 << 20;
/// Bytes of a piece.
pub(super) const PIECE: usize = 1 << 20;
/// How long an excess is held: many looks of the watcher.
pub(super) const HOLD: Duration = Duration::from_secs(5);

/// All of them.
pub(crate) const LIMITS: &[Probe] = &[
    limit(
        "address-space",
        |l| l.memory_bytes = MEMORY,
        || {
            let args = &mut [N(0), N(MUCH), N(3), N(0x22), N(u64::MAX), N(0)];
            fails(call(libc::SYS_mmap, args))
        },
    ),
    limit(
        "memory-file",
        |l| l.memory_bytes = MEMORY,
        || {
            let name = text("probe");
            match call(libc::SYS_memfd_create, &mut [T(&name), N(0)]) {
                Err(errno) => Refused(errno.to_string()),
                Ok(fd) => fill(file(fd)),
            }
        },
    ),
    limit(
        "shared-memory-folder",
        |l| l.memory_bytes = MEMORY,
        || match File::create("/dev/shm/probe") {
            Err(error) => Refused(error.to_string()),
            Ok(file) => fill(file),
        },
    ),
    limit(
        "shared-segment",
        |l| l.memory_bytes = MEMORY,
        || fails(call(libc::SYS_shmget, &mut [N(0), N(MUCH), N(0o600)])),
    ),
    limit(
        "memory-of-tree",
        |l| l.memory_bytes = MEMORY,
        || tree_of(8, 96 << 20),
    ),
    limit(
        "fork-bomb",
        |l| l.processes = PROCESSES,
        || {
            let made = (0..PROCESSES * 8).take_while(|_| child(0, || sleep(HOLD)).is_ok());
            let count = made.count();
            match u32::try_from(count).is_ok_and(|count| count <= PROCESSES) {
                true => Refused(format!("{count} processes")),
                false => {
                    sleep(HOLD);
                    Reached(format!("{count} processes"))
                }
            }
        },
    ),
    limit(
        "descriptors",
        |l| l.open_files = DESCRIPTORS,
        || {
            let open: Vec<File> = (0..DESCRIPTORS * 2)
                .map_while(|_| File::open("/dev/null").ok())
                .collect();
            match open.len() < DESCRIPTORS as usize {
                true => Refused(format!("{} files", open.len())),
                false => Reached(format!("{} files", open.len())),
            }
        },
    ),
    limit(
        "file-size",
        |l| l.file_bytes = FILE,
        || {
            // Told by an error instead of a signal.
            let ignore = nix::sys::signal::SigSet::from(nix::sys::signal::Signal::SIGXFSZ);
            if ignore.thread_block().is_err() {
                return Refused("no way to wait for the error".to_owned());
            }
            let Ok(mut file) = File::create("big") else {
                return Refused("no file".to_owned());
            };
            let piece = vec![1; PIECE];
            let pieces =
                (0..2 * FILE / PIECE as u64).take_while(|_| file.write_all(&piece).is_ok());
            match pieces.count() as u64 * PIECE as u64 > FILE {
                true => Reached("written".to_owned()),
                false => Refused("cut".to_owned()),
            }
        },
    ),
    limit(
        "raise-limits",
        |l| l.memory_bytes = MEMORY,
        || {
            // Of address space (9), files (7), processes (6), core (4), file size (1).
            let mut all = [0xff; 16];
            let mut raised = [9, 7, 6, 4, 1].into_iter().filter(|what| {
                call(
                    libc::SYS_prlimit64,
                    &mut [N(0), N(*what), M(&mut all), N(0)],
                )
                .is_ok()
            });
            match raised.next() {
                Some(what) => Reached(format!("limit {what}")),
                None => Refused("none".to_owned()),
            }
        },
    ),
    limit(
        "core-file",
        |_| (),
        || {
            let dies = child(0, || {
                let _ = call(
                    libc::SYS_kill,
                    &mut [N(u64::from(nix::unistd::getpid().as_raw() as u32)), N(11)],
                );
                0
            });
            let _ = dies.map(wait);
            let left = std::fs::read_dir(".").into_iter().flatten().flatten();
            let cores = left.filter(|e| e.file_name().to_string_lossy().starts_with("core"));
            match cores.count() {
                0 => Refused("none".to_owned()),
                _ => Reached("written".to_owned()),
            }
        },
    ),
    limit(
        "wall-time",
        |l| l.wall = Duration::from_secs(1),
        || {
            sleep(Duration::from_secs(30));
            Reached("it lived on".to_owned())
        },
    ),
    limit(
        "processor-time",
        |l| l.cpu_seconds = SECONDS,
        || {
            spin(Duration::from_secs(SECONDS * 4));
            Reached("it went on".to_owned())
        },
    ),
    limit(
        "more-processors",
        |l| (l.processors, l.cpu_seconds) = (1, SECONDS),
        || {
            // Each within its own bound, together four times beyond.
            let begin = Instant::now();
            let each = Duration::from_millis(SECONDS * 900);
            let busy = || {
                spin(each);
                0
            };
            let children: Vec<_> = (0..4).filter_map(|_| child(0, busy).ok()).collect();
            let done = children.iter().filter(|pid| wait(**pid) == 0).count();
            let used = each.as_secs_f64() * done as f64;
            let at_once = used / begin.elapsed().as_secs_f64();
            let line = format!("{at_once:.2} processors");
            if at_once > 1.3 {
                Reached(line)
            } else {
                Refused(line)
            }
        },
    ),
    limit(
        "children-that-nobody-counts",
        |l| (l.processors, l.cpu_seconds) = (1, SECONDS),
        || {
            // A parent that ignores that children end is told nothing of what they used.
            let mut ignore = [0; 32];
            ignore[0] = 1;
            let child_ended = N(libc::SIGCHLD as u64);
            let args = &mut [child_ended, M(&mut ignore), N(0), N(8)];
            if let Err(errno) = call(libc::SYS_rt_sigaction, args) {
                return Refused(errno.to_string());
            }
            let (begin, each) = (Instant::now(), Duration::from_millis(100));
            let busy = || {
                spin(each);
                0
            };
            let rounds = 40 * SECONDS;
            for _ in 0..rounds {
                let pair = [child(0, busy), child(0, busy)];
                // Answers, with an error, once both are gone.
                _ = pair.map(|made| made.map(wait));
            }
            let used = each.as_secs_f64() * (2 * rounds) as f64;
            let at_once = used / begin.elapsed().as_secs_f64();
            let line = format!("{at_once:.2} processors");
            // On a machine that is busy else they get no more anyway.
            match at_once > 1.3 {
                true => Reached(line),
                false => Refused(line),
            }
        },
    ),
    limit(
        "overwrite-program",
        |_| (),
        || io_fails(std::env::current_exe().and_then(|own| File::options().append(true).open(own))),
    ),
];

pub(super) fn sleep(time: Duration) -> i32 {
    std::thread::sleep(time);
    0
}

/// Writes, and holds what could be written.
fn fill(mut file: File) -> Answer {
    let piece = vec![1; PIECE];
    let mut written = 0;
    while written < MUCH && file.write_all(&piece).is_ok() {
        written += PIECE as u64;
    }
    if written <= MEMORY {
        return Refused(format!("full at {} MiB", written >> 20));
    }
    sleep(HOLD);
    Reached(format!("{} MiB", written >> 20))
}

/// Children that each stay within the bound of one process.
fn tree_of(count: usize, bytes: usize) -> Answer {
    let hold = move || {
        let memory = vec![1_u8; bytes];
        sleep(HOLD);
        i32::from(memory.iter().step_by(4_096).any(|byte| *byte != 1))
    };
    let children: Vec<_> = (0..count).filter_map(|_| child(0, hold).ok()).collect();
    let whole = children.iter().filter(|pid| wait(**pid) == 0).count();
    match (whole * bytes) as u64 > MEMORY {
        true => Reached(format!("{whole} children with {} MiB each", bytes >> 20)),
        false => Refused(format!("{whole} of {count} children lived")),
    }
}
