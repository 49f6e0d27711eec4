//! The stack of one rank with all its connections. Its thread calls [`Stack::step`], then
//! [`Stack::wait`], until the rank is detached.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::time::Duration;

use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use smoltcp::iface::{Config, Interface, PollResult, SocketSet};
use smoltcp::socket::tcp::{Socket, State};
use smoltcp::time::Instant;
use smoltcp::wire::{HardwareAddress, IpCidr};

use super::backlog::Backlog;
use super::connection::{Connection, Stage, socket};
use super::desk::{Command, Desk, Reply};
use super::device::{Out, Wire};
use super::segment::{Flow, Segment};
use super::{CONNECTIONS, acks};
use crate::address::{RankAddress, V4_PREFIX, V6_PREFIX};
use crate::path::Time;
use crate::tun::HEADER;

/// The event of commands and packets.
const WAKE: u64 = u64::MAX;
/// Own ports of connections that are begun here, the first and how many.
const PORTS: (u16, u16) = (32_768, 28_232);
/// The longest wait, and the shortest that is not none.
const WAIT: (Duration, Duration) = (Duration::from_secs(60), Duration::from_millis(1));

/// See the module.
pub(crate) struct Stack {
    address: RankAddress,
    desk: Arc<Desk>,
    epoll: Epoll,
    interface: Interface,
    sockets: SocketSet<'static>,
    connections: HashMap<u64, Connection>,
    flows: HashMap<Flow, u64>,
    listeners: HashMap<u16, Arc<Backlog>>,
    /// Numbers of connections, and own ports.
    next: (u64, u16),
    buffer: Vec<u8>,
}

impl Stack {
    /// The stack of a rank with these addresses.
    pub(crate) fn new(address: RankAddress, desk: Arc<Desk>) -> io::Result<Stack> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        let wake = EpollEvent::new(EpollFlags::EPOLLIN, WAKE);
        epoll.add(desk.wake().as_fd(), wake)?;
        let mut config = Config::new(HardwareAddress::Ip);
        config.random_seed = getrandom::u64().map_err(io::Error::other)?;
        let first = (config.random_seed >> 32) as u16 % PORTS.1;
        let mut buffer = Vec::new();
        let mut wire = Wire {
            packet: None,
            out: &mut |_| {},
            buffer: &mut buffer,
        };
        let mut interface = Interface::new(config, &mut wire, Instant::ZERO);
        interface.update_ip_addrs(|addresses| {
            // There is room for two.
            addresses
                .push(IpCidr::new(address.v4.into(), V4_PREFIX))
                .ok();
            addresses
                .push(IpCidr::new(address.v6.into(), V6_PREFIX))
                .ok();
        });
        Ok(Stack {
            address,
            desk,
            epoll,
            interface,
            sockets: SocketSet::new(Vec::new()),
            connections: HashMap::new(),
            flows: HashMap::new(),
            listeners: HashMap::new(),
            next: (0, first),
            buffer,
        })
    }

    /// Does all that is to be done with what waits; returns how long nothing more will be.
    pub(crate) fn step(&mut self, now: Time, packets: &[Vec<u8>], out: Out<'_>) -> Duration {
        for command in self.desk.take() {
            self.command(command, now);
        }
        for packet in packets {
            self.packet(&packet[HEADER..], now, out);
        }
        self.pump(now);
        self.send(now, out);
        let delay = self.interface.poll_delay(instant(now), &self.sockets);
        delay.map_or(WAIT.0, |delay| Duration::from(delay).clamp(WAIT.1, WAIT.0))
    }

    /// Waits until there is something to do.
    pub(crate) fn wait(&mut self, longest: Duration) {
        let mut events = [EpollEvent::empty(); 64];
        let millis = longest.as_micros().div_ceil(1000).min(60_000) as u16;
        let timeout = EpollTimeout::from(millis);
        let Ok(count) = self.epoll.wait(&mut events, timeout) else {
            return;
        };
        for event in &events[..count] {
            if event.data() == WAKE {
                self.desk.wake().read().ok();
            } else if let Some(connection) = self.connections.get_mut(&event.data())
                && let Stage::Open(bridge) = &mut connection.stage
            {
                bridge.event(event.events());
            }
        }
    }

    /// Resets all connections, and takes no more.
    pub(crate) fn end(&mut self, now: Time, out: Out<'_>) {
        self.desk.close();
        for backlog in self.listeners.values() {
            backlog.close();
        }
        for connection in self.connections.values() {
            let socket: &mut Socket<'_> = self.sockets.get_mut(connection.handle);
            socket.abort();
        }
        self.send(now, out);
        self.connections.clear();
    }

    fn command(&mut self, command: Command, now: Time) {
        match command {
            Command::Connect { to, within, reply } => self.connect(to, now + within, reply),
            Command::Listen {
                port,
                backlog,
                reply,
            } => {
                let taken = self.listeners.contains_key(&port);
                reply
                    .send(match port {
                        0 => Err(io::ErrorKind::InvalidInput.into()),
                        _ if taken => Err(io::ErrorKind::AddrInUse.into()),
                        _ => Ok(()),
                    })
                    .ok();
                if !taken && port != 0 {
                    self.listeners.insert(port, backlog);
                }
            }
            Command::Ignore { port, backlog } => {
                let known = self.listeners.get(&port);
                if known.is_some_and(|known| Arc::ptr_eq(known, &backlog)) {
                    self.listeners.remove(&port);
                }
            }
        }
    }

    fn connect(&mut self, to: SocketAddr, deadline: Time, reply: Reply) {
        let to = SocketAddr::new(to.ip().to_canonical(), to.port());
        let free = (self.connections.len() < CONNECTIONS).then(|| self.free_port(to));
        let Some(port) = free.flatten() else {
            let full = io::ErrorKind::AddrNotAvailable;
            reply.send(Err(full.into())).ok();
            return;
        };
        let own = match to {
            SocketAddr::V4(_) => SocketAddr::new(self.address.v4.into(), port),
            SocketAddr::V6(_) => SocketAddr::new(self.address.v6.into(), port),
        };
        let mut socket = socket();
        let (far, near) = (Connection::endpoint(to), Connection::endpoint(own));
        if socket.connect(self.interface.context(), far, near).is_err() {
            let error = io::ErrorKind::InvalidInput;
            reply.send(Err(error.into())).ok();
            return;
        }
        self.enter(socket, (to, port), Stage::Opening(reply, deadline));
    }

    /// An own port that nothing uses towards there.
    fn free_port(&mut self, to: SocketAddr) -> Option<u16> {
        (0..PORTS.1).find_map(|_| {
            self.next.1 = (self.next.1 + 1) % PORTS.1;
            let port = PORTS.0 + self.next.1;
            let used = self.flows.contains_key(&(to, port)) || self.listeners.contains_key(&port);
            (!used).then_some(port)
        })
    }

    fn enter(&mut self, socket: Socket<'static>, flow: Flow, stage: Stage) {
        let connection = Connection {
            handle: self.sockets.add(socket),
            flow,
            acknowledged: None,
            stage,
        };
        self.next.0 += 1;
        self.flows.insert(flow, self.next.0);
        self.connections.insert(self.next.0, connection);
    }

    /// A packet comes in.
    fn packet(&mut self, packet: &[u8], now: Time, out: Out<'_>) {
        if let Some(segment) = Segment::read(packet) {
            let known = self.flows.get(&segment.flow).copied();
            if known.is_none() && segment.opens && !self.arrives(&segment) {
                return;
            }
            let connection = known.and_then(|number| self.connections.get_mut(&number));
            if let (Some(connection), Some(to)) = (connection, segment.acknowledges) {
                let from = connection.acknowledged.replace(to).unwrap_or(to);
                for part in acks::before(packet, &segment, from, to) {
                    self.feed(&part, now, out);
                }
            }
        }
        self.feed(packet, now, out);
    }

    /// Prepares for a connection that the other side begins; false if it has to try again.
    fn arrives(&mut self, segment: &Segment) -> bool {
        let Some(backlog) = self.listeners.get(&segment.flow.1).cloned() else {
            // The stack refuses it.
            return true;
        };
        let mut socket = socket();
        let room = self.connections.len() < CONNECTIONS && backlog.begin();
        if !room || socket.listen(segment.flow.1).is_err() {
            return false;
        }
        self.enter(socket, segment.flow, Stage::Arriving(backlog));
        true
    }

    fn feed(&mut self, packet: &[u8], now: Time, out: Out<'_>) {
        let mut wire = Wire {
            packet: Some(packet),
            out,
            buffer: &mut self.buffer,
        };
        self.interface
            .poll_ingress_single(instant(now), &mut wire, &mut self.sockets);
    }

    /// Moves what can be moved between programs and the stack.
    fn pump(&mut self, now: Time) {
        let (sockets, epoll) = (&mut self.sockets, &self.epoll);
        let flows = &mut self.flows;
        self.connections.retain(|number, connection| {
            let socket: &mut Socket<'_> = sockets.get_mut(connection.handle);
            // Its first segment was no good one.
            if socket.state() == State::Listen {
                socket.abort();
            }
            let stays = connection.pump(socket, *number, epoll, now);
            if !stays {
                sockets.remove(connection.handle);
                flows.remove(&connection.flow);
            }
            stays
        });
    }

    /// Sends all that the stack has to send.
    fn send(&mut self, now: Time, out: Out<'_>) {
        let mut wire = Wire {
            packet: None,
            out,
            buffer: &mut self.buffer,
        };
        let (interface, sockets) = (&mut self.interface, &mut self.sockets);
        while interface.poll_egress(instant(now), &mut wire, sockets) != PollResult::None {}
    }
}

fn instant(now: Time) -> Instant {
    Instant::from_micros(now.as_micros() as i64)
}
