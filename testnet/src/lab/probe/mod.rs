//! Measures the behaviour of each host's network from inside, and compares it with its kind's
//! intent.
//!
//! 1. The first two open hosts are the witnesses: their sockets see from where a host's packets
//!    come, and strangers speak from them.
//! 2. Every host is measured at the same time, each with sockets of its own (`measure`).
//! 3. Each property of [`Behaviour`] that is as intended has passed, any other failed.
//!
//! A probe that should not arrive is waited for as long as it would take: 500 ms, and four times
//! the longest way through the lab's delays.

mod measure;

use super::nat::Behaviour;
use super::{Kind, Lab};
use anyhow::{Context as _, anyhow, bail};
use gridbay_node::ui::Table;
use measure::Site;
use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr, TcpListener};
use std::thread;
use std::time::Duration;

/// Waited for what should not come, where nothing delays it.
const PATIENCE: Duration = Duration::from_millis(500);
/// A TCP port that is not 443.
const OTHER_PORT: u16 = 7411;

/// A host's network as measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measured {
    /// The host.
    pub host: String,
    /// The kind that its network is meant to be.
    pub kind: Kind,
    /// Its measured behaviour.
    pub seen: Behaviour,
}

/// All hosts as measured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// In the topology's order.
    pub hosts: Vec<Measured>,
}

/// Measures every host of a lab.
pub fn run(lab: &Lab) -> anyhow::Result<Report> {
    let open = lab
        .topology()
        .hosts()
        .filter(|(_, network, _)| network.kind == Kind::Open);
    let open: Vec<&str> = open.map(|(host, ..)| host).take(2).collect();
    let [first, second] = open.as_slice() else {
        bail!("probing takes two hosts in a network of kind `open`");
    };
    // Listening is enough: the kernel completes connections that nobody takes.
    let _listening = lab.inside(first, || [443, OTHER_PORT].map(listen))?;
    let site = Site {
        lab,
        witnesses: [
            (first, addresses(lab, first)?),
            (second, addresses(lab, second)?),
        ],
        other_port: OTHER_PORT,
        patience: patience(lab)?,
    };
    let measured = thread::scope(|scope| {
        let hosts = lab.topology().hosts();
        let started: Vec<_> = hosts
            .map(|(host, network, _)| {
                let site = &site;
                (host, network.kind, scope.spawn(move || site.measure(host)))
            })
            .collect();
        let ended = started.into_iter().map(|(host, kind, thread)| {
            let seen = thread.join().map_err(|_| anyhow!("measuring panicked"));
            let seen = seen.flatten().with_context(|| format!("host {host}"))?;
            let host = host.to_owned();
            Ok(Measured { host, kind, seen })
        });
        ended.collect::<anyhow::Result<Vec<Measured>>>()
    })?;
    Ok(Report { hosts: measured })
}

/// Somebody else who already listens there will do as well.
fn listen(port: u16) -> io::Result<Option<TcpListener>> {
    match TcpListener::bind(SocketAddr::from((Ipv6Addr::UNSPECIFIED, port))) {
        Ok(listener) => Ok(Some(listener)),
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => Ok(None),
        Err(error) => Err(error),
    }
}

/// A witness's addresses, IPv4 and IPv6.
fn addresses(lab: &Lab, host: &str) -> anyhow::Result<[IpAddr; 2]> {
    let found = lab.addresses(host)?;
    let found: Result<[IpAddr; 2], _> = found.try_into();
    found.map_err(|found| anyhow!("open host {host} has addresses {found:?}"))
}

fn patience(lab: &Lab) -> anyhow::Result<Duration> {
    let mut longest = Duration::ZERO;
    for link in lab.topology().links() {
        let cable = lab.cable(link.name)?;
        longest = longest.max(cable.delay + cable.jitter);
    }
    // There and back, each over two public links.
    Ok(PATIENCE + longest * 4)
}

impl Report {
    /// Properties that are as intended.
    pub fn passed(&self) -> usize {
        self.verdicts().filter(|good| *good).count()
    }
    /// Properties that are not.
    pub fn failed(&self) -> usize {
        self.verdicts().filter(|good| !*good).count()
    }
    /// Whether there is something, and all of it as intended.
    pub fn ok(&self) -> bool {
        self.failed() == 0 && self.passed() > 0
    }
    fn verdicts(&self) -> impl Iterator<Item = bool> {
        self.hosts.iter().flat_map(|measured| {
            let (seen, wanted) = (measured.seen.words(), measured.kind.intent().words());
            seen.into_iter()
                .zip(wanted)
                .map(|(seen, wanted)| seen == wanted)
        })
    }
    /// A row for each host, with the intent beside what differs from it; then the verdict.
    pub fn lines(&self) -> String {
        let mut columns = vec!["HOST", "KIND"];
        columns.extend(Behaviour::PROPERTIES);
        let mut table = Table::new(&columns);
        for measured in &self.hosts {
            let cells = measured
                .seen
                .words()
                .into_iter()
                .zip(measured.kind.intent().words());
            let cells = cells.map(|(seen, wanted)| match seen == wanted {
                true => seen.to_owned(),
                false => format!("{seen} (not {wanted})"),
            });
            let named = [measured.host.clone(), measured.kind.to_string()];
            table.row(named.into_iter().chain(cells));
        }
        format!(
            "{}{} passed, {} failed",
            table.render(),
            self.passed(),
            self.failed()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_from_the_intent_is_counted_and_shown() {
        let measured = |kind: Kind, seen| Measured {
            host: "a".into(),
            kind,
            seen,
        };
        let good = Report {
            hosts: vec![measured(Kind::Cone, Kind::Cone.intent())],
        };
        assert_eq!((good.passed(), good.failed(), good.ok()), (9, 0, true));
        let bad = Report {
            hosts: vec![measured(Kind::Cone, Kind::Symmetric.intent())],
        };
        assert_eq!((bad.passed(), bad.failed(), bad.ok()), (8, 1, false));
        assert!(bad.lines().contains("per port (not one for all)"));
        assert!(bad.lines().ends_with("8 passed, 1 failed"));
        assert!(!Report::default().ok(), "nothing measured is no success");
    }
}
