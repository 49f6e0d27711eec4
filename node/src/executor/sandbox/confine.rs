//! The bounds that the kernel keeps by itself once a process has put them on: resource limits,
//! Landlock and a seccomp filter. None of them can be taken off again, and children inherit them.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreatedAttr,
    RulesetError, RulesetStatus, Scope, path_beneath_rules,
};
use nix::sys::resource::{Resource, getrlimit, rlim_t, setrlimit};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen as Len, SeccompCmpOp as Op, SeccompCondition,
    SeccompFilter, SeccompRule, TargetArch,
};

use super::super::capability::Tier;
use super::super::job::Limits;
use super::sys;

/// Devices that every job may use.
pub(super) const DEVICES: [&str; 5] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
];

/// Puts on resource limits, and one on the number of this user's processes if given: the kernel
/// counts them per user and user namespace.
pub(super) fn limit(limits: &Limits, processes: Option<u32>) -> io::Result<()> {
    sys::lower_priority(limits.nice)?;
    let cpu = limits.cpu_seconds;
    lower(Resource::RLIMIT_CORE, 0, 0)?;
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
/// signal only its own kind. False if the kernel has no Landlock; older kernels enforce less of it.
pub(super) fn landlock<'a>(
    readable: impl IntoIterator<Item = &'a Path>,
    writable: impl IntoIterator<Item = &'a Path>,
) -> Result<bool, RulesetError> {
    let abi = ABI::V9;
    let devices = DEVICES
        .iter()
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

/// Calls that no job needs and that have let processes out of sandboxes before: other processes'
/// memory, mounts and namespaces, kernel objects without an owner, the machine's own state.
const REFUSED: [libc::c_long; 47] = [
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_mount_setattr,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_open_by_handle_at,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_syslog,
    libc::SYS_vhangup,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_nfsservctl,
];

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Installs the filters. Needs `no_new_privs`.
pub(super) fn seccomp(tier: Tier) -> Result<(), Box<dyn std::error::Error>> {
    // A process that asks for clone3, whose flags no filter can read, is told that there is none
    // and uses clone instead.
    let mut missing = Rules::new();
    missing.insert(libc::SYS_clone3, Vec::new());
    install(missing, libc::ENOSYS)?;
    install(refused(tier)?, libc::EPERM)
}

fn refused(tier: Tier) -> Result<Rules, seccompiler::BackendError> {
    let mut rules: Rules = REFUSED.iter().map(|call| (*call, Vec::new())).collect();
    let new_user = libc::CLONE_NEWUSER as u64;
    rules.insert(
        libc::SYS_clone,
        vec![when(0, Op::MaskedEq(new_user), new_user)?],
    );
    rules.insert(libc::SYS_ioctl, vec![when(1, Op::Eq, libc::TIOCSTI)?]);
    let socket = match tier {
        // A network namespace does not cover the channel between a guest and its hypervisor.
        Tier::Namespaces => when(0, Op::Eq, libc::AF_VSOCK as u64)?,
        Tier::Plain => when(0, Op::Ne, libc::AF_UNIX as u64)?,
    };
    rules.insert(libc::SYS_socket, vec![socket]);
    Ok(rules)
}

/// A rule on the lower 32 bits of one argument: all that the kernel looks at in these calls.
fn when(argument: u8, op: Op, value: u64) -> Result<SeccompRule, seccompiler::BackendError> {
    SeccompRule::new(vec![SeccompCondition::new(
        argument,
        Len::Dword,
        op,
        value,
    )?])
}

fn install(mut rules: Rules, errno: libc::c_int) -> Result<(), Box<dyn std::error::Error>> {
    if cfg!(target_arch = "x86_64") {
        // The same calls by their numbers in the x32 convention, which some kernels still answer.
        const X32: i64 = 0x4000_0000;
        let twins: Vec<_> = rules
            .iter()
            .map(|(call, rule)| (call | X32, rule.clone()))
            .collect();
        rules.extend(twins);
    }
    let errno = u32::try_from(errno)?;
    let arch = TargetArch::try_from(std::env::consts::ARCH)?;
    let (pass, refuse) = (SeccompAction::Allow, SeccompAction::Errno(errno));
    let program: BpfProgram = SeccompFilter::new(rules, pass, refuse, arch)?.try_into()?;
    Ok(seccompiler::apply_filter(&program)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_compile_for_every_tier() {
        for tier in [Tier::Plain, Tier::Namespaces] {
            let rules = refused(tier).unwrap();
            let arch = TargetArch::try_from(std::env::consts::ARCH).unwrap();
            let filter =
                SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::Errno(1), arch);
            assert!(BpfProgram::try_from(filter.unwrap()).is_ok());
        }
    }
}
