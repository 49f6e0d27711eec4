//! Attempts to hold files where the count of a job may miss them.

use super::attempt::{Answer, Probe, REFUSED, Reached, Refused, limit, text};
use super::limits::{HOLD, PIECE, sleep};
use super::raw::{Arg::N, Arg::T, call, child, file, wait};
use nix::libc;
use std::fs::{self, File, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The disk that the jobs of these probes may hold, and that they try to hold.
const DISK: u64 = 24 << 20;
const MUCH: u64 = 72 << 20;
/// Folders that keep a count busy.
const FOLDERS: u32 = 3_000;
/// Between two looks at what the kernel tells.
const LOOK: Duration = Duration::from_micros(200);

/// All of them.
pub(crate) const HIDDEN: &[Probe] = &[
    limit("disk-closed-folder", |l| l.disk_bytes = DISK, closed),
    limit("disk-moving-files", |l| l.disk_bytes = DISK, moving),
];

/// Into a folder that is closed to its owner.
fn closed() -> Answer {
    let made = || -> io::Result<()> {
        fs::create_dir("closed")?;
        let mut file = File::create("closed/file")?;
        fs::set_permissions("closed", Permissions::from_mode(0o000))?;
        let piece = vec![1_u8; PIECE];
        (0..MUCH / PIECE as u64).try_for_each(|_| file.write_all(&piece))
    };
    match made() {
        Err(error) => Refused(error.to_string()),
        Ok(()) => {
            sleep(HOLD);
            Reached("held".to_owned())
        }
    }
}

/// From the folder that is counted last to the one that was counted first, and back again.
fn moving() -> Answer {
    let (first, last) = match folders() {
        Ok(both) => both,
        Err(error) => return Refused(error.to_string()),
    };
    let (here, there) = (last.join("heavy"), first.join("heavy"));
    let told = call(libc::SYS_inotify_init1, &mut [N(libc::IN_NONBLOCK as u64)]);
    let (Ok(told), Ok(())) = (told, fs::create_dir(&here)) else {
        return Refused("nobody tells".to_owned());
    };
    let watch = |folder: &Path| {
        let path = text(&folder.display().to_string());
        let left = u64::from(libc::IN_CLOSE_NOWRITE);
        call(
            libc::SYS_inotify_add_watch,
            &mut [N(told as u64), T(&path), N(left)],
        )
    };
    let (Ok(of_first), Ok(of_last)) = (watch(&first), watch(&last)) else {
        return Refused("nobody tells".to_owned());
    };
    let mut told = file(told);
    let writer = child(0, || fill(&here, &there));
    let (begin, mut away, mut evaded) = (Instant::now(), false, 0);
    let mut events = [0; 4_096];
    while begin.elapsed() < HOLD * 2 {
        let count = told.read(&mut events).unwrap_or(0);
        for watch in watches(events.get(..count).unwrap_or_default()) {
            if i64::from(watch) == of_first && !away && fs::rename(&here, &there).is_ok() {
                (away, evaded) = (true, evaded + 1);
            } else if i64::from(watch) == of_last && away && fs::rename(&there, &here).is_ok() {
                away = false;
            }
        }
        std::thread::sleep(LOOK);
    }
    match writer.map(wait) {
        Ok(REFUSED) => Refused("a quota".to_owned()),
        _ => Reached(format!("{evaded} counts evaded")),
    }
}

/// Many folders: the first and the last in the order in which they are read.
fn folders() -> io::Result<(PathBuf, PathBuf)> {
    fs::create_dir("many")?;
    (0..FOLDERS).try_for_each(|n| fs::create_dir(format!("many/{n}")))?;
    let all: Vec<_> = fs::read_dir("many")?.flatten().collect();
    let path = |entry: Option<&fs::DirEntry>| entry.map(fs::DirEntry::path).unwrap_or_default();
    Ok((path(all.first()), path(all.last())))
}

/// Writes wherever the folder is, until a quota refuses.
fn fill(here: &Path, there: &Path) -> i32 {
    let piece = vec![1_u8; PIECE];
    for number in 0..MUCH / PIECE as u64 {
        let name = number.to_string();
        let quota = |error: &io::Error| error.kind() == io::ErrorKind::QuotaExceeded;
        loop {
            let written =
                fs::write(here.join(&name), &piece).or_else(|error| match quota(&error) {
                    true => Err(error),
                    false => fs::write(there.join(&name), &piece),
                });
            match written {
                Ok(()) => break,
                Err(error) if quota(&error) => return REFUSED,
                Err(_) => {}
            }
        }
        std::thread::sleep(LOOK * 25);
    }
    0
}

/// Whom each event is about.
fn watches(mut events: &[u8]) -> Vec<i32> {
    let mut found = Vec::new();
    while let Some((head, rest)) = events.split_first_chunk::<16>() {
        let [a, b, c, d, .., w, x, y, z] = *head;
        found.push(i32::from_ne_bytes([a, b, c, d]));
        let name = u32::from_ne_bytes([w, x, y, z]) as usize;
        events = rest.get(name..).unwrap_or_default();
    }
    found
}
