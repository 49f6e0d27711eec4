//! Makes the quotas on the mounted file system. What is there already is looked at and left.

use super::{Quota, ladder, sys};
use crate::shell::places::Account;
use std::ffi::CString;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, fchown};
use std::path::Path;

/// Makes those of a disk of so many bytes in a folder, for a user. The folder may have been that
/// user's: no link is followed.
pub fn make(folder: &Path, device: &Path, disk: u64, owner: Option<Account>) -> io::Result<()> {
    let device = CString::new(device.as_os_str().as_bytes())?;
    for quota in ladder(disk) {
        let place = own(&folder.join(&quota.name), owner)?;
        bound(&place, &device, &quota)?;
    }
    Ok(())
}

/// A folder of that user's, made if it is not there.
fn own(path: &Path, owner: Option<Account>) -> io::Result<File> {
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let flags = libc::O_DIRECTORY | libc::O_NOFOLLOW | libc::O_CLOEXEC;
    let folder = OpenOptions::new()
        .read(true)
        .custom_flags(flags)
        .open(path)?;
    if let Some(account) = owner
        && folder.metadata()?.uid() != account.uid
    {
        fchown(&folder, Some(account.uid), Some(account.gid))?;
    }
    Ok(folder)
}

/// Gives a folder its project, and that its limits. The limits come first:
/// a folder that has the project is bounded.
fn bound(folder: &File, device: &CString, quota: &Quota) -> io::Result<()> {
    let limits = (quota.bytes, quota.files);
    if sys::limits(device, quota.project)? != limits {
        sys::set_limits(device, quota.project, limits)?;
    }
    match sys::passes_on(folder, quota.project)? {
        true => Ok(()),
        false => sys::pass_on(folder, quota.project),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_device_without_quotas_is_an_error_and_no_link_is_followed() {
        let dir = tempfile::tempdir().unwrap();
        let refused = make(dir.path(), Path::new("/dev/null"), 1 << 30, None);
        assert!(refused.is_err());
        let first = dir.path().join("16MiB-0");
        assert!(first.is_dir(), "it was made before its limits");
        fs::remove_dir(&first).unwrap();
        let other = dir.path().join("other");
        fs::create_dir(&other).unwrap();
        symlink(&other, &first).unwrap();
        let refused = own(&first, None).unwrap_err();
        assert_eq!(refused.raw_os_error(), Some(libc::ENOTDIR));
        fs::write(dir.path().join("file"), "x").unwrap();
        assert!(own(&dir.path().join("file"), None).is_err());
    }
}
