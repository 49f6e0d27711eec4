//! Standard input of `run`, which no job reads: nobody is left to believe that one does.

use crate::ui;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::fs::File;
use std::io::{self, Seek as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileTypeExt as _;

const UNREAD: &str =
    "standard input goes nowhere: a job reads files, brought along by --input FILE";

/// Says so, once there is something to read. What a pipe brings may come late, so it is asked again
/// when the job is over.
#[derive(Debug, Default)]
pub(super) struct Unread {
    told: bool,
}

impl Unread {
    pub(super) fn look(&mut self) {
        if !self.told && is_waiting(io::stdin().as_fd()) {
            self.told = true;
            ui::note(UNREAD);
        }
    }
}

/// Whether bytes that somebody has sent can be read: from a file, a pipe or a socket. Terminals and
/// other devices are there whether they are meant or not.
fn is_waiting(input: BorrowedFd<'_>) -> bool {
    let Ok(mut file) = input.try_clone_to_owned().map(File::from) else {
        return false;
    };
    let Ok(meta) = file.metadata() else {
        return false;
    };
    if meta.is_file() {
        return file.stream_position().is_ok_and(|at| at < meta.len());
    }
    let kind = meta.file_type();
    if !kind.is_fifo() && !kind.is_socket() {
        return false;
    }
    let mut asked = [PollFd::new(input, PollFlags::POLLIN)];
    let ready = poll(&mut asked, PollTimeout::ZERO);
    let readable = |flags: PollFlags| flags.contains(PollFlags::POLLIN);
    ready.is_ok() && asked[0].revents().is_some_and(readable)
}

#[cfg(test)]
mod tests {
    use super::is_waiting;
    use std::fs::File;
    use std::io::{Seek as _, Write as _, pipe};
    use std::os::fd::AsFd as _;

    #[test]
    fn only_what_was_sent_is_missed() {
        let (reader, mut writer) = pipe().unwrap();
        assert!(!is_waiting(reader.as_fd()), "nothing has come yet");
        writer.write_all(b"x").unwrap();
        assert!(is_waiting(reader.as_fd()));
        let (reader, writer) = pipe().unwrap();
        drop(writer);
        assert!(!is_waiting(reader.as_fd()), "it ended empty");
        let mut file = tempfile::tempfile().unwrap();
        assert!(!is_waiting(file.as_fd()));
        file.write_all(b"x").unwrap();
        assert!(!is_waiting(file.as_fd()), "all of it was read before");
        file.rewind().unwrap();
        assert!(is_waiting(file.as_fd()));
        for device in ["/dev/null", "/dev/zero"] {
            assert!(!is_waiting(File::open(device).unwrap().as_fd()), "{device}");
        }
    }
}
