//! Processor time that a tree of processes has used, those that have ended included.
//!
//! A parent that waits for a child takes the child's use over into its own count. If the child's
//! end is ignored, the kernel tells nobody. So for processes that are gone since the last look
//!
//! 1. their last seen use must appear with the processes left, at the next look at the latest: a
//!    parent may be read before it has waited;
//! 2. the rest is kept here, and a process that was busy when last seen counts as busy ever since,
//!    for itself and for those that came and went unseen after it.
//!
//! The second rule is an estimate by samples: a process that is busy half of the time is charged
//! for half of it.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;
use nix::unistd::{Pid, SysconfVar, sysconf};

use super::super::sandbox::sys;
use super::tree::{self, Stat};

/// A process: its id, and when it started.
type Key = (i32, u64);

/// The use of a process when last seen.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    own: Duration,
    /// Of the children that it waited for.
    heard: Duration,
    /// How many processors it keeps busy.
    busy: f64,
}

/// Use that no parent has taken over yet.
#[derive(Debug, Clone, Copy, Default)]
struct Open {
    seen: Duration,
    /// The addition if no parent ever takes it over.
    unseen: Duration,
}

/// The account of one tree.
#[derive(Debug, Default)]
pub(super) struct Spent {
    last: BTreeMap<Key, Seen>,
    at: Option<Instant>,
    open: Open,
    kept: Duration,
    total: Duration,
}

impl Spent {
    /// All that the tree has used so far.
    pub(super) fn total(&self) -> Duration {
        self.total
    }

    /// Looks at the processes of the tree of this one.
    pub(super) fn look(&mut self, tree: &[Pid], now: Instant) -> Duration {
        let scale = Scale::of_this_machine();
        // Orphans that come to this process are told of here.
        let heard = getrusage(UsageWho::RUSAGE_CHILDREN).map_or(Duration::ZERO, |used| {
            let micros = (used.user_time() + used.system_time()).num_microseconds();
            Duration::from_micros(u64::try_from(micros).unwrap_or(0))
        });
        let own = Seen {
            heard,
            ..Seen::default()
        };
        let mut seen = BTreeMap::from([((Pid::this().as_raw(), 0), own)]);
        seen.extend(tree.iter().filter_map(|pid| scale.see(*pid)));
        self.take(seen, now, scale.processors)
    }

    fn take(&mut self, seen: BTreeMap<Key, Seen>, now: Instant, processors: u32) -> Duration {
        let since = self.at.map_or(Duration::ZERO, |at| now.duration_since(at));
        let (mut heard, mut gone, mut busy) = (Duration::ZERO, Duration::ZERO, 0.0);
        for (key, before) in &self.last {
            match seen.get(key) {
                Some(after) => heard += after.heard.saturating_sub(before.heard),
                None => {
                    gone += before.own + before.heard;
                    busy += before.busy;
                }
            }
        }
        heard = self.settle(heard);
        let unseen = since.mul_f64(f64::min(busy, f64::from(processors)));
        let left = gone.saturating_sub(heard);
        self.open = Open {
            seen: left,
            unseen: unseen.mul_f64(part(left, gone)),
        };
        let alive: Duration = seen.values().map(|one| one.own + one.heard).sum();
        // Open times may have been taken over by no parent, or count twice, because a parent is not
        // read at the same moment.
        self.total = self.total.max(alive + self.kept + self.open.seen);
        (self.last, self.at) = (seen, Some(now));
        self.total
    }

    /// Sets what was told since against what was open; answers what is left of it.
    fn settle(&mut self, heard: Duration) -> Duration {
        let Open { seen, unseen } = std::mem::take(&mut self.open);
        let lost = seen.saturating_sub(heard);
        self.kept += lost + unseen.mul_f64(part(lost, seen));
        heard.saturating_sub(seen)
    }
}

/// The part of a time that another one is.
fn part(of: Duration, whole: Duration) -> f64 {
    match whole.is_zero() {
        true => 0.0,
        false => of.as_secs_f64() / whole.as_secs_f64(),
    }
}

/// The units of the kernel's numbers here.
struct Scale {
    tick: Duration,
    processors: u32,
    /// Since boot.
    up: Duration,
}

impl Scale {
    fn of_this_machine() -> Scale {
        let ask = |what| {
            sysconf(what)
                .ok()
                .flatten()
                .and_then(|n| u32::try_from(n).ok())
        };
        let ticks = ask(SysconfVar::CLK_TCK).unwrap_or(100).max(1);
        Scale {
            tick: Duration::from_secs(1) / ticks,
            processors: ask(SysconfVar::_NPROCESSORS_ONLN).unwrap_or(1).max(1),
            up: sys::since_boot(),
        }
    }

    fn see(&self, pid: Pid) -> Option<(Key, Seen)> {
        let stat = Stat::of(pid)?;
        let ticks = |fields: [usize; 2]| -> Duration {
            let count: u64 = fields.iter().filter_map(|at| stat.number(*at)).sum();
            self.tick.mul_f64(count as f64)
        };
        // The first thread may have ended before the others.
        let thread = stat.is_over().then(|| tree::living(pid)).flatten();
        let (mut own, heard) = (ticks(tree::OWN), ticks(tree::HEARD));
        if own.is_zero() {
            own = exact(thread.unwrap_or(pid))
                .unwrap_or_default()
                .min(self.tick);
        }
        let start = stat.number(tree::START)?;
        let age = self.up.saturating_sub(self.tick.mul_f64(start as f64));
        let thread = thread.and_then(|thread| Stat::of_thread(pid, thread));
        let running = thread.as_ref().unwrap_or(&stat).is_running();
        let running = if running { 1.0 } else { 0.0 };
        let busy = part(own, age.max(self.tick)).max(running);
        Some(((pid.as_raw(), start), Seen { own, heard, busy }))
    }
}

/// The use of a process's thread, for those that have not used a tick.
fn exact(pid: Pid) -> Option<Duration> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/schedstat")).ok()?;
    let nanos = text.split_ascii_whitespace().next()?.parse().ok()?;
    Some(Duration::from_nanos(nanos))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOOK: Duration = Duration::from_millis(250);

    /// An account, and looks a quarter of a second apart: id, used, told of children, busy.
    fn after(looks: &[&[(i32, u64, u64, f64)]]) -> u128 {
        let (mut spent, mut now) = (Spent::default(), Instant::now());
        for look in looks {
            let seen = look.iter().map(|(pid, own, heard, busy)| {
                let (own, heard) = (Duration::from_millis(*own), Duration::from_millis(*heard));
                let busy = *busy;
                ((*pid, 0), Seen { own, heard, busy })
            });
            spent.take(seen.collect(), now, 2);
            now += LOOK;
        }
        spent.total().as_millis()
    }

    #[test]
    fn what_a_parent_was_told_of_counts_once() {
        let told = [(1, 10, 130, 0.0)];
        assert_eq!(after(&[&[(1, 10, 0, 0.0), (2, 100, 0, 1.0)], &told]), 140);
        // Also if the parent was read before it had waited.
        let late: [&[_]; 4] = [
            &[(1, 10, 0, 0.0), (2, 100, 0, 1.0)],
            &[(1, 10, 0, 0.0)],
            &told,
            &told,
        ];
        assert_eq!(after(&late), 140);
        // And of those that were never seen.
        assert_eq!(after(&[&[(1, 10, 0, 0.0)], &[(1, 10, 500, 0.0)]]), 510);
    }

    #[test]
    fn what_nobody_was_told_of_is_kept_and_its_end_is_guessed() {
        let alone = [(1, 10, 0, 0.0)];
        let both = [(1, 10, 0, 0.0), (2, 100, 0, 1.0)];
        assert_eq!(after(&[&both, &alone, &alone, &alone]), 10 + 100 + 250);
        // A process that slept has used no more than was seen.
        let asleep = [(1, 10, 0, 0.0), (2, 100, 0, 0.0)];
        assert_eq!(after(&[&asleep, &alone, &alone]), 110);
        // No more than all processors at all times.
        let mut many = vec![(1, 10, 0, 0.0)];
        many.extend((2..102).map(|pid| (pid, 1, 0, 1.0)));
        assert_eq!(after(&[&many, &alone, &alone]), 10 + 100 + 500);
    }

    #[test]
    fn children_that_come_and_go_between_looks_are_charged_by_samples() {
        // One at a time, each used a millisecond when it was seen, none is ever told of.
        let looks: Vec<_> = (0..41)
            .map(|n| [(1, 0, 0, 0.0), (2 + n, 1, 0, 1.0)])
            .collect();
        let looks: Vec<&[_]> = looks.iter().map(|look| &look[..]).collect();
        let found = after(&looks);
        assert!((9_700..=10_300).contains(&found), "{found}");
    }

    #[test]
    fn a_child_that_nobody_waits_for_is_seen() {
        let mut child = std::process::Command::new("/bin/sh")
            .args(["-c", "while :; do :; done"])
            .spawn()
            .unwrap();
        let pid = Pid::from_raw(i32::try_from(child.id()).unwrap());
        let begin = Instant::now();
        let busy = loop {
            let (_, seen) = Scale::of_this_machine().see(pid).unwrap();
            if seen.own >= Duration::from_millis(50) || begin.elapsed() > LOOK * 240 {
                break seen;
            }
            std::thread::sleep(Duration::from_millis(1));
        };
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(busy.own >= Duration::from_millis(50) && busy.busy > 0.0);
        assert!(Scale::of_this_machine().see(pid).is_none());
    }
}
