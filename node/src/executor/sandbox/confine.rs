//! The bounds that the kernel keeps by itself once a process has put them on: resource limits and
//! Landlock. None of them can be taken off again, and children inherit them.

use std::fs;
use std::io;
use std::path::Path;

use super::super::job::Limits;
use super::sys;
use landlock::{
    ABI, Access, AccessFs, PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreatedAttr,
    RulesetError, RulesetStatus, Scope, path_beneath_rules,
};
use nix::sys::resource::{Resource, getrlimit, rlim_t, setrlimit};

/// Devices that every job may use.
pub(super) const DEVICES: [&str; 5] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
];

/// What a job in its lease's network has besides: terminals of its own, which nobody else sees.
pub(super) const TERMINALS: [&str; 2] = ["/dev/tty", "/dev/pts"];

/// How much sooner than its node a job is ended when the machine runs out of memory, in
/// thousandths.
pub(crate) const OOM_ABOVE: i32 = 500;
/// The most that the kernel takes.
const OOM_MOST: i32 = 1_000;

/// From now on this process and its children are ended before the node, where memory runs out. A
/// job cannot take that back: nothing below `/proc` can be written once Landlock is on.
pub(super) fn end_first() -> io::Result<()> {
    let path = "/proc/self/oom_score_adj";
    let own: i32 = fs::read_to_string(path)?.trim().parse().unwrap_or(0);
    fs::write(path, (own + OOM_ABOVE).min(OOM_MOST).to_string())
}

/// Puts on resource limits, and one on the number of this user's processes if given: the kernel
/// counts them per user and user namespace.
pub(super) fn limit(limits: &Limits, processes: Option<u32>) -> io::Result<()> {
    sys::lower_priority(limits.nice)?;
    let cpu = limits.cpu_seconds;
    lower(Resource::RLIMIT_CORE, 0, 0)?;
    // A node's user may have some of these; they are not for sale.
    lower(Resource::RLIMIT_RTPRIO, 0, 0)?;
    lower(Resource::RLIMIT_NICE, 0, 0)?;
    // A second between the two lets the job see SIGXCPU before SIGKILL.
    lower(Resource::RLIMIT_CPU, cpu, cpu.saturating_add(1))?;
    lower(
        Resource::RLIMIT_AS,
        limits.memory_bytes,
        limits.memory_bytes,
    )?;
    lower(Resource::RLIMIT_FSIZE, limits.file_bytes, limits.file_bytes)?;
    let files = u64::from(limits.open_files);
    lower(Resource::RLIMIT_NOFILE, files, files)?;
    if let Some(count) = processes.map(u64::from) {
        lower(Resource::RLIMIT_NPROC, count, count)?;
    }
    Ok(())
}

/// Sets a limit, but never above the hard limit that is already in force.
fn lower(resource: Resource, soft: u64, hard: u64) -> io::Result<()> {
    let (_, ceiling) = getrlimit(resource)?;
    let (soft, hard): (rlim_t, rlim_t) = (soft.min(ceiling), hard.min(ceiling));
    Ok(setrlimit(resource, soft, hard)?)
}

/// Lets this process read beneath `readable`, do anything beneath `writable`, use the devices, and
/// signal only its own kind; with `terminals`, those of the job too. False if the kernel has no
/// Landlock; older kernels enforce less of it.
pub(super) fn landlock<'a>(
    readable: impl IntoIterator<Item = &'a Path>,
    writable: impl IntoIterator<Item = &'a Path>,
    terminals: bool,
) -> Result<bool, RulesetError> {
    let abi = ABI::V9;
    let terminals = TERMINALS.iter().filter(|_| terminals);
    let devices = DEVICES
        .iter()
        .chain(terminals)
        .filter_map(|path| PathFd::new(path).ok())
        .map(|fd| Ok::<_, RulesetError>(PathBeneath::new(fd, AccessFs::from_file(abi))));
    let status = Ruleset::default()
        .handle_access(AccessFs::from_all(abi))?
        .scope(Scope::from_all(abi))?
        .create()?
        .add_rules(path_beneath_rules(readable, AccessFs::from_read(abi)))?
        .add_rules(path_beneath_rules(writable, AccessFs::from_all(abi)))?
        .add_rules(devices)?
        .restrict_self()?;
    Ok(status.ruleset != RulesetStatus::NotEnforced)
}
