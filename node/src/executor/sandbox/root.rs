//! The file system that a job sees in the namespace tier.
//!
//! ```text
//! /usr /lib /lib64 /bin /sbin …   read-only, from the host (symbolic links are copied as such)
//! /etc                            a few files made here; the linker's and TLS's from the host
//! /run/gridbay-rank               in a lease's network: the node's program, for [`crate::rank`]
//! /dev                            null zero full random urandom, and a private /dev/shm; in a
//!                                 lease's network also terminals of its own
//! /proc                           of the job's own pid namespace, read-only, without the kernel's
//! /tmp                            private, on the node's disk, gone with the job
//! /work                           the work directory: the job's current directory and HOME
//! ```
//!
//! Everything else of the host is not hidden but absent: the old root is unmounted.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::unistd::{chdir, pivot_root};

use super::{JOB_UID, confine, sys};
use crate::executor::job::Interface;
use crate::rank;

/// The work directory inside.
pub(crate) const WORK: &str = "/work";

/// Parts of the host that jobs may read; missing ones are left out.
pub(crate) const SYSTEM: [&str; 23] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/etc/alternatives",
    "/etc/ld.so.cache",
    // Not the whole folders: keys of the host's servers lie beside the certificates.
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/ca-certificates",
    "/etc/pki/ca-trust",
    "/etc/pki/java",
    "/etc/pki/tls/cert.pem",
    "/etc/pki/tls/certs",
    "/etc/pki/tls/openssl.cnf",
    "/var/lib/ca-certificates",
    "/etc/localtime",
    // A JVM reads its settings there on Debian and its kin.
    "/etc/java-11-openjdk",
    "/etc/java-17-openjdk",
    "/etc/java-21-openjdk",
];

/// The hosts of a job that is alone.
const HOSTS: &str = "127.0.0.1 localhost job\n::1 localhost job\n";

const READ_ONLY: u64 = libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV;
const WRITABLE: u64 = libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV;

/// A failed step.
#[derive(Debug, thiserror::Error)]
#[error("{step}: {source}")]
pub(super) struct ViewError {
    step: String,
    source: io::Error,
}

/// Names the step in an error.
fn step<T, E: Into<io::Error>>(result: Result<T, E>, name: &str) -> Result<T, ViewError> {
    result.map_err(|e| ViewError {
        step: name.to_owned(),
        source: e.into(),
    })
}

/// Moves this process into a root of its own. Its current directory is the job's folder, with
/// `root` (empty, the mount point), `work` and `tmp` in it.
///
/// 1. Cut mount propagation to and from the host.
/// 2. Mount an empty tmpfs and build the view in it, paths relative to the job's folder.
/// 3. Make it the root, let go of the old one, and make the tmpfs itself read-only.
///
/// `place` is the job's in its lease's network, if it has one.
pub(super) fn enter(read_only: &[PathBuf], place: Option<&Interface>) -> Result<(), ViewError> {
    let root = Path::new("root");
    let nothing = None::<&str>;
    step(
        mount(
            nothing,
            "/",
            nothing,
            MsFlags::MS_REC | MsFlags::MS_PRIVATE,
            nothing,
        ),
        "private",
    )?;
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    step(
        mount(
            Some("tmpfs"),
            root,
            Some("tmpfs"),
            flags,
            Some("mode=755,size=1m"),
        ),
        "tmpfs",
    )?;

    let system = SYSTEM.iter().map(Path::new);
    let mut shown: Vec<&Path> = Vec::new();
    for path in system.chain(read_only.iter().map(PathBuf::as_path)) {
        if !shown.iter().any(|above| path.starts_with(above)) {
            show(root, path)?;
            shown.push(path);
        }
    }
    step(write_etc(root, place), "etc")?;
    if place.is_some() {
        show_program(root)?;
    }
    make_dev(root)?;
    if place.is_some() {
        make_terminals(root)?;
    }
    make_proc(root)?;
    for (source, target) in [("work", WORK), ("tmp", "/tmp")] {
        bind(
            Path::new(source),
            &inside(root, Path::new(target)),
            WRITABLE,
        )?;
    }

    // With both arguments the same, the old root ends up mounted over the new one, and the
    // unmount uncovers it: no directory is left that leads back.
    step(chdir(root), "chdir")?;
    step(pivot_root(".", "."), "pivot_root")?;
    step(umount2(".", MntFlags::MNT_DETACH), "unmount the old root")?;
    step(chdir("/"), "chdir")?;
    step(
        sys::restrict_mount(Path::new("/"), READ_ONLY, false),
        "read-only root",
    )?;
    step(chdir(WORK), "chdir")
}

/// Where an absolute path of the view lies before the view is the root.
fn inside(root: &Path, path: &Path) -> PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}

/// Shows a path of the host read-only under the same name, if it exists.
fn show(root: &Path, path: &Path) -> Result<(), ViewError> {
    let Ok(kind) = fs::symlink_metadata(path) else {
        return Ok(());
    };
    if !kind.is_symlink() {
        return bind(path, &inside(root, path), READ_ONLY);
    }
    let target = inside(root, path);
    let copy = || {
        fs::create_dir_all(target.parent().unwrap_or(root))?;
        symlink(fs::read_link(path)?, &target)
    };
    step(copy(), &path.display().to_string())
}

/// Shows the node's own program under the name by which ranks know it.
fn show_program(root: &Path) -> Result<(), ViewError> {
    // By its name: the link itself leads into the mounts of the supervisor.
    let program = step(fs::read_link("/proc/self/exe"), "own program")?;
    // A node whose file was replaced beneath it has no program to show until it is started again.
    if !program.exists() {
        return Ok(());
    }
    bind(&program, &inside(root, Path::new(rank::PROGRAM)), READ_ONLY)
}

/// Binds `source` to `target`, which is made for it, with `attributes` on it and all below.
fn bind(source: &Path, target: &Path, attributes: u64) -> Result<(), ViewError> {
    let bound = || -> io::Result<()> {
        if source.is_dir() {
            fs::create_dir_all(target)?;
        } else {
            fs::create_dir_all(target.parent().unwrap_or(target))?;
            fs::File::create(target)?;
        }
        let flags = MsFlags::MS_BIND | MsFlags::MS_REC;
        mount(Some(source), target, None::<&str>, flags, None::<&str>)?;
        sys::restrict_mount(target, attributes, true)
    };
    step(bound(), &source.display().to_string())
}

/// The few files without which ordinary programs are at a loss over who and where they are.
fn write_etc(root: &Path, place: Option<&Interface>) -> io::Result<()> {
    let etc = root.join("etc");
    fs::create_dir_all(&etc)?;
    let user = format!("job:x:{JOB_UID}:{JOB_UID}:job:{WORK}:/bin/sh\n");
    let rest = "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n";
    fs::write(
        etc.join("passwd"),
        format!("root:x:0:0:root:/:/usr/sbin/nologin\n{user}{rest}"),
    )?;
    fs::write(
        etc.join("group"),
        format!("root:x:0:\njob:x:{JOB_UID}:\nnogroup:x:65534:\n"),
    )?;
    let hosts = place.map_or(HOSTS, |place| &place.hosts);
    fs::write(etc.join("hosts"), hosts)?;
    if let Some(place) = place {
        fs::write(inside(root, Path::new(rank::MACHINES)), &place.machines)?;
        if !place.resolver.is_empty() {
            fs::write(etc.join("resolv.conf"), &place.resolver)?;
        }
    }
    fs::write(
        etc.join("nsswitch.conf"),
        "passwd: files\ngroup: files\nhosts: files dns\n",
    )
}

fn make_dev(root: &Path) -> Result<(), ViewError> {
    for device in confine::DEVICES.map(Path::new) {
        // `nodev` would make the device useless, and it holds nothing to execute.
        bind(
            device,
            &inside(root, device),
            libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NOEXEC,
        )?;
    }
    let links = || -> io::Result<()> {
        symlink("/proc/self/fd", root.join("dev/fd"))?;
        for (number, name) in ["stdin", "stdout", "stderr"].iter().enumerate() {
            symlink(
                format!("/proc/self/fd/{number}"),
                root.join("dev").join(name),
            )?;
        }
        fs::create_dir(root.join("dev/shm"))
    };
    step(links(), "dev")?;
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    let options = Some("mode=1777,size=64m,nr_inodes=16384");
    step(
        mount(
            Some("tmpfs"),
            &root.join("dev/shm"),
            Some("tmpfs"),
            flags,
            options,
        ),
        "dev/shm",
    )
}

/// Terminals that a job may have at a time.
const TERMINALS: u32 = 256;

/// An instance of the file system of terminals that is the job's alone. Where the kernel has none
/// to give, programs have no terminals.
fn make_terminals(root: &Path) -> Result<(), ViewError> {
    let folder = root.join("dev/pts");
    step(fs::create_dir(&folder), "dev/pts")?;
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NOEXEC;
    let options = format!("newinstance,ptmxmode=0666,mode=0600,max={TERMINALS}");
    let options = Some(options.as_str());
    if mount(Some("devpts"), &folder, Some("devpts"), flags, options).is_err() {
        return Ok(());
    }
    step(symlink("pts/ptmx", root.join("dev/ptmx")), "dev/ptmx")?;
    // The terminal of whichever program asks.
    let own = Path::new("/dev/tty");
    let quiet = libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NOEXEC;
    if own.exists() {
        bind(own, &inside(root, own), quiet)
    } else {
        Ok(())
    }
}

/// Files of `/proc` that tell of the machine or its kernel, not of the job. Shown empty.
const MASKED_FILES: [&str; 25] = [
    "cmdline",
    "config.gz",
    "consoles",
    "crypto",
    "diskstats",
    "interrupts",
    "iomem",
    "ioports",
    "kallsyms",
    "kcore",
    "keys",
    "key-users",
    "kmsg",
    "latency_stats",
    "locks",
    "modules",
    "mtrr",
    "pagetypeinfo",
    "partitions",
    "sched_debug",
    "slabinfo",
    "softirqs",
    "sysrq-trigger",
    "timer_list",
    "vmallocinfo",
];
/// As above, deeper down.
const MASKED_DEEPER: [&str; 2] = ["sys/kernel/random/boot_id", "sys/kernel/core_pattern"];
/// Folders of the kind.
const MASKED_FOLDERS: [&str; 10] = [
    "acpi",
    "asound",
    "bus",
    "driver",
    "dynamic_debug",
    "fs",
    "irq",
    "pressure",
    "scsi",
    "sysvipc",
];

/// Mounts `/proc`: read-only, and showing only the processes that a job may look into, hence not
/// *init*. Where a container keeps the whole from being mounted, its processes alone are shown.
fn make_proc(root: &Path) -> Result<(), ViewError> {
    let target = root.join("proc");
    step(fs::create_dir(&target), "proc")?;
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    let attempt =
        |options: Option<&str>| mount(Some("proc"), &target, Some("proc"), flags, options);
    let whole = attempt(Some("hidepid=ptraceable"));
    let whole = whole.or_else(|_| attempt(Some("subset=pid,hidepid=ptraceable")));
    // Kernels before 5.8 know neither word.
    step(whole.or_else(|_| attempt(None)), "proc")?;
    let nothing = root.join("dev/nothing");
    step(fs::create_dir(&nothing), "dev/nothing")?;
    for name in MASKED_FILES.iter().chain(&MASKED_DEEPER) {
        mask(Path::new("/dev/null"), &target.join(name))?;
    }
    for name in MASKED_FOLDERS {
        mask(&nothing, &target.join(name))?;
    }
    let read_only = sys::restrict_mount(&target, libc::MOUNT_ATTR_RDONLY, false);
    step(read_only, "read-only proc")
}

/// Puts something empty over a file or folder, if it exists.
fn mask(empty: &Path, target: &Path) -> Result<(), ViewError> {
    if fs::symlink_metadata(target).is_err() {
        return Ok(());
    }
    let none = None::<&str>;
    let bound = || -> io::Result<()> {
        mount(Some(empty), target, none, MsFlags::MS_BIND, none)?;
        let quiet = libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NOEXEC | libc::MOUNT_ATTR_RDONLY;
        sys::restrict_mount(target, quiet, false)
    };
    step(bound(), &target.display().to_string())
}
