//! Room on the disk: a node keeps some free, so that its ledger can be written whatever jobs and
//! users do.
//!
//! 1. Below twice the floor offers are held back and nothing is started, until there is three times
//!    the floor. No input of a job, no upload and no file of a seller is taken; folders of jobs
//!    that are over are freed, those that ended first before the others.
//! 2. Below the floor jobs are ended by their supervisors and their files removed: first those that
//!    took more than their limit unseen, then by the part of the limit that they hold, at three
//!    eighths of the floor all.
//! 3. Below a quarter of it, or after the disk failed, the reserve is given back: a file of bytes
//!    that nobody needed.
//!
//! The floor is `FLOOR`, on a small disk a sixteenth of it; the reserve is a quarter of the floor.
//! Once there is room again everything is taken again, and the reserve is made anew. All of this
//! looks at the disk and the time alone, and goes on while the node is halted.

use super::jobs::Jobs;
use super::{BodyHandle, Message};
use crate::trouble::Trouble;
use nix::fcntl::{FallocateFlags, fallocate};
use nix::sys::statvfs::statvfs;
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Bytes of the floor at the most: enough for the bytes that jobs can write until their supervisors
/// notice, and for some blocks.
const FLOOR: u64 = 256 << 20;
/// The floor is this part of the disk at the most.
const PART: u64 = 16;
/// Between two looks.
const LOOK: Duration = Duration::from_secs(3);
/// Looks between two searches for jobs that ended long ago.
const OLD_LOOKS: u64 = 200;
/// For so long the folder of a job that is over is kept at the most. Its buyer reads it within
/// seconds.
const KEEP: Duration = Duration::from_secs(24 * 3600);
/// Name of the reserve in the data folder.
const RESERVE: &str = "reserve";

/// The room of one data folder. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Room {
    home: PathBuf,
    floor: u64,
    /// That there was too little room at the last look.
    trouble: Arc<Mutex<Option<Trouble>>>,
}

impl Room {
    /// That of a data folder that exists.
    ///
    /// # Errors
    /// The system does not say how large the disk is.
    pub fn of(home: &Path) -> io::Result<Room> {
        let found = statvfs(home)?;
        let whole = found.blocks().saturating_mul(found.fragment_size());
        let room = Room {
            home: home.to_path_buf(),
            floor: FLOOR.min(whole / PART),
            trouble: Arc::default(),
        };
        room.judge()?;
        Ok(room)
    }

    /// The same with another floor, for tests.
    #[cfg(test)]
    pub(crate) fn with_floor(mut self, floor: u64) -> Room {
        self.floor = floor;
        self
    }

    /// Free bytes below which jobs end.
    pub fn floor(&self) -> u64 {
        self.floor
    }

    /// Free bytes that stay when all has been taken that can be refused.
    pub fn kept(&self) -> u64 {
        self.floor.saturating_mul(2)
    }

    /// The data folder.
    pub(crate) fn home(&self) -> &Path {
        &self.home
    }

    /// That offers are held back because there was too little room at the last look, if so.
    pub fn trouble(&self) -> Option<Trouble> {
        let trouble = self.trouble.lock();
        trouble.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Looks how much is free. A disk that is short stays so until a floor more is free than when
    /// it became short, so that offers do not come and go.
    fn judge(&self) -> io::Result<()> {
        let (free, whole) = self.free_and_whole()?;
        let trouble = self.trouble.lock();
        let mut trouble = trouble.unwrap_or_else(PoisonError::into_inner);
        let least = match *trouble {
            Some(_) => self.kept().saturating_add(self.floor),
            None => self.kept(),
        };
        *trouble = match trouble.take() {
            _ if free >= least => None,
            Some(before) => Some(before.with_room(free, whole, self.kept())),
            None => Some(Trouble::room(free, whole, self.kept())),
        };
        Ok(())
    }

    /// Whether so many more bytes can be taken. A disk that does not say takes none.
    pub fn takes(&self, bytes: u64) -> bool {
        let needed = self.kept().saturating_add(bytes);
        self.free().is_ok_and(|free| free >= needed)
    }

    /// Free bytes.
    pub(crate) fn free(&self) -> io::Result<u64> {
        Ok(self.free_and_whole()?.0)
    }

    fn free_and_whole(&self) -> io::Result<(u64, u64)> {
        let found = statvfs(&self.home)?;
        let bytes = |blocks: u64| blocks.saturating_mul(found.fragment_size());
        Ok((bytes(found.blocks_available()), bytes(found.blocks())))
    }

    /// Looks once, if `old` also for folders that have been kept long enough.
    fn look(&self, jobs: &Jobs, old: bool) -> io::Result<bool> {
        if old {
            jobs.free_ended(now_ms().saturating_sub(KEEP.as_millis() as u64), || false);
        }
        self.tend(jobs)
    }

    /// Frees what may be freed, and gives or takes the reserve. Answers whether there is too little
    /// room.
    fn tend(&self, jobs: &Jobs) -> io::Result<bool> {
        let short = !self.takes(0);
        if short {
            let freed = jobs.free_ended(0, || !self.takes(0));
            if freed > 0 {
                tracing::info!(
                    freed,
                    "freed folders of jobs that are over: the disk is nearly full"
                );
            }
        }
        self.judge()?;
        let free = self.free()?;
        if free < self.floor / 4 {
            release(&self.home)?;
        } else if free >= self.kept().saturating_add(self.floor) {
            self.fill()?;
        }
        Ok(short)
    }

    /// Makes the reserve, unless it is there.
    fn fill(&self) -> io::Result<()> {
        let path = self.home.join(RESERVE);
        let bytes = self.floor / 4;
        if bytes == 0 || fs::metadata(&path).is_ok_and(|meta| meta.len() >= bytes) {
            return Ok(());
        }
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&path)?;
        let length = i64::try_from(bytes).unwrap_or(i64::MAX);
        match fallocate(&file, FallocateFlags::empty(), 0, length) {
            Ok(()) => Ok(()),
            Err(error) => {
                let _half = fs::remove_file(&path);
                // A file system that cannot set bytes aside has no reserve.
                if error == nix::errno::Errno::EOPNOTSUPP {
                    return Ok(());
                }
                Err(error.into())
            }
        }
    }
}

/// Gives the reserve of a data folder back to its disk.
///
/// # Errors
/// It cannot be removed.
pub fn release(home: &Path) -> io::Result<()> {
    match fs::remove_file(home.join(RESERVE)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// Looks after the room until the node ends, and tells the core thread when that changes.
pub async fn keep(room: Room, jobs: Jobs, body: BodyHandle) {
    let (mut looks, mut was_short, mut told) = (0u64, false, room.trouble());
    loop {
        let (here, of_jobs) = (room.clone(), jobs.clone());
        let old = looks.is_multiple_of(OLD_LOOKS);
        let tended = tokio::task::spawn_blocking(move || here.look(&of_jobs, old));
        match tended.await.map_err(io::Error::other).flatten() {
            Ok(short) if short != was_short => {
                was_short = short;
                tell(short, room.kept());
            }
            Ok(_) => {}
            Err(error) => tracing::debug!(%error, "looking after the room on the disk"),
        }
        let trouble = room.trouble();
        if trouble != told {
            told = trouble;
            body.pass(Message::Troubles).await;
        }
        looks += 1;
        tokio::time::sleep(LOOK).await;
    }
}

fn tell(short: bool, kept: u64) {
    if short {
        tracing::warn!(
            kept,
            "the disk is nearly full: offers are held back, and jobs' inputs, uploads and returned files refused, until there is room"
        );
    } else {
        tracing::info!("the disk has room again");
    }
}

/// Milliseconds since 1970.
pub(super) fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    u64::try_from(now.unwrap_or_default().as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::super::idle::{Idle, running};
    use super::super::inbox::{Receiver, inbox};
    use super::*;
    use crate::executor::{Status, Tier};
    use std::collections::BTreeSet;

    const HOUR: u64 = 3_600_000;

    /// A folder and an executor with a job that ended two days ago, two of the last hours, and one
    /// that goes on.
    fn with_jobs() -> (tempfile::TempDir, Idle, Jobs) {
        let (dir, idle) = (tempfile::tempdir().unwrap(), Idle::default());
        let now = now_ms();
        idle.add_ended("old", now - 48 * HOUR);
        idle.add_ended("fresh", now - HOUR);
        idle.add_ended("fresher", now - HOUR / 2);
        idle.add("goes-on", Status::Running(running(now - 60 * HOUR)));
        let jobs = idle.jobs_in(Tier::Namespaces, &dir.path().join("memos"));
        (dir, idle, jobs)
    }

    #[test]
    fn folders_go_a_day_after_their_job_and_sooner_where_room_is_short() {
        let (dir, idle, jobs) = with_jobs();
        let mut room = Room::of(dir.path()).unwrap().with_floor(0);
        assert!(!room.look(&jobs, false).unwrap());
        assert_eq!(idle.left().len(), 4, "not at every look");
        assert!(!room.look(&jobs, true).unwrap());
        assert_eq!(idle.left(), ["fresh", "fresher", "goes-on"]);
        room.floor = 1 << 60;
        assert!(room.look(&jobs, false).unwrap());
        assert_eq!(idle.left(), ["goes-on"], "jobs that go on keep theirs");
    }

    fn body() -> (BodyHandle, Receiver) {
        let (queue, messages) = inbox(BTreeSet::new());
        let (_, height) = tokio::sync::watch::channel(0);
        let (_, troubles) = tokio::sync::watch::channel(Vec::new());
        let body = BodyHandle {
            queue,
            height,
            troubles,
        };
        (body, messages)
    }

    #[tokio::test]
    async fn the_core_is_told_when_the_disk_becomes_short_and_that_stays_until_there_is_a_floor_more()
     {
        let (dir, _idle, jobs) = with_jobs();
        let mut room = Room::of(dir.path()).unwrap().with_floor(0);
        let (body, messages) = body();
        room.judge().unwrap();
        assert_eq!(room.trouble(), None);
        let free = room.free().unwrap();
        let short = room.clone().with_floor(1 << 60);
        let keeper = tokio::spawn(keep(short, jobs, body));
        let told = async {
            while messages.try_recv().is_none() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(60), told)
            .await
            .unwrap();
        keeper.abort();
        let trouble = room.trouble().unwrap();
        assert!(trouble.what.contains("nearly full"), "{trouble:?}");
        // Twice the floor is free, three times it is not.
        room.floor = free / 5 * 2;
        room.judge().unwrap();
        assert!(room.trouble().is_some());
        room.floor = free / 4;
        room.judge().unwrap();
        assert_eq!(room.trouble(), None);
    }

    #[tokio::test]
    async fn a_node_looks_after_folders_by_itself() {
        let (dir, idle, jobs) = with_jobs();
        let room = Room::of(dir.path()).unwrap().with_floor(0);
        let (body, _messages) = body();
        let keeper = tokio::spawn(keep(room, jobs, body));
        let gone = async {
            while idle.left().len() > 3 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(60), gone)
            .await
            .unwrap();
        keeper.abort();
    }

    #[test]
    fn the_reserve_is_made_given_back_and_made_again() {
        let dir = tempfile::tempdir().unwrap();
        let mut room = Room::of(dir.path()).unwrap();
        assert!(room.floor() > 0 && room.floor() <= FLOOR);
        room.floor = 4 << 20;
        let reserve = dir.path().join(RESERVE);
        for _ in 0..2 {
            room.fill().unwrap();
            room.fill().unwrap();
            assert_eq!(fs::metadata(&reserve).unwrap().len(), 1 << 20);
            release(dir.path()).unwrap();
            release(dir.path()).unwrap();
            assert!(!reserve.exists());
        }
    }

    #[test]
    fn a_disk_takes_what_leaves_the_kept_room_free() {
        let dir = tempfile::tempdir().unwrap();
        let mut room = Room::of(dir.path()).unwrap();
        room.floor = 0;
        assert!(room.takes(0) && !room.takes(u64::MAX));
        room.floor = 1 << 60;
        assert!(!room.takes(0));
        room.home = dir.path().join("gone");
        assert!(!room.takes(0));
    }
}
