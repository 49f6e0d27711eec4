//! One host, measured.
//!
//! 1. *Mapping*: one socket writes to two ports of one witness and to the other witness; they
//!    compare from where it came.
//! 2. *Filtering*: a fresh socket writes to one port of one witness. The other witness writes to
//!    the mapping, then the first one from another port; the first that gets in decides.
//! 3. *Steady*: the host then writes to the stranger that was kept out. It must come from the same
//!    mapping as before, or two hosts that write to each other at once would miss each other.
//! 4. *Hairpin*: another socket behind the same router, a neighbour's if there is one, writes to
//!    the mapping. It counts if it arrives from the outside address.
//! 5. *TCP* to port 443 and to another; IPv6 to port 443.
//! 6. *Unasked*: a stranger connects to a port that the host listens on; and the packets of another
//!    to the mapping are not answered by a refusal.

use super::super::Lab;
use super::super::nat::{Behaviour, Filtering, Mapping, Udp, Unasked};
use anyhow::Context as _;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

/// A packet is sent again if it did not arrive, should the lab lose some.
const TRIES: u32 = 3;

/// From where hosts are measured.
pub(super) struct Site<'a> {
    pub(super) lab: &'a Lab,
    /// Two open hosts with their IPv4 and IPv6 addresses.
    pub(super) witnesses: [(&'a str, [IpAddr; 2]); 2],
    /// On the first witness, besides 443.
    pub(super) other_port: u16,
    pub(super) patience: Duration,
}

/// A socket and what others call it.
struct Witness {
    socket: UdpSocket,
    address: SocketAddr,
}

impl Site<'_> {
    pub(super) fn measure(&self, host: &str) -> anyhow::Result<Behaviour> {
        let [(_, [v4, v6]), _] = self.witnesses;
        let connects = |to: IpAddr, port| -> anyhow::Result<bool> {
            let to = SocketAddr::from((to, port));
            let patience = self.patience;
            let mut tries = 0..TRIES;
            let connect = || tries.any(|_| TcpStream::connect_timeout(&to, patience).is_ok());
            self.lab.inside(host, connect)
        };
        let (udp, refused) = match self.udp(host)? {
            Some((udp, refused)) => (Some(udp), refused),
            None => (None, false),
        };
        let unasked = self.unasked(host)?;
        Ok(Behaviour {
            udp,
            tcp443: connects(v4, 443)?,
            tcp_other: connects(v4, self.other_port)?,
            unasked: if refused { Unasked::Refused } else { unasked },
            ipv6: connects(v6, 443)?,
        })
    }
    /// `None` if UDP does not work; else what it does, and whether a stranger was refused.
    fn udp(&self, host: &str) -> anyhow::Result<Option<(Udp, bool)>> {
        let Some(mapping) = self.mapping(host)? else {
            return Ok(None);
        };
        let own = self.socket(host)?;
        let [near, near_too] = [self.witness(0)?, self.witness(0)?];
        let far = self.witness(1)?;
        let seen = self.heard(&own, &near).context("UDP worked a moment ago")?;
        let filtering = if self.arrives(&far, &own, seen) {
            Filtering::Independent
        } else if self.arrives(&near_too, &own, seen) {
            Filtering::PerAddress
        } else {
            Filtering::PerPort
        };
        let refused = self.refused(seen)?;
        let again = self.heard(&own, &far);
        let same = matches!(mapping, Mapping::Own | Mapping::Independent);
        let steady = again.is_some_and(|again| !same || again == seen);
        let hairpin = match mapping {
            Mapping::Own => None,
            _ => Some(self.hairpin(host, &own, seen)?),
        };
        let udp = Udp {
            mapping,
            filtering,
            hairpin,
            steady,
        };
        Ok(Some((udp, refused)))
    }
    fn mapping(&self, host: &str) -> anyhow::Result<Option<Mapping>> {
        let own = self.socket(host)?;
        let witnesses = [self.witness(0)?, self.witness(0)?, self.witness(1)?];
        let mut seen = Vec::new();
        for witness in &witnesses {
            let Some(from) = self.heard(&own, witness) else {
                return Ok(None);
            };
            seen.push(from);
        }
        if !self.answered(&own, &witnesses[0], seen[0]) {
            return Ok(None);
        }
        let addresses = self.lab.addresses(host)?;
        let port = own.local_addr()?.port();
        Ok(Some(match (seen[0] == seen[1], seen[0] == seen[2]) {
            (true, true) if seen[0].port() == port && addresses.contains(&seen[0].ip()) => {
                Mapping::Own
            }
            (true, true) => Mapping::Independent,
            (true, false) => Mapping::PerAddress,
            (false, _) => Mapping::PerPort,
        }))
    }
    fn hairpin(&self, host: &str, own: &UdpSocket, seen: SocketAddr) -> anyhow::Result<bool> {
        let network = self.lab.topology().host(host).map(|(network, _)| network);
        let neighbours = network.into_iter().flat_map(|network| &network.hosts);
        let neighbour = neighbours.map(String::as_str).find(|other| *other != host);
        let other = self.socket(neighbour.unwrap_or(host))?;
        for _ in 0..TRIES {
            let _ = other.send_to(b"hairpin", seen);
            if let Some(from) = self.receive(own, b"hairpin") {
                return Ok(from.ip() == seen.ip());
            }
        }
        Ok(false)
    }
    fn unasked(&self, host: &str) -> anyhow::Result<Unasked> {
        let listener = self
            .lab
            .inside(host, || TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)))??;
        let public = self.lab.public_addresses(host)?;
        let public = *public.first().context("a host has a public address")?;
        let to = SocketAddr::from((public, listener.local_addr()?.port()));
        let (stranger, _) = self.witnesses[1];
        let patience = self.patience;
        let tried = self
            .lab
            .inside(stranger, || TcpStream::connect_timeout(&to, patience))?;
        Ok(match tried {
            Ok(_) => Unasked::Accepted,
            Err(error) if error.kind() == io::ErrorKind::TimedOut => Unasked::Silence,
            Err(_) => Unasked::Refused,
        })
    }
    fn socket(&self, host: &str) -> anyhow::Result<UdpSocket> {
        Ok(self
            .lab
            .inside(host, || UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)))??)
    }
    fn witness(&self, index: usize) -> anyhow::Result<Witness> {
        let (host, [v4, _]) = self.witnesses[index];
        let socket = self.lab.inside(host, || UdpSocket::bind((v4, 0)))??;
        let address = socket.local_addr()?;
        Ok(Witness { socket, address })
    }
    /// From where a witness hears a host's socket; `None` if it does not.
    fn heard(&self, own: &UdpSocket, witness: &Witness) -> Option<SocketAddr> {
        (0..TRIES).find_map(|_| {
            let _ = own.send_to(b"out", witness.address);
            self.receive(&witness.socket, b"out")
        })
    }
    /// Whether a witness's answer reaches the host's socket.
    fn answered(&self, own: &UdpSocket, witness: &Witness, to: SocketAddr) -> bool {
        (0..TRIES).any(|_| {
            let _ = witness.socket.send_to(b"answer", to);
            self.receive(own, b"answer").is_some()
        })
    }
    /// Whether a stranger's packets reach the host's socket.
    fn arrives(&self, stranger: &Witness, own: &UdpSocket, to: SocketAddr) -> bool {
        for _ in 0..TRIES {
            let _ = stranger.socket.send_to(b"stranger", to);
        }
        self.receive(own, b"stranger").is_some()
    }
    /// Whether a stranger's packets are answered by a refusal, which only a connected socket learns
    /// of.
    fn refused(&self, to: SocketAddr) -> anyhow::Result<bool> {
        let Witness { socket, .. } = self.witness(1)?;
        socket.connect(to)?;
        socket.set_read_timeout(Some(self.patience))?;
        if (0..TRIES).any(|_| socket.send(b"unasked").is_err()) {
            return Ok(true);
        }
        let silence = [io::ErrorKind::WouldBlock, io::ErrorKind::TimedOut];
        let heard = socket.recv(&mut [0; 16]);
        Ok(heard.is_err_and(|error| !silence.contains(&error.kind())))
    }
    /// Waits for a packet of these words; others are passed over.
    fn receive(&self, socket: &UdpSocket, words: &[u8]) -> Option<SocketAddr> {
        let until = Instant::now() + self.patience;
        let mut buffer = [0; 64];
        loop {
            let left = until.checked_duration_since(Instant::now())?;
            socket
                .set_read_timeout(Some(left.max(Duration::from_micros(1))))
                .ok()?;
            match socket.recv_from(&mut buffer) {
                Ok((n, from)) if &buffer[..n] == words => return Some(from),
                // Somebody else's words, or a refusal: the next one may be it.
                _ => {}
            }
        }
    }
}
