//! The block protocol that QEMU speaks to a disk outside of it: as much of NBD as it needs.
//!
//! Of the options QEMU uses `NBD_OPT_GO` alone, once it is told that others are unknown. The disk
//! tells that it can be flushed and nothing else: so QEMU writes zeros as it writes other bytes,
//! and discards nothing. Requests are answered in the order in which they come, so a flush covers
//! all that came before it.

use super::disk::Disk;
use std::io::{self, ErrorKind, Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};

const GREETING: &[u8; 8] = b"NBDMAGIC";
const OPTION: &[u8; 8] = b"IHAVEOPT";
/// Fixed newstyle, and no zeros after it.
const HANDSHAKE: u16 = 1 | 2;
const GO: u32 = 7;
const ABORT: u32 = 2;
const REPLY_TO_OPTION: u64 = 0x0003_e889_0455_65a9;
const ACK: u32 = 1;
const INFO: u32 = 3;
const UNKNOWN: u32 = (1 << 31) | 1;
/// It has flags, and takes flushes.
const FLAGS: u16 = 1 | 4;
const REQUEST: u32 = 0x2560_9513;
const REPLY: u32 = 0x6744_6698;
const INVALID: u32 = 22;
/// Bytes of an option or a request, at most: QEMU's are not larger.
const MOST: u32 = 32 << 20;

/// What QEMU asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verb {
    Read,
    Write,
    Disconnect,
    Flush,
    Other,
}

/// A request, without the bytes of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Request {
    verb: Verb,
    handle: u64,
    at: u64,
    bytes: u32,
}

impl Request {
    /// Reads the head of a request.
    fn parse(head: [u8; 28]) -> io::Result<Request> {
        let number = |from: usize, to: usize| {
            let bytes = head[from..to].iter();
            bytes.fold(0, |sum: u64, byte| (sum << 8) | u64::from(*byte))
        };
        let bytes = u32::try_from(number(24, 28)).unwrap_or(u32::MAX);
        if number(0, 4) != u64::from(REQUEST) || bytes > MOST {
            return Err(odd("a request"));
        }
        Ok(Request {
            verb: match number(6, 8) {
                0 => Verb::Read,
                1 => Verb::Write,
                2 => Verb::Disconnect,
                3 => Verb::Flush,
                _ => Verb::Other,
            },
            handle: number(8, 16),
            at: number(16, 24),
            bytes,
        })
    }

    /// Whether it stays within a disk of a size.
    fn fits(&self, size: u64) -> bool {
        let end = self.at.checked_add(u64::from(self.bytes));
        end.is_some_and(|end| end <= size)
    }
}

/// Answers until QEMU is gone, or until it flushes something once a cut is due.
///
/// # Errors
/// The disk fails, or what came is not this protocol.
pub(super) fn serve(
    line: &mut (impl Read + Write),
    disk: &mut Disk,
    due: &AtomicBool,
) -> io::Result<()> {
    let gone = [
        ErrorKind::UnexpectedEof,
        ErrorKind::BrokenPipe,
        ErrorKind::ConnectionReset,
    ];
    match greet(line, disk.size()).and_then(|()| answer(line, disk, due)) {
        Err(error) if gone.contains(&error.kind()) => Ok(()),
        other => other,
    }
}

fn odd(what: &str) -> io::Error {
    let what = format!("{what} is not as NBD has them");
    io::Error::new(ErrorKind::InvalidData, what)
}

fn array<const N: usize>(line: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    line.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn greet(line: &mut (impl Read + Write), size: u64) -> io::Result<()> {
    line.write_all(&[GREETING, OPTION, &HANDSHAKE.to_be_bytes()[..]].concat())?;
    let _flags: [u8; 4] = array(line)?;
    loop {
        if array(line)? != *OPTION {
            return Err(odd("an option"));
        }
        let option = u32::from_be_bytes(array(line)?);
        let bytes = u32::from_be_bytes(array(line)?);
        if bytes > MOST {
            return Err(odd("an option's length"));
        }
        // The names of exports and what is asked of them: there is one.
        line.read_exact(&mut vec![0; bytes as usize])?;
        let mut reply = |kind: u32, data: &[u8]| {
            let bytes = u32::try_from(data.len()).unwrap_or_default();
            let [option, kind, bytes] = [option, kind, bytes].map(u32::to_be_bytes);
            let head = REPLY_TO_OPTION.to_be_bytes();
            line.write_all(&[&head[..], &option, &kind, &bytes, data].concat())
        };
        match option {
            GO => {
                let info = [&[0; 2][..], &size.to_be_bytes(), &FLAGS.to_be_bytes()];
                reply(INFO, &info.concat())?;
                return reply(ACK, &[]);
            }
            ABORT => return Err(ErrorKind::UnexpectedEof.into()),
            _ => reply(UNKNOWN, &[])?,
        }
    }
}

fn answer(line: &mut (impl Read + Write), disk: &mut Disk, due: &AtomicBool) -> io::Result<()> {
    loop {
        let request = Request::parse(array(line)?)?;
        let mut bytes = match request.verb {
            Verb::Read | Verb::Write => vec![0; request.bytes as usize],
            _ => Vec::new(),
        };
        if request.verb == Verb::Write {
            line.read_exact(&mut bytes)?;
        }
        let fits = request.fits(disk.size());
        let (error, bytes) = match request.verb {
            Verb::Read if fits => {
                disk.read(request.at, &mut bytes)?;
                (0, bytes)
            }
            Verb::Write if fits => {
                disk.write(request.at, bytes)?;
                (0, Vec::new())
            }
            Verb::Flush if due.load(Ordering::Relaxed) && disk.is_open() => return Ok(()),
            Verb::Flush => {
                disk.flush();
                (0, Vec::new())
            }
            Verb::Disconnect => return Ok(()),
            _ => (INVALID, Vec::new()),
        };
        let [magic, error] = [REPLY, error].map(u32::to_be_bytes);
        let handle = request.handle.to_be_bytes();
        line.write_all(&[&magic[..], &error, &handle, &bytes].concat())?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kill::rng::Rng;
    use std::os::unix::net::UnixStream;
    use std::thread;
    use tempfile::TempDir;

    const SIZE: u64 = 8_192;

    /// A client that speaks to a new disk of zeros, past the greeting; what becomes of the disk.
    fn with_client(client: impl FnOnce(&mut UnixStream) + Send) -> (io::Result<()>, Disk) {
        until(&AtomicBool::new(false), client)
    }

    /// The same, where a cut may be due.
    fn until(
        due: &AtomicBool,
        client: impl FnOnce(&mut UnixStream) + Send,
    ) -> (io::Result<()>, Disk) {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("disk");
        std::fs::write(&path, vec![0; SIZE as usize]).unwrap();
        let mut disk = Disk::open(&path).unwrap();
        let (mut line, mut theirs) = UnixStream::pair().unwrap();
        let served = thread::scope(|scope| {
            scope.spawn(move || {
                go(&mut theirs);
                client(&mut theirs);
            });
            let served = serve(&mut line, &mut disk, due);
            drop(line);
            served
        });
        (served, disk)
    }

    /// An option that it does not know, and the one that it does.
    fn go(line: &mut UnixStream) {
        let greeting: [u8; 18] = array(line).unwrap();
        assert_eq!(greeting, *b"NBDMAGICIHAVEOPT\0\x03");
        line.write_all(&[0, 0, 0, 3]).unwrap();
        line.write_all(b"IHAVEOPT\0\0\0\x08\0\0\0\0").unwrap();
        let reply: [u8; 20] = array(line).unwrap();
        assert_eq!(reply[8..], *b"\0\0\0\x08\x80\0\0\x01\0\0\0\0");
        line.write_all(b"IHAVEOPT\0\0\0\x07\0\0\0\x06\0\0\0\0\0\0")
            .unwrap();
        let reply: [u8; 32] = array(line).unwrap();
        assert_eq!(reply[8..22], *b"\0\0\0\x07\0\0\0\x03\0\0\0\x0c\0\0");
        assert_eq!(reply[22..30], SIZE.to_be_bytes());
        assert_eq!(reply[30..], [0, 5]);
        let reply: [u8; 20] = array(line).unwrap();
        assert_eq!(reply[8..], *b"\0\0\0\x07\0\0\0\x01\0\0\0\0");
    }

    /// Sends a request; the error and the bytes of its answer.
    fn ask(line: &mut UnixStream, verb: u8, at: u64, bytes: u32, data: &[u8]) -> (u32, Vec<u8>) {
        let head = [&REQUEST.to_be_bytes()[..], &[0, 0, 0, verb], b"a handle"].concat();
        line.write_all(&head).unwrap();
        line.write_all(&at.to_be_bytes()).unwrap();
        line.write_all(&bytes.to_be_bytes()).unwrap();
        line.write_all(data).unwrap();
        let reply: [u8; 16] = array(line).unwrap();
        assert_eq!(reply[..4], REPLY.to_be_bytes());
        assert_eq!(reply[8..], *b"a handle");
        let error = u32::from_be_bytes([reply[4], reply[5], reply[6], reply[7]]);
        let many = if verb == 0 && error == 0 { bytes } else { 0 };
        let mut bytes = vec![0; many as usize];
        line.read_exact(&mut bytes).unwrap();
        (error, bytes)
    }

    #[test]
    fn only_a_flush_makes_writes_safe() {
        let (served, mut disk) = with_client(|line| {
            assert_eq!(ask(line, 1, 512, 512, &[7; 512]), (0, vec![]));
            assert_eq!(ask(line, 3, 0, 0, &[]), (0, vec![]));
            assert_eq!(ask(line, 1, 1024, 512, &[8; 512]), (0, vec![]));
            let (error, bytes) = ask(line, 0, 1_023, 2, &[]);
            assert_eq!((error, bytes), (0, vec![7, 8]));
        });
        served.unwrap();
        assert_eq!(disk.cut(&mut Rng::new(1)).unwrap().open, 1);
        let mut left = [0; 512];
        disk.read(512, &mut left).unwrap();
        assert_eq!(left, [7; 512]);
    }

    #[test]
    fn a_cut_that_is_due_comes_before_a_flush_of_something() {
        let due = AtomicBool::new(true);
        let (served, mut disk) = until(&due, |line| {
            assert_eq!(ask(line, 3, 0, 0, &[]), (0, vec![]), "nothing is open");
            assert_eq!(ask(line, 1, 512, 512, &[7; 512]), (0, vec![]));
            let flush = [&REQUEST.to_be_bytes()[..], &[0, 0, 0, 3], &[0; 20]].concat();
            line.write_all(&flush).unwrap();
            let gone = array::<1>(line).unwrap_err();
            assert_eq!(gone.kind(), ErrorKind::UnexpectedEof);
        });
        served.unwrap();
        assert_eq!(disk.cut(&mut Rng::new(1)).unwrap().open, 1);
    }

    #[test]
    fn requests_outside_of_the_disk_are_refused() {
        let (served, mut disk) = with_client(|line| {
            for at in [SIZE, SIZE - 1, u64::MAX] {
                assert_eq!(ask(line, 0, at, 2, &[]).0, INVALID);
                assert_eq!(ask(line, 1, at, 2, &[1, 2]).0, INVALID);
            }
            assert_eq!(ask(line, 4, 0, 512, &[]).0, INVALID, "nothing is trimmed");
            assert_eq!(ask(line, 0, SIZE - 2, 2, &[]), (0, vec![0, 0]));
        });
        served.unwrap();
        assert_eq!(disk.cut(&mut Rng::new(1)).unwrap().open, 0);
    }

    #[test]
    fn a_killed_client_is_no_error_and_another_protocol_is() {
        let begun = [&REQUEST.to_be_bytes()[..], &[0, 0, 0, 1]].concat();
        let (served, _) = with_client(|line| line.write_all(&begun).unwrap());
        served.unwrap();
        let (served, _) = with_client(|line| line.write_all(&[b'G'; 28]).unwrap());
        assert_eq!(served.unwrap_err().kind(), ErrorKind::InvalidData);
        let long = [&REQUEST.to_be_bytes()[..], &[0; 20], &[0xff; 4]].concat();
        let (served, _) = with_client(|line| line.write_all(&long).unwrap());
        assert_eq!(served.unwrap_err().kind(), ErrorKind::InvalidData);
    }
}
