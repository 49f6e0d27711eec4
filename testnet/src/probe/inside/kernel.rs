//! Attempts on things that the kernel has once for the whole machine, and on the file system by way
//! of a file of one's own.

use super::attempt::{Answer, Probe, Reached, Refused, forbidden, probe, text};
use super::raw::{Arg::M, Arg::N, Arg::T, call};
use nix::errno::Errno;
use nix::libc;
use std::fs::File;
use std::os::fd::AsRawFd as _;

/// `ioctl`s of file systems, by name. The first changes nothing, and every file system knows it.
const ORDERS: [(&str, u64); 8] = [
    ("the size of a block", 2),
    ("a subvolume", 0x5000_940e),
    ("a snapshot", 0x5000_9417),
    ("a subvolume's flags", 0x4008_941a),
    ("attributes", 0x4008_6602),
    ("more attributes", 0x401c_5820),
    ("a file that cannot change", 0x4080_6685),
    ("a key", 0x800c_6613),
];
/// Bytes to set aside.
const ROOM: u64 = 1 << 20;
/// The length of the longest of their arguments.
const ARGUMENT: usize = 4_096;

/// All of them.
pub(crate) const KERNEL: &[Probe] = &[
    probe("file-system-orders", || {
        let Ok(here) = File::open(".") else {
            return Refused("no folder".to_owned());
        };
        let fd = here.as_raw_fd() as u64;
        let passed = ORDERS.iter().find(|(_, order)| {
            let mut argument = [0; ARGUMENT];
            let args = &mut [N(fd), N(*order), M(&mut argument)];
            call(libc::SYS_ioctl, args) != Err(Errno::ENOTTY)
        });
        match passed {
            Some((what, _)) => Reached((*what).to_owned()),
            None => Refused("none".to_owned()),
        }
    }),
    // The call can take a gigabyte in a millisecond, before any watcher of the disk sees it.
    probe("room-set-aside", || {
        let Ok(file) = File::create("room") else {
            return Refused("no file".to_owned());
        };
        let fd = file.as_raw_fd() as u64;
        let taken = call(libc::SYS_fallocate, &mut [N(fd), N(0), N(0), N(ROOM)]);
        match taken {
            Err(Errno::EOPNOTSUPP) => Refused("not supported".to_owned()),
            Err(errno) => Reached(format!("the kernel looked at it: {errno}")),
            Ok(_) => Reached("it worked".to_owned()),
        }
    }),
    probe("semaphores-of-the-machine", || {
        forbidden(call(libc::SYS_semget, &mut [N(0), N(1), N(0o600)]))
    }),
    probe("queue-of-the-machine", || {
        forbidden(call(libc::SYS_msgget, &mut [N(0), N(0o600)]))
    }),
    probe("queue-with-a-name", || {
        let name = text("probe");
        let flags = (libc::O_CREAT | libc::O_RDWR) as u64;
        let args = &mut [T(&name), N(flags), N(0o600), N(0)];
        forbidden(call(libc::SYS_mq_open, args))
    }),
    probe("asynchronous-io", || {
        let mut context = [0; 8];
        forbidden(call(libc::SYS_io_setup, &mut [N(1), M(&mut context)]))
    }),
    probe("socket-pair-vsock", || pair(libc::AF_VSOCK)),
    probe("socket-pair-tipc", || pair(libc::AF_TIPC)),
    probe("socket-pair-netlink", || pair(libc::AF_NETLINK)),
    probe("real-time", || {
        let mut priority = [1, 0, 0, 0];
        // First come, first served.
        let args = &mut [N(0), N(1), M(&mut priority)];
        forbidden(call(libc::SYS_sched_setscheduler, args))
    }),
];

fn pair(family: libc::c_int) -> Answer {
    let mut both = [0; 8];
    let args = &mut [
        N(family as u64),
        N(libc::SOCK_STREAM as u64),
        N(0),
        M(&mut both),
    ];
    forbidden(call(libc::SYS_socketpair, args))
}
