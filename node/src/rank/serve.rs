//! A rank that runs the commands of the others.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use super::wire::{FRAME, Kind, Order, read_frame, read_line_within, secret, write_frame};

/// Connections at a time.
const CONNECTIONS: usize = 1_024;
/// Time for an order to come as a whole.
const PATIENCE: Duration = Duration::from_secs(10);
/// After a connection that could not be taken.
const PAUSE: Duration = Duration::from_millis(50);

/// Variables of the commands.
type Environment = Vec<(&'static str, String)>;

/// Takes orders until one says that all is over.
///
/// In a cluster that is held, where others may run programs as well, those count that come with the
/// run's own secret.
pub(super) fn serve(listener: &TcpListener, environment: Environment) -> io::Result<()> {
    let (end, ended) = mpsc::channel();
    let environment = Arc::new(environment);
    let listener = listener.try_clone()?;
    thread::spawn(move || {
        let open = Arc::new(());
        for connection in listener.incoming() {
            let Ok(connection) = connection else {
                // No descriptor is free: some will be.
                thread::sleep(PAUSE);
                continue;
            };
            let own = Arc::clone(&open);
            if Arc::strong_count(&open) > CONNECTIONS {
                continue;
            }
            let (end, environment) = (end.clone(), Arc::clone(&environment));
            // Without a thread the connection ends.
            let _served = thread::Builder::new().spawn(move || {
                let _ended = answer(connection, &end, &environment);
                drop(own);
            });
        }
    });
    // The listener's thread holds the other end for as long as the process lives.
    ended.recv().map_err(io::Error::other)
}

fn answer(
    connection: TcpStream,
    end: &mpsc::Sender<()>,
    environment: &Environment,
) -> io::Result<()> {
    connection.set_nodelay(true)?;
    let said = read_line_within(&connection, PATIENCE)?;
    connection.set_read_timeout(None)?;
    let order = match (said, secret()) {
        (Order::With { secret, order }, Some(own)) if is_same(&secret, &own) => *order,
        (Order::With { .. }, _) | (_, Some(_)) => {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        (order, None) => order,
    };
    let mut command = match order {
        Order::With { .. } => return Err(io::ErrorKind::InvalidData.into()),
        Order::Ping => return exit(&connection, 0),
        Order::End => {
            exit(&connection, 0)?;
            return end.send(()).map_err(io::Error::other);
        }
        Order::Shell(line) => {
            let mut shell = Command::new("/bin/sh");
            shell.arg("-c").arg(line);
            shell
        }
        Order::Run(words) => {
            let mut words = words.into_iter();
            let mut program = Command::new(words.next().unwrap_or_default());
            program.args(words);
            program
        }
    };
    command.envs(environment.iter().cloned());
    match start(command) {
        Ok(child) => follow(connection, child),
        Err(e) => {
            write_frame(&connection, Kind::Stderr, format!("{e}\n").as_bytes())?;
            exit(&connection, 127)
        }
    }
}

/// Whether two secrets are the same, in a time that does not tell how much of them is.
fn is_same(one: &str, two: &str) -> bool {
    let differ = one
        .bytes()
        .zip(two.bytes())
        .fold(0, |d, (a, b)| d | (a ^ b));
    one.len() == two.len() && std::hint::black_box(differ) == 0
}

/// In a process group of its own, which ends as a whole.
fn start(mut command: Command) -> io::Result<Child> {
    command
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
}

/// Carries the streams both ways. When the asker is gone, or the command has ended, whatever of it
/// is left ends.
fn follow(connection: TcpStream, mut child: Child) -> io::Result<()> {
    let group = Pid::from_raw(i32::try_from(child.id()).unwrap_or(i32::MAX));
    let stdin = child.stdin.take();
    let from = connection.try_clone()?;
    let reader = thread::spawn(move || {
        feed(from, stdin);
        let _gone = killpg(group, Signal::SIGKILL);
    });
    let to = Arc::new(Mutex::new(connection.try_clone()?));
    let out = child.stdout.take().map(|s| carry(s, Kind::Stdout, &to));
    let err = child.stderr.take().map(|s| carry(s, Kind::Stderr, &to));
    let status = child.wait()?;
    for stream in [out, err].into_iter().flatten() {
        let _ended = stream.join();
    }
    exit(&connection, code(status))?;
    connection.shutdown(Shutdown::Both)?;
    let _ended = reader.join();
    Ok(())
}

/// Returns when the connection ends: that is how an asker gives up.
fn feed(mut from: TcpStream, stdin: Option<impl Write>) {
    let mut stdin = stdin;
    while let Ok((kind, bytes)) = read_frame(&mut from) {
        if kind != Kind::Stdin || bytes.is_empty() {
            stdin = None;
        } else if let Some(open) = &mut stdin
            && open.write_all(&bytes).is_err()
        {
            stdin = None;
        }
    }
}

fn carry(
    mut stream: impl Read + Send + 'static,
    kind: Kind,
    to: &Arc<Mutex<TcpStream>>,
) -> thread::JoinHandle<()> {
    let to = Arc::clone(to);
    thread::spawn(move || {
        let mut buffer = vec![0; FRAME];
        while let Ok(count) = stream.read(&mut buffer)
            && count > 0
        {
            let to = to.lock().unwrap_or_else(PoisonError::into_inner);
            if write_frame(&*to, kind, &buffer[..count]).is_err() {
                return;
            }
        }
    })
}

fn exit(to: &TcpStream, code: i32) -> io::Result<()> {
    write_frame(to, Kind::Exit, &code.to_be_bytes())
}

/// The code as a shell has it.
pub(super) fn code(status: ExitStatus) -> i32 {
    let signal = || status.signal().map_or(1, |signal| 128 + signal);
    status.code().unwrap_or_else(signal)
}
