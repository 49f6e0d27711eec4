//! Samples the resources that the kernel does not bound for a whole job: memory, processor time
//! ([`Spent`]) and the number of processes of its tree.
//!
//! Memory is the proportional part that its processes hold (a page that four share counts a quarter
//! for each), and the contents of its `/dev/shm`. Where memory is only watched the sandbox has no
//! memfd, and nowhere has it segments, semaphores or queues that are nobody's. The kernel's own
//! memory for a job's sockets, pipes and timers is not seen. Between two looks a job can be beyond
//! its bounds.

use std::fs;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use nix::sys::statvfs::statvfs;
use nix::unistd::{Pid, SysconfVar, sysconf};

use super::super::folder::Launch;
use super::super::job::Limits;
use super::super::outcome::KillReason;
use super::spent::Spent;
use super::tree::{self, Stat};

/// Between two looks.
const EVERY: Duration = Duration::from_millis(250);
/// A look may take this share of the time between two, else they become rarer: one in so many.
const SHARE: u32 = 20;
/// Processes that are not the job's: *init*.
const OURS: usize = 1;

/// Looks at one job.
#[derive(Debug)]
pub(super) struct Gauge {
    limits: Limits,
    memory: bool,
    processes: bool,
    processors: bool,
    spent: Spent,
    next: Option<Instant>,
}

impl Gauge {
    /// For a job; it looks at nothing that a control group bounds.
    pub(super) fn of(launch: &Launch) -> Gauge {
        let group = launch.group.clone().unwrap_or_default();
        let (memory, processes, processors) = (!group.memory, !group.processes, !group.processors);
        Gauge {
            limits: launch.spec.limits.clone(),
            memory,
            processes,
            processors,
            spent: Spent::default(),
            next: (memory || processes || processors).then(Instant::now),
        }
    }

    /// When to look again.
    pub(super) fn next(&self) -> Option<Instant> {
        self.next
    }

    /// Processor time that the job was seen to have used, if nothing else bounds it.
    pub(super) fn spent(&self) -> Duration {
        self.spent.total()
    }

    /// Looks if it is time. Answers why the job must end.
    pub(super) fn look(&mut self, now: Instant) -> io::Result<Option<KillReason>> {
        if self.next.is_none_or(|at| at > now) {
            return Ok(None);
        }
        let found = self.judge(now)?;
        let end = Instant::now();
        let pause = uneven(EVERY).max(end.duration_since(now) * SHARE);
        self.next = end.checked_add(pause);
        Ok(found)
    }

    fn judge(&mut self, now: Instant) -> io::Result<Option<KillReason>> {
        let tree = tree::below()?;
        let most = usize::try_from(self.limits.processes).unwrap_or(usize::MAX);
        if self.processes && tree.len() > most.saturating_add(OURS) {
            return Ok(Some(KillReason::Processes));
        }
        if self.processors {
            let spent = self.spent.look(&tree, now).as_secs();
            if spent > self.limits.cpu_seconds {
                return Ok(Some(KillReason::Processor));
            }
        }
        let over = self.memory && self.is_over(&tree);
        Ok(over.then_some(KillReason::Memory))
    }

    /// The sum of resident pages counts shared ones more than once, but costs little: the costly
    /// figures are read only where it is beyond the limit.
    fn is_over(&self, tree: &[Pid]) -> bool {
        let limit = self.limits.memory_bytes;
        let shared = shared_files(tree);
        let most: u64 = tree.iter().filter_map(|pid| resident(*pid)).sum();
        if most.saturating_add(shared) <= limit {
            return false;
        }
        let held = |pid: &Pid| proportional(*pid).or_else(|| resident(*pid));
        let all: u64 = tree.iter().filter_map(held).sum();
        all.saturating_add(shared) > limit
    }
}

/// Half of a time to one and a half: nobody can be idle whenever there is a look.
fn uneven(time: Duration) -> Duration {
    let random = RandomState::new().build_hasher().finish();
    time / 2 + time.mul_f64(random as f64 / u64::MAX as f64)
}

fn file(pid: Pid, name: &str) -> PathBuf {
    PathBuf::from(format!("/proc/{pid}/{name}"))
}

/// A thread that knows a process's memory: not one that has ended, as the first one may have.
fn knows(pid: Pid) -> Pid {
    let over = Stat::of(pid).is_some_and(|stat| stat.is_over());
    over.then(|| tree::living(pid)).flatten().unwrap_or(pid)
}

/// Bytes of a process that are in memory.
fn resident(pid: Pid) -> Option<u64> {
    let pid = knows(pid);
    let text = fs::read_to_string(file(pid, "statm")).ok()?;
    let pages: u64 = text.split_ascii_whitespace().nth(1)?.parse().ok()?;
    let page = sysconf(SysconfVar::PAGE_SIZE).ok()??;
    Some(pages.saturating_mul(u64::try_from(page).ok()?))
}

/// A process's part of the memory that it and others hold.
fn proportional(pid: Pid) -> Option<u64> {
    let text = fs::read_to_string(file(knows(pid), "smaps_rollup")).ok()?;
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_ascii_whitespace().next()?.parse::<u64>().ok()
    };
    let kib = field("Pss:")?.saturating_add(field("SwapPss:").unwrap_or(0));
    Some(kib.saturating_mul(1024))
}

/// Bytes in the job's own `/dev/shm`. Mapped ones count with who maps them as well: too much, never
/// too little.
fn shared_files(tree: &[Pid]) -> u64 {
    let own = fs::metadata("/dev/shm").map(|at| device(&at)).ok();
    let of = |pid: &Pid| {
        let path = file(knows(*pid), "root/dev/shm");
        let at = fs::metadata(&path).ok().map(|at| device(&at))?;
        // Without namespaces it is the machine's, which the job cannot write to.
        let used = statvfs(&path).ok().filter(|_| Some(at) != own)?;
        let blocks = used.blocks().saturating_sub(used.blocks_free());
        Some(blocks.saturating_mul(used.fragment_size()))
    };
    tree.iter().find_map(of).unwrap_or(0)
}

fn device(at: &fs::Metadata) -> u64 {
    use std::os::unix::fs::MetadataExt as _;
    at.dev()
}

#[cfg(test)]
mod tests {
    use super::super::odd;
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn looks_come_when_nobody_expects_them() {
        let pauses: BTreeSet<_> = (0..100).map(|_| uneven(EVERY)).collect();
        assert!(pauses.len() > 90);
        assert!(
            pauses
                .iter()
                .all(|pause| (EVERY / 2..=EVERY * 3 / 2).contains(pause))
        );
    }

    #[test]
    fn a_process_holds_no_more_in_proportion_than_is_resident() {
        let own = Pid::this();
        let (part, all) = (proportional(own), resident(own).unwrap());
        assert!(all > 1 << 20);
        // The two are read one after the other, while other tests allocate.
        assert!(part.is_none_or(|part| part > 0 && part < all * 2));
        assert_eq!(proportional(Pid::from_raw(i32::MAX)), None);
    }

    #[test]
    fn memory_counts_whose_first_thread_has_ended() {
        let child = odd::Child::without_leader();
        assert!(resident(child.pid).unwrap() > 4 << 20);
        assert_ne!(proportional(child.pid), Some(0));
        assert_eq!(knows(Pid::this()), Pid::this());
    }
}
