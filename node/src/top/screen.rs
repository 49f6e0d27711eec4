//! The terminal while a screen is shown: taken, and given back whatever happens.

use crate::terminal::Raw;
use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::event::{DisableMouseCapture, EnableMouseCapture};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::panic;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether this process shows a screen.
static SHOWN: AtomicBool = AtomicBool::new(false);

/// A terminal that is taken. Its former state comes back when this is dropped, also where a thread
/// panics.
pub(super) struct Screen<I: AsFd, O: Write> {
    /// Dropped after what is written last.
    _raw: Raw<I>,
    out: O,
}

impl<I: AsFd, O: Write> Screen<I, O> {
    /// Takes a terminal: keys come from one end of it, what is shown goes to the other.
    pub(super) fn take(keys: I, mut out: O) -> io::Result<Screen<I, O>> {
        let raw = Raw::new(keys)?;
        execute!(out, EnterAlternateScreen, EnableMouseCapture, Hide)?;
        SHOWN.store(true, Ordering::SeqCst);
        Ok(Screen { _raw: raw, out })
    }
}

impl<I: AsFd, O: Write> Drop for Screen<I, O> {
    fn drop(&mut self) {
        SHOWN.store(false, Ordering::SeqCst);
        leave(&mut self.out);
    }
}

/// Shows again what was there before.
fn leave(out: &mut impl Write) {
    // There is nobody to tell where the terminal is gone.
    let _gone = execute!(out, Show, DisableMouseCapture, LeaveAlternateScreen);
}

/// From now on the message of a panic does not vanish with the screen that it is written over.
pub(super) fn keep_messages() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let former = panic::take_hook();
        panic::set_hook(Box::new(move |panicked| {
            if SHOWN.swap(false, Ordering::SeqCst) {
                leave(&mut io::stdout());
            }
            former(panicked);
        }));
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::{Size, pair};
    use nix::sys::termios::{LocalFlags, tcgetattr};
    use std::io::Read as _;
    use std::thread;

    #[test]
    fn a_panic_gives_the_terminal_back() {
        let size = Size {
            rows: 24,
            columns: 80,
        };
        let (mut keeper, program) = pair(size).unwrap();
        let lines = |at: &std::fs::File| tcgetattr(at).unwrap().local_flags;
        let asked = LocalFlags::ICANON | LocalFlags::ECHO;
        assert!(lines(&program).contains(asked));
        let (keys, out) = (program.try_clone().unwrap(), program.try_clone().unwrap());
        let seen = program.try_clone().unwrap();
        let panicking = thread::spawn(move || {
            let _screen = Screen::take(keys, out).unwrap();
            assert!(!lines(&seen).intersects(asked), "keys come one by one");
            panic!("on purpose");
        });
        assert!(panicking.join().is_err());
        assert!(lines(&program).contains(asked));
        // With nobody at the other end, reading ends behind all that was written.
        drop(program);
        let (mut written, mut piece) = (Vec::new(), [0; 256]);
        while let Ok(bytes @ 1..) = keeper.read(&mut piece) {
            written.extend(&piece[..bytes]);
        }
        let written = String::from_utf8_lossy(&written);
        let (shown, left) = ("\x1b[?1049h", "\x1b[?1049l");
        assert!(written.starts_with(shown), "{written:?}");
        assert!(written.ends_with(left), "{written:?}");
        assert!(written.contains("\x1b[?25h") && written.contains("\x1b[?1006l"));
    }
}
