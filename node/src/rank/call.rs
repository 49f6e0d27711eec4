//! Orders to another rank, with this process's own streams.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::thread;
use std::time::Duration;

use super::wire::{FRAME, Kind, Order, port, read_frame, secret, write_frame, write_line};

/// How long a rank may take to take a connection.
const CONNECT: Duration = Duration::from_secs(10);

/// Runs a command on a rank, by name or address: its exit code.
pub(super) fn run(rank: &str, order: &Order) -> io::Result<i32> {
    let connection = connect(rank)?;
    give(&connection, order)?;
    let to = connection.try_clone()?;
    // It may wait for input for ever: the process ends without it.
    thread::spawn(move || _ = feed(&to));
    read(connection, io::stdout(), io::stderr())
}

/// Gives an order that answers with a code alone.
pub(super) fn tell(rank: &str, order: &Order) -> io::Result<i32> {
    let connection = connect(rank)?;
    connection.set_read_timeout(Some(CONNECT))?;
    give(&connection, order)?;
    read(connection, io::sink(), io::sink())
}

/// With the secret of the run that this process belongs to, if that has one.
fn give(to: &TcpStream, order: &Order) -> io::Result<()> {
    match secret() {
        None => write_line(to, order),
        Some(secret) => {
            let order = Box::new(order.clone());
            write_line(to, &Order::With { secret, order })
        }
    }
}

fn connect(rank: &str) -> io::Result<TcpStream> {
    let mut failure = io::Error::new(io::ErrorKind::NotFound, format!("there is no rank {rank}"));
    for address in (rank, port()).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, CONNECT) {
            Ok(connection) => {
                connection.set_nodelay(true)?;
                return Ok(connection);
            }
            Err(e) => failure = io::Error::new(e.kind(), format!("{rank}: {e}")),
        }
    }
    Err(failure)
}

fn feed(to: &TcpStream) -> io::Result<()> {
    let (mut input, mut buffer) = (io::stdin().lock(), vec![0; FRAME]);
    loop {
        let count = input.read(&mut buffer)?;
        write_frame(to, Kind::Stdin, &buffer[..count])?;
        if count == 0 {
            return Ok(());
        }
    }
}

/// Reads the answer to its end.
fn read(mut from: TcpStream, mut out: impl Write, mut err: impl Write) -> io::Result<i32> {
    loop {
        let (kind, bytes) = read_frame(&mut from)?;
        match kind {
            Kind::Stdout => {
                out.write_all(&bytes)?;
                out.flush()?;
            }
            Kind::Stderr => err.write_all(&bytes)?,
            Kind::Exit => {
                let code = bytes.try_into().map_err(|_| io::ErrorKind::InvalidData)?;
                return Ok(i32::from_be_bytes(code));
            }
            _ => {}
        }
    }
}
