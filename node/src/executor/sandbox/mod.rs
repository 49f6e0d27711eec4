//! Starts a job inside bounds that it cannot leave. Runs in the supervisor, a fresh process with
//! one thread, whose current directory is the job's folder.
//!
//! Namespace tier:
//! 1. The supervisor clones *init* into new user, mount, pid, ipc, uts and network namespaces, puts
//!    it into the job's control group and writes its id maps: inside, the job is user [`JOB_UID`];
//!    outside, the node's own user or, if the node is root, an id that nothing else on the machine
//!    has ([`outside_id`]).
//! 2. *init* takes its groups for the top of all groups, names the host, switches on `lo` and the
//!    device of its lease's network, if it has one ([`interface`]), enters the view of [`root`],
//!    becomes [`JOB_UID`], drops all capabilities, puts on Landlock
//!    ([`confine`]) and [`seccomp`] and ties its life to the supervisor's.
//! 3. *init* forks the job, which takes its resource limits and is executed. *init* stays as
//!    process 1: it reaps orphans, passes SIGTERM on to all, reports the job's end, and exits. The
//!    kernel then kills whatever is left. Killing *init* is therefore killing the whole job.
//!
//! Plain tier: the supervisor forks the job itself, which confines itself likewise as far as that
//! goes without namespaces. The supervisor is the subreaper of the job's tree and sweeps it.

mod calls;
pub(crate) mod confine;
mod exec;
mod init;
mod interface;
mod proxy;
pub(crate) mod report;
mod root;
mod seccomp;
pub(crate) mod sys;

use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use nix::fcntl::OFlag;
use nix::unistd::{Gid, Pid, Uid, getgid, getuid, pipe2, setgroups, setresgid, setresuid};

use super::capability::{Link, Tier};
use super::cgroup::Group;
use super::job::JobSpec;
use report::Reporter;

/// User and group id of a job inside its namespaces.
pub(super) const JOB_UID: u32 = 1000;
/// How the report begins that a job has no device in its lease's network.
pub(super) const NO_DEVICE: &str = "network of the lease";
/// First of the ids that root's jobs have outside: above those that distributions, directory
/// services and container engines hand out.
const OUTSIDE_BASE: u32 = 2_000_000_000;

const NAMESPACES: libc::c_int = libc::CLONE_NEWUSER
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWNET;

/// The job to start.
pub(crate) struct Plan<'a> {
    /// The job, checked.
    pub(crate) spec: &'a JobSpec,
    /// How to isolate it.
    pub(crate) tier: Tier,
    /// What its device is, if it has one.
    pub(crate) link: Link,
    /// More of the host that the job may read, absolute paths.
    pub(crate) read_only: &'a [PathBuf],
    /// The job's folder, absolute.
    pub(crate) folder: &'a Path,
    /// The job's control groups.
    pub(in crate::executor) group: Option<&'a Group>,
}

impl Plan<'_> {
    /// Whether a control group bounds the memory of the whole job.
    fn bounds_memory(&self) -> bool {
        self.group.is_some_and(|group| group.memory)
    }
}

/// A started sandbox.
pub(crate) struct Launched {
    /// Its first process: *init*, or in the plain tier the job.
    pub(crate) pid: Pid,
    /// Reading end of the report pipe, closed once the sandbox's own processes are gone.
    pub(crate) report: OwnedFd,
    /// Reading end of the job's standard output.
    pub(crate) stdout: OwnedFd,
    /// Reading end of the job's standard error.
    pub(crate) stderr: OwnedFd,
    /// The device of a networked job, and the socket for connections to the web, come here before
    /// the report that the sandbox is ready.
    pub(crate) device: OwnedFd,
}

/// The ends of the pipes that a sandbox's first process owns.
struct Ends {
    report: Reporter,
    stdout: OwnedFd,
    stderr: OwnedFd,
    /// One byte comes when the id maps are written and the control group is entered.
    go: OwnedFd,
    /// Where they go.
    device: OwnedFd,
}

/// Starts the sandbox. A failure inside it arrives as a report.
pub(crate) fn launch(plan: &Plan<'_>) -> io::Result<Launched> {
    let outside = outside_id()?;
    for directory in ["root", "tmp"] {
        fs::create_dir_all(directory)?;
    }
    if let Some(id) = outside {
        give_away(Path::new("work"), id)?;
        give_away(Path::new("tmp"), id)?;
    }
    let (report, report_end) = pipe2(OFlag::O_CLOEXEC)?;
    let (stdout, stdout_end) = pipe2(OFlag::O_CLOEXEC)?;
    let (stderr, stderr_end) = pipe2(OFlag::O_CLOEXEC)?;
    let (go_end, go) = pipe2(OFlag::O_CLOEXEC)?;
    let (device, device_end) = UnixStream::pair()?;
    let ends = Ends {
        report: Reporter::new(report_end),
        stdout: stdout_end,
        stderr: stderr_end,
        go: go_end,
        device: device_end.into(),
    };
    let flags = if plan.tier == Tier::Namespaces {
        NAMESPACES
    } else {
        0
    };
    let Some(pid) = sys::clone_process(flags).map_err(no_namespaces)? else {
        // In the child. The values that own the supervisor's ends are never dropped here, as this
        // does not return; `become_child` closes what they stand for.
        become_child(plan, outside, ends)
    };
    drop(ends);
    // If one of these fails, the closing of `go` tells init, and its report the supervisor.
    if let Some(group) = plan.group {
        group.take(pid).map_err(at("control group"))?;
    }
    if plan.tier == Tier::Namespaces {
        write_maps(pid, outside).map_err(at("id maps"))?;
    }
    nix::unistd::write(&go, b"g")?;
    Ok(Launched {
        pid,
        report,
        stdout,
        stderr,
        device: device.into(),
    })
}

/// Names the step in an error.
fn at(step: &'static str) -> impl FnOnce(io::Error) -> io::Error {
    move |e| io::Error::new(e.kind(), format!("{step}: {e}"))
}

/// As [`at`] for the namespaces, with what the owner can do where the machine denies them.
fn no_namespaces(error: io::Error) -> io::Error {
    let hint = match error.raw_os_error() {
        // The kernel's word for a limit on namespaces is the same as for a full disk.
        Some(libc::ENOSPC | libc::EUSERS) => {
            "; no user namespace is left: raise the limit, as in sysctl -w \
             user.max_user_namespaces=16384, and see the other limits below /proc/sys/user"
        }
        Some(libc::EPERM | libc::EACCES) => {
            "; users may make no user namespaces here: allow them with sysctl -w \
             kernel.unprivileged_userns_clone=1 (Debian) or sysctl -w \
             kernel.apparmor_restrict_unprivileged_userns=0 (Ubuntu)"
        }
        _ => "",
    };
    io::Error::new(error.kind(), format!("namespaces: {error}{hint}"))
}

fn become_child(plan: &Plan<'_>, outside: Option<u32>, mut ends: Ends) -> ! {
    let keep = [
        ends.report.pipe().as_fd(),
        ends.stdout.as_fd(),
        ends.stderr.as_fd(),
        ends.go.as_fd(),
        ends.device.as_fd(),
    ];
    let alone = sys::silence_stdio().and_then(|()| sys::close_all_but(&keep));
    if let Err(e) = alone {
        ends.report.fail(&format!("descriptors: {e}"));
        sys::exit_now(1);
    }
    match plan.tier {
        Tier::Namespaces => init::run(plan, outside.is_some(), ends),
        Tier::Plain => exec::run_plain(plan, outside, ends),
    }
}

/// Maps [`JOB_UID`] to the job's id outside. If the node is root, its own id is mapped too: *init*
/// needs it to build the view; it gives it up before the job begins.
fn write_maps(pid: Pid, outside: Option<u32>) -> io::Result<()> {
    let file = |name: &str| format!("/proc/{pid}/{name}");
    match outside {
        Some(id) => {
            let map = format!("0 0 1\n{JOB_UID} {id} 1\n");
            fs::write(file("uid_map"), &map)?;
            fs::write(file("gid_map"), &map)
        }
        None => {
            // Without privilege a group map is accepted only if groups cannot be dropped any more.
            fs::write(file("setgroups"), "deny")?;
            fs::write(file("uid_map"), format!("{JOB_UID} {} 1\n", getuid()))?;
            fs::write(file("gid_map"), format!("{JOB_UID} {} 1\n", getgid()))
        }
    }
}

/// The id of its own under which this job runs outside. `None` if the node is not root, or is root
/// of a container that has no second user: then jobs are the node's own user.
pub(crate) fn outside_id() -> io::Result<Option<u32>> {
    if !getuid().is_root() {
        return Ok(None);
    }
    let map = fs::read_to_string("/proc/self/uid_map")?;
    Ok(choose_id(&map, std::process::id()))
}

/// Picks an id that exists in the user namespace described by `map`: beyond [`OUTSIDE_BASE`], so
/// that no two jobs alive share one, or where a container maps fewer, counted down from the
/// highest.
fn choose_id(map: &str, pid: u32) -> Option<u32> {
    let end_of = |line: &str| -> Option<u64> {
        let mut fields = line.split_ascii_whitespace().map(str::parse::<u64>);
        let (first, _, count) = (fields.next()?.ok()?, fields.next()?, fields.next()?.ok()?);
        first.checked_add(count)
    };
    let end = map.lines().filter_map(end_of).max()?;
    let wanted = u64::from(OUTSIDE_BASE) + u64::from(pid);
    let id = if wanted < end {
        wanted
    } else {
        end.checked_sub(1 + u64::from(pid % 1024))?
    };
    u32::try_from(id).ok().filter(|id| *id > 0)
}

/// Makes `path` and all below it the property of `id`. Links are not followed.
fn give_away(path: &Path, id: u32) -> io::Result<()> {
    std::os::unix::fs::lchown(path, Some(id), Some(id))?;
    if fs::symlink_metadata(path)?.is_dir() {
        for entry in fs::read_dir(path)? {
            give_away(&entry?.path(), id)?;
        }
    }
    Ok(())
}

/// Becomes user and group `id` for good, with no further groups.
fn become_user(id: u32) -> nix::Result<()> {
    let (uid, gid) = (Uid::from_raw(id), Gid::from_raw(id));
    setgroups(&[])?;
    setresgid(gid, gid, gid)?;
    setresuid(uid, uid, uid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_of_namespaces_says_what_to_do() {
        for (error, word) in [
            (libc::ENOSPC, "user.max_user_namespaces"),
            (libc::EUSERS, "user.max_user_namespaces"),
            (libc::EPERM, "kernel.unprivileged_userns_clone=1"),
            (
                libc::EACCES,
                "kernel.apparmor_restrict_unprivileged_userns=0",
            ),
        ] {
            let said = no_namespaces(io::Error::from_raw_os_error(error)).to_string();
            assert!(
                said.starts_with("namespaces: ") && said.contains(word),
                "{said}"
            );
        }
        let other = no_namespaces(io::Error::from_raw_os_error(libc::ENOMEM)).to_string();
        assert!(!other.contains("sysctl"), "{other}");
    }

    #[test]
    fn an_id_outside_is_mapped_and_never_root() {
        assert_eq!(choose_id("0 0 4294967295\n", 77), Some(OUTSIDE_BASE + 77));
        assert_eq!(choose_id("0 100000 65536\n", 77), Some(65_535 - 77));
        assert_eq!(choose_id("0 1000 1\n1 100000 65536\n", 1024), Some(65_536));
        assert_eq!(choose_id("0 1000 1\n", 1024), None);
        assert_eq!(choose_id("nonsense", 5), None);
    }
}
