//! Finds out the abilities of this machine by trying: `/bin/true` is run as a job.
//!
//! Tiers are tried from the highest that the owner admits downwards; the first in which the job
//! returns 0 is the answer. The properties of the tier then fix how each bound holds in it. With
//! namespaces the job first has a device in a lease's network, of each kind that there is until one
//! works; where that alone fails it runs once more without one. The disk is enforced if the job had
//! a quota of the kernel, in namespaces, from which it cannot change its files' project.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::Executor;
use super::capability::{Capabilities, Link, Support, Tier, WeightBy};
use super::cgroup::Groups;
use super::error::ExecutorError;
use super::job::{Interface, JobName, JobSpec, Network};
use super::outcome::{Exit, KillReason, Started, Status};
use super::process::{Isolation, ProcessExecutor};
use super::sandbox::{self, NO_DEVICE, sys};
use gridbay_protocol::class::DISK_MIB;

/// How long the probe's job may take in all.
const PATIENCE: Duration = Duration::from_secs(40);
/// Between two looks at the probe's job.
const LOOK: Duration = Duration::from_millis(2);

/// Tries the tiers that `isolation` admits.
pub(super) fn run(
    executor: &ProcessExecutor,
    isolation: Isolation,
    link: Option<Link>,
) -> Result<Capabilities, ExecutorError> {
    let tiers: &[Tier] = match isolation {
        Isolation::Required => &[Tier::Namespaces],
        Isolation::Preferred => &[Tier::Namespaces, Tier::Plain],
        Isolation::Off => &[Tier::Plain],
    };
    let mut passed_over = None;
    for tier in tiers {
        let (result, device) = try_with_device(executor, *tier, link)?;
        match result {
            Ok(ran) => {
                let mut found = describe(*tier, &ran, passed_over);
                match device {
                    Ok((link, no_better)) => {
                        (found.link, found.no_better_link) = (link, no_better);
                    }
                    Err(reason) => found.no_device = Some(reason),
                }
                return Ok(weighed(found, executor.groups()));
            }
            Err(reason) => passed_over = Some(reason),
        }
    }
    Err(ExecutorError::NoSandbox {
        reason: passed_over.unwrap_or_default(),
    })
}

/// How the probe's job began.
struct Ran {
    started: Started,
    /// Microseconds that it took.
    spawn_us: u64,
    /// Whether the kernel bounds its disk.
    quota: bool,
}

/// That, or why it did not.
type Tried = Result<Ran, String>;

/// The device with which it was tried, and why it was not a better one; or why without any.
type Device = Result<(Link, Option<String>), String>;

/// Tries a tier with a device, of that kind or of each, and without one where there is none to be
/// had.
fn try_with_device(
    executor: &ProcessExecutor,
    tier: Tier,
    link: Option<Link>,
) -> Result<(Tried, Device), ExecutorError> {
    let without = || try_tier(executor, tier, Network::None, Link::default());
    if tier == Tier::Plain {
        let reason = "jobs have no namespaces of their own".to_owned();
        return Ok((without()?, Err(reason)));
    }
    let place = Interface {
        host: "rank0".to_owned(),
        v4: Ipv4Addr::new(10, 201, 0, 1),
        v6: Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 1),
        hosts: "127.0.0.1 localhost\n".to_owned(),
        resolver: String::new(),
        machines: String::new(),
    };
    let links = link.map_or(Link::ALL.to_vec(), |link| vec![link]);
    let mut reasons = Vec::new();
    for link in links {
        match try_tier(executor, tier, Network::Lease(place.clone()), link)? {
            Err(reason) => {
                let of_device = reason.starts_with(NO_DEVICE);
                reasons.push(reason);
                // Whatever else it was, fails once more.
                if !of_device {
                    break;
                }
            }
            tried => return Ok((tried, Ok((link, reasons.pop())))),
        }
    }
    Ok((without()?, Err(reasons.join("; "))))
}

/// Runs `/bin/true` in one tier.
fn try_tier(
    executor: &ProcessExecutor,
    tier: Tier,
    network: Network,
    link: Link,
) -> Result<Tried, ExecutorError> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let job = JobName::hidden(&format!(".probe-{}-{number}", std::process::id()))?;
    executor.prepare(&job, DISK_MIB << 20)?;
    let quota = executor.has_quota(&job);
    let mut spec = JobSpec::new(job.clone(), ["/bin/true"]);
    spec.limits.wall = Duration::from_secs(10);
    spec.network = network;
    let (_, before) = sys::clocks();
    let result = executor
        .start_in(&spec, tier, link)
        .and_then(|()| end_of(executor, &job));
    let result = result.map(|(started, exit)| match (started, exit) {
        (Some(started), Exit::Exited(0)) => {
            let before_us = u64::try_from(before.as_micros()).unwrap_or(u64::MAX);
            let spawn_us = started.monotonic_us.saturating_sub(before_us);
            Ok(Ran {
                started,
                spawn_us,
                quota,
            })
        }
        (
            _,
            Exit::Killed {
                reason: KillReason::Setup(step),
            },
        ) => Err(step),
        (_, exit) => Err(format!("the probe ended as {exit:?}")),
    });
    executor.cleanup(&job)?;
    result
}

fn end_of(
    executor: &ProcessExecutor,
    job: &JobName,
) -> Result<(Option<Started>, Exit), ExecutorError> {
    let begin = Instant::now();
    loop {
        if let Status::Finished(end) = executor.status(job)? {
            return Ok((end.started, end.exit));
        }
        if begin.elapsed() > PATIENCE {
            executor.stop(job, Duration::ZERO)?;
        }
        sleep(LOOK);
    }
}

/// The bounds that control groups add; the probe's job ran in one.
fn weighed(mut found: Capabilities, groups: Option<&Groups>) -> Capabilities {
    let Some(groups) = groups else {
        return found;
    };
    if let Some(by) = groups.weight_by() {
        found.weight = Support::Enforced;
        found.weight_by = by;
        found.processors = Support::Enforced;
    }
    if groups.has("memory") {
        found.tree_memory = Support::Enforced;
    }
    if groups.has("pids") {
        found.processes = Support::Enforced;
    }
    found
}

fn describe(tier: Tier, ran: &Ran, passed_over: Option<String>) -> Capabilities {
    let namespaces = tier == Tier::Namespaces;
    let own_user = matches!(sandbox::outside_id(), Ok(Some(_)));
    // The kernel counts processes per user and user namespace, but never root's.
    let counted = own_user || (namespaces && !nix::unistd::getuid().is_root());
    Capabilities {
        tier,
        passed_over,
        // Landlock alone leaves names and attributes of files visible.
        filesystem: match (namespaces, ran.started.landlock) {
            (true, _) => Support::Enforced,
            (false, true) => Support::Advisory,
            (false, false) => Support::Absent,
        },
        // In the plain tier the seccomp filter refuses all sockets but local ones.
        network: Support::Enforced,
        no_device: None,
        link: Link::default(),
        no_better_link: None,
        wall: Support::Enforced,
        cpu: Support::Enforced,
        weight: if sys::groups_by_session() {
            Support::Advisory
        } else {
            Support::Enforced
        },
        weight_by: WeightBy::Nice,
        memory: Support::Enforced,
        processors: Support::Watched,
        tree_memory: Support::Watched,
        file_size: Support::Enforced,
        disk: if namespaces && ran.quota {
            Support::Enforced
        } else {
            Support::Watched
        },
        // Uncounted, or counted together with those of the node.
        processes: if counted {
            Support::Enforced
        } else {
            Support::Watched
        },
        open_files: Support::Enforced,
        output: Support::Enforced,
        spawn_us: ran.spawn_us,
    }
}
