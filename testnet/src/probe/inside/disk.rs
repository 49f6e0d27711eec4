//! More of the disk than a job has bought. None writes more than [`MUCH`]; a file that could be
//! written is held for a while, so that the watcher can see it.

use super::attempt::{Answer, Probe, Reached, Refused, limit, probe};
use super::limits::{HOLD, PIECE, sleep};
use super::raw::{Arg::M, Arg::N, call};
use crate::probe::env;
use gridbay_node::executor::Limits;
use gridbay_vnet::fds;
use nix::libc;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::os::unix::net::UnixStream;

/// The disk that the jobs of these probes may hold.
const DISK: u64 = 24 << 20;
/// The disk that they try to hold.
const MUCH: u64 = 72 << 20;
/// Bytes of one file.
const FILE: u64 = 4 << 20;
/// Files where their number is tried: more than any job of that size may have.
const FILES: u32 = 20_000;
/// Files of one folder among these.
const FOLDER: u32 = 1_000;
/// Folders inside one another: more than are allowed.
const DEPTH: u32 = 400;
/// Orders that read and write the attributes of a folder, and how many bytes these are.
const GET: u64 = 0x801c_581f;
const SET: u64 = 0x401c_5820;
const ATTRIBUTES: usize = 28;
/// The bytes of them that tell its project and whether it passes that on, and a bit of each.
const PROJECT: [(usize, u8); 2] = [(12, 1), (1, 2)];
/// Bytes of a stream that are kept.
const OUTPUT: u64 = 1 << 20;

/// All of them.
pub(crate) const PROBES: &[Probe] = &[
    limit("disk-total", disk, || {
        held(files().try_for_each(|number| written(number).map(drop)))
    }),
    limit("disk-files", disk, || {
        held((0..FILES).try_for_each(|number| {
            let folder = (number / FOLDER).to_string();
            if number % FOLDER == 0 {
                fs::create_dir(&folder)?;
            }
            File::create(format!("{folder}/{number}")).map(drop)
        }))
    }),
    limit("disk-nameless", disk, || {
        let open: io::Result<Vec<File>> = files().map(nameless).collect();
        let answer = held(open.as_ref().map(|_| ()).map_err(|e| e.kind().into()));
        drop(open);
        answer
    }),
    limit("disk-mapped", disk, || {
        held(files().try_for_each(|number| {
            let file = nameless(number)?;
            let fd = u64::try_from(file.as_raw_fd()).unwrap_or(u64::MAX);
            // To be read, shared with the file, which is closed at once.
            let args = &mut [N(0), N(FILE), N(1), N(1), N(fd), N(0)];
            Ok(call(libc::SYS_mmap, args).map(drop)?)
        }))
    }),
    limit("disk-in-messages", disk, || match UnixStream::pair() {
        Err(error) => Refused(error.to_string()),
        // Nobody receives them.
        Ok(pair) => held(files().try_for_each(|number| {
            let file = nameless(number)?;
            fds::send(&pair.0, b"f", &[file.as_fd()])
        })),
    }),
    probe("disk-other-project", other_project),
    limit("deep-tree", disk, || {
        let made = (0..DEPTH).try_for_each(|_| {
            fs::create_dir("d")?;
            std::env::set_current_dir("d")
        });
        // How deep it is counts at its end at the latest.
        match made {
            Ok(()) => Reached(format!("{DEPTH} folders")),
            Err(error) => Refused(error.to_string()),
        }
    }),
    limit(
        "endless-output",
        |l| l.output_bytes = OUTPUT,
        || {
            let mut out = io::stdout().lock();
            let piece = "more\n".repeat(PIECE / 5);
            let pieces = (0..FILE * 8 / PIECE as u64)
                .take_while(|_| out.write_all(piece.as_bytes()).is_ok())
                .count();
            let line = format!("{pieces} MiB written");
            match std::env::var_os(env::OUTSIDE) {
                Some(_) => Reached(line),
                // The stage looks at what was kept of it.
                None => Refused(line),
            }
        },
    ),
];

fn disk(limits: &mut Limits) {
    limits.disk_bytes = DISK;
}

/// Out of the project that a quota counts.
fn other_project() -> Answer {
    let folder = match File::open(".") {
        Ok(folder) => folder,
        Err(error) => return Refused(error.to_string()),
    };
    let fd = u64::try_from(folder.as_raw_fd()).unwrap_or(u64::MAX);
    let order = |order, about: &mut [u8]| {
        let args = &mut [N(fd), N(order), M(about)];
        call(libc::SYS_ioctl, args)
    };
    let mut said = "none".to_owned();
    for (at, bit) in PROJECT {
        let mut about = [0; ATTRIBUTES];
        let tried = order(GET, &mut about).and_then(|_| {
            about[at] ^= bit;
            order(SET, &mut about)
        });
        match tried {
            Ok(_) => return Reached(format!("bit {bit} of byte {at} is another")),
            Err(errno) => said = errno.to_string(),
        }
    }
    Refused(said)
}

/// Numbers of the files that are too much together.
fn files() -> std::ops::Range<u64> {
    0..MUCH / FILE
}

fn written(number: u64) -> io::Result<File> {
    let mut options = File::options();
    let options = options.read(true).write(true).create_new(true);
    let mut file = options.open(format!("file-{number}"))?;
    let piece = vec![1; PIECE];
    for _ in 0..FILE / PIECE as u64 {
        file.write_all(&piece)?;
    }
    Ok(file)
}

fn nameless(number: u64) -> io::Result<File> {
    let file = written(number)?;
    fs::remove_file(format!("file-{number}"))?;
    Ok(file)
}

/// Holds it, if all of it could be had.
fn held(all: io::Result<()>) -> Answer {
    match all {
        Err(error) => Refused(error.to_string()),
        Ok(()) => {
            if std::env::var_os(env::OUTSIDE).is_none() {
                sleep(HOLD);
            }
            Reached("held".to_owned())
        }
    }
}
