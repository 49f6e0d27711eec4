//! `doctor`: what is wrong with the network of this node, and how to mend it.
//!
//! 1. The settings, the folder and names of hosts are looked at here; a running node tells the
//!    rest.
//! 2. While no node answers, the ports of `listen` are tried.
//! 3. The exit code is 0 if nothing worse than a hint was found, else 1.

use super::context::Context;
use super::error::CliError;
use super::exit::Exit;
use crate::config::Config;
use crate::doctor::{self, Finding, Stopped};
use crate::overlay::{self, Multiaddr};
use crate::ui;
use clap::Args;
use libp2p::multiaddr::Protocol;
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::time::Duration;

/// Longest wait for a name.
const NAME: Duration = Duration::from_secs(5);
/// Names looked up at the most.
const NAMES: usize = 32;

/// Say what is wrong with the network of this node, the gravest first, and how to mend it
#[derive(Clone, Debug, Args)]
pub(super) struct DoctorArgs {}

impl DoctorArgs {
    pub(super) fn run(self, at: &Context) -> Result<Exit, CliError> {
        let findings = at.wait(async { Ok(examine(at).await) })?;
        at.tell(&findings, |list| page(list))?;
        let ill = doctor::is_ill(&findings);
        if findings.is_empty() && at.format.is_text() {
            ui::note("nothing is wrong with the network of this node");
        }
        Ok(if ill { Exit::FAILED } else { Exit::OK })
    }
}

async fn examine(at: &Context) -> Vec<Finding> {
    let mut facts = Stopped {
        folder: at.home.path().display().to_string(),
        member: at.home.genesis().exists() || at.home.invitation().exists(),
        ..Stopped::default()
    };
    let config = match at.config() {
        Ok(config) => config,
        Err(error) => {
            facts.settings = Some(error.why);
            return doctor::in_order(doctor::stopped(&facts));
        }
    };
    facts.unresolved = unresolved(&config).await;
    let mut findings: Vec<Finding> = match told(at).await {
        Ok(findings) => findings,
        Err(why) => {
            facts.silent = Some(why);
            facts.closed = closed(&config.listen);
            Vec::new()
        }
    };
    findings.extend(doctor::stopped(&facts));
    doctor::in_order(findings)
}

/// The findings of the running node.
async fn told(at: &Context) -> Result<Vec<Finding>, String> {
    let client = at.client().map_err(|error| error.why)?;
    let answer = client.get("/doctor").await;
    answer.map_err(|error| error.message)
}

/// Names in the settings that nobody knows.
async fn unresolved(config: &Config) -> Vec<String> {
    let all = config.bootstrap.iter().chain(&config.net.external);
    let name = |address: &Multiaddr| match address.iter().next()? {
        Protocol::Dns(name) | Protocol::Dns4(name) | Protocol::Dns6(name) => Some(name.to_string()),
        _ => None,
    };
    let mut names: Vec<String> = all.filter_map(name).collect();
    names.sort_unstable();
    names.dedup();
    names.truncate(NAMES);
    let mut unknown = Vec::new();
    for name in names {
        let looked = tokio::net::lookup_host((name.as_str(), 0));
        let known = match tokio::time::timeout(NAME, looked).await {
            Ok(Ok(mut all)) => all.next().is_some(),
            _ => false,
        };
        if !known {
            unknown.push(name);
        }
    }
    unknown
}

/// Addresses that cannot be opened now.
fn closed(listen: &[Multiaddr]) -> Vec<(String, String)> {
    let tried = listen.iter().filter_map(|address| {
        let port = overlay::port(address).filter(|port| *port != 0)?;
        let socket = SocketAddr::new(overlay::ip(address)?, port);
        let opened = if overlay::is_quic(address) {
            UdpSocket::bind(socket).map(drop)
        } else {
            TcpListener::bind(socket).map(drop)
        };
        Some((address.to_string(), opened.err()?.to_string()))
    });
    tried.collect()
}

fn page(findings: &[Finding]) -> String {
    let mut text = String::new();
    for (i, finding) in (1..).zip(findings) {
        let [what, why, mend] = [&finding.what, &finding.why, &finding.mend].map(|t| ui::clean(t));
        let weight = finding.severity.name();
        text += &format!("{i}. {weight}: {what}\n    why: {why}\n    try: {mend}\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_taken_port_is_told_and_a_free_one_is_not() {
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        let ports = (
            tcp.local_addr().unwrap().port(),
            udp.local_addr().unwrap().port(),
        );
        let taken = [
            format!("/ip4/127.0.0.1/tcp/{}", ports.0),
            format!("/ip4/127.0.0.1/udp/{}/quic-v1", ports.1),
        ];
        let mut listen: Vec<Multiaddr> = taken.iter().map(|t| t.parse().unwrap()).collect();
        listen.push("/ip4/127.0.0.1/tcp/0".parse().unwrap());
        let found: Vec<String> = closed(&listen).into_iter().map(|(a, _)| a).collect();
        assert_eq!(found, taken);
        drop((tcp, udp));
        assert_eq!(closed(&listen), []);
    }
}
