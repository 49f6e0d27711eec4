//! Kinds of networks, and the intent of each, against which [`super::probe`] measures.
//!
//! | kind | address of a host | mapping | lets in | stands for |
//! |---|---|---|---|---|
//! | `open` | its own, public | none | everything | a rented server |
//! | `fullcone` | private | one for all destinations | everybody, to a mapped port | a router with the port forwarded |
//! | `restricted` | private | one for all | addresses that were written to | an older home router |
//! | `cone` | private | one for all | address and port that were written to | most home routers |
//! | `symmetric` | private | one per destination | address and port that were written to | offices, mobile networks |
//! | `double` | private twice | one for all | as `cone` | a home router behind a provider's NAT |
//! | `hairpin` | private | one for all | as `cone`; its own hosts by their public addresses | a good home router |
//! | `firewall` | its own, public | none | answers only | IPv6 at home, a strict server room |
//! | `tcp443` | its own, public | none | answers to TCP port 443; nothing else leaves | a company's network |
//!
//! In the words of RFC 4787: mapping is endpoint-independent or address-and-port-dependent,
//! filtering is endpoint-independent, address-dependent or address-and-port-dependent. No router
//! keeps a host's port number: a program that takes its own port for the public one fails here as
//! it would elsewhere.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// How the hosts of a network reach others, and others them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A public address and no filter.
    Open,
    /// One mapping, open to everybody.
    Fullcone,
    /// One mapping, open to addresses that were written to.
    Restricted,
    /// One mapping, open to addresses and ports that were written to.
    Cone,
    /// A mapping for each destination.
    Symmetric,
    /// A cone behind a cone.
    Double,
    /// A cone whose hosts reach one another by their public addresses.
    Hairpin,
    /// A public address; only answers come in.
    Firewall,
    /// A public address; only TCP to port 443 goes out.
    Tcp443,
}

/// The outside address and port that a host's UDP socket gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mapping {
    /// Its own.
    Own,
    /// One for all destinations.
    Independent,
    /// One for each destination address.
    PerAddress,
    /// One for each destination address and port.
    PerPort,
}

/// The senders whose packets reach a host's UDP socket, once the host has written to somebody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filtering {
    /// Everybody's.
    Independent,
    /// Those of addresses that it wrote to.
    PerAddress,
    /// Those of addresses and ports that it wrote to.
    PerPort,
}

/// The fate of a stranger's connection or packet to a host's public address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unasked {
    /// It gets in.
    Accepted,
    /// No answer at all, as from most real routers.
    Silence,
    /// A refusal (RST or ICMP), which would spoil a hole punch under way.
    Refused,
}

/// What UDP does, where it leaves at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Udp {
    /// Outside addresses.
    pub mapping: Mapping,
    /// The strangers that get in.
    pub filtering: Filtering,
    /// Whether a host behind the same router is reached by its outside address. Means nothing where
    /// there is no translation.
    pub hairpin: Option<bool>,
    /// Whether a mapping outlives a stranger's unasked packet, so that a hole can be punched to
    /// that stranger.
    pub steady: bool,
}

/// All that is measured of a host's network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Behaviour {
    /// `None`: no UDP packet gets an answer.
    pub udp: Option<Udp>,
    /// TCP connections to port 443 come about.
    pub tcp443: bool,
    /// TCP connections to another port come about.
    pub tcp_other: bool,
    /// The fate of a stranger's connection or packet.
    pub unasked: Unasked,
    /// Whether IPv6 works besides IPv4.
    pub ipv6: bool,
}

impl Kind {
    /// All of them, from the most open to the strictest.
    pub const ALL: [Kind; 9] = [
        Kind::Open,
        Kind::Fullcone,
        Kind::Restricted,
        Kind::Cone,
        Kind::Hairpin,
        Kind::Double,
        Kind::Firewall,
        Kind::Symmetric,
        Kind::Tcp443,
    ];
    /// The word in a topology.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Open => "open",
            Kind::Fullcone => "fullcone",
            Kind::Restricted => "restricted",
            Kind::Cone => "cone",
            Kind::Symmetric => "symmetric",
            Kind::Double => "double",
            Kind::Hairpin => "hairpin",
            Kind::Firewall => "firewall",
            Kind::Tcp443 => "tcp443",
        }
    }
    /// Whether its router translates addresses.
    pub fn translates(self) -> bool {
        !matches!(self, Kind::Open | Kind::Firewall | Kind::Tcp443)
    }
    /// The behaviour that it must show.
    pub fn intent(self) -> Behaviour {
        let udp = |mapping, filtering, hairpin| {
            Some(Udp {
                mapping,
                filtering,
                hairpin,
                steady: true,
            })
        };
        let no = Some(false);
        Behaviour {
            udp: match self {
                Kind::Open => udp(Mapping::Own, Filtering::Independent, None),
                Kind::Fullcone => udp(Mapping::Independent, Filtering::Independent, no),
                Kind::Restricted => udp(Mapping::Independent, Filtering::PerAddress, no),
                Kind::Cone | Kind::Double => udp(Mapping::Independent, Filtering::PerPort, no),
                Kind::Hairpin => udp(Mapping::Independent, Filtering::PerPort, Some(true)),
                Kind::Symmetric => udp(Mapping::PerPort, Filtering::PerPort, no),
                Kind::Firewall => udp(Mapping::Own, Filtering::PerPort, None),
                Kind::Tcp443 => None,
            },
            tcp443: true,
            tcp_other: self != Kind::Tcp443,
            unasked: match self {
                Kind::Open => Unasked::Accepted,
                _ => Unasked::Silence,
            },
            ipv6: !self.translates(),
        }
    }
}

impl FromStr for Kind {
    type Err = String;
    fn from_str(text: &str) -> Result<Kind, String> {
        let known = Kind::ALL.map(Kind::name).join(", ");
        let kind = Kind::ALL.into_iter().find(|kind| kind.name() == text);
        kind.ok_or_else(|| format!("`{text}` is none of {known}"))
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Properties of a behaviour with their values in words, for people and for comparing one by one.
impl Behaviour {
    /// Headings of [`Behaviour::words`].
    pub const PROPERTIES: [&'static str; 9] = [
        "UDP",
        "MAPPING",
        "LETS IN",
        "HAIRPIN",
        "STEADY",
        "TCP 443",
        "OTHER TCP",
        "UNASKED",
        "IPV6",
    ];
    /// One word for each property; `-` where it means nothing.
    pub fn words(&self) -> [&'static str; 9] {
        let yes = |is: bool| if is { "yes" } else { "no" };
        let udp = |word: fn(&Udp) -> &'static str| self.udp.as_ref().map_or("-", word);
        [
            yes(self.udp.is_some()),
            udp(|udp| match udp.mapping {
                Mapping::Own => "own",
                Mapping::Independent => "one for all",
                Mapping::PerAddress => "per address",
                Mapping::PerPort => "per port",
            }),
            udp(|udp| match udp.filtering {
                Filtering::Independent => "everybody",
                Filtering::PerAddress => "same address",
                Filtering::PerPort => "same port",
            }),
            udp(|udp| match udp.hairpin {
                None => "-",
                Some(true) => "yes",
                Some(false) => "no",
            }),
            udp(|udp| if udp.steady { "yes" } else { "no" }),
            yes(self.tcp443),
            yes(self.tcp_other),
            match self.unasked {
                Unasked::Accepted => "accepted",
                Unasked::Silence => "silence",
                Unasked::Refused => "refused",
            },
            yes(self.ipv6),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_file_and_intents_differ() {
        for kind in Kind::ALL {
            let read: Kind = serde_json::from_value(kind.name().into()).unwrap();
            assert_eq!(read, kind);
        }
        let words: Vec<_> = Kind::ALL.iter().map(|kind| kind.intent().words()).collect();
        for (i, kind) in Kind::ALL.iter().enumerate() {
            for (j, other) in Kind::ALL.iter().enumerate().skip(i + 1) {
                // A second router in the way does not show in how a mapping behaves.
                let alike = [*kind, *other] == [Kind::Cone, Kind::Double];
                assert_eq!(words[i] == words[j], alike, "{kind} {other}");
            }
        }
    }
}
