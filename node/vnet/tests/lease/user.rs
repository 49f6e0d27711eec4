//! Ranks without a device.

use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use gridbay_vnet::address::{Plan, RankAddress};
use gridbay_vnet::drops::Drop as Why;
use gridbay_vnet::engine::{EngineError, User};

use crate::commands::count;
use crate::nodes::{Node, until};
use crate::rank::{Rank, lease, network};

const PATIENCE: Duration = Duration::from_secs(20);
/// As the services of ranks with a device.
const PORT: u16 = 9;

fn address(byte: u8, rank: u32) -> RankAddress {
    Plan::new(&network(), &lease(byte)).rank(rank).expect("one")
}

/// Two nodes with rank 0 and 1, neither with a device yet.
fn nodes(byte: u8, key: u8) -> [Node; 2] {
    let nodes = [Node::new(key), Node::new(key + 1)];
    nodes[0].open(byte, &[0], vec![nodes[1].member(&[1])]);
    nodes[1].open(byte, &[1], vec![nodes[0].member(&[0])]);
    nodes
}

fn attach(node: &Node, byte: u8, rank: u32) -> Arc<User> {
    let user = node.engine.attach_user(&lease(byte), rank);
    Arc::new(user.expect("attaches the rank"))
}

fn connect(user: &User, ip: impl Into<IpAddr>) -> UnixStream {
    let stream = user.connect(SocketAddr::new(ip.into(), PORT), PATIENCE);
    let stream = stream.expect("a connection");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    stream
}

/// Serves each connection until the rank is detached.
fn serve<S>(user: &User, service: S) -> JoinHandle<()>
where
    S: Fn(UnixStream) + Clone + Send + 'static,
{
    let listener = user.listen(PORT).expect("listens");
    thread::spawn(move || {
        while let Ok((stream, _)) = listener.accept() {
            let service = service.clone();
            thread::spawn(move || service(stream));
        }
    })
}

/// Sends everything back.
fn echo(mut stream: UnixStream) {
    let mut buffer = vec![0; 40_000];
    while let Ok(bytes @ 1..) = stream.read(&mut buffer) {
        if stream.write_all(&buffer[..bytes]).is_err() {
            return;
        }
    }
}

/// Numbers that look random, the same for the same seed.
fn noise(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    }
}

fn bytes(seed: u64, length: usize) -> Vec<u8> {
    let mut next = noise(seed);
    (0..length).map(|_| next() as u8).collect()
}

/// Writes in pieces of all sizes, ends the stream, and compares what comes back to its end.
fn comes_back(stream: UnixStream, seed: u64, length: usize) {
    let sent = bytes(seed, length);
    let (mut out, data) = (stream.try_clone().expect("a copy"), sent.clone());
    let writer = thread::spawn(move || {
        let (mut next, mut rest) = (noise(seed + 1), &data[..]);
        while !rest.is_empty() {
            let size = [1, 100, 1380, 30_000, 300_000][next() as usize % 5];
            let (piece, left) = rest.split_at(rest.len().min(1 + next() as usize % size));
            out.write_all(piece).expect("writes");
            rest = left;
        }
        out.shutdown(Shutdown::Write).expect("ends");
    });
    let mut got = Vec::new();
    (&stream).read_to_end(&mut got).expect("reads to the end");
    writer.join().expect("wrote");
    assert!(got == sent, "{} of {length} bytes", got.len());
}

#[test]
fn a_stack_and_a_device_carry_streams() {
    let Some(mut rank) = Rank::start(160, 1) else {
        return;
    };
    let nodes = nodes(160, 160);
    let _device = nodes[1].attach(160, 1, &mut rank);
    let user = attach(&nodes[0], 160, 0);
    serve(&user, |stream| {
        count(stream).ok();
    });
    let (own, other) = (address(160, 0), address(160, 1));
    let mut ways: Vec<(IpAddr, IpAddr)> = vec![(own.v4.into(), other.v4.into())];
    if rank.ask("cat /proc/net/if_inet6").contains("gb0") {
        ways.push((own.v6.into(), other.v6.into()));
    }
    for (own, other) in ways {
        let mut stream = connect(&user, other);
        let sent = bytes(1, 20_000_000);
        stream.write_all(&sent).expect("writes");
        stream.shutdown(Shutdown::Write).expect("ends");
        let mut sum = [0; 8];
        stream.read_exact(&mut sum).expect("the sum");
        let right: u64 = sent.iter().map(|byte| u64::from(*byte)).sum();
        assert_eq!(u64::from_be_bytes(sum), right);
        assert_eq!(stream.read(&mut sum).expect("the end"), 0);
        assert_eq!(rank.ask(&format!("stream {own} 20000000")), "yes");
        assert_ne!(rank.ask(&format!("ping {own}")), "no");
    }
    let status = nodes[0].status(160);
    assert_eq!(status.attached, [0]);
    assert_eq!(status.drops.of(Why::SpoofedSource), 0);
    assert_eq!(status.drops.of(Why::NotIp), 0);
}

#[test]
fn stacks_of_two_engines_carry_every_byte() {
    let nodes = nodes(162, 162);
    let users = [0, 1].map(|i| attach(&nodes[i], 162, i as u32));
    serve(&users[1], echo);
    let to = address(162, 1);
    for (seed, length) in [(1, 0), (2, 1), (3, 5000), (4, 3_000_000)] {
        comes_back(connect(&users[0], to.v4), seed, length);
        comes_back(connect(&users[0], to.v6), seed + 100, length);
    }
    // To itself, too: through its own inbox.
    comes_back(connect(&users[1], to.v4), 7, 1_000_000);
}

#[test]
fn ranks_of_one_node_meet_with_and_without_a_device() {
    let Some(mut rank) = Rank::start(164, 1) else {
        return;
    };
    let node = Node::new(164);
    node.open(164, &[0, 1, 2], vec![]);
    let _device = node.attach(164, 1, &mut rank);
    let users = [attach(&node, 164, 0), attach(&node, 164, 2)];
    serve(&users[0], |stream| {
        count(stream).ok();
    });
    let own = address(164, 0).v4;
    assert_eq!(rank.ask(&format!("stream {own} 5000000")), "yes");
    for to in [own, address(164, 1).v4] {
        let mut stream = connect(&users[1], to);
        stream.write_all(&[1; 3_000_000]).expect("writes");
        stream.shutdown(Shutdown::Write).expect("ends");
        let mut sum = [0; 8];
        stream.read_exact(&mut sum).expect("the sum");
        assert_eq!(u64::from_be_bytes(sum), 3_000_000);
    }
}

#[test]
fn what_cannot_be_is_said() {
    let nodes = nodes(166, 166);
    let user = attach(&nodes[0], 166, 0);
    let attached = nodes[0].engine.attach_user(&lease(166), 0);
    assert!(matches!(attached, Err(EngineError::NotAttachable(0))));
    let kind = |to: IpAddr, within| {
        let result = user.connect(SocketAddr::new(to, 5), within);
        result.map(drop).expect_err("no connection").kind()
    };
    let to: IpAddr = address(166, 1).v4.into();
    let short = Duration::from_millis(300);
    assert_eq!(kind(to, short), ErrorKind::TimedOut, "it is not attached");
    let other = attach(&nodes[1], 166, 1);
    assert_eq!(kind(to, PATIENCE), ErrorKind::ConnectionRefused);
    let outside: [IpAddr; 3] = [
        address(167, 1).v6.into(),
        "127.0.0.1".parse().expect("one"),
        "169.254.169.254".parse().expect("one"),
    ];
    for ip in outside {
        assert_eq!(kind(ip, PATIENCE), ErrorKind::HostUnreachable);
    }
    assert_eq!(nodes[0].status(166).drops.of(Why::NoRoute), 3);
    let listener = other.listen(5).expect("listens");
    let again = other.listen(5).map(drop).expect_err("is taken");
    assert_eq!(again.kind(), ErrorKind::AddrInUse);
    let stream = user.connect(SocketAddr::new(to, 5), PATIENCE);
    let (_theirs, from) = listener.accept().expect("a connection");
    assert_eq!(from.ip(), IpAddr::from(address(166, 0).v4));
    drop((listener, stream));
    until("the port is closed", || {
        kind(to, PATIENCE) == ErrorKind::ConnectionRefused
    });
}

#[test]
fn an_end_is_an_end_and_a_break_is_none() {
    let nodes = nodes(168, 168);
    let users = [0, 1].map(|i| attach(&nodes[i], 168, i as u32));
    let listener = users[1].listen(PORT).expect("listens");
    let pair = || {
        let ours = connect(&users[0], address(168, 1).v4);
        (ours, listener.accept().expect("a connection").0)
    };
    // Each side ends by itself, and still hears the other one.
    let (mut ours, mut theirs) = pair();
    ours.shutdown(Shutdown::Write).expect("ends");
    let mut buffer = [0; 64];
    assert_eq!(theirs.read(&mut buffer).expect("the end"), 0);
    theirs.write_all(b"still here").expect("writes");
    drop(theirs);
    let mut got = String::new();
    ours.read_to_string(&mut got).expect("all, and the end");
    assert_eq!(got, "still here");
    // Something was not read.
    let (mut ours, mut theirs) = pair();
    ours.write_all(b"for nobody").expect("writes");
    theirs.read_exact(&mut [0; 3]).expect("the beginning");
    until("all has come", || {
        let status = nodes[1].status(168);
        status.pairs[0].received.packets > 0 && ours.write_all(b"more").is_ok()
    });
    drop(theirs);
    let error = ours.read(&mut buffer).expect_err("it was cut off");
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    // Detached in the middle.
    let (mut ours, mut theirs) = pair();
    let writer = thread::spawn(move || while ours.write_all(&[7; 10_000]).is_ok() {});
    theirs
        .read_exact(&mut [0; 1_000_000])
        .expect("the beginning");
    let [user, other] = users;
    drop(user);
    let broken = std::io::copy(&mut theirs, &mut std::io::sink());
    assert_eq!(
        broken.expect_err("it was cut off").kind(),
        ErrorKind::ConnectionReset
    );
    writer.join().expect("was told");
    // The lease is closed.
    assert!(other.is_open());
    nodes[1].engine.close(&lease(168));
    assert!(!other.is_open());
    let closed = listener.accept().map(drop).expect_err("nothing to come");
    assert_eq!(closed.kind(), ErrorKind::NotConnected);
    let to = SocketAddr::new(address(168, 0).v4.into(), PORT);
    let closed = other.connect(to, PATIENCE).map(drop).expect_err("none");
    assert_eq!(closed.kind(), ErrorKind::NotConnected);
}

#[test]
fn hundreds_of_connections_at_once() {
    const MANY: usize = 300;
    let nodes = nodes(170, 170);
    let users = [0, 1].map(|i| attach(&nodes[i], 170, i as u32));
    serve(&users[1], echo);
    let to = address(170, 1).v4;
    let makers = (0..10).map(|_| {
        let user = users[0].clone();
        thread::spawn(move || {
            let each = (0..MANY / 10).map(|_| connect(&user, to));
            each.collect::<Vec<_>>()
        })
    });
    let makers: Vec<_> = makers.collect();
    let made = makers.into_iter().map(|maker| maker.join().expect("made"));
    let mut streams: Vec<_> = made.flatten().collect();
    assert_eq!(streams.len(), MANY);
    for (number, stream) in streams.iter_mut().enumerate() {
        stream.write_all(&number.to_be_bytes()).expect("writes");
    }
    for (number, stream) in streams.iter_mut().enumerate() {
        let mut back = [0; 8];
        stream.read_exact(&mut back).expect("comes back");
        assert_eq!(usize::from_be_bytes(back), number);
    }
    let busy: Vec<_> = streams.drain(..20).zip(1..).collect();
    let busy = busy
        .into_iter()
        .map(|(stream, seed)| thread::spawn(move || comes_back(stream, seed, 300_000)));
    for thread in busy.collect::<Vec<_>>() {
        thread.join().expect("came back");
    }
}
