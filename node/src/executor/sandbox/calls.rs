//! The system calls that jobs may make, by purpose. All others do not exist for a job (ENOSYS);
//! `seccomp` restricts the calls whose arguments a filter looks into as well.
//!
//! The list is derived from programs that run in jobs: traces of Python, shells and coreutils,
//! compilers, a JVM, and the sources of Go's runtime and OpenMPI. It leaves out, although harmless
//! programs know them: calls that see into other processes (`ptrace`, `process_vm_*`, `kcmp`,
//! `pidfd_getfd`), mounts and namespaces, `io_uring` (its operations pass no filter), `bpf`,
//! `perf_event_open`, `userfaultfd`, keys, clocks, modules, SysV shared memory, semaphores and
//! queues of messages (their contents are nobody's, and in the plain tier outlive the job),
//! `io_setup` (the whole machine has one number of such contexts; libraries use threads without
//! it), and `clone3`, whose flags no filter can read: a program that asks for it is told that there
//! is none, and uses `clone`.

use libc::c_long;

/// Orders of `ioctl` as the kernel takes them: 32 bits, whatever type the C library gives each.
macro_rules! orders {
    ($($order:expr),* $(,)?) => {
        [$($order as u32 as u64),*]
    };
}
pub(super) use orders;

/// Younger than some of libc's tables; numbers from 424 on are the same on all machines.
const FCHMODAT2: c_long = 452;
/// Whether the mark of urgent bytes was reached, which libc does not name.
const SIOCATMARK: u32 = 0x8905;
/// What the processor guesses ahead, which libc does not name for musl.
const PR_GET_SPECULATION_CTRL: libc::c_int = 52;

/// Calls that all machines have.
pub(super) const COMMON: &[c_long] = &[
    // Files by descriptor.
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_readv,
    libc::SYS_writev,
    libc::SYS_pread64,
    libc::SYS_pwrite64,
    libc::SYS_preadv,
    libc::SYS_pwritev,
    libc::SYS_preadv2,
    libc::SYS_pwritev2,
    libc::SYS_lseek,
    libc::SYS_close,
    libc::SYS_close_range,
    libc::SYS_dup,
    libc::SYS_dup3,
    libc::SYS_fcntl,
    libc::SYS_flock,
    libc::SYS_ioctl,
    libc::SYS_fsync,
    libc::SYS_fdatasync,
    libc::SYS_syncfs,
    libc::SYS_sync,
    libc::SYS_ftruncate,
    libc::SYS_truncate,
    libc::SYS_fallocate,
    libc::SYS_fadvise64,
    libc::SYS_readahead,
    libc::SYS_copy_file_range,
    libc::SYS_sendfile,
    libc::SYS_splice,
    libc::SYS_tee,
    libc::SYS_vmsplice,
    libc::SYS_fstat,
    libc::SYS_fstatfs,
    libc::SYS_statfs,
    libc::SYS_getdents64,
    libc::SYS_fchdir,
    libc::SYS_fchmod,
    libc::SYS_fchown,
    libc::SYS_fgetxattr,
    libc::SYS_flistxattr,
    libc::SYS_fsetxattr,
    libc::SYS_fremovexattr,
    // Files by name.
    libc::SYS_openat,
    libc::SYS_openat2,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_newfstatat,
    libc::SYS_statx,
    libc::SYS_readlinkat,
    libc::SYS_mkdirat,
    libc::SYS_mknodat,
    libc::SYS_unlinkat,
    libc::SYS_renameat2,
    libc::SYS_linkat,
    libc::SYS_symlinkat,
    libc::SYS_fchmodat,
    FCHMODAT2,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    libc::SYS_umask,
    libc::SYS_chdir,
    libc::SYS_getcwd,
    libc::SYS_getxattr,
    libc::SYS_lgetxattr,
    libc::SYS_listxattr,
    libc::SYS_llistxattr,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    // Waiting.
    libc::SYS_ppoll,
    libc::SYS_pselect6,
    libc::SYS_epoll_create1,
    libc::SYS_epoll_ctl,
    libc::SYS_epoll_pwait,
    libc::SYS_epoll_pwait2,
    libc::SYS_eventfd2,
    libc::SYS_signalfd4,
    libc::SYS_timerfd_create,
    libc::SYS_timerfd_settime,
    libc::SYS_timerfd_gettime,
    libc::SYS_inotify_init1,
    libc::SYS_inotify_add_watch,
    libc::SYS_inotify_rm_watch,
    libc::SYS_pipe2,
    // Memory.
    libc::SYS_brk,
    libc::SYS_mmap,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_mprotect,
    libc::SYS_pkey_alloc,
    libc::SYS_pkey_free,
    libc::SYS_pkey_mprotect,
    libc::SYS_madvise,
    libc::SYS_mincore,
    libc::SYS_msync,
    libc::SYS_mlock,
    libc::SYS_mlock2,
    libc::SYS_mlockall,
    libc::SYS_munlock,
    libc::SYS_munlockall,
    libc::SYS_memfd_create,
    libc::SYS_membarrier,
    libc::SYS_get_mempolicy,
    libc::SYS_set_mempolicy,
    libc::SYS_mbind,
    // Processes and threads.
    libc::SYS_clone,
    libc::SYS_execve,
    libc::SYS_execveat,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_wait4,
    libc::SYS_waitid,
    libc::SYS_getpid,
    libc::SYS_getppid,
    libc::SYS_gettid,
    libc::SYS_getpgid,
    libc::SYS_setpgid,
    libc::SYS_getsid,
    libc::SYS_setsid,
    libc::SYS_set_tid_address,
    libc::SYS_set_robust_list,
    libc::SYS_get_robust_list,
    libc::SYS_rseq,
    libc::SYS_futex,
    libc::SYS_futex_waitv,
    libc::SYS_prctl,
    libc::SYS_personality,
    libc::SYS_pidfd_open,
    libc::SYS_pidfd_send_signal,
    libc::SYS_capget,
    // Users: a job is one and stays it.
    libc::SYS_getuid,
    libc::SYS_geteuid,
    libc::SYS_getgid,
    libc::SYS_getegid,
    libc::SYS_getresuid,
    libc::SYS_getresgid,
    libc::SYS_getgroups,
    libc::SYS_setuid,
    libc::SYS_setgid,
    libc::SYS_setreuid,
    libc::SYS_setregid,
    libc::SYS_setresuid,
    libc::SYS_setresgid,
    libc::SYS_setfsuid,
    libc::SYS_setfsgid,
    libc::SYS_setgroups,
    // Scheduling and limits.
    libc::SYS_sched_yield,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_setaffinity,
    libc::SYS_sched_getparam,
    libc::SYS_sched_setparam,
    libc::SYS_sched_getscheduler,
    libc::SYS_sched_setscheduler,
    libc::SYS_sched_get_priority_max,
    libc::SYS_sched_get_priority_min,
    libc::SYS_sched_getattr,
    libc::SYS_sched_setattr,
    libc::SYS_sched_rr_get_interval,
    libc::SYS_getpriority,
    libc::SYS_setpriority,
    libc::SYS_ioprio_get,
    libc::SYS_ioprio_set,
    libc::SYS_getcpu,
    libc::SYS_getrusage,
    libc::SYS_prlimit64,
    libc::SYS_times,
    libc::SYS_sysinfo,
    libc::SYS_uname,
    libc::SYS_getrandom,
    // Signals.
    libc::SYS_kill,
    libc::SYS_tkill,
    libc::SYS_tgkill,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigpending,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_sigreturn,
    libc::SYS_rt_sigsuspend,
    libc::SYS_rt_sigtimedwait,
    libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_sigaltstack,
    libc::SYS_restart_syscall,
    // Time, read and waited for.
    libc::SYS_clock_gettime,
    libc::SYS_clock_getres,
    libc::SYS_clock_nanosleep,
    libc::SYS_nanosleep,
    libc::SYS_gettimeofday,
    libc::SYS_getitimer,
    libc::SYS_setitimer,
    libc::SYS_timer_create,
    libc::SYS_timer_delete,
    libc::SYS_timer_getoverrun,
    libc::SYS_timer_gettime,
    libc::SYS_timer_settime,
    // Sockets.
    libc::SYS_socket,
    libc::SYS_socketpair,
    libc::SYS_bind,
    libc::SYS_listen,
    libc::SYS_accept,
    libc::SYS_accept4,
    libc::SYS_connect,
    libc::SYS_shutdown,
    libc::SYS_getsockname,
    libc::SYS_getpeername,
    libc::SYS_getsockopt,
    libc::SYS_setsockopt,
    libc::SYS_sendto,
    libc::SYS_recvfrom,
    libc::SYS_sendmsg,
    libc::SYS_recvmsg,
    libc::SYS_sendmmsg,
    libc::SYS_recvmmsg,
    // A job may confine itself further.
    libc::SYS_landlock_create_ruleset,
    libc::SYS_landlock_add_rule,
    libc::SYS_landlock_restrict_self,
];

/// All calls that programs need.
pub(super) fn known() -> impl Iterator<Item = c_long> {
    let lists = [COMMON, OLDER, BY_OLDER_NAME];
    lists.into_iter().flatten().copied()
}

/// Older names of calls above.
#[cfg(target_arch = "x86_64")]
pub(super) const OLDER: &[c_long] = &[
    libc::SYS_renameat,
    libc::SYS_sync_file_range,
    libc::SYS_getrlimit,
    libc::SYS_setrlimit,
    libc::SYS_open,
    libc::SYS_creat,
    libc::SYS_stat,
    libc::SYS_lstat,
    libc::SYS_access,
    libc::SYS_readlink,
    libc::SYS_mkdir,
    libc::SYS_rmdir,
    libc::SYS_mknod,
    libc::SYS_unlink,
    libc::SYS_rename,
    libc::SYS_link,
    libc::SYS_symlink,
    libc::SYS_getdents,
    libc::SYS_dup2,
    libc::SYS_pipe,
    libc::SYS_poll,
    libc::SYS_select,
    libc::SYS_epoll_create,
    libc::SYS_epoll_wait,
    libc::SYS_eventfd,
    libc::SYS_signalfd,
    libc::SYS_inotify_init,
    libc::SYS_fork,
    libc::SYS_vfork,
    libc::SYS_getpgrp,
    libc::SYS_alarm,
    libc::SYS_pause,
    libc::SYS_time,
    libc::SYS_arch_prctl,
];
/// Of the machines with the common table: renameat, sync_file_range, getrlimit, setrlimit, which
/// libc does not name there.
#[cfg(not(target_arch = "x86_64"))]
pub(super) const OLDER: &[c_long] = &[38, 84, 163, 164];

/// Change a file's mode, owner, times or attributes by its name, which Landlock does not judge.
pub(super) const BY_NAME: &[c_long] = &[
    libc::SYS_fchmodat,
    FCHMODAT2,
    libc::SYS_fchownat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
];
/// Older names of these; they stand here alone.
#[cfg(target_arch = "x86_64")]
pub(super) const BY_OLDER_NAME: &[c_long] = &[
    libc::SYS_chmod,
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_futimesat,
];
/// Other machines have none of them.
#[cfg(not(target_arch = "x86_64"))]
pub(super) const BY_OLDER_NAME: &[c_long] = &[];

/// Change another process's place in the schedule, with that process in this argument.
pub(super) const OF_A_PROCESS: &[(c_long, u8)] = &[
    (libc::SYS_sched_setaffinity, 0),
    (libc::SYS_sched_setparam, 0),
    (libc::SYS_sched_setscheduler, 0),
    (libc::SYS_sched_setattr, 0),
    (libc::SYS_setpriority, 1),
    (libc::SYS_ioprio_set, 1),
];

/// The requests of a job to `prctl`: names, signals, timers, dumping, giving up rights.
pub(super) const PRCTL: &[libc::c_int] = &[
    libc::PR_SET_PDEATHSIG,
    libc::PR_GET_PDEATHSIG,
    libc::PR_GET_DUMPABLE,
    libc::PR_SET_DUMPABLE,
    libc::PR_SET_NAME,
    libc::PR_GET_NAME,
    libc::PR_GET_SECCOMP,
    libc::PR_CAPBSET_READ,
    libc::PR_CAP_AMBIENT,
    libc::PR_SET_TIMERSLACK,
    libc::PR_GET_TIMERSLACK,
    libc::PR_SET_CHILD_SUBREAPER,
    libc::PR_GET_CHILD_SUBREAPER,
    libc::PR_SET_NO_NEW_PRIVS,
    libc::PR_GET_NO_NEW_PRIVS,
    libc::PR_SET_THP_DISABLE,
    libc::PR_GET_THP_DISABLE,
    PR_GET_SPECULATION_CTRL,
    libc::PR_GET_TSC,
    libc::PR_SET_VMA,
];

/// The `ioctl`s of a job on an open file. File systems and drivers know hundreds, some of which
/// make things that their owner cannot remove: subvolumes and snapshots of btrfs, for one.
///
/// The list is derived from traces of Python, shells, coreutils, tar, git, a compiler, Perl, curl
/// and a JVM. Of their requests to terminals, those that read are here: a job has no terminal, nor
/// can it make one.
pub(super) const IOCTL: &[u64] = &orders![
    // Descriptors, pipes and sockets.
    libc::FIOCLEX,
    libc::FIONCLEX,
    libc::FIONBIO,
    libc::FIOASYNC,
    libc::FIONREAD,
    libc::TIOCOUTQ,
    // Terminals.
    libc::TCGETS,
    libc::TIOCGWINSZ,
    libc::TIOCGPGRP,
    libc::TIOCGSID,
    // Sharing of blocks: shared blocks count for each file.
    libc::FICLONE,
    libc::FICLONERANGE,
    // Interfaces of the job's own network.
    SIOCATMARK,
    libc::SIOCGIFNAME,
    libc::SIOCGIFCONF,
    libc::SIOCGIFINDEX,
    libc::SIOCGIFFLAGS,
    libc::SIOCGIFADDR,
    libc::SIOCGIFDSTADDR,
    libc::SIOCGIFBRDADDR,
    libc::SIOCGIFNETMASK,
    libc::SIOCGIFMETRIC,
    libc::SIOCGIFMTU,
    libc::SIOCGIFHWADDR,
    libc::SIOCGIFTXQLEN,
];

/// Orders of `ioctl` that a keeper of terminals gives, and the programs on them: where a job has
/// terminals of its own.
pub(super) const TERMINALS: &[u64] = &orders![
    libc::TIOCGPTN,
    libc::TIOCSPTLCK,
    libc::TIOCSWINSZ,
    libc::TIOCSCTTY,
    libc::TIOCNOTTY,
    libc::TIOCSPGRP,
    libc::TCSETS,
    libc::TCSETSW,
    libc::TCSETSF,
    libc::TCSBRK,
    libc::TCSBRKP,
    libc::TCXONC,
    libc::TCFLSH,
];
