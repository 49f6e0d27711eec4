//! The few requests to the kernel's route netlink that devices need.
//!
//! A request is a header, a fixed part and attributes, each attribute a length, a type and a value,
//! padded to 4 bytes. The kernel answers with an error number, 0 for success. All fits a buffer on
//! the stack.

use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd, OwnedFd};

use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, recv, send, socket,
};

const NEW_LINK: u16 = 16;
const NEW_ADDRESS: u16 = 20;
/// `NLM_F_REQUEST | NLM_F_ACK`.
const REQUEST: u16 = 0x01 | 0x04;
/// `NLM_F_CREATE | NLM_F_REPLACE`.
const CREATE: u16 = 0x400 | 0x100;
/// `NLM_F_CREATE | NLM_F_EXCL`.
const NEW: u16 = 0x400 | 0x200;
/// `IFF_UP`.
const UP: u32 = 1;
/// `IFF_NOARP`.
const NO_ARP: u32 = 0x80;
/// `IFA_F_NODAD`: nobody on a TUN answers the search for duplicates.
const NO_DUPLICATES: u8 = 2;
const INET: u8 = 2;
const INET6: u8 = 10;

const IFLA_ADDRESS: u16 = 1;
const IFLA_IFNAME: u16 = 3;
const IFLA_MTU: u16 = 4;
const IFLA_TXQLEN: u16 = 13;
const IFLA_LINKINFO: u16 = 18;
const IFLA_AF_SPEC: u16 = 26;
const IFLA_NET_NS_FD: u16 = 28;
const IFLA_INFO_KIND: u16 = 1;
const IFLA_INFO_DATA: u16 = 2;
const VETH_INFO_PEER: u16 = 1;
const IFLA_INET6_ADDR_GEN_MODE: u16 = 8;
const ADDR_GEN_MODE_NONE: u8 = 1;
const IFA_ADDRESS: u16 = 1;
const IFA_LOCAL: u16 = 2;

/// A socket to the kernel.
pub(crate) struct Netlink(OwnedFd);

impl Netlink {
    pub(crate) fn open() -> io::Result<Netlink> {
        let fd = socket(
            AddressFamily::Netlink,
            SockType::Raw,
            SockFlag::SOCK_CLOEXEC,
            SockProtocol::NetlinkRoute,
        )?;
        Ok(Netlink(fd))
    }

    /// Sets MTU and queue, and the device up.
    pub(crate) fn link(&mut self, index: u32, mtu: u32, queue: u32) -> io::Result<()> {
        let mut message = Message::link(index, UP);
        message.attribute(IFLA_MTU, &mtu.to_ne_bytes());
        message.attribute(IFLA_TXQLEN, &queue.to_ne_bytes());
        self.ask(message)
    }

    pub(crate) fn up(&mut self, index: u32) -> io::Result<()> {
        self.ask(Message::link(index, UP))
    }

    /// Nobody on the device is asked for anybody's Ethernet address.
    pub(crate) fn no_arp(&mut self, index: u32) -> io::Result<()> {
        self.ask(Message::link(index, NO_ARP))
    }

    /// Makes a pair of Ethernet devices: one here, the other in that namespace. Each is a name and
    /// an Ethernet address.
    pub(crate) fn pair(
        &mut self,
        here: (&str, [u8; 6]),
        there: (&str, [u8; 6]),
        namespace: BorrowedFd<'_>,
    ) -> io::Result<()> {
        let mut peer = Message::attributes();
        peer.put(&[0; 16]);
        peer.named(there);
        peer.attribute(IFLA_NET_NS_FD, &namespace.as_raw_fd().to_ne_bytes());
        let mut data = Message::attributes();
        data.attribute(VETH_INFO_PEER, peer.bytes());
        let mut info = Message::attributes();
        info.attribute(IFLA_INFO_KIND, b"veth");
        info.attribute(IFLA_INFO_DATA, data.bytes());
        let mut message = Message::new(NEW_LINK, REQUEST | NEW);
        message.put(&[0; 16]);
        message.named(here);
        message.attribute(IFLA_LINKINFO, info.bytes());
        self.ask(message)
    }

    /// No address of the kernel's own making, and so no search for routers on the device.
    pub(crate) fn no_link_local(&mut self, index: u32) -> io::Result<()> {
        let mut mode = Message::attributes();
        mode.attribute(IFLA_INET6_ADDR_GEN_MODE, &[ADDR_GEN_MODE_NONE]);
        let mut family = Message::attributes();
        family.attribute(u16::from(INET6), mode.bytes());
        let mut message = Message::link(index, 0);
        message.attribute(IFLA_AF_SPEC, family.bytes());
        self.ask(message)
    }

    pub(crate) fn address(&mut self, index: u32, octets: &[u8], prefix: u8) -> io::Result<()> {
        let family = if octets.len() == 4 { INET } else { INET6 };
        let mut message = Message::new(NEW_ADDRESS, REQUEST | CREATE);
        message.put(&[family, prefix, NO_DUPLICATES, 0]);
        message.put(&index.to_ne_bytes());
        message.attribute(IFA_LOCAL, octets);
        message.attribute(IFA_ADDRESS, octets);
        self.ask(message)
    }

    fn ask(&mut self, mut message: Message) -> io::Result<()> {
        send(self.0.as_raw_fd(), message.finish(), MsgFlags::empty())?;
        let mut answer = [0; 512];
        let bytes = recv(self.0.as_raw_fd(), &mut answer, MsgFlags::empty())?;
        match answer[..bytes].get(16..20).map(<[u8; 4]>::try_from) {
            Some(Ok([0, 0, 0, 0])) => Ok(()),
            Some(Ok(number)) => Err(io::Error::from_raw_os_error(-i32::from_ne_bytes(number))),
            _ => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }
}

/// A request that is being written.
struct Message {
    buffer: [u8; 256],
    used: usize,
}

impl Message {
    /// Attributes alone, to be the value of another one.
    fn attributes() -> Message {
        Message {
            buffer: [0; 256],
            used: 0,
        }
    }

    fn new(kind: u16, flags: u16) -> Message {
        let mut message = Message::attributes();
        message.put(&[0; 4]);
        message.put(&kind.to_ne_bytes());
        message.put(&flags.to_ne_bytes());
        message.put(&[0; 8]);
        message
    }

    /// A change of a device, which gets these flags besides those that it has.
    fn link(index: u32, flags: u32) -> Message {
        let mut message = Message::new(NEW_LINK, REQUEST);
        message.put(&[0; 4]);
        message.put(&index.to_ne_bytes());
        message.put(&flags.to_ne_bytes());
        message.put(&flags.to_ne_bytes());
        message
    }

    /// Name and address of a new device. A name has at most 15 bytes.
    fn named(&mut self, (name, address): (&str, [u8; 6])) {
        let mut text = [0; libc::IFNAMSIZ];
        let length = name.len().min(text.len() - 1);
        text[..length].copy_from_slice(&name.as_bytes()[..length]);
        self.attribute(IFLA_IFNAME, &text[..=length]);
        self.attribute(IFLA_ADDRESS, &address);
    }

    fn put(&mut self, bytes: &[u8]) {
        self.buffer[self.used..self.used + bytes.len()].copy_from_slice(bytes);
        self.used += bytes.len();
    }

    fn attribute(&mut self, kind: u16, value: &[u8]) {
        self.put(&(4 + value.len() as u16).to_ne_bytes());
        self.put(&kind.to_ne_bytes());
        self.put(value);
        self.used = self.used.next_multiple_of(4);
    }

    fn bytes(&self) -> &[u8] {
        &self.buffer[..self.used]
    }

    fn finish(&mut self) -> &[u8] {
        self.buffer[..4].copy_from_slice(&(self.used as u32).to_ne_bytes());
        &self.buffer[..self.used]
    }
}
