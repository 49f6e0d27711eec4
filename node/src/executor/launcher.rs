//! Starts supervisors for a node that may not make namespaces itself.
//!
//! A node speaks to strangers, and who may make user namespaces reaches much of the kernel. So a
//! service can be two: the node, without namespaces, and this launcher, without the network.
//!
//! 1. The launcher is the node's own program, executed with a hidden first word: `gridbay __launch
//!    <socket>`. It has one thread and keeps nothing in memory.
//! 2. A connection brings one order. `c` asks for the launcher's control groups, beside which those
//!    of jobs are made. Any other is the path of a job's folder, with three descriptors: what
//!    becomes standard input, output and error of the supervisor ([`supervisor`]).
//! 3. The answer is the text of the groups, or nothing, after a byte: `+`, or `-` and a reason.
//! 4. A supervisor started here refuses the plain tier: else a node that was taken over could run
//!    any program outside of its walls.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use gridbay_vnet::fds;
use nix::sys::prctl;
use nix::sys::socket::{getsockopt, sockopt::PeerCredentials};
use nix::unistd::geteuid;

use super::supervisor;

/// The hidden first word.
const WORD: &str = "__launch";
/// The order that asks for control groups.
const GROUPS: &[u8] = b"c";
/// Longest path of a folder.
const PATH_MAX: usize = 4096;
/// How long either end waits for the other, and a node for a launcher that is just starting.
const PATIENCE: Duration = Duration::from_secs(10);
/// Between two attempts of that node.
const LOOK: Duration = Duration::from_millis(50);

/// Goes on as a launcher, and does not return, if this process was executed as one.
///
/// To be called first thing in `main`, while the process has a single thread.
pub fn run_if_asked() {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().as_deref() != Some(OsStr::new(WORD)) {
        return;
    }
    let socket = arguments.next().unwrap_or_default();
    let Err(error) = open(Path::new(&socket)).and_then(|l| serve(&l, Path::new("/proc/self/exe")));
    let shown = Path::new(&socket).display();
    let _ = writeln!(io::stderr(), "gridbay launcher: {shown}: {error}");
    std::process::exit(1);
}

/// Only the user of this process may connect.
fn open(socket: &Path) -> io::Result<UnixListener> {
    // Processes of the same user may not look into this one either.
    prctl::set_dumpable(false)?;
    nix::sys::stat::umask(nix::sys::stat::Mode::from_bits_truncate(0o077));
    match fs::remove_file(socket) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => UnixListener::bind(socket),
    }
}

/// Obeys orders, one after the other. `program` is executed as the supervisor.
fn serve(listener: &UnixListener, program: &Path) -> io::Result<std::convert::Infallible> {
    loop {
        let (mut stream, _) = listener.accept()?;
        let answer = match obey(&stream, program) {
            Ok(text) => [b"+", text.as_slice()].concat(),
            Err(error) => format!("-{error}").into_bytes(),
        };
        // A node that has left needs no answer.
        let _ = stream.write_all(&answer);
    }
}

fn obey(stream: &UnixStream, program: &Path) -> io::Result<Vec<u8>> {
    let peer = getsockopt(stream, PeerCredentials)?;
    if peer.uid() != geteuid().as_raw() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut order = [0; PATH_MAX];
    let (bytes, given) = fds::recv(stream, &mut order)?;
    let order = order.get(..bytes).unwrap_or_default();
    if order == GROUPS {
        return fs::read("/proc/self/cgroup");
    }
    let folder = Path::new(OsStr::from_bytes(order));
    let Ok([input, output, log]) = <[_; 3]>::try_from(given) else {
        return Err(io::Error::other("an order has three descriptors"));
    };
    if !folder.is_absolute() || bytes == PATH_MAX {
        return Err(io::Error::other("a folder has an absolute path"));
    }
    let mut command = Command::new(program);
    command.arg(supervisor::WORD).arg(folder);
    command.arg(supervisor::ISOLATED).env_clear();
    command
        .stdin(Stdio::from(input))
        .stdout(Stdio::from(output));
    let status = command.stderr(Stdio::from(log)).status()?;
    match status.success() {
        true => Ok(Vec::new()),
        false => Err(io::Error::other("the supervisor refused")),
    }
}

/// Has the launcher at `socket` start the supervisor of a job.
pub(super) fn start(socket: &Path, folder: &Path, streams: [&fs::File; 3]) -> io::Result<()> {
    let streams = streams.map(|file| file.as_fd());
    ask(socket, folder.as_os_str().as_bytes(), &streams).map(drop)
}

/// The control groups of the launcher at `socket`: the text of its `/proc/self/cgroup`.
pub(super) fn groups(socket: &Path) -> io::Result<String> {
    String::from_utf8(ask(socket, GROUPS, &[])?).map_err(io::Error::other)
}

fn ask(
    socket: &Path,
    order: &[u8],
    streams: &[std::os::fd::BorrowedFd<'_>],
) -> io::Result<Vec<u8>> {
    let mut stream = connect(socket)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    fds::send(&stream, order, streams)?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    match answer.split_first() {
        Some((b'+', text)) => Ok(text.to_vec()),
        Some((_, why)) => Err(io::Error::other(String::from_utf8_lossy(why).into_owned())),
        None => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

/// Waits for a launcher that is not there yet: both are started together.
fn connect(socket: &Path) -> io::Result<UnixStream> {
    let began = Instant::now();
    loop {
        match UnixStream::connect(socket) {
            Err(error) if began.elapsed() > PATIENCE => return Err(error),
            Err(_) => std::thread::sleep(LOOK),
            Ok(stream) => return Ok(stream),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    /// A launcher whose supervisors are this script; the folder that holds its socket.
    fn launcher(script: &str) -> (tempfile::TempDir, std::path::PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let (socket, program) = (dir.path().join("launch"), dir.path().join("program"));
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).unwrap();
        let listener = UnixListener::bind(&socket).unwrap();
        std::thread::spawn(move || serve(&listener, &program));
        (dir, socket)
    }

    #[test]
    fn a_supervisor_gets_its_words_and_its_streams() {
        let (dir, socket) = launcher("#!/bin/sh\ncat; echo \"$@\"; echo log >&2\n");
        let file = |name: &str, text: &str| {
            fs::write(dir.path().join(name), text).unwrap();
            let mut both = fs::OpenOptions::new();
            both.read(true)
                .write(true)
                .open(dir.path().join(name))
                .unwrap()
        };
        let (lock, alive, log) = (file("lock", "held "), file("alive", ""), file("log", ""));
        start(&socket, Path::new("/jobs/a"), [&lock, &alive, &log]).unwrap();
        let read = |name: &str| fs::read_to_string(dir.path().join(name)).unwrap();
        assert_eq!(read("alive"), "held __supervise /jobs/a isolated\n");
        assert_eq!(read("log"), "log\n");
    }

    #[test]
    fn what_is_no_order_is_refused_and_said() {
        let (dir, socket) = launcher("#!/bin/sh\nexit 1\n");
        let file = fs::File::open(dir.path().join("program")).unwrap();
        let refused = |folder: &str| start(&socket, Path::new(folder), [&file; 3]).unwrap_err();
        assert!(refused("jobs/a").to_string().contains("absolute"));
        assert!(
            refused("/jobs/a")
                .to_string()
                .contains("supervisor refused")
        );
        let few = ask(&socket, b"/jobs/a", &[file.as_fd()]).unwrap_err();
        assert!(few.to_string().contains("three descriptors"));
    }

    #[test]
    fn it_tells_its_control_groups() {
        let (_dir, socket) = launcher("#!/bin/sh\n");
        let own = fs::read_to_string("/proc/self/cgroup").unwrap();
        assert_eq!(groups(&socket).unwrap(), own);
    }
}
