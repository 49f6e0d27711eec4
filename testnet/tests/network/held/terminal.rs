//! A terminal of a user's, as the other end sees it.

use crate::PATIENCE;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A terminal, and what was written on it.
pub(super) struct Terminal {
    keys: File,
    pub(super) name: PathBuf,
    shown: Arc<Mutex<String>>,
}

impl Terminal {
    pub(super) fn new(rows: u16, columns: u16) -> (Terminal, File) {
        let pair = nix::pty::openpty(None, None).unwrap();
        let name = nix::unistd::ttyname(&pair.slave).unwrap();
        let keys = File::from(pair.master);
        let (mut from, shown) = (keys.try_clone().unwrap(), Arc::<Mutex<String>>::default());
        let kept = Arc::clone(&shown);
        std::thread::spawn(move || {
            let mut buffer = [0; 4_096];
            while let Ok(count) = from.read(&mut buffer) {
                let text = String::from_utf8_lossy(&buffer[..count]).into_owned();
                kept.lock().unwrap().push_str(&text);
            }
        });
        let terminal = Terminal { keys, name, shown };
        terminal.resize(rows, columns);
        (terminal, File::from(pair.slave))
    }

    pub(super) fn resize(&self, rows: u16, columns: u16) {
        let (rows, columns) = (rows.to_string(), columns.to_string());
        let words = [
            "-F",
            self.name.to_str().unwrap(),
            "rows",
            &rows,
            "columns",
            &columns,
        ];
        assert!(Command::new("stty").args(words).status().unwrap().success());
    }

    pub(super) fn keys(&mut self, text: &str) {
        self.keys.write_all(text.as_bytes()).unwrap();
    }

    /// Waits until these words were written, and forgets all until then.
    pub(super) fn until(&self, words: &str) {
        let begin = Instant::now();
        loop {
            let mut shown = self.shown.lock().unwrap();
            if let Some(at) = shown.find(words) {
                *shown = shown.split_off(at + words.len());
                return;
            }
            assert!(begin.elapsed() < PATIENCE, "no `{words}` in {shown}");
            drop(shown);
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}
