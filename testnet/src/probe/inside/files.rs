//! Attempts on files of the node, of its neighbours, and of the host.

use super::attempt::{
    Answer, Kept, Probe, Reached, Refused, fails, forbidden, io_fails, probe, text, told,
};
use super::raw::{Arg::N, Arg::T, call};
use crate::probe::env;
use nix::libc;
use std::fs::{self, File, OpenOptions, Permissions};
use std::os::unix::fs::PermissionsExt as _;

/// Devices with the host's memory, log, machines, disks.
const DEVICES: [&str; 8] = [
    "/dev/mem",
    "/dev/kmsg",
    "/dev/kvm",
    "/dev/fuse",
    "/dev/net/tun",
    "/dev/sda",
    "/dev/vda",
    "/dev/tty",
];
/// Folders that no job should find a way to write into.
const SYSTEM: [&str; 8] = [
    "/", "/usr", "/usr/bin", "/etc", "/dev", "/proc", "/sys", "/var",
];

/// The kernel's name for a group that a namespace does not know.
const NOBODYS: u32 = 65_534;

/// All of them.
pub(crate) const FILES: &[Probe] = &[
    probe("read-key", || io_fails(fs::read(told(env::SECRET)))),
    probe("write-key", || {
        io_fails(OpenOptions::new().append(true).open(told(env::SECRET)))
    }),
    probe("truncate-key", || {
        let path = text(&told(env::SECRET));
        fails(call(libc::SYS_truncate, &mut [T(&path), N(1)]))
    }),
    probe("chmod-key", || {
        io_fails(fs::set_permissions(
            told(env::SECRET),
            Permissions::from_mode(0o644),
        ))
    }),
    probe("chmod-key-2", || {
        let (path, here) = (text(&told(env::SECRET)), libc::AT_FDCWD as u64);
        // fchmodat2.
        fails(call(452, &mut [N(here), T(&path), N(0o644), N(0)]))
    }),
    probe("times-of-key", || {
        let (path, here) = (text(&told(env::SECRET)), libc::AT_FDCWD as u64);
        let args = &mut [N(here), T(&path), N(0), N(0)];
        fails(call(libc::SYS_utimensat, args))
    }),
    probe("attribute-of-key", || {
        let (path, name) = (text(&told(env::SECRET)), text("user.probe"));
        let args = &mut [T(&path), T(&name), T(&name), N(1), N(0)];
        fails(call(libc::SYS_setxattr, args))
    }),
    probe("owner-of-key", || {
        let path = text(&told(env::SECRET));
        let same = u64::from(nix::unistd::getuid().as_raw());
        let here = libc::AT_FDCWD as u64;
        let args = &mut [N(here), T(&path), N(same), N(u64::from(u32::MAX)), N(0)];
        fails(call(libc::SYS_fchownat, args))
    }),
    probe("link-to-key", || {
        io_fails(fs::hard_link(told(env::SECRET), "a-link"))
    }),
    probe("rename-key", || {
        io_fails(fs::rename(told(env::SECRET), "a-key"))
    }),
    probe("list-node-folder", || {
        io_fails(fs::read_dir(told(env::HOME)))
    }),
    probe("neighbours-file", || {
        io_fails(fs::read(told(env::NEIGHBOURS_FILE)))
    }),
    probe("own-orders", || {
        // The supervisor's orders lie one step above the work directory.
        io_fails(fs::read("../launch.json"))
    }),
    probe("own-output", || {
        io_fails(OpenOptions::new().append(true).open("../stdout"))
    }),
    probe("shadow", || io_fails(fs::read("/etc/shadow"))),
    probe("roots-home", || io_fails(fs::read_dir("/root"))),
    probe("sys", || io_fails(fs::read_dir("/sys/kernel"))),
    probe("cgroup-files", || io_fails(fs::read_dir("/sys/fs/cgroup"))),
    probe("write-system", || {
        let writes = |folder: &&&str| File::create(format!("{folder}/probe")).is_ok();
        found(SYSTEM.iter().find(writes))
    }),
    probe("devices", || {
        found(DEVICES.iter().find(|path| File::open(path).is_ok()))
    }),
    probe("make-device", || {
        let (path, here) = (text("null"), libc::AT_FDCWD as u64);
        let mode = u64::from(libc::S_IFCHR | 0o600);
        let args = &mut [N(here), T(&path), N(mode), N(libc::makedev(1, 3))];
        forbidden(call(libc::SYS_mknodat, args))
    }),
    probe("become-root", || {
        // Root of nothing is nobody; but a job has no second user at all.
        fails(call(libc::SYS_setuid, &mut [N(0)]))
    }),
    probe("take-groups", || {
        let mut group = [0; 4];
        let args = &mut [N(1), super::raw::Arg::M(&mut group)];
        fails(call(libc::SYS_setgroups, args))
    }),
    probe("groups-of-the-node", || {
        let mut kept = nix::unistd::getgroups().unwrap_or_default();
        let own = nix::unistd::getgid();
        kept.retain(|group| *group != own);
        let unknown = kept.iter().all(|group| group.as_raw() == NOBODYS);
        match (kept.is_empty(), unknown) {
            (true, _) => Refused("none".to_owned()),
            // Without privilege nobody can drop them.
            (false, true) => Kept(format!("{} groups that have no name here", kept.len())),
            (false, false) => Reached(format!("{} groups", kept.len())),
        }
    }),
    probe("file-of-a-group", || {
        io_fails(fs::read(told(env::GROUP_FILE)))
    }),
    probe("private-keys-of-tls", || {
        io_fails(fs::read_dir("/etc/ssl/private"))
    }),
    probe("set-user-file", || {
        let made = File::create("suid")
            .and_then(|file| file.set_permissions(Permissions::from_mode(0o4755)));
        match made {
            // No program gains anything by it: that is what counts.
            Ok(()) => match call(libc::SYS_prctl, &mut [N(libc::PR_GET_NO_NEW_PRIVS as u64)]) {
                Ok(1) => Refused("no new privileges".to_owned()),
                _ => Reached("it may gain privileges".to_owned()),
            },
            Err(error) => Refused(error.to_string()),
        }
    }),
];

fn found(what: Option<&&str>) -> Answer {
    match what {
        Some(path) => Reached((*path).to_owned()),
        None => Refused("none".to_owned()),
    }
}
