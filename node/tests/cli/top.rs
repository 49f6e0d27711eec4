//! `top` in a terminal: it takes the terminal, and gives it back.

use crate::served::Served;
use crate::{command, gridbay};
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
/// Shows what was on the terminal before.
const LEFT: &str = "\x1b[?1049l";

/// A terminal with a `top` in it.
struct Terminal {
    keeper: File,
    program: File,
    written: Arc<Mutex<Vec<u8>>>,
    top: Child,
}

impl Terminal {
    fn open(data: &Path) -> Terminal {
        let size = Winsize {
            ws_row: 24,
            ws_col: 80,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        let pair = openpty(&size, None).unwrap();
        let (keeper, program) = (File::from(pair.master), File::from(pair.slave));
        let end = || Stdio::from(program.try_clone().unwrap());
        let mut command = command(data, &["top"]);
        command.stdin(end()).stdout(end()).stderr(end());
        command.env("TERM", "xterm").env("NO_COLOR", "1");
        let top = command.kill_on_drop(true).spawn().unwrap();
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
            top,
        }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.written.lock().unwrap()).into_owned()
    }

    /// Waits for a word that was not written before.
    async fn shows(&self, word: &str) {
        let begin = Instant::now();
        while !self.text().contains(word) {
            let text = self.text();
            assert!(begin.elapsed() < PATIENCE, "no {word} in {text:?}");
            sleep(Duration::from_millis(50)).await;
        }
        self.written.lock().unwrap().clear();
    }

    fn types(&mut self, keys: &str) {
        self.keeper.write_all(keys.as_bytes()).unwrap();
    }

    /// Whether lines are edited and echoed, as in a shell.
    fn is_a_shells(&self) -> bool {
        let flags = tcgetattr(&self.program).unwrap().local_flags;
        flags.contains(LocalFlags::ICANON | LocalFlags::ECHO)
    }

    /// Waits until it has ended and given the terminal back.
    async fn ends(mut self) {
        let ended = timeout(PATIENCE, self.top.wait()).await.unwrap().unwrap();
        assert_eq!(ended.code(), Some(0), "{}", self.text());
        assert!(self.is_a_shells());
        self.shows(LEFT).await;
    }
}

#[tokio::test]
async fn signals_and_interrupts_give_the_terminal_back() {
    let at = Served::start(&[]).await;
    let data = at.world.dir.path();
    for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
        let terminal = Terminal::open(data);
        terminal.shows("Prices").await;
        let pid = i32::try_from(terminal.top.id().unwrap()).unwrap();
        kill(Pid::from_raw(pid), signal).unwrap();
        terminal.ends().await;
    }
    let mut terminal = Terminal::open(data);
    terminal.shows("Prices").await;
    terminal.types("\x03");
    terminal.ends().await;
    at.stop().await;
}

#[tokio::test]
async fn without_a_terminal_there_is_advice() {
    let at = Served::start(&[]).await;
    let data = at.world.dir.path();
    let ran = gridbay(data, &["top"]).await;
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    assert!(
        ran.err.contains("why: standard output is no terminal"),
        "{}",
        ran.err
    );
    assert!(ran.err.contains("gridbay status --watch"), "{}", ran.err);
    let ran = gridbay(data, &["top", "-o", "json"]).await;
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("gridbay status -o json"), "{}", ran.err);
    at.stop().await;
}
