//! Ports of this machine's loopback that lead into a lease's network, by way of the node, which has
//! to be a member.

use super::socks;
use crate::api::ApiError;
use crate::api::client::Client;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::lease::stream::PROTOCOL;
use crate::ui;
use std::io;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::Duration;

/// Before the next connection, after one that could not be taken.
const PAUSE: Duration = Duration::from_millis(200);

/// A port here, for a port there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::cli) struct Forward {
    /// Of loopback; 0 for any that is free.
    pub(in crate::cli) port: u16,
    /// A member, a colon and its port.
    pub(in crate::cli) to: String,
}

pub(in crate::cli) fn forward(text: &str) -> Result<Forward, String> {
    let parts = text.split_once(':');
    let parsed = parts.and_then(|(port, to)| Some((port.parse().ok()?, to)));
    match parsed {
        Some((port, to))
            if to
                .rsplit_once(':')
                .is_some_and(|(host, _)| !host.is_empty()) =>
        {
            let to = to.to_owned();
            Ok(Forward { port, to })
        }
        _ => Err("want a port, a member and its port, as in 8080:rank0:80".to_owned()),
    }
}

/// How connections come to members.
#[derive(Clone)]
struct Door {
    client: Client,
    lease: String,
}

impl Door {
    fn open(&self, to: &str) -> Result<UnixStream, ApiError> {
        let path = format!("/leases/{}/stream?to={to}", self.lease);
        self.client.upgrade(&path, PROTOCOL)
    }
}

/// Listeners that were opened before anything else was done.
pub(in crate::cli) struct Doors(Vec<(TcpListener, SocketAddr, Option<String>)>);

impl Doors {
    /// Listens for each forward, and for SOCKS 5 at a port.
    pub(in crate::cli) fn open(
        forwards: &[Forward],
        socks: Option<u16>,
    ) -> Result<Doors, CliError> {
        let ports = forwards.iter().map(|f| (f.port, Some(f.to.clone())));
        let ports = ports.chain(socks.map(|port| (port, None)));
        let open = |(port, to)| -> Result<_, CliError> {
            let listener = listen(port)?;
            let place = listener.local_addr().map_err(|e| refused(port, &e))?;
            Ok((listener, place, to))
        };
        Ok(Doors(ports.map(open).collect::<Result<_, _>>()?))
    }

    /// Whether there are none.
    pub(in crate::cli) fn is_none(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes connections from now on, for a lease by its id or its job's. Returns at how many
    /// ports.
    pub(in crate::cli) fn serve(self, client: &Client, lease: &str) -> usize {
        let count = self.0.len();
        for (listener, place, to) in self.0 {
            match &to {
                Some(to) => ui::note(&format!("{place} leads to {to}")),
                None => ui::note(&format!("{place} leads to all members, by SOCKS 5")),
            }
            let door = Door {
                client: client.clone(),
                lease: lease.to_owned(),
            };
            thread::spawn(move || serve(&listener, &door, to.as_deref()));
        }
        count
    }
}

fn refused(port: u16, error: &io::Error) -> CliError {
    let why = format!("port {port} of loopback: {error}");
    CliError::new(Exit::FAILED, "nothing was joined", why, "name another port")
}

fn listen(port: u16) -> Result<TcpListener, CliError> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(|error| refused(port, &error))
}

/// Carries each connection, to where the forward leads or the SOCKS client wants.
fn serve(listener: &TcpListener, door: &Door, to: Option<&str>) {
    for connection in listener.incoming() {
        let Ok(mut connection) = connection else {
            thread::sleep(PAUSE);
            continue;
        };
        let (door, to) = (door.clone(), to.map(str::to_owned));
        thread::spawn(move || {
            let opened = match to {
                Some(to) => door.open(&to).map(Some).map_err(|error| error.message),
                None => socks::ask(&mut connection, |to| door.open(to)),
            };
            match opened {
                Ok(Some(member)) => carry(&connection, &member),
                Ok(None) => {}
                Err(why) => ui::note(&format!("gridbay: {why}")),
            }
        });
    }
}

/// Bytes both ways, until both ends are done.
fn carry(here: &TcpStream, there: &UnixStream) {
    thread::scope(|scope| {
        scope.spawn(|| {
            let _cut = io::copy(&mut &*here, &mut &*there);
            let _gone = there.shutdown(Shutdown::Write);
        });
        if io::copy(&mut &*there, &mut &*here).is_err() {
            // Its other half may wait for ever on a client that is gone.
            let _gone = there.shutdown(Shutdown::Both);
        }
        let _gone = here.shutdown(Shutdown::Write);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forward_is_a_port_a_member_and_its_port() {
        let to = "rank0:8786".to_owned();
        assert_eq!(forward("8786:rank0:8786"), Ok(Forward { port: 8_786, to }));
        let to = "[fd00::1]:80".to_owned();
        assert_eq!(forward("80:[fd00::1]:80"), Ok(Forward { port: 80, to }));
        for bad in [
            "",
            "80",
            "80:rank0",
            "x:rank0:80",
            "70000:rank0:80",
            "80::80",
        ] {
            assert!(forward(bad).is_err(), "{bad}");
        }
    }
}
