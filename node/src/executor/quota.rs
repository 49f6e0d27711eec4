//! Quotas of the kernel for the disk of jobs, where root has left some.
//!
//! A quota is a folder with a project of its own, limits on that project's bytes and files, and the
//! flag by which all that is made in it has the same project. Root makes them once; the node takes
//! one without any privilege:
//!
//! 1. Names tell nothing. A folder whose project is limited shows the limit as the size of its file
//!    system, and what the project has as used.
//! 2. `work` and `tmp` of a job are made in the quota and moved into the job's folder. They keep
//!    the project, and so has all that is made in them. Only in the first user namespace can a file
//!    get another one, and a job is in a namespace of its own.
//! 3. A quota is free if it counts one file, its own folder. Whatever a job left counts, and what a
//!    process still has open. So nothing is written down that a crash could lose.
//!
//! Of the free quotas that hold a job's disk it gets the smallest, of up to [`MOST`] times as much.
//! A job for which there is none is watched alone: that ends it at the same limit, so its buyer
//! loses nothing, while a refusal would break a lease that is paid.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use nix::sys::statvfs::statvfs;

use super::job::files_for;

/// A quota may be so many times as large as the disk of its job.
const MOST: u64 = 2;
/// What a quota counts besides the files of its job: three folders, and a block for each.
const OWN: Size = Size {
    bytes: 3 * 4096,
    files: 3,
};

/// Bytes and files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Size {
    /// Bytes.
    pub(super) bytes: u64,
    /// Files, folders and links.
    pub(super) files: u64,
}

/// The size of a file system, as one of its folders shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Shown {
    whole: Size,
    used: Size,
}

impl Shown {
    fn by(folder: &Path) -> io::Result<Shown> {
        let found = statvfs(folder)?;
        let bytes = |blocks: u64| blocks.saturating_mul(found.fragment_size());
        Ok(Shown {
            whole: Size {
                bytes: bytes(found.blocks()),
                files: found.files(),
            },
            used: Size {
                bytes: bytes(found.blocks().saturating_sub(found.blocks_free())),
                files: found.files().saturating_sub(found.files_free()),
            },
        })
    }

    /// Whether it is a limit: the folder around it shows more.
    fn is_within(&self, around: &Shown) -> bool {
        self.whole.bytes < around.whole.bytes
    }

    /// Whether it holds so many bytes and the files that go with them, and not much more.
    fn holds(&self, bytes: u64) -> bool {
        let between = |least: u64, own: u64, shown: u64| {
            let least = least.saturating_add(own);
            (least..=least.saturating_mul(MOST)).contains(&shown)
        };
        between(bytes, OWN.bytes, self.whole.bytes)
            && between(files_for(bytes), OWN.files, self.whole.files)
    }

    fn is_free(&self) -> bool {
        self.used.files <= 1
    }
}

/// What a job has, by its quota's count; `None` if it has no quota. `around` is the job's folder.
pub(super) fn used(work: &Path, around: &Path) -> io::Result<Option<Size>> {
    let shown = Shown::by(work)?;
    let of_job = Size {
        bytes: shown.used.bytes.saturating_sub(OWN.bytes),
        files: shown.used.files.saturating_sub(OWN.files),
    };
    Ok(shown.is_within(&Shown::by(around)?).then_some(of_job))
}

/// Whether a job has a quota: its work directory, and its folder.
pub(super) fn is_there(work: &Path, around: &Path) -> bool {
    used(work, around).is_ok_and(|used| used.is_some())
}

/// The quotas that root has left in a folder.
#[derive(Debug)]
pub(super) struct Quotas {
    folder: PathBuf,
    /// Held from the choice of a quota until its job's folders count in it.
    one: Mutex<()>,
}

impl Quotas {
    /// Those in a folder, which need not exist. It is for one node only.
    pub(super) fn open(folder: PathBuf) -> Quotas {
        let quotas = Quotas {
            folder,
            one: Mutex::default(),
        };
        // A node that was killed between making a job's folders and moving them has left them.
        for quota in quotas.names().unwrap_or_default() {
            for name in ["work", "tmp"] {
                let _none = fs::remove_dir(quota.join(name));
            }
        }
        quotas
    }

    /// Makes these folders, in their order, in a free quota that holds so many bytes. False if
    /// there is none: then nothing is made.
    pub(super) fn make(&self, bytes: u64, folders: [&Path; 2]) -> bool {
        let _one = self.one.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = self.choose(bytes).and_then(|chosen| match chosen {
            Some((quota, shown)) => move_out(&quota, &shown, folders).map(|()| true),
            None => Ok(false),
        });
        taken.unwrap_or_else(|error| {
            tracing::warn!(
                bytes,
                %error,
                "no quota of the kernel can be used for a job: its disk is watched alone"
            );
            false
        })
    }

    /// The smallest free quota that holds so many bytes. It is told if all that there are do not.
    fn choose(&self, bytes: u64) -> io::Result<Option<(PathBuf, Shown)>> {
        let (all, mut best) = (self.names()?, None::<(PathBuf, Shown)>);
        if all.is_empty() {
            return Ok(None);
        }
        let around = Shown::by(&self.folder)?;
        for quota in all {
            let shown = Shown::by(&quota)?;
            let smaller = best
                .as_ref()
                .is_none_or(|(_, best)| shown.whole.bytes < best.whole.bytes);
            if smaller && shown.is_free() && shown.holds(bytes) && shown.is_within(&around) {
                best = Some((quota, shown));
            }
        }
        if best.is_none() {
            tracing::warn!(
                bytes,
                "no quota of the kernel is free for a job: its disk is watched alone"
            );
        }
        Ok(best)
    }

    fn names(&self) -> io::Result<Vec<PathBuf>> {
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        entries.map(|entry| Ok(entry?.path())).collect()
    }
}

/// Makes the folders in a quota and moves them to where they belong, or leaves nothing behind.
fn move_out(quota: &Path, shown: &Shown, folders: [&Path; 2]) -> io::Result<()> {
    let inside = folders.map(|folder| quota.join(folder.file_name().unwrap_or_default()));
    let made = folders
        .iter()
        .zip(&inside)
        .try_for_each(|(folder, inside)| {
            DirBuilder::new().mode(0o700).create(inside)?;
            if Shown::by(inside)?.whole != shown.whole {
                return Err(io::Error::other("it does not pass its limit on"));
            }
            fs::rename(inside, folder)
        });
    if made.is_err() {
        for left in inside.iter().map(PathBuf::as_path).chain(folders) {
            let _none = fs::remove_dir(left);
        }
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn shown(bytes: u64, files: u64, used: u64) -> Shown {
        Shown {
            whole: Size { bytes, files },
            used: Size {
                bytes: used * 4096,
                files: used,
            },
        }
    }

    #[test]
    fn a_quota_holds_what_it_is_for_and_no_more_than_twice_as_much() {
        let files = files_for(16 * MIB);
        for (bytes, count, holds) in [
            (17 * MIB, files + 64, true),
            (16 * MIB + OWN.bytes, files + OWN.files, true),
            (16 * MIB + OWN.bytes - 1, files + OWN.files, false),
            (16 * MIB + OWN.bytes, files + OWN.files - 1, false),
            (32 * MIB, files + 64, true),
            (33 * MIB, files + 64, false),
            (17 * MIB, 3 * files, false),
        ] {
            let found = shown(bytes, count, 1).holds(16 * MIB);
            assert_eq!(found, holds, "{bytes} {count}");
        }
        assert!(!shown(u64::MAX, u64::MAX, 1).holds(16 * MIB));
        assert!(!shown(17 * MIB, files, 1).holds(u64::MAX));
    }

    #[test]
    fn a_quota_is_free_while_nothing_but_its_folder_counts_in_it() {
        assert!(shown(MIB, 9, 1).is_free());
        assert!(!shown(MIB, 9, 2).is_free());
    }

    #[test]
    fn a_folder_that_shows_its_whole_file_system_is_no_quota() {
        let dir = tempfile::tempdir().unwrap();
        let (quotas, job) = (dir.path().join("quotas"), dir.path().join("job"));
        fs::create_dir_all(quotas.join("a/work")).unwrap();
        fs::create_dir(&job).unwrap();
        let all = Shown::by(&job).unwrap();
        assert!(all.whole.bytes > 0 && all.whole.files > all.used.files);
        assert!(!all.is_within(&all));
        assert_eq!(used(&job, dir.path()).unwrap(), None);
        let open = Quotas::open(quotas.clone());
        assert!(!quotas.join("a/work").exists(), "left by a node before");
        let folders = [job.join("tmp"), job.join("work")];
        let bytes = all.whole.bytes / MOST;
        assert!(!open.make(bytes, [&folders[0], &folders[1]]));
        assert!(folders.iter().all(|folder| !folder.exists()));
        let none = Quotas::open(dir.path().join("none"));
        assert!(!none.make(bytes, [&folders[0], &folders[1]]));
    }

    #[test]
    fn folders_are_moved_out_together_or_not_at_all() {
        let dir = tempfile::tempdir().unwrap();
        let (quota, job) = (dir.path().join("quota"), dir.path().join("job"));
        fs::create_dir(&quota).unwrap();
        fs::create_dir(&job).unwrap();
        let (tmp, work) = (job.join("tmp"), job.join("work"));
        let shown = Shown::by(&quota).unwrap();
        move_out(&quota, &shown, [&tmp, &work]).unwrap();
        assert!(tmp.is_dir() && work.is_dir());
        assert_eq!(fs::read_dir(&quota).unwrap().count(), 0);
        // The second one cannot be moved: its place is taken.
        fs::remove_dir(&tmp).unwrap();
        fs::write(work.join("file"), "x").unwrap();
        move_out(&quota, &shown, [&tmp, &work]).unwrap_err();
        assert!(!tmp.exists() && work.join("file").exists());
        // Nor is a folder taken that does not show the limit.
        let other = Shown {
            whole: Size {
                bytes: 1,
                ..shown.whole
            },
            ..shown
        };
        move_out(&quota, &other, [&tmp, &job.join("other")]).unwrap_err();
        assert_eq!(fs::read_dir(&quota).unwrap().count(), 0);
        assert_eq!(fs::read_dir(&job).unwrap().count(), 1);
    }
}
