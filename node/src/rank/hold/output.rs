//! What a program puts out: carried to its end, and not beyond.
//!
//! A program that has ended leaves what nobody has read yet, which still goes to its asker, however
//! slow that is. Something that left the program's session may hold the other end for ever: once
//! the program has ended, only what comes soon counts, and so many bytes at the most.

use std::io::Read;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

/// Time of waiting for the rest of the output of a program that has ended.
const REST: Duration = Duration::from_secs(2);
/// Bytes of that rest at the most: as much as a pipe may hold.
const MOST: usize = 1 << 20;
/// Milliseconds between two looks whether the program has ended.
const LOOK: u16 = 250;

/// Hands pieces of a stream to `send` until the stream ends, `send` takes no more, or the program
/// is `over` and its rest was read.
pub(super) fn carry(
    mut stream: impl Read + AsFd,
    over: &AtomicBool,
    buffer: &mut [u8],
    mut send: impl FnMut(&[u8]) -> bool,
) {
    // Of the time after the program's end: only waiting for it counts, not its asker's slowness.
    let (mut waited, mut rest) = (Duration::ZERO, 0);
    loop {
        let (is_over, begin) = (over.load(Ordering::SeqCst), Instant::now());
        let look = if waited < REST { LOOK } else { 0 };
        let mut fds = [PollFd::new(stream.as_fd(), PollFlags::POLLIN)];
        match poll(&mut fds, PollTimeout::from(look)) {
            Err(Errno::EINTR) => continue,
            Err(_) => return,
            Ok(0) if waited >= REST => return,
            Ok(ready) => {
                waited += begin.elapsed() * u32::from(is_over);
                if ready == 0 {
                    continue;
                }
            }
        }
        // A terminal without programs fails, a pipe ends.
        let count = match stream.read(buffer) {
            Ok(0) | Err(_) => return,
            Ok(count) => count,
        };
        rest += count * usize::from(is_over);
        if !send(&buffer[..count]) || rest > MOST {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Write as _, pipe};

    #[test]
    fn the_rest_of_a_program_that_is_over_comes_and_no_more() {
        let (from, mut to) = pipe().unwrap();
        to.write_all(&[7; 5_000]).unwrap();
        let (mut got, mut buffer) = (0, [0; 1_000]);
        // The other end stays open, as something that left the session holds it.
        carry(from, &AtomicBool::new(true), &mut buffer, |piece| {
            got += piece.len();
            true
        });
        assert_eq!(got, 5_000);
        drop(to);
    }

    #[test]
    fn what_never_ends_is_bounded() {
        let endless = std::fs::File::open("/dev/zero").unwrap();
        let (mut got, mut buffer) = (0, [0; 65_536]);
        carry(endless, &AtomicBool::new(true), &mut buffer, |piece| {
            got += piece.len();
            true
        });
        assert!(got > MOST && got <= MOST + 65_536);
    }
}
