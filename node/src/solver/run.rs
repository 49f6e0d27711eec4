//! One run of the program.
//!
//! 1. The folder gets the model (`model.lp`, CPLEX's LP format) and the options (`options.txt`); an
//!    old answer goes.
//! 2. `PROGRAM --options_file options.txt --solution_file solution.txt model.lp` runs in the
//!    folder, without input, its words thrown away, in a process group of its own.
//! 3. It gets the time limit as an option, and is killed with all its processes if it does not keep
//!    to it. How it exits does not matter.
//! 4. The answer is read if it is a plain file, up to [`ANSWER_BYTES`].

use crate::store::orders::private_folder;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::fs::{self, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tokio::process::Command;

/// Longest answer that is read: a line for each of the most columns that a model has.
const ANSWER_BYTES: u64 = 32 << 20;
/// The time that the program may take beyond its limit, to start and to write.
const GRACE: Duration = Duration::from_millis(500);

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The program cannot be started.
    #[error("it cannot be started: {0}")]
    Absent(io::Error),
    /// Its folder cannot be used.
    #[error("its folder cannot be used: {0}")]
    Folder(io::Error),
    /// It did not keep to the time limit.
    #[error("it did not end in time")]
    Slow,
    /// It wrote no answer that makes sense.
    #[error("it wrote no answer that makes sense")]
    Garbage,
}

/// Whether there is a program to be started: at the path, seen from the folder, or by its name in a
/// folder of `PATH`.
pub(super) fn present(program: &Path, folder: &Path) -> Result<(), RunError> {
    let runs = |path: &Path| match fs::metadata(path) {
        Ok(meta) if meta.is_file() && meta.permissions().mode() & 0o111 != 0 => Ok(()),
        Ok(_) => Err(io::ErrorKind::PermissionDenied.into()),
        Err(error) => Err(error),
    };
    let found = if program.components().count() > 1 {
        runs(&folder.join(program))
    } else {
        let paths = std::env::var_os("PATH").unwrap_or_default();
        let mut folders = std::env::split_paths(&paths);
        match folders.any(|folder| runs(&folder.join(program)).is_ok()) {
            true => Ok(()),
            false => Err(io::ErrorKind::NotFound.into()),
        }
    };
    found.map_err(RunError::Absent)
}

/// Runs the program on a model; returns its output.
pub(super) async fn run(
    program: &Path,
    folder: &Path,
    model: &str,
    limit: Duration,
) -> Result<String, RunError> {
    prepare(folder, model, limit).map_err(RunError::Folder)?;
    let mut child = Command::new(program)
        .args(["--options_file", "options.txt"])
        .args(["--solution_file", "solution.txt", "model.lp"])
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .kill_on_drop(true)
        .spawn()
        .map_err(RunError::Absent)?;
    let group = child.id().and_then(|id| i32::try_from(id).ok());
    let ended = tokio::time::timeout(limit + GRACE, child.wait()).await;
    if let Some(group) = group {
        // Also children that a program which ended in time has left behind; mostly there are none.
        let _gone = killpg(Pid::from_raw(group), Signal::SIGKILL);
    }
    match ended {
        Ok(Ok(_)) => read(&folder.join("solution.txt")),
        Ok(Err(error)) => Err(RunError::Absent(error)),
        Err(_) => {
            let _reaped = child.wait().await;
            Err(RunError::Slow)
        }
    }
}

/// Step 1.
fn prepare(folder: &Path, model: &str, limit: Duration) -> io::Result<()> {
    private_folder(folder)?;
    match fs::remove_file(folder.join("solution.txt")) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    fs::write(folder.join("model.lp"), model)?;
    let seconds = limit.as_secs_f64();
    let options = format!(
        "time_limit = {seconds:.3}\nmip_rel_gap = 0\nmip_abs_gap = 0\nthreads = 1\noutput_flag = false\n"
    );
    fs::write(folder.join("options.txt"), options)
}

/// Step 4.
fn read(path: &Path) -> Result<String, RunError> {
    let mut open = OpenOptions::new();
    open.read(true)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    let read = || -> io::Result<Option<Vec<u8>>> {
        let file = open.open(path)?;
        let meta = file.metadata()?;
        if !meta.is_file() || meta.len() > ANSWER_BYTES {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        file.take(ANSWER_BYTES).read_to_end(&mut bytes)?;
        Ok(Some(bytes))
    };
    let bytes = read().ok().flatten().ok_or(RunError::Garbage)?;
    String::from_utf8(bytes).map_err(|_| RunError::Garbage)
}
