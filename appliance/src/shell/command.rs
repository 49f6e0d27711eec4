//! Programs with bounds: on their time, and on what they may say.
//!
//! 1. A program sees no environment but a path and plain English.
//! 2. It reads what it is given on standard input, and nothing else; a secret goes that way.
//! 3. Each of its outputs is read up to a bound; what comes after that is lost.
//! 4. One that has not ended in time is killed.

use crate::node::Failure;
use std::ffi::OsString;
use std::io::{self, Read, Write as _};
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread::{self, JoinHandle, sleep};
use std::time::{Duration, Instant};

/// Most bytes of one output.
pub const OUTPUT_BYTES: u64 = 8 << 20;
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// Between two looks whether it has ended.
const LOOK: Duration = Duration::from_millis(10);
/// Longest wait for an output that somebody else holds open.
const DRAIN: Duration = Duration::from_secs(2);

/// A program and its words.
#[derive(Clone, Debug)]
pub struct Command {
    program: OsString,
    words: Vec<OsString>,
    input: Vec<u8>,
}

/// How a program ended.
#[derive(Clone, Debug, Default)]
pub struct Ended {
    /// Exit code; `None` if it was killed.
    pub code: Option<i32>,
    /// Whether its time was up.
    pub late: bool,
    /// Standard output.
    pub stdout: Vec<u8>,
    /// Standard error.
    pub stderr: Vec<u8>,
}

impl Ended {
    /// The failure that it is, if its code is not 0.
    pub fn failure(&self) -> Failure {
        match self.late {
            true => Failure::own("it did not end in time", "it is tried again"),
            false => Failure::of(self.code, &String::from_utf8_lossy(&self.stderr)),
        }
    }
    /// Its output if it did what it was asked.
    pub fn done(self) -> Result<Vec<u8>, Failure> {
        match self.code {
            Some(0) => Ok(self.stdout),
            _ => Err(self.failure()),
        }
    }
}

impl Command {
    /// A program without words.
    pub fn new(program: &str) -> Command {
        Command {
            program: program.into(),
            words: Vec::new(),
            input: Vec::new(),
        }
    }
    /// With one more word.
    pub fn arg(mut self, word: &str) -> Command {
        self.words.push(word.into());
        self
    }
    /// With more words.
    pub fn args<'a>(mut self, words: impl IntoIterator<Item = &'a str>) -> Command {
        self.words.extend(words.into_iter().map(OsString::from));
        self
    }
    /// With a path.
    pub fn path(mut self, path: &Path) -> Command {
        self.words.push(path.into());
        self
    }
    /// With something to read.
    pub fn input(mut self, bytes: &[u8]) -> Command {
        self.input = bytes.to_vec();
        self
    }
    /// Runs it for at most so long.
    pub fn run(self, most: Duration) -> io::Result<Ended> {
        let mut child = std::process::Command::new(&self.program)
            .args(&self.words)
            .env_clear()
            .env("PATH", PATH)
            .env("LC_ALL", "C.UTF-8")
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| {
                io::Error::new(
                    error.kind(),
                    format!("{}: {error}", self.program.to_string_lossy()),
                )
            })?;
        if let Some(mut stdin) = child.stdin.take() {
            let input = self.input;
            // One that does not read has its reasons, and tells them.
            thread::spawn(move || drop(stdin.write_all(&input)));
        }
        let stdout = child.stdout.take().map(reader);
        let stderr = child.stderr.take().map(reader);
        let (code, late) = wait(&mut child, most)?;
        Ok(Ended {
            code,
            late,
            stdout: stdout.map(read).unwrap_or_default(),
            stderr: stderr.map(read).unwrap_or_default(),
        })
    }
    /// Runs it, and takes its output if it did what it was asked.
    pub fn output(self, most: Duration) -> Result<Vec<u8>, Failure> {
        let ended = self.run(most);
        ended
            .map_err(|error| Failure::own(error.to_string(), ""))?
            .done()
    }
}

fn wait(child: &mut Child, most: Duration) -> io::Result<(Option<i32>, bool)> {
    let began = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok((status.code(), false));
        }
        if began.elapsed() >= most {
            child.kill()?;
            child.wait()?;
            return Ok((None, true));
        }
        sleep(LOOK);
    }
}

fn reader(from: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // What was read before an error is all there is.
        drop(from.take(OUTPUT_BYTES).read_to_end(&mut bytes));
        bytes
    })
}

fn read(reader: JoinHandle<Vec<u8>>) -> Vec<u8> {
    let began = Instant::now();
    while !reader.is_finished() {
        if began.elapsed() >= DRAIN {
            return Vec::new();
        }
        sleep(LOOK);
    }
    reader.join().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        Command::new("sh").args(["-c", script])
    }

    #[test]
    fn programs_read_their_input_and_tell_how_they_ended() {
        let long = Duration::from_secs(30);
        let ended = shell("cat; echo no >&2; exit 3").input(b"in").run(long);
        let ended = ended.unwrap();
        assert_eq!((ended.code, ended.late), (Some(3), false));
        assert_eq!(
            (&ended.stdout[..], &ended.stderr[..]),
            (&b"in"[..], &b"no\n"[..])
        );
        assert_eq!(ended.failure().why, "no");
        assert_eq!(shell("echo $HOME").output(long).unwrap(), b"\n");
        let none = Command::new("no-such-program").output(long).unwrap_err();
        assert!(none.why.contains("no-such-program"));
    }

    #[test]
    fn endless_programs_are_ended_and_endless_outputs_cut() {
        let ended = shell("exec sleep 100")
            .run(Duration::from_millis(100))
            .unwrap();
        assert!(ended.late && ended.code.is_none());
        let ended = shell("exec yes").run(Duration::from_secs(30)).unwrap();
        assert_eq!(ended.stdout.len() as u64, OUTPUT_BYTES);
        // Somebody else keeps the output open.
        let began = Instant::now();
        shell("sleep 20 & exit 0")
            .run(Duration::from_secs(5))
            .unwrap();
        assert!(began.elapsed() < Duration::from_secs(15));
    }
}
