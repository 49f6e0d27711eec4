//! A terminal in which a command runs, as its user sees it.

mod narrow;

use crate::command;
use nix::pty::{Winsize, openpty};
use nix::sys::signal::{Signal, kill};
use nix::sys::termios::{LocalFlags, tcgetattr};
use nix::unistd::Pid;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};
use tokio::process::Child;
use tokio::time::{sleep, timeout};

const PATIENCE: Duration = Duration::from_secs(60);

/// A terminal of 80 columns with a command in it.
pub(crate) struct Terminal {
    keeper: File,
    program: File,
    written: Arc<Mutex<Vec<u8>>>,
    ran: Child,
}

impl Terminal {
    pub(crate) fn open(data: &Path, words: &[&str]) -> Terminal {
        let size = Winsize {
            ws_row: 24,
            ws_col: 80,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        let pair = openpty(&size, None).unwrap();
        let (keeper, program) = (File::from(pair.master), File::from(pair.slave));
        let end = || Stdio::from(program.try_clone().unwrap());
        let mut command = command(data, words);
        command.stdin(end()).stdout(end()).stderr(end());
        command.env("TERM", "xterm").env("NO_COLOR", "1");
        let ran = command.kill_on_drop(true).spawn().unwrap();
        let written = Arc::new(Mutex::new(Vec::new()));
        let (mut from, to) = (keeper.try_clone().unwrap(), Arc::clone(&written));
        thread::spawn(move || {
            let mut piece = [0; 4096];
            // Ends with an error once nobody has the other end open.
            while let Ok(bytes @ 1..) = from.read(&mut piece) {
                to.lock().unwrap().extend(&piece[..bytes]);
            }
        });
        Terminal {
            keeper,
            program,
            written,
            ran,
        }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.written.lock().unwrap()).into_owned()
    }

    /// Waits for a word that was not written before.
    pub(crate) async fn shows(&self, word: &str) {
        let begin = Instant::now();
        while !self.text().contains(word) {
            let text = self.text();
            assert!(begin.elapsed() < PATIENCE, "no {word} in {text:?}");
            sleep(Duration::from_millis(50)).await;
        }
        self.written.lock().unwrap().clear();
    }

    pub(crate) fn types(&mut self, keys: &str) {
        self.keeper.write_all(keys.as_bytes()).unwrap();
    }

    pub(crate) fn signals(&self, signal: Signal) {
        let pid = i32::try_from(self.ran.id().unwrap()).unwrap();
        kill(Pid::from_raw(pid), signal).unwrap();
    }

    /// Whether lines are edited and echoed, as in a shell.
    fn is_a_shells(&self) -> bool {
        let flags = tcgetattr(&self.program).unwrap().local_flags;
        flags.contains(LocalFlags::ICANON | LocalFlags::ECHO)
    }

    /// All that it writes, once it has ended well.
    pub(crate) async fn whole(mut self) -> String {
        let ended = timeout(PATIENCE, self.ran.wait()).await.unwrap().unwrap();
        assert_eq!(ended.code(), Some(0), "{}", self.text());
        // What it wrote last may still be on its way.
        let mut before = String::new();
        while before.is_empty() || before != self.text() {
            before = self.text();
            sleep(Duration::from_millis(100)).await;
        }
        before.replace('\r', "")
    }

    /// Waits until it has ended and given the terminal back, and shows its last word.
    pub(crate) async fn ends(mut self, last: &str) {
        let ended = timeout(PATIENCE, self.ran.wait()).await.unwrap().unwrap();
        assert_eq!(ended.code(), Some(0), "{}", self.text());
        assert!(self.is_a_shells());
        self.shows(last).await;
    }
}
