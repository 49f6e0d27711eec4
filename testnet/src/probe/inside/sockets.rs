//! Ways to the network, and to sockets of the host.

use super::attempt::{Answer, Probe, Reached, Refused, fails, forbidden, io_fails, probe, told};
use super::raw::{Arg::M, Arg::N, call};
use crate::probe::env;
use nix::libc;
use std::net::{SocketAddr, TcpStream};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr as UnixAddress, UnixDatagram, UnixStream};
use std::time::Duration;

/// Where clouds tell a machine its secrets.
const METADATA: ([u8; 4], u16) = ([169, 254, 169, 254], 80);
/// How long a connection may take before it leads nowhere.
const WAIT: Duration = Duration::from_secs(2);

/// All of them.
pub(crate) const SOCKETS: &[Probe] = &[
    probe("socket-alg", || family(libc::AF_ALG)),
    probe("socket-vsock", || family(libc::AF_VSOCK)),
    probe("socket-tipc", || family(libc::AF_TIPC)),
    probe("socket-rds", || family(libc::AF_RDS)),
    probe("socket-can", || family(libc::AF_CAN)),
    probe("socket-key", || family(libc::AF_KEY)),
    probe("socket-bluetooth", || family(libc::AF_BLUETOOTH)),
    probe("socket-xdp", || family(44)),
    probe("socket-packet", || {
        forbidden(socket(libc::AF_PACKET, libc::SOCK_RAW, 0))
    }),
    probe("socket-raw", || {
        forbidden(socket(libc::AF_INET, libc::SOCK_RAW, libc::IPPROTO_RAW))
    }),
    probe("socket-mptcp", || {
        forbidden(socket(libc::AF_INET, libc::SOCK_STREAM, 262))
    }),
    probe("netlink-audit", || {
        forbidden(socket(
            libc::AF_NETLINK,
            libc::SOCK_RAW,
            libc::NETLINK_AUDIT,
        ))
    }),
    probe("netlink-netfilter", || {
        forbidden(socket(
            libc::AF_NETLINK,
            libc::SOCK_RAW,
            libc::NETLINK_NETFILTER,
        ))
    }),
    probe("host-loopback", || {
        let port = told(env::PORT).parse().unwrap_or(0);
        reach(SocketAddr::from(([127, 0, 0, 1], port)))
    }),
    probe("metadata-address", || nowhere(SocketAddr::from(METADATA))),
    probe("node-socket", || {
        io_fails(UnixStream::connect(told(env::SOCKET)))
    }),
    probe("abstract-socket", || {
        let address = UnixAddress::from_abstract_name(told(env::ABSTRACT));
        io_fails(address.and_then(|address| UnixStream::connect_addr(&address)))
    }),
    probe("datagram-pair", || {
        // A socket that is half of a pair may send elsewhere.
        io_fails(UnixDatagram::pair().and_then(|(one, _)| one.send_to(b"x", told(env::DATAGRAM))))
    }),
    probe("datagram-pair-abstract", || {
        let address = UnixAddress::from_abstract_name(told(env::ABSTRACT) + env::DATAGRAMS);
        let sent = UnixDatagram::pair().and_then(|(one, _)| one.send_to_addr(b"x", &address?));
        io_fails(sent)
    }),
    probe("bind-node-port", || {
        // A port of its own network is no harm: this is about the host's, which is taken.
        let port: u16 = told(env::PORT).parse().unwrap_or(0);
        match std::net::TcpListener::bind(("0.0.0.0", port)) {
            Ok(_) if std::fs::read("/proc/net/route").is_ok_and(|routes| lines(&routes) <= 1) => {
                Refused("bound, in a network without routes".to_owned())
            }
            other => io_fails(other),
        }
    }),
    probe("terminal-words", || {
        let mut word = *b"x";
        let args = &mut [N(0), N(libc::TIOCSTI), M(&mut word)];
        forbidden(call(libc::SYS_ioctl, args))
    }),
];

fn lines(bytes: &[u8]) -> usize {
    bytes
        .split(|byte| *byte == b'\n')
        .filter(|l| !l.is_empty())
        .count()
}

fn family(family: libc::c_int) -> Answer {
    forbidden(socket(family, libc::SOCK_SEQPACKET, 0))
}

fn socket(
    family: libc::c_int,
    kind: libc::c_int,
    protocol: libc::c_int,
) -> Result<i64, nix::errno::Errno> {
    let args = &mut [N(family as u64), N(kind as u64), N(protocol as u64)];
    call(libc::SYS_socket, args)
}

/// Of an address outside, whether anybody is there or not: the point is that no packet is sent
/// to it.
fn nowhere(address: SocketAddr) -> Answer {
    let connected = TcpStream::connect_timeout(&address, WAIT);
    let Err(error) = connected else {
        return Reached("it worked".to_owned());
    };
    match error.raw_os_error() {
        Some(libc::ENETUNREACH) => Refused("no route".to_owned()),
        Some(libc::EPERM | libc::EACCES | libc::EAFNOSUPPORT) => Refused("no socket".to_owned()),
        _ => Reached(format!("the network was asked for it: {error}")),
    }
}

fn reach(address: SocketAddr) -> Answer {
    let connected = TcpStream::connect_timeout(&address, WAIT);
    fails(connected.map_err(|e| nix::errno::Errno::from_raw(e.raw_os_error().unwrap_or(0))))
}
