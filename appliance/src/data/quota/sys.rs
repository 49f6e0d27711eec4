//! The kernel's calls for projects and their limits.
//!
//! Every function here is safe to call; a comment beside each block says why.

#![allow(
    unsafe_code,
    reason = "no library has safe calls for projects, and no package of the image sets their \
              limits; each block states why it is sound"
)]

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;

/// The order of `quotactl` that concerns projects.
const PROJECTS: libc::c_int = 2;
/// Bytes that the kernel counts limits in.
const BLOCK: u64 = 1024;
/// Orders that read and write the attributes of a file.
const GET: libc::Ioctl = 0x801c_581f_u32 as libc::Ioctl;
const SET: libc::Ioctl = 0x401c_5820 as libc::Ioctl;
/// The flag of a folder that passes its project on.
const PASSES_ON: u32 = 0x200;

/// The kernel's `struct fsxattr`.
#[repr(C)]
#[derive(Debug, Default)]
struct Attributes {
    flags: u32,
    extent: u32,
    extents: u32,
    project: u32,
    shared_extent: u32,
    rest: [u8; 8],
}

fn check(result: libc::c_int) -> io::Result<()> {
    match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

fn attributes(folder: &File) -> io::Result<Attributes> {
    let mut found = Attributes::default();
    // SAFETY: the kernel writes one `fsxattr`, which `found` is as large as.
    check(unsafe { libc::ioctl(folder.as_raw_fd(), GET, &raw mut found) })?;
    Ok(found)
}

/// Whether a folder has a project and passes it on to what is made in it.
pub(super) fn passes_on(folder: &File, project: u32) -> io::Result<bool> {
    let found = attributes(folder)?;
    Ok(found.project == project && found.flags & PASSES_ON != 0)
}

/// Makes it so.
pub(super) fn pass_on(folder: &File, project: u32) -> io::Result<()> {
    let found = attributes(folder)?;
    let wanted = Attributes {
        flags: found.flags | PASSES_ON,
        project,
        ..found
    };
    // SAFETY: the kernel reads one `fsxattr`, which `wanted` is as large as.
    check(unsafe { libc::ioctl(folder.as_raw_fd(), SET, &raw const wanted) })
}

/// Bytes and files that a project may have on the file system of a device; 0 for any number.
pub(super) fn limits(device: &CStr, project: u32) -> io::Result<(u64, u64)> {
    let mut found = empty();
    order(libc::Q_GETQUOTA, device, project, &mut found)?;
    let bytes = found.dqb_bhardlimit.saturating_mul(BLOCK);
    Ok((bytes, found.dqb_ihardlimit))
}

/// Sets them.
pub(super) fn set_limits(device: &CStr, project: u32, limits: (u64, u64)) -> io::Result<()> {
    let mut wanted = libc::dqblk {
        dqb_bhardlimit: limits.0 / BLOCK,
        dqb_ihardlimit: limits.1,
        dqb_valid: libc::QIF_LIMITS,
        ..empty()
    };
    order(libc::Q_SETQUOTA, device, project, &mut wanted)
}

fn order(
    order: libc::c_int,
    device: &CStr,
    project: u32,
    about: &mut libc::dqblk,
) -> io::Result<()> {
    let about: *mut libc::dqblk = about;
    let order = libc::QCMD(order, PROJECTS);
    // SAFETY: both orders read or write one `dqblk`, and the text ends with 0.
    check(unsafe { libc::quotactl(order, device.as_ptr(), project.cast_signed(), about.cast()) })
}

fn empty() -> libc::dqblk {
    libc::dqblk {
        dqb_bhardlimit: 0,
        dqb_bsoftlimit: 0,
        dqb_curspace: 0,
        dqb_ihardlimit: 0,
        dqb_isoftlimit: 0,
        dqb_curinodes: 0,
        dqb_btime: 0,
        dqb_itime: 0,
        dqb_valid: 0,
    }
}
