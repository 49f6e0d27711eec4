//! Limits the system calls of a job, by filters of the kernel that nothing takes off again:
//!
//! 1. calls that are not in [`calls`] do not exist (ENOSYS, so that programs fall back to older
//!    ones);
//! 2. some that are there are refused by their arguments (EPERM);
//! 3. orders of `ioctl` that are not in [`calls`] are unknown to whatever gets them (ENOTTY);
//! 4. no file system sets room aside (EOPNOTSUPP): `fallocate` takes hundreds of gigabytes a
//!    second, faster than anybody who watches the disk can look. Libraries write zeros then.
//!
//! | call | refused |
//! |---|---|
//! | `clone` | new namespaces |
//! | `socket` | in namespaces all but Unix, IPv4 and IPv6 over TCP and UDP, and routing netlink; elsewhere all but nothing |
//! | `socketpair` | all but Unix; elsewhere than in namespaces also all but streams: a pair of datagram sockets could send to the node's socket |
//! | `ioctl` | typing into a terminal |
//! | `prctl`, `personality` | all but what is listed |
//! | `prlimit64` | other processes |
//! | `memfd_create` | where nothing bounds the memory of the whole job |
//! | scheduling of others, attributes of files by name | where the job's user is the node's |

use std::collections::BTreeMap;
use std::error::Error;

use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen as Len, SeccompCmpOp as Op,
    SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
};

use super::calls;
use crate::executor::capability::Tier;

/// The parameters of the filters.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fence {
    /// The tier.
    pub(super) tier: Tier,
    /// Whether a control group bounds the memory of the whole job.
    pub(super) memory: bool,
    /// Whether the job has a user of its own outside.
    pub(super) own_user: bool,
    /// Whether it has terminals of its own.
    pub(super) terminals: bool,
}

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Flags of `clone` that make namespaces.
const NEW: [libc::c_int; 7] = [
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];
/// Orders to a terminal that put words into its owner's mouth.
const TERMINAL: [u64; 3] = calls::orders![libc::TIOCSTI, libc::TIOCLINUX, libc::TIOCCONS];
/// Personalities a job may take: the ordinary one, and the question for it.
const PERSONALITIES: [u64; 2] = [0, 0xffff_ffff];
/// Protocols over IPv4 and IPv6: the usual one of a type, TCP, UDP.
const PROTOCOLS: [libc::c_int; 3] = [0, libc::IPPROTO_TCP, libc::IPPROTO_UDP];
/// Bits of a socket's type that are flags.
const TYPE_MASK: u64 = 0xf;

/// Installs the filters. Needs `no_new_privs`.
pub(super) fn install(fence: Fence) -> Result<(), Box<dyn Error>> {
    for program in programs(fence)? {
        seccompiler::apply_filter(&program)?;
    }
    Ok(())
}

fn programs(fence: Fence) -> Result<[BpfProgram; 4], Box<dyn Error>> {
    let errno = |number: libc::c_int| u32::try_from(number).map(SeccompAction::Errno);
    let known: Rules = calls::known().map(|call| (call, Vec::new())).collect();
    let arch = TargetArch::try_from(std::env::consts::ARCH)?;
    let pass = SeccompAction::Allow;
    // The last filter's answer counts where two refuse: a refused call is not unknown, and an
    // unknown call is not refused.
    let orders = SeccompFilter::new(orders(fence)?, pass.clone(), errno(libc::ENOTTY)?, arch)?;
    let room = SeccompFilter::new(room()?, pass.clone(), errno(libc::EOPNOTSUPP)?, arch)?;
    let refuse = SeccompFilter::new(refused(fence)?, pass.clone(), errno(libc::EPERM)?, arch)?;
    let list = SeccompFilter::new(known, errno(libc::ENOSYS)?, pass, arch)?;
    let (orders, room) = (orders.try_into()?, room.try_into()?);
    Ok([orders, room, refuse.try_into()?, list.try_into()?])
}

/// Orders to open files that nobody here knows.
fn orders(fence: Fence) -> Result<Rules, BackendError> {
    let terminals = calls::TERMINALS.iter().filter(|_| fence.terminals);
    let known = calls::IOCTL.iter().chain(terminals).copied();
    Ok(Rules::from([(libc::SYS_ioctl, vec![unless(1, known)?])]))
}

/// Ways to allocate that take room: all but those that give it back.
fn room() -> Result<Rules, BackendError> {
    let back = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_COLLAPSE_RANGE;
    let back = u64::try_from(back).unwrap_or_default();
    let takes = when(&[(1, Op::MaskedEq(back), 0)])?;
    Ok(Rules::from([(libc::SYS_fallocate, vec![takes])]))
}

fn refused(fence: Fence) -> Result<Rules, BackendError> {
    let mut rules = Rules::new();
    let new = |flag: &libc::c_int| when(&[(0, Op::MaskedEq(*flag as u64), *flag as u64)]);
    let mut clone = NEW.iter().map(new).collect::<Result<Vec<_>, _>>()?;
    // Threads share their files, so that one look at a process finds all that it has open.
    let (thread, files) = (libc::CLONE_THREAD as u64, libc::CLONE_FILES as u64);
    clone.push(when(&[(0, Op::MaskedEq(thread | files), thread)])?);
    rules.insert(libc::SYS_clone, clone);
    let apart = u64::from(libc::CLOSE_RANGE_UNSHARE);
    let apart = when(&[(2, Op::MaskedEq(apart), apart)])?;
    rules.insert(libc::SYS_close_range, vec![apart]);
    let terminal = TERMINAL.iter().map(|order| when(&[(1, Op::Eq, *order)]));
    rules.insert(libc::SYS_ioctl, terminal.collect::<Result<_, _>>()?);
    let prctl = calls::PRCTL.iter().map(|option| *option as u64);
    rules.insert(libc::SYS_prctl, vec![unless(0, prctl)?]);
    rules.insert(libc::SYS_personality, vec![unless(0, PERSONALITIES)?]);
    rules.insert(libc::SYS_prlimit64, vec![unless(0, [0])?]);
    if !fence.memory {
        rules.insert(libc::SYS_memfd_create, Vec::new());
    }
    // The kernel makes the sockets of a pair before it sees that their family has no pairs.
    let mut pairs = vec![unless(0, [libc::AF_UNIX as u64])?];
    let sockets = match fence.tier {
        Tier::Namespaces => sockets()?,
        Tier::Plain => {
            pairs.extend(other_pairs()?);
            Vec::new()
        }
    };
    rules.insert(libc::SYS_socketpair, pairs);
    rules.insert(libc::SYS_socket, sockets);
    if fence.tier == Tier::Plain && !fence.own_user {
        let names = calls::BY_NAME.iter().chain(calls::BY_OLDER_NAME);
        rules.extend(names.map(|call| (*call, Vec::new())));
        // Without a name it is a descriptor, which Landlock has judged.
        rules.insert(libc::SYS_utimensat, vec![named(1)?]);
        for (call, process) in calls::OF_A_PROCESS {
            rules.insert(*call, vec![unless(*process, [0])?]);
        }
    }
    Ok(rules)
}

/// Sockets that a job has no use for, in a network of its own.
fn sockets() -> Result<Vec<SeccompRule>, BackendError> {
    let families = [
        libc::AF_UNIX,
        libc::AF_INET,
        libc::AF_INET6,
        libc::AF_NETLINK,
    ];
    let mut rules = vec![unless(0, families.map(|family| family as u64))?];
    for family in [libc::AF_INET, libc::AF_INET6] {
        let mut all = vec![(0, Op::Eq, family as u64)];
        all.extend(PROTOCOLS.map(|protocol| (2, Op::Ne, protocol as u64)));
        rules.push(when(&all)?);
    }
    let (netlink, route) = (libc::AF_NETLINK as u64, libc::NETLINK_ROUTE as u64);
    rules.push(when(&[(0, Op::Eq, netlink), (2, Op::Ne, route)])?);
    Ok(rules)
}

/// Pairs that are not streams: every other type of the four bits.
fn other_pairs() -> Result<Vec<SeccompRule>, BackendError> {
    let stream = libc::SOCK_STREAM as u64;
    let others = (0..=TYPE_MASK).filter(|kind| *kind != stream);
    others
        .map(|kind| when(&[(1, Op::MaskedEq(TYPE_MASK), kind)]))
        .collect()
}

/// A rule on the lower 32 bits of arguments, all that the kernel looks at in these calls, which
/// applies if all its conditions do.
fn when(conditions: &[(u8, Op, u64)]) -> Result<SeccompRule, BackendError> {
    let conditions = conditions.iter().map(|(argument, op, value)| {
        SeccompCondition::new(*argument, Len::Dword, op.clone(), *value)
    });
    SeccompRule::new(conditions.collect::<Result<_, _>>()?)
}

/// Applies unless the argument is one of these.
fn unless(
    argument: u8,
    values: impl IntoIterator<Item = u64>,
) -> Result<SeccompRule, BackendError> {
    let all: Vec<_> = values
        .into_iter()
        .map(|value| (argument, Op::Ne, value))
        .collect();
    when(&all)
}

/// Applies if a pointer is given.
fn named(argument: u8) -> Result<SeccompRule, BackendError> {
    SeccompRule::new(vec![SeccompCondition::new(
        argument,
        Len::Qword,
        Op::Ne,
        0,
    )?])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Younger than libc's tables.
    const OPEN_TREE_ATTR: libc::c_long = 467;

    #[test]
    fn filters_compile_for_every_fence() {
        for tier in [Tier::Plain, Tier::Namespaces] {
            for (memory, own_user) in [(false, false), (true, false), (false, true)] {
                let fence = Fence {
                    tier,
                    memory,
                    own_user,
                    terminals: memory,
                };
                let [orders, room, refuse, list] = programs(fence).unwrap();
                assert!(orders.len() > calls::IOCTL.len());
                assert!(!refuse.is_empty() && !room.is_empty());
                assert!(list.len() > calls::COMMON.len());
            }
        }
    }

    #[test]
    fn nothing_that_sees_or_makes_more_than_a_job_is_on_the_list() {
        let never = [
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
            libc::SYS_open_tree,
            OPEN_TREE_ATTR,
            libc::SYS_move_mount,
            libc::SYS_mount_setattr,
            libc::SYS_unshare,
            libc::SYS_setns,
            libc::SYS_clone3,
            libc::SYS_bpf,
            libc::SYS_perf_event_open,
            libc::SYS_userfaultfd,
            libc::SYS_io_uring_setup,
            libc::SYS_io_uring_enter,
            libc::SYS_io_uring_register,
            libc::SYS_memfd_secret,
            libc::SYS_shmget,
            libc::SYS_semget,
            libc::SYS_msgget,
            libc::SYS_mq_open,
            libc::SYS_io_setup,
            libc::SYS_keyctl,
            libc::SYS_add_key,
            libc::SYS_syslog,
            libc::SYS_seccomp,
            libc::SYS_capset,
            libc::SYS_open_by_handle_at,
            libc::SYS_fanotify_init,
            libc::SYS_settimeofday,
            libc::SYS_clock_settime,
        ];
        let known: Vec<_> = calls::known().collect();
        for call in never {
            assert!(!known.contains(&call), "{call}");
        }
        let mut once = known.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), known.len(), "a call stands twice");
    }
}
