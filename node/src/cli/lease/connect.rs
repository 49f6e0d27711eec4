//! `lease connect`: this machine as a member of a lease's network, and its programs' connections
//! into it.
//!
//! 1. The node joins, and stays until `lease disconnect` or the end of the lease.
//! 2. With `--forward` or `--socks` the command listens on loopback, and carries each connection to
//!    a member's port by way of the node, until it is interrupted or the lease is over.

use super::socks;
use crate::api::client::Client;
use crate::api::types::{LeaseNet, LeaseView};
use crate::api::{ApiError, ErrorCode};
use crate::cli::context::Context;
use crate::cli::error::{CliError, During as _};
use crate::cli::exit::Exit;
use crate::lease::stream::PROTOCOL;
use crate::ui;
use clap::Args;
use gridbay_core::cluster::OWNER;
use std::io;
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::{Duration, Instant};

/// How long members may take to be reached.
const PATIENCE: Duration = Duration::from_secs(30);
/// Between two looks.
const LOOK: Duration = Duration::from_millis(200);
/// Between two looks whether there is the lease.
const LEASE_LOOK: Duration = Duration::from_secs(3);

/// Join the private network of a lease that this node has bought
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct ConnectArgs {
    /// The beginning of its id, or of its job's
    id: String,
    /// Take connections at a port of this machine's loopback for a port of a member, as in
    /// 8786:rank0:8786; can be repeated
    #[arg(long, value_name = "PORT:MEMBER:PORT", value_parser = forward)]
    forward: Vec<Forward>,
    /// Take connections for all members at this port of loopback, by SOCKS 5
    #[arg(long, value_name = "PORT")]
    socks: Option<u16>,
}

/// A port here, for a port there.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Forward {
    port: u16,
    to: String,
}

fn forward(text: &str) -> Result<Forward, String> {
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

impl ConnectArgs {
    pub(super) fn run(self, at: &Context) -> Result<(), CliError> {
        // What cannot be listened at is told before anything is joined.
        let mut listeners = Vec::new();
        for forward in &self.forward {
            listeners.push((listen(forward.port)?, Some(forward.to.clone())));
        }
        if let Some(port) = self.socks {
            listeners.push((listen(port)?, None));
        }
        let client = at.client()?;
        let lease = at.wait(join(&client, &self.id))?;
        at.show(&lease, |l| format!("connected to lease {}\n", l.lease))?;
        let door = Door {
            client,
            lease: lease.lease.to_hex(),
        };
        let mut serving = Vec::new();
        for (listener, to) in listeners {
            let place = listener.local_addr().map_err(|e| refused(0, &e))?;
            match &to {
                Some(to) => ui::note(&format!("{place} leads to {to}")),
                None => ui::note(&format!("{place} leads to all members, by SOCKS 5")),
            }
            let door = door.clone();
            serving.push(thread::spawn(move || {
                serve(&listener, &door, to.as_deref());
            }));
        }
        match serving.is_empty() {
            true => Ok(()),
            false => at.wait(until_over(&door)),
        }
    }
}

/// Waits until the lease is over: its forwards lead nowhere then.
async fn until_over(door: &Door) -> Result<(), CliError> {
    loop {
        tokio::time::sleep(LEASE_LOOK).await;
        let path = format!("/leases/{}", door.lease);
        let lease: Result<LeaseView, ApiError> = door.client.get(&path).await;
        if let Err(error) = lease
            && error.code == ErrorCode::NotFound
        {
            return Err(error).during("its ports lead nowhere any more");
        }
    }
}

fn refused(port: u16, error: &io::Error) -> CliError {
    let why = format!("port {port} of loopback: {error}");
    CliError::new(Exit::FAILED, "nothing was joined", why, "name another port")
}

fn listen(port: u16) -> Result<TcpListener, CliError> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(|error| refused(port, &error))
}

/// Joins, and waits until all members are reached. One that is not is told of.
async fn join(client: &Client, id: &str) -> Result<LeaseView, CliError> {
    let path = format!("/leases/{id}/connect");
    let lease: LeaseView = client
        .post(&path, &(), None)
        .await
        .during("nothing was joined")?;
    let path = format!("/leases/{}/net", lease.lease.to_hex());
    let begun = Instant::now();
    loop {
        let net: Result<LeaseNet, ApiError> = client.get(&path).await;
        let own = net.as_ref().ok().and_then(|net| {
            net.members
                .iter()
                .find(|member| member.ranks.contains(&OWNER))
        });
        let cut = own.map(|own| own.pairs.iter().filter(|pair| pair.path.is_none()).count());
        match cut {
            Some(0) if own.is_some_and(|own| !own.pairs.is_empty()) => return Ok(lease),
            _ if begun.elapsed() < PATIENCE => tokio::time::sleep(LOOK).await,
            Some(cut) => {
                ui::note(&format!(
                    "{cut} members are not reached yet: gridbay lease net {}, gridbay doctor",
                    lease.lease
                ));
                return Ok(lease);
            }
            None => {
                net.during("the network is not seen")?;
                let why = "no member has told of this node yet";
                let next = "see gridbay lease net, and try again";
                return Err(CliError::new(Exit::FAILED, "not connected yet", why, next));
            }
        }
    }
}

/// Carries each connection, to where the forward leads or the SOCKS client wants.
fn serve(listener: &TcpListener, door: &Door, to: Option<&str>) {
    for connection in listener.incoming() {
        let Ok(mut connection) = connection else {
            thread::sleep(LOOK);
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
