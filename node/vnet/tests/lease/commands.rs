//! What a rank can be told to do.

use std::io::{Read, Write};
use std::net::{
    IpAddr, Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket,
};
use std::process::Command;
use std::time::Duration;

use gridbay_vnet::address::INTERFACE;
use gridbay_vnet::tun;
use nix::sys::socket::{setsockopt, sockopt::BindToDevice};

/// Of the services that every rank has.
const PORT: u16 = 9;
/// Between two tries of an echo.
const TRY: Duration = Duration::from_millis(200);

/// Starts the services: datagrams come back, and streams are read to their end and counted.
pub(crate) fn serve() {
    let any: [IpAddr; 2] = [Ipv4Addr::UNSPECIFIED.into(), Ipv6Addr::UNSPECIFIED.into()];
    // The second takes both where there is IPv6.
    let udp = any
        .iter()
        .rev()
        .find_map(|ip| UdpSocket::bind((*ip, PORT)).ok());
    let tcp = any
        .iter()
        .rev()
        .find_map(|ip| TcpListener::bind((*ip, PORT)).ok());
    let (udp, tcp) = (udp.expect("a socket"), tcp.expect("a listener"));
    std::thread::spawn(move || {
        let mut buffer = [0; 65_535];
        while let Ok((bytes, source)) = udp.recv_from(&mut buffer) {
            udp.send_to(&buffer[..bytes], source).ok();
        }
    });
    std::thread::spawn(move || {
        for stream in tcp.incoming().flatten() {
            std::thread::spawn(move || count(stream));
        }
    });
}

/// Reads a stream to its end, and answers the sum of its bytes.
pub(crate) fn count(mut stream: impl Read + Write) -> std::io::Result<()> {
    let (mut sum, mut buffer) = (0_u64, vec![0; 1 << 16]);
    loop {
        let bytes = stream.read(&mut buffer)?;
        if bytes == 0 {
            return stream.write_all(&sum.to_be_bytes());
        }
        sum += buffer[..bytes]
            .iter()
            .map(|byte| u64::from(*byte))
            .sum::<u64>();
    }
}

/// Executes one line.
pub(crate) fn execute(command: &str) -> String {
    let words: Vec<_> = command.split(' ').collect();
    let ip = |text: &str| text.parse::<IpAddr>().expect("an address");
    let number = |text: &str| text.parse::<usize>().expect("a number");
    let result = match words[..] {
        ["cat", file] => std::fs::read_to_string(file).map(|text| text.replace('\n', ";")),
        ["echo", to, tries] => echo(ip(to), number(tries)),
        ["burst", to, count, size] => burst(ip(to), number(count), number(size)),
        ["stream", to, bytes] => stream(ip(to), number(bytes)),
        ["spoof", from, to, count] => spoof(ip(from), ip(to), number(count)),
        ["leave", to, count] => leave(ip(to), number(count)),
        ["say", to, text] => say(ip(to), text.as_bytes()),
        ["ping", to] => ping(to),
        ["name", resolver, name] => named(ip(resolver), name),
        _ => panic!("unknown: {command}"),
    };
    result.unwrap_or_else(|error| format!("error: {error}"))
}

fn socket(to: IpAddr) -> std::io::Result<UdpSocket> {
    let any: IpAddr = match to {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind((any, 0))?;
    socket.set_read_timeout(Some(TRY))?;
    socket.connect((to, PORT))?;
    Ok(socket)
}

fn echo(to: IpAddr, tries: usize) -> std::io::Result<String> {
    let Ok(socket) = socket(to) else {
        return Ok("no".to_owned());
    };
    let mut buffer = [0; 16];
    for _ in 0..tries {
        socket.send(b"echo").ok();
        if socket.recv(&mut buffer).is_ok_and(|bytes| bytes == 4) {
            return Ok("yes".to_owned());
        }
    }
    Ok("no".to_owned())
}

/// Sends datagrams one by one, each after the echo of the last; answers how many came back.
fn burst(to: IpAddr, count: usize, size: usize) -> std::io::Result<String> {
    let (socket, sent) = (socket(to)?, vec![7; size]);
    let mut buffer = vec![0; size + 1];
    let mut back = 0;
    for _ in 0..count {
        socket.send(&sent)?;
        back += usize::from(socket.recv(&mut buffer).is_ok_and(|bytes| bytes == size));
    }
    Ok(back.to_string())
}

/// Asks the lease's resolver for the IPv4 address of a name.
fn named(resolver: IpAddr, name: &str) -> std::io::Result<String> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
    socket.set_read_timeout(Some(Duration::from_secs(10)))?;
    socket.connect((resolver, 53))?;
    let labels = name.split('.').flat_map(|label| {
        let length = std::iter::once(label.len() as u8);
        length.chain(label.bytes())
    });
    let mut query = vec![0, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    query.extend(labels);
    query.extend([0, 0, 1, 0, 1]);
    socket.send(&query)?;
    let mut buffer = [0; 512];
    let bytes = socket.recv(&mut buffer)?;
    Ok(match (buffer[3] & 15, &buffer[query.len()..bytes]) {
        (0, [.., a, b, c, d]) => Ipv4Addr::new(*a, *b, *c, *d).to_string(),
        (3, []) => "unknown".to_owned(),
        (code, _) => format!("code {code}"),
    })
}

/// Sends bytes whose sum the other end has to tell.
fn stream(to: IpAddr, bytes: usize) -> std::io::Result<String> {
    let mut stream =
        TcpStream::connect_timeout(&SocketAddr::new(to, PORT), Duration::from_secs(10))?;
    let data: Vec<u8> = (0..bytes).map(|i| (i % 251) as u8).collect();
    stream.write_all(&data)?;
    stream.shutdown(Shutdown::Write)?;
    let mut answer = [0; 8];
    stream.read_exact(&mut answer)?;
    let sum: u64 = data.iter().map(|byte| u64::from(*byte)).sum();
    Ok(if u64::from_be_bytes(answer) == sum {
        "yes"
    } else {
        "wrong sum"
    }
    .to_owned())
}

/// Takes an address that is not its own, and sends from it.
fn spoof(from: IpAddr, to: IpAddr, count: usize) -> std::io::Result<String> {
    let mut interface = tun::Interface {
        name: INTERFACE,
        v4: None,
        v6: None,
        mtu: tun::MTU,
        queue: tun::QUEUE,
    };
    match from {
        IpAddr::V4(v4) => interface.v4 = Some((v4, 32)),
        IpAddr::V6(v6) => interface.v6 = Some((v6, 128)),
    }
    tun::configure(&interface)?;
    let socket = UdpSocket::bind((from, 0))?;
    for _ in 0..count {
        socket.send_to(b"spoof", (to, PORT))?;
    }
    Ok("sent".to_owned())
}

/// Sends by the device to where no route leads, as every program may since Linux 5.7.
fn leave(to: IpAddr, count: usize) -> std::io::Result<String> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
    setsockopt(&socket, BindToDevice, &INTERFACE.into())?;
    for _ in 0..count {
        socket.send_to(b"leave", (to, PORT))?;
    }
    Ok("sent".to_owned())
}

/// Answers whether an echo of ICMP comes back, or that there is no program to ask for one.
fn ping(to: &str) -> std::io::Result<String> {
    let ping = Command::new("ping")
        .args(["-c", "2", "-W", "3", to])
        .output();
    Ok(match ping {
        Err(_) => "no ping",
        Ok(output) if output.status.success() => "yes",
        Ok(_) => "no",
    }
    .to_owned())
}

fn say(to: IpAddr, text: &[u8]) -> std::io::Result<String> {
    socket(to)?.send(text)?;
    Ok("sent".to_owned())
}
