//! Our data plane at one end, and the device of a rank.

use super::common::{LEASE, NETWORK};
use anyhow::Context as _;
use gridbay_vnet::address::{INTERFACE, Plan};
use gridbay_vnet::engine::{Attachment, Engine, EngineConfig, LeaseNet, Member, User};
use gridbay_vnet::keys::Secret;
use gridbay_vnet::path::{Candidate, Kind};
use gridbay_vnet::{fds, tun};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::thread;

/// Of an end's datagrams.
fn port(end: u8) -> u16 {
    45_101 + u16::from(end)
}

/// The keys are known to everybody; what is measured does not depend on them.
fn key(end: u8) -> Secret {
    Secret::new([end + 1; 32])
}

/// An engine with the ranks of an end, and the other one's, if it is elsewhere.
fn engine(end: u8, own: &[u32], bind: IpAddr, other: Option<IpAddr>) -> anyhow::Result<Engine> {
    let engine = Engine::bind(&EngineConfig::new(SocketAddr::new(bind, port(end))))?;
    let member = other.map(|other| Member {
        public: key(1 - end).public(),
        ranks: vec![u32::from(1 - end)],
        candidates: vec![Candidate::at(
            Kind::Lan,
            SocketAddr::new(other, port(1 - end)),
        )],
    });
    engine.open(&LeaseNet {
        lease: LEASE,
        network: NETWORK,
        own: own.to_vec(),
        secret: key(end),
        psk: Secret::new([9; 32]),
        members: member.into_iter().collect(),
    })?;
    Ok(engine)
}

fn device(rank: u32) -> anyhow::Result<OwnedFd> {
    let device = tun::open(INTERFACE).context("opening it")?;
    let plan = Plan::new(&NETWORK, &LEASE);
    let interface = tun::Interface::of(INTERFACE, &plan, rank).context("no such rank")?;
    tun::configure(&interface).context("configuring it")?;
    Ok(device)
}

/// With a device of its own.
pub(super) fn root(end: u8, own: IpAddr, other: IpAddr) -> anyhow::Result<()> {
    let rank = u32::from(end);
    let engine = engine(end, &[rank], own, Some(other))?;
    let _attached = engine.attach(&LEASE, rank, device(rank)?)?;
    forever()
}

/// Without a device.
pub(super) fn user(end: u8, own: IpAddr, other: IpAddr) -> anyhow::Result<(Engine, User)> {
    let rank = u32::from(end);
    let engine = engine(end, &[rank], own, Some(other))?;
    let user = engine.attach_user(&LEASE, rank)?;
    Ok((engine, user))
}

/// With devices that ranks bring, one through each socket; alone if there are several.
pub(super) fn node(host: IpAddr, end: u8, sockets: &[&str]) -> anyhow::Result<()> {
    let ranks: Vec<u32> = (u32::from(end)..).take(sockets.len()).collect();
    let other = (sockets.len() == 1).then_some(host);
    let engine = engine(end, &ranks, host, other)?;
    let listeners: Result<Vec<_>, _> = sockets.iter().map(UnixListener::bind).collect();
    let mut attached = Vec::new();
    for (listener, rank) in listeners?.iter().zip(ranks) {
        attached.push(bring(&engine, listener, rank)?);
    }
    forever()
}

/// Takes the device that a rank brings.
fn bring(
    engine: &Engine,
    listener: &UnixListener,
    rank: u32,
) -> anyhow::Result<(Attachment, UnixStream)> {
    let (stream, _) = listener.accept()?;
    let (_, mut fds) = fds::recv(&stream, &mut [0; 8])?;
    let device = fds.pop().context("a rank without a device")?;
    Ok((engine.attach(&LEASE, rank, device)?, stream))
}

fn forever() -> ! {
    loop {
        thread::park();
    }
}

/// Makes a rank's device in this namespace and gives it to the node.
pub(super) fn rank(socket: &str, number: u32) -> anyhow::Result<UnixStream> {
    let device = device(number)?;
    tun::loopback_up()?;
    let stream = UnixStream::connect(socket)?;
    fds::send(&stream, b"device", &[device.as_fd()])?;
    Ok(stream)
}
