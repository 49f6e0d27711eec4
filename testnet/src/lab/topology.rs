//! The parts of a lab: networks, each of a kind, and the hosts in them.
//!
//! ```toml
//! mtu = 1500                            # of every cable; default 1500
//!
//! [networks.street]                     # `open`: each host has its own public address
//! kind = "open"
//! hosts = ["pub1", "pub2"]
//!
//! [networks.home]                       # any other kind: hosts behind one router of that name
//! kind = "cone"
//! hosts = ["alice", "bob"]
//! udp_timeout = "60s"                   # after which an unused mapping is forgotten; default 60s
//! link = { delay = "15ms", jitter = "2ms", rate = "20mbit", loss = "1%" }
//! ```
//!
//! 1. The text is read strictly: unknown keys are refused.
//! 2. Names are checked and unique over the whole lab: hosts, routers, and the provider's router
//!    `NAME-isp` of a `double` network. A name is also a device's name, hence the few characters.
//! 3. Every public link gets a number, in the order of the networks' names; addresses follow from
//!    it (`address`).
//!
//! A [`Topology`] exists only checked. It keeps its text, which the lab's record holds.

use super::address::HOSTS_PER_NETWORK;
use super::impair::{Impairment, ImpairmentError, RawLink};
use super::nat::Kind;
use gridbay_node::config::parse;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use thiserror::Error;

/// The router that all public links lead to.
pub const WAN: &str = "wan";

/// Characters of a name at the most: a device has 15, and `-isp` may follow.
const NAME_CHARS: usize = 11;
/// Names of devices that machines have anyway.
const TAKEN: [&str; 6] = ["wan", "wan0", "lan0", "lag0", "lo", "eth0"];
/// Public links of a lab at the most; a link's number is one byte of its addresses.
pub const LINKS: usize = 200;
/// Each kind of network once, two public hosts: what `lab up` builds when no file is given.
const DEFAULT: &str = include_str!("default.toml");
/// Each kind twice, for pairs of hosts behind different routers.
const PAIRS: &str = include_str!("pairs.toml");

/// A checked lab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    /// Bytes of a packet on every cable.
    pub mtu: u16,
    /// Networks by name.
    pub networks: Vec<Network>,
    source: String,
}

/// Hosts that reach the public network in the same way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Network {
    /// Name, also that of its router if there is one.
    pub name: String,
    /// How its hosts reach others, and others them.
    pub kind: Kind,
    /// Names of its hosts, at least one.
    pub hosts: Vec<String>,
    /// After which an unused UDP mapping is forgotten.
    pub udp_timeout: Duration,
    /// The initial impairment of its public link; for `open`, that of each host's link.
    pub link: Impairment,
}

/// A machine's cable to the public network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link<'a> {
    /// From 1, unique in the lab.
    pub number: u8,
    /// The owner of the cable: an open host, or the router of a network.
    pub name: &'a str,
    /// The network.
    pub network: &'a Network,
}

impl Link<'_> {
    /// The machine on the far end: the provider's router in a `double` network.
    pub fn machine(&self) -> String {
        match self.network.kind {
            Kind::Double => isp(self.name),
            _ => self.name.to_owned(),
        }
    }
}

/// The provider's router of a `double` network.
pub fn isp(network: &str) -> String {
    format!("{network}-isp")
}

/// Why a text is no topology.
#[derive(Debug, Error)]
pub enum TopologyError {
    /// Not TOML, or not of this shape.
    #[error("{0}")]
    Text(#[from] toml::de::Error),
    /// A name with other characters, too long, or one that machines use themselves.
    #[error(
        "`{0}` is no name: want 1 to {NAME_CHARS} of a-z, 0-9 and -, a letter first, and none of {taken}",
        taken = TAKEN.join(", ")
    )]
    Name(String),
    /// Two machines of one name.
    #[error("`{0}` is named twice; hosts and networks share their names")]
    Twice(String),
    /// Too few or too many hosts in a network.
    #[error("network `{0}` has {1} hosts: want 1 to {HOSTS_PER_NETWORK}")]
    Hosts(String, usize),
    /// Too few or too many public links in all.
    #[error("the lab has {0} public links: want 1 to {LINKS}")]
    Links(usize),
    /// A packet size that carries no IPv6, or more than a cable takes.
    #[error("mtu {0}: want 1280 to 9000")]
    Mtu(u16),
    /// No duration, or one out of bounds.
    #[error("network `{0}`: udp_timeout {1}: want 1s to 1h")]
    Timeout(String, String),
    /// A link that cannot be so.
    #[error("network `{0}`: {1}")]
    Link(String, ImpairmentError),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTopology {
    #[serde(default = "default_mtu")]
    mtu: u16,
    networks: BTreeMap<String, RawNetwork>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawNetwork {
    kind: Kind,
    hosts: Vec<String>,
    udp_timeout: Option<String>,
    #[serde(default)]
    link: RawLink,
}

fn default_mtu() -> u16 {
    1500
}

impl Topology {
    /// Reads and checks a text.
    pub fn parse(text: &str) -> Result<Topology, TopologyError> {
        let raw: RawTopology = toml::from_str(text)?;
        if !(1280..=9000).contains(&raw.mtu) {
            return Err(TopologyError::Mtu(raw.mtu));
        }
        let mut networks = Vec::new();
        for (name, network) in raw.networks {
            networks.push(checked(name, network)?);
        }
        let topology = Topology {
            mtu: raw.mtu,
            networks,
            source: text.to_owned(),
        };
        topology.check_names()?;
        match topology.links().count() {
            1..=LINKS => Ok(topology),
            links => Err(TopologyError::Links(links)),
        }
    }
    /// Each kind of network once, and two public hosts.
    pub fn every_kind() -> Topology {
        Topology::parse(DEFAULT).expect("a test reads the built-in topologies")
    }
    /// Each kind of network twice, and two public hosts.
    pub fn pairs() -> Topology {
        Topology::parse(PAIRS).expect("a test reads the built-in topologies")
    }
    /// The text it was read from.
    pub fn source(&self) -> &str {
        &self.source
    }
    /// Public links with their numbers.
    pub fn links(&self) -> impl Iterator<Item = Link<'_>> {
        let named = self.networks.iter().flat_map(|network| {
            let own = match network.kind {
                Kind::Open => network.hosts.as_slice(),
                _ => std::slice::from_ref(&network.name),
            };
            own.iter().map(move |name| (name.as_str(), network))
        });
        // Beyond 255 the check above has already said no.
        (1..=u8::MAX)
            .zip(named)
            .map(|(number, (name, network))| Link {
                number,
                name,
                network,
            })
    }
    /// The public link through which a host or router goes.
    pub fn link_of(&self, machine: &str) -> Option<Link<'_>> {
        let own = |link: &Link<'_>| {
            let inside = link.network.kind != Kind::Open;
            link.name == machine || (inside && link.network.hosts.iter().any(|h| h == machine))
        };
        self.links().find(own)
    }
    /// Hosts, each with its network and its place in it.
    pub fn hosts(&self) -> impl Iterator<Item = (&str, &Network, usize)> {
        self.networks.iter().flat_map(|network| {
            let hosts = network.hosts.iter().enumerate();
            hosts.map(move |(place, host)| (host.as_str(), network, place))
        })
    }
    /// A host by its name.
    pub fn host(&self, name: &str) -> Option<(&Network, usize)> {
        let mut hosts = self.hosts();
        hosts
            .find(|(host, ..)| *host == name)
            .map(|(_, network, place)| (network, place))
    }
    /// Every machine: the public router, routers, hosts.
    pub fn machines(&self) -> Vec<String> {
        let mut all = vec![WAN.to_owned()];
        for network in &self.networks {
            if network.kind != Kind::Open {
                all.push(network.name.clone());
            }
            if network.kind == Kind::Double {
                all.push(isp(&network.name));
            }
            all.extend(network.hosts.iter().cloned());
        }
        all
    }
    fn check_names(&self) -> Result<(), TopologyError> {
        let mut seen = BTreeSet::new();
        let networks = self.networks.iter().map(|network| &network.name);
        let hosts = self.networks.iter().flat_map(|network| &network.hosts);
        for name in networks.chain(hosts) {
            let rest = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            let good = name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(rest);
            if !good || name.len() > NAME_CHARS || TAKEN.contains(&name.as_str()) {
                return Err(TopologyError::Name(name.clone()));
            }
            if !seen.insert(name.clone()) {
                return Err(TopologyError::Twice(name.clone()));
            }
        }
        let doubles = self.networks.iter().filter(|n| n.kind == Kind::Double);
        match doubles
            .map(|n| isp(&n.name))
            .find(|name| seen.contains(name))
        {
            Some(name) => Err(TopologyError::Twice(name)),
            None => Ok(()),
        }
    }
}

fn checked(name: String, raw: RawNetwork) -> Result<Network, TopologyError> {
    if raw.hosts.is_empty() || raw.hosts.len() > HOSTS_PER_NETWORK {
        return Err(TopologyError::Hosts(name, raw.hosts.len()));
    }
    let written = raw.udp_timeout.unwrap_or_else(|| "60s".to_owned());
    let bounds = Duration::from_secs(1)..=Duration::from_secs(3600);
    let udp_timeout = match parse::duration(&written) {
        Ok(timeout) if bounds.contains(&timeout) => timeout,
        _ => return Err(TopologyError::Timeout(name, written)),
    };
    let link = Impairment::from_raw(&raw.link)
        .map_err(|error| TopologyError::Link(name.clone(), error))?;
    Ok(Network {
        name,
        kind: raw.kind,
        hosts: raw.hosts,
        udp_timeout,
        link,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = "[networks.a]\nkind = \"open\"\nhosts = [\"p\", \"q\"]\n\
        [networks.home]\nkind = \"double\"\nhosts = [\"h\"]\nlink = { delay = \"15ms\" }\n";

    #[test]
    fn a_text_becomes_networks_links_and_machines() {
        let lab = Topology::parse(SMALL).unwrap();
        let links: Vec<_> = lab.links().map(|l| (l.number, l.machine())).collect();
        let expected = [(1, "p"), (2, "q"), (3, "home-isp")];
        assert_eq!(links, expected.map(|(n, name)| (n, name.to_owned())));
        assert_eq!(lab.machines(), ["wan", "p", "q", "home", "home-isp", "h"]);
        assert_eq!(lab.link_of("h").unwrap().number, 3);
        assert_eq!(lab.link_of("q").unwrap().number, 2);
        assert_eq!(lab.link_of("a"), None, "an open network has no router");
        assert_eq!(lab.networks[1].link.delay, Duration::from_millis(15));
    }

    #[test]
    fn built_in_topologies_hold_every_kind() {
        for (lab, each) in [(Topology::every_kind(), 1), (Topology::pairs(), 2)] {
            for kind in Kind::ALL.into_iter().filter(|kind| *kind != Kind::Open) {
                let of_kind = lab.networks.iter().filter(|n| n.kind == kind);
                assert_eq!(of_kind.count(), each, "{kind}");
            }
            assert!(lab.host("pub1").is_some() && lab.host("pub2").is_some());
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        let of = |hosts: &str, more: &str| {
            let text = format!("[networks.home]\nkind = \"cone\"\nhosts = {hosts}\n{more}");
            Topology::parse(&text).unwrap_err().to_string()
        };
        for (hosts, more, said) in [
            ("[]", "", "0 hosts"),
            ("[\"Alice\"]", "", "`Alice` is no name"),
            ("[\"a/b\"]", "", "`a/b` is no name"),
            ("[\"a-name-too-long\"]", "", "is no name"),
            ("[\"wan0\"]", "", "`wan0` is no name"),
            ("[\"home\"]", "", "named twice"),
            ("[\"a\", \"a\"]", "", "named twice"),
            ("[\"a\"]", "udp_timeout = \"2d\"", "udp_timeout 2d"),
            ("[\"a\"]", "link = { loss = \"200%\" }", "loss"),
            ("[\"a\"]", "colour = 1", "unknown field `colour`"),
            ("[\"a\"]", "[networks.b]\nkind = \"half\"", "half"),
            (
                "[\"b-isp\"]",
                "[networks.b]\nkind = \"double\"\nhosts = [\"c\"]",
                "twice",
            ),
        ] {
            let error = of(hosts, more);
            assert!(error.contains(said), "{hosts} {more}: {error}");
        }
        assert!(Topology::parse("mtu = 100\n[networks]").is_err());
        assert!(Topology::parse("[networks]").is_err(), "nothing at all");
    }
}
