//! Ports of this machine's loopback that lead into a lease's network, by way of the node, which has
//! to be a member.

use super::socks;
use crate::api::ApiError;
use crate::api::client::Client;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::lease::stream::PROTOCOL;
use crate::ui;
use std::collections::BTreeSet;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::Duration;

/// Before the next connection, after one that could not be taken.
const PAUSE: Duration = Duration::from_millis(200);

/// A port here, for a port there. What can lead nowhere is refused before anything is paid for: a
/// port 0 there and a word that names no member when the command line is read, a local port that is
/// named twice by [`Doors::open`], a rank that there is not by [`check_ranks`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::cli) struct Forward {
    /// Of loopback; 0 for any that is free.
    pub(in crate::cli) port: u16,
    /// A member, a colon and its port.
    pub(in crate::cli) to: String,
}

pub(in crate::cli) fn forward(text: &str) -> Result<Forward, String> {
    let form = || "want a port, a member and its port, as in 8080:rank0:8000".to_owned();
    let (port, to) = text.split_once(':').ok_or_else(form)?;
    let (host, there) = to.rsplit_once(':').ok_or_else(form)?;
    let (port, there): (u16, u16) = match (port.parse(), there.parse()) {
        (Ok(port), Ok(there)) => (port, there),
        _ => return Err(form()),
    };
    if there == 0 {
        return Err(format!("{to}: nothing listens at port 0 of a member"));
    }
    if !is_member(host) {
        return Err(format!(
            "{host} is no member: want rank0, rank1, ..., owner, or an address"
        ));
    }
    let to = to.to_owned();
    Ok(Forward { port, to })
}

/// Whether a word can name a member: a rank or the owner, by short or full name, or an address.
fn is_member(host: &str) -> bool {
    let bare = host.strip_prefix('[').and_then(|h| h.strip_suffix(']'));
    let is_address = match bare {
        Some(bare) => bare.parse::<Ipv6Addr>().is_ok(),
        None => host.parse::<Ipv4Addr>().is_ok(),
    };
    is_address || host == "owner" || rank_of(host).is_some()
}

/// The rank that is named, if one is.
fn rank_of(host: &str) -> Option<u32> {
    host.split('.').next()?.strip_prefix("rank")?.parse().ok()
}

/// Refuses forwards to ranks that a job of so many does not have.
pub(in crate::cli) fn check_ranks(
    what: &str,
    forwards: &[Forward],
    ranks: u32,
) -> Result<(), CliError> {
    let rank = |f: &Forward| rank_of(f.to.rsplit_once(':')?.0);
    let Some(rank) = forwards.iter().filter_map(rank).find(|rank| *rank >= ranks) else {
        return Ok(());
    };
    let why = format!("--forward names rank{rank}, which the job does not have");
    let next = match ranks.saturating_sub(1) {
        0 => "its only rank is rank0".to_owned(),
        last => format!("its ranks are rank0 to rank{last}"),
    };
    Err(CliError::new(Exit::USAGE, what, why, next))
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
    /// Listens for each forward, and for SOCKS 5 at a port; `what` does not happen otherwise.
    pub(in crate::cli) fn open(
        what: &str,
        forwards: &[Forward],
        socks: Option<u16>,
    ) -> Result<Doors, CliError> {
        let ports = forwards.iter().map(|f| (f.port, Some(f.to.clone())));
        let ports = ports.chain(socks.map(|port| (port, None)));
        let mut named = BTreeSet::new();
        let mut fixed = ports.clone().map(|(port, _)| port).filter(|port| *port > 0);
        if let Some(port) = fixed.find(|port| !named.insert(*port)) {
            let why = format!("port {port} of this machine is to lead to two places");
            return Err(CliError::new(Exit::USAGE, what, why, "name another port"));
        }
        let refused = |port: u16, error: &io::Error| {
            let why = format!("port {port} of loopback: {error}");
            CliError::new(Exit::FAILED, what, why, "name another port")
        };
        let open = |(port, to)| -> Result<_, CliError> {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port));
            let listener = listener.map_err(|e| refused(port, &e))?;
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
            "80:rank0:0",
            "80:rank0:x",
            "80:rank0:70000",
            "80:rank:80",
            "80:example.org:80",
            "80:fd00::1:80",
        ] {
            assert!(forward(bad).is_err(), "{bad}");
        }
        for good in ["80:owner:80", "80:10.1.2.3:80", "80:rank3.abcd.gridbay:80"] {
            assert!(forward(good).is_ok(), "{good}");
        }
    }

    #[test]
    fn a_rank_that_there_is_not_is_told() {
        let all = ["1:rank0:80", "2:rank2.abcd.gridbay:80", "3:owner:80"];
        let all = all.map(|text| forward(text).unwrap());
        assert_eq!(check_ranks("no", &all, 3), Ok(()));
        let error = check_ranks("no", &all, 2).unwrap_err();
        assert_eq!(error.exit, Exit::USAGE);
        assert!(error.why.contains("rank2") && error.next.ends_with("rank0 to rank1"));
    }

    #[test]
    fn a_local_port_leads_to_one_place() {
        let any = ["0:rank0:80", "0:rank1:80"].map(|text| forward(text).unwrap());
        let doors = Doors::open("no", &any, Some(0)).ok().unwrap();
        assert_eq!(doors.0.len(), 3, "each has a free one of its own");
        let taken = doors.0[0].1.port();
        let twice = [taken, taken].map(|p| forward(&format!("{p}:rank0:80")).unwrap());
        for (forwards, socks) in [(&twice[..], None), (&twice[..1], Some(taken))] {
            let error = Doors::open("no", forwards, socks).err().unwrap();
            assert_eq!((error.exit, error.what.as_str()), (Exit::USAGE, "no"));
            assert!(error.why.contains("two places"), "{}", error.why);
        }
    }
}
