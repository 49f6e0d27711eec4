//! Descriptors through a Unix socket (`SCM_RIGHTS`).
//!
//! Neither function allocates more than a list of the few descriptors, starts a thread or takes a
//! lock, so a supervisor may call them between fork and exec.

use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd, RawFd};

use nix::sys::socket::{ControlMessage, ControlMessageOwned, MsgFlags, UnixAddr, recvmsg, sendmsg};

/// Descriptors in one message at the most.
pub const FDS_MAX: usize = 4;

/// Sends `data`, which must not be empty, with copies of up to [`FDS_MAX`] descriptors.
pub fn send(socket: impl AsFd, data: &[u8], fds: &[BorrowedFd<'_>]) -> io::Result<()> {
    if data.is_empty() || fds.len() > FDS_MAX {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut raw = [-1; FDS_MAX];
    for (slot, fd) in raw.iter_mut().zip(fds) {
        *slot = fd.as_raw_fd();
    }
    let rights = [ControlMessage::ScmRights(&raw[..fds.len()])];
    let control: &[_] = if fds.is_empty() { &[] } else { &rights };
    let socket = socket.as_fd().as_raw_fd();
    let sent = sendmsg::<UnixAddr>(
        socket,
        &[IoSlice::new(data)],
        control,
        MsgFlags::MSG_NOSIGNAL,
        None,
    )?;
    if sent == data.len() {
        Ok(())
    } else {
        Err(io::ErrorKind::WriteZero.into())
    }
}

/// Receives one message: the number of bytes, 0 at the end of the stream, and the descriptors.
///
/// Fails, and closes what came, if there were more than [`FDS_MAX`].
pub fn recv(socket: impl AsFd, data: &mut [u8]) -> io::Result<(usize, Vec<OwnedFd>)> {
    let mut space = nix::cmsg_space!([RawFd; FDS_MAX]);
    let mut vectors = [IoSliceMut::new(data)];
    let message = recvmsg::<UnixAddr>(
        socket.as_fd().as_raw_fd(),
        &mut vectors,
        Some(&mut space),
        MsgFlags::MSG_CMSG_CLOEXEC,
    )?;
    let mut fds = Vec::new();
    for control in message.cmsgs()? {
        if let ControlMessageOwned::ScmRights(raw) = control {
            fds.extend(raw.into_iter().map(crate::sys::adopt));
        }
    }
    if message.flags.contains(MsgFlags::MSG_CTRUNC) || fds.len() > FDS_MAX {
        return Err(io::Error::other("too many descriptors in one message"));
    }
    Ok((message.bytes, fds))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::{Read as _, Write as _};
    use std::os::unix::net::UnixStream;

    #[test]
    fn a_descriptor_arrives_and_works() {
        let (left, right) = UnixStream::pair().expect("a pair");
        let (mut reader, writer) = std::io::pipe().expect("a pipe");
        send(&left, b"tun", &[writer.as_fd()]).expect("sends");
        drop(writer);
        let mut data = [0; 16];
        let (bytes, mut fds) = recv(&right, &mut data).expect("receives");
        assert_eq!((&data[..bytes], fds.len()), (&b"tun"[..], 1));
        let mut file = File::from(fds.remove(0));
        file.write_all(b"hello").expect("writes");
        drop(file);
        let mut text = String::new();
        reader.read_to_string(&mut text).expect("reads");
        assert_eq!(text, "hello");
    }

    #[test]
    fn the_end_and_messages_without_descriptors() {
        let (left, right) = UnixStream::pair().expect("a pair");
        send(&left, b"x", &[]).expect("sends");
        assert!(send(&left, b"", &[]).is_err());
        assert!(send(&left, b"x", &[left.as_fd(); FDS_MAX + 1]).is_err());
        drop(left);
        let mut data = [0; 4];
        for bytes in [1, 0] {
            let (got, fds) = recv(&right, &mut data).expect("receives");
            assert_eq!((got, fds.len()), (bytes, 0));
        }
    }
}
