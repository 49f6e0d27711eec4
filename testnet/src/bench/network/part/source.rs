//! The end that traffic comes from.
//!
//! It prints `begin` and `end` around the flow, and its report.

use super::common::{PORTS, Report};
use crate::say;
use anyhow::{Context as _, bail};
use gridbay_vnet::address::RankAddress;
use gridbay_vnet::engine::User;
use gridbay_vnet::tun;
use nix::sys::socket::sockopt::TcpCongestion;
use nix::sys::socket::{AddressFamily, SockFlag, SockProtocol, SockType, setsockopt, socket};
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpStream, UdpSocket};
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::{Duration, Instant};

/// What is measured is the tunnel, so the sender is the one that most systems have.
const CONGESTION: &str = "cubic";
/// Until the first echo.
const PATIENCE: Duration = Duration::from_secs(12);
/// For one connection to stand.
const TRY: Duration = Duration::from_secs(1);
/// Echoes with nothing else, and between them.
const IDLE: (u32, Duration) = (50, Duration::from_millis(20));
/// Between echoes beside a flow, of which the first ones are left out.
const LOADED: (Duration, Duration) = (Duration::from_millis(50), Duration::from_millis(500));
/// Bytes of small datagrams, and how long they are sent.
const SMALL: (usize, Duration) = (200, Duration::from_secs(2));

/// Makes all kinds of traffic, one after the other.
pub(super) fn run(to: IpAddr, seconds: u64) -> anyhow::Result<()> {
    tun::allow_ping(nix::unistd::getgid().as_raw()).ok();
    let mut pinger = first_echo(to)?;
    let idle_ms = mean((0..IDLE.0).filter_map(|_| {
        thread::sleep(IDLE.1);
        pinger.echo()
    }));
    let mut stream = connect(to, PORTS[0])?;
    setsockopt(&stream, TcpCongestion, &OsString::from(CONGESTION)).context(CONGESTION)?;
    let length = Duration::from_secs(seconds);
    say::line("begin");
    let beside = thread::spawn(move || {
        thread::sleep(LOADED.1);
        let end = Instant::now() + length.saturating_sub(LOADED.1 * 2);
        let mut echoes = Vec::new();
        while Instant::now() < end {
            echoes.extend(pinger.echo());
            thread::sleep(LOADED.0);
        }
        mean(echoes.into_iter())
    });
    let (bytes, seconds) = fill(&mut stream, length)?;
    say::line("end");
    let report = Report {
        bytes,
        seconds,
        idle_ms: Some(idle_ms),
        loaded_ms: beside.join().ok(),
        small: small(to)?,
    };
    report.tell()
}

/// A flow and nothing else.
pub(super) fn flow(to: IpAddr, congestion: &str, seconds: u64) -> anyhow::Result<()> {
    let mut stream = connect(to, PORTS[0])?;
    setsockopt(&stream, TcpCongestion, &OsString::from(congestion)).context("congestion")?;
    alone(&mut stream, seconds)
}

/// A flow from a rank without a device.
pub(super) fn user(user: &User, to: RankAddress, seconds: u64) -> anyhow::Result<()> {
    let at = SocketAddr::new(to.v4.into(), PORTS[0]);
    // The sink may still be starting.
    let tried = (0..50).find_map(|_| {
        let connected = user.connect(at, PATIENCE).ok();
        if connected.is_none() {
            thread::sleep(Duration::from_millis(100));
        }
        connected
    });
    alone(&mut tried.context("no sink")?, seconds)
}

fn alone(stream: &mut impl Stream, seconds: u64) -> anyhow::Result<()> {
    say::line("begin");
    let (bytes, seconds) = fill(stream, Duration::from_secs(seconds))?;
    say::line("end");
    Report {
        bytes,
        seconds,
        ..Report::default()
    }
    .tell()
}

/// Writes for so long; returns how much arrived, and in how many seconds.
fn fill(stream: &mut impl Stream, length: Duration) -> anyhow::Result<(u64, f64)> {
    let (began, block) = (Instant::now(), vec![7; 1 << 17]);
    while began.elapsed() < length {
        stream.write_all(&block)?;
    }
    stream.end()?;
    let mut answer = [[0; 8]; 2];
    stream.read_exact(answer.as_flattened_mut())?;
    let [bytes, nanos] = answer.map(u64::from_be_bytes);
    Ok((bytes, nanos as f64 * 1e-9))
}

/// What a flow can go over.
trait Stream: Read + Write {
    /// Nothing more is written.
    fn end(&mut self) -> io::Result<()>;
}

impl Stream for TcpStream {
    fn end(&mut self) -> io::Result<()> {
        self.shutdown(Shutdown::Write)
    }
}

impl Stream for UnixStream {
    fn end(&mut self) -> io::Result<()> {
        self.shutdown(Shutdown::Write)
    }
}

/// The tool may still be starting.
fn first_echo(to: IpAddr) -> anyhow::Result<Pinger> {
    let began = Instant::now();
    while began.elapsed() < PATIENCE {
        if let Ok(mut pinger) = Pinger::new(to)
            && pinger.echo().is_some()
        {
            return Ok(pinger);
        }
        thread::sleep(Duration::from_millis(20));
    }
    bail!("no echo from {to}")
}

fn connect(to: IpAddr, port: u16) -> anyhow::Result<TcpStream> {
    let mut last = None;
    for _ in 0..50 {
        // A first segment that leaves before the device has its address keeps the wrong source,
        // and is never answered.
        match TcpStream::connect_timeout(&SocketAddr::new(to, port), TRY) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = Some(error),
        }
        thread::sleep(Duration::from_millis(100));
    }
    Err(last.context("no try")?).context("no sink")
}

/// How many datagrams arrive in a second of those that a socket takes; none where the other end
/// counts none.
fn small(to: IpAddr) -> anyhow::Result<Option<f64>> {
    if TcpStream::connect((to, PORTS[1])).is_err() {
        return Ok(None);
    }
    let socket = UdpSocket::bind("0.0.0.0:0")?;
    socket.connect((to, PORTS[2]))?;
    let (datagram, before) = (vec![1; SMALL.0], count(to)?);
    let began = Instant::now();
    while began.elapsed() < SMALL.1 {
        for _ in 0..64 {
            socket.send(&datagram).ok();
        }
    }
    let sent = began.elapsed().as_secs_f64();
    // What is on its way arrives.
    thread::sleep(Duration::from_millis(300));
    Ok(Some((count(to)? - before) as f64 / sent))
}

fn count(to: IpAddr) -> anyhow::Result<u64> {
    let mut answer = [0; 8];
    connect(to, PORTS[1])?.read_exact(&mut answer)?;
    Ok(u64::from_be_bytes(answer))
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    if count == 0.0 { 0.0 } else { sum / count }
}

/// ICMP echoes, which the kernel of the other end answers.
struct Pinger {
    socket: UdpSocket,
    number: u16,
}

impl Pinger {
    fn new(to: IpAddr) -> anyhow::Result<Pinger> {
        let flags = SockFlag::SOCK_CLOEXEC;
        let fd = socket(
            AddressFamily::Inet,
            SockType::Datagram,
            flags,
            SockProtocol::Icmp,
        )
        .context("a socket for echoes")?;
        let socket = UdpSocket::from(fd);
        socket.connect((to, 0))?;
        socket.set_read_timeout(Some(Duration::from_millis(200)))?;
        Ok(Pinger { socket, number: 0 })
    }

    /// Milliseconds of a round trip; none if it took longer than 200 of them.
    fn echo(&mut self) -> Option<f64> {
        self.number = self.number.wrapping_add(1);
        let mut packet = [0; 64];
        packet[0] = 8;
        packet[6..8].copy_from_slice(&self.number.to_be_bytes());
        let sent = Instant::now();
        self.socket.send(&packet).ok()?;
        loop {
            let mut answer = [0; 64];
            self.socket.recv(&mut answer).ok()?;
            if answer[6..8] == packet[6..8] {
                return Some(sent.elapsed().as_secs_f64() * 1e3);
            }
        }
    }
}
