//! The notice: a file in the work directory that tells a job of its end, written before SIGTERM.
//!
//! ```text
//! reason=stopped         stopped: its seller ends it; lease: nobody renewed it; shutdown
//! seconds=20             from the notice to SIGKILL
//! until_ms=1767225600000 the same as a time, milliseconds since 1970
//! ```

use super::outcome::KillReason;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Its name in the work directory. A leading dot keeps it out of checkpoints.
pub(super) const NOTICE: &str = ".gridbay-notice";

/// Puts the notice into a work directory, whole. The directory is the job's: whatever lies there
/// under the notice's name is replaced, and no link is followed.
pub(super) fn write(work: &Path, reason: &KillReason, grace: Duration) -> io::Result<()> {
    let word = match reason {
        KillReason::Lease => "lease",
        KillReason::Shutdown => "shutdown",
        _ => "stopped",
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let until = now.unwrap_or_default().saturating_add(grace);
    let fresh = work.join(format!("{NOTICE}.new"));
    let _none = fs::remove_file(&fresh);
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .custom_flags(libc::O_NOFOLLOW)
        .open(&fresh)?;
    // The job may run as another user.
    file.set_permissions(fs::Permissions::from_mode(0o644))?;
    writeln!(file, "reason={word}")?;
    writeln!(file, "seconds={}", grace.as_secs())?;
    writeln!(file, "until_ms={}", until.as_millis())?;
    fs::rename(&fresh, work.join(NOTICE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notice_is_whole_and_follows_no_link() {
        let dir = tempfile::tempdir().unwrap();
        let (work, victim) = (dir.path().join("work"), dir.path().join("victim"));
        fs::create_dir(&work).unwrap();
        fs::write(&victim, "mine").unwrap();
        for name in [NOTICE.to_owned(), format!("{NOTICE}.new")] {
            std::os::unix::fs::symlink(&victim, work.join(name)).unwrap();
        }
        write(&work, &KillReason::Lease, Duration::from_secs(7)).unwrap();
        let text = fs::read_to_string(work.join(NOTICE)).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[..2], ["reason=lease", "seconds=7"]);
        assert!(lines[2].starts_with("until_ms=1"));
        assert_eq!(fs::read_to_string(&victim).unwrap(), "mine");
        let folder = work.join(format!("{NOTICE}.new"));
        fs::create_dir(&folder).unwrap();
        assert!(write(&work, &KillReason::Stopped, Duration::ZERO).is_err());
    }
}
