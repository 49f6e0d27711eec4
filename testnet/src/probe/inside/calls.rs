//! Calls that lead out of sandboxes.

use super::attempt::{Answer, Probe, forbidden, probe, text};
use super::raw::{Arg::M, Arg::N, Arg::T, call, child};
use nix::libc;

/// This process's folder, as calls that take one have it.
const HERE: u64 = libc::AT_FDCWD as u64;
/// Younger than libc's table; the same number everywhere.
const OPEN_TREE_ATTR: libc::c_long = 467;
/// Numbers of the x32 convention begin here.
#[cfg(target_arch = "x86_64")]
const X32: libc::c_long = 0x4000_0000;

/// All of them.
pub(crate) const CALLS: &[Probe] = &[
    probe("unshare-user", || new(libc::CLONE_NEWUSER)),
    probe("unshare-mounts", || new(libc::CLONE_NEWNS)),
    probe("unshare-network", || new(libc::CLONE_NEWNET)),
    probe("clone-user", || forbidden(child(libc::CLONE_NEWUSER, || 0))),
    probe("clone-mounts", || forbidden(child(libc::CLONE_NEWNS, || 0))),
    // The kernel would refuse it by another word: it is about the filter.
    probe("thread-with-files-of-its-own", || {
        forbidden(call(libc::SYS_clone, &mut [N(libc::CLONE_THREAD as u64)]))
    }),
    probe("files-of-its-own", || {
        let apart = u64::from(libc::CLOSE_RANGE_UNSHARE);
        forbidden(call(libc::SYS_close_range, &mut [N(9), N(8), N(apart)]))
    }),
    probe("clone3", || {
        forbidden(call(libc::SYS_clone3, &mut [N(0), N(0)]))
    }),
    probe("setns", || {
        let own = std::fs::File::open("/proc/self/ns/net");
        let fd = own.map_or(0, |file| {
            use std::os::fd::IntoRawFd as _;
            file.into_raw_fd() as u64
        });
        forbidden(call(libc::SYS_setns, &mut [N(fd), N(0)]))
    }),
    probe("mount", || {
        let (kind, at) = (text("tmpfs"), text("/tmp"));
        let args = &mut [T(&kind), T(&at), T(&kind), N(0), N(0)];
        forbidden(call(libc::SYS_mount, args))
    }),
    probe("umount", || {
        let at = text("/proc");
        let args = &mut [T(&at), N(libc::MNT_DETACH as u64)];
        forbidden(call(libc::SYS_umount2, args))
    }),
    probe("pivot-root", || {
        let here = text(".");
        forbidden(call(libc::SYS_pivot_root, &mut [T(&here), T(&here)]))
    }),
    probe("chroot", || {
        let at = text("/");
        forbidden(call(libc::SYS_chroot, &mut [T(&at)]))
    }),
    probe("fsopen", || {
        let kind = text("tmpfs");
        forbidden(call(libc::SYS_fsopen, &mut [T(&kind), N(0)]))
    }),
    probe("open-tree", || {
        let at = text("/");
        forbidden(call(libc::SYS_open_tree, &mut [N(HERE), T(&at), N(1)]))
    }),
    probe("open-tree-attr", || {
        let at = text("/");
        let args = &mut [N(HERE), T(&at), N(1), N(0), N(0)];
        forbidden(call(OPEN_TREE_ATTR, args))
    }),
    probe("move-mount", || {
        let at = text("/");
        let args = &mut [N(HERE), T(&at), N(HERE), T(&at), N(0)];
        forbidden(call(libc::SYS_move_mount, args))
    }),
    probe("mount-setattr", || {
        let (at, mut change) = (text("/"), [0; 32]);
        let args = &mut [N(HERE), T(&at), N(0), M(&mut change), N(32)];
        forbidden(call(libc::SYS_mount_setattr, args))
    }),
    probe("ptrace", || {
        forbidden(call(libc::SYS_ptrace, &mut [N(0), N(0), N(0), N(0)]))
    }),
    probe("process-vm-readv", || {
        let own = u64::from(std::process::id());
        let args = &mut [N(own), N(0), N(0), N(0), N(0), N(0)];
        forbidden(call(libc::SYS_process_vm_readv, args))
    }),
    probe("process-vm-writev", || {
        let own = u64::from(std::process::id());
        let args = &mut [N(own), N(0), N(0), N(0), N(0), N(0)];
        forbidden(call(libc::SYS_process_vm_writev, args))
    }),
    probe("pidfd-getfd", || plain(libc::SYS_pidfd_getfd)),
    probe("kcmp", || plain(libc::SYS_kcmp)),
    probe("io-uring", || {
        let mut params = [0; 120];
        forbidden(call(libc::SYS_io_uring_setup, &mut [N(1), M(&mut params)]))
    }),
    probe("bpf", || plain(libc::SYS_bpf)),
    probe("perf-event", || plain(libc::SYS_perf_event_open)),
    probe("userfaultfd", || plain(libc::SYS_userfaultfd)),
    probe("keyring", || {
        // The session's keyring.
        let args = &mut [N(0), N(0xffff_fffd), N(0)];
        forbidden(call(libc::SYS_keyctl, args))
    }),
    probe("add-key", || plain(libc::SYS_add_key)),
    probe("request-key", || plain(libc::SYS_request_key)),
    probe("memfd-secret", || plain(libc::SYS_memfd_secret)),
    probe("kernel-log-call", || {
        forbidden(call(libc::SYS_syslog, &mut [N(10), N(0), N(0)]))
    }),
    probe("open-by-handle", || plain(libc::SYS_open_by_handle_at)),
    probe("fanotify", || plain(libc::SYS_fanotify_init)),
    probe("quotactl", || plain(libc::SYS_quotactl)),
    probe("set-clock", || plain(libc::SYS_clock_settime)),
    probe("personality", || {
        // Everything that can be read can be executed.
        forbidden(call(libc::SYS_personality, &mut [N(0x0040_0000)]))
    }),
    // Without its magic numbers it does nothing.
    probe("reboot", || plain(libc::SYS_reboot)),
    probe("swapoff", || plain(libc::SYS_swapoff)),
    probe("load-module", || plain(libc::SYS_init_module)),
    probe("accounting", || {
        let at = text("/nonexistent");
        forbidden(call(libc::SYS_acct, &mut [T(&at)]))
    }),
    probe("seccomp-listener", || {
        forbidden(call(libc::SYS_seccomp, &mut [N(1), N(8), N(0)]))
    }),
    probe("capset", || plain(libc::SYS_capset)),
    #[cfg(target_arch = "x86_64")]
    probe("io-ports", || plain(libc::SYS_iopl)),
    #[cfg(target_arch = "x86_64")]
    probe("local-descriptors", || {
        let mut table = [0; 64];
        let args = &mut [N(0), M(&mut table), N(64)];
        forbidden(call(libc::SYS_modify_ldt, args))
    }),
    #[cfg(target_arch = "x86_64")]
    probe("x32-unshare", || {
        let args = &mut [N(libc::CLONE_NEWUSER as u64)];
        forbidden(call(X32 | libc::SYS_unshare, args))
    }),
];

fn new(namespace: libc::c_int) -> Answer {
    forbidden(call(libc::SYS_unshare, &mut [N(namespace as u64)]))
}

/// With nothing but zeros: a kernel that answers anything but "no" has looked at them.
fn plain(number: libc::c_long) -> Answer {
    forbidden(call(number, &mut []))
}
