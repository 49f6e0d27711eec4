//! Where packets for a node's networks are sent: said by the node itself, judged by the others.

use std::net::{IpAddr, SocketAddr};

use gridbay_core::cluster::{Member, PLACES};
use gridbay_protocol::keys::PublicKey;
use gridbay_vnet::path::{Candidate, Kind, WAYS};

use super::streams::RELAYS;
use crate::overlay::{Range, range};

/// The places of a machine with these addresses, at most [`PLACES`]. Loopback only counts where
/// there is nothing else: for networks of one machine.
pub(super) fn of(hosts: &[IpAddr], port: u16) -> Vec<String> {
    let far = hosts.iter().any(|ip| !ip.is_loopback());
    let mut places = Vec::new();
    for ip in hosts.iter().filter(|ip| !far || !ip.is_loopback()) {
        let place = SocketAddr::new(*ip, port).to_string();
        if !ip.is_unspecified() && !places.contains(&place) {
            places.push(place);
        }
    }
    places.truncate(PLACES);
    places
}

/// How far around this machine packets are sent: members name places, and would have them knock at
/// doors that they cannot reach themselves.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Around {
    loopback: bool,
    private: bool,
}

impl Around {
    /// Of a machine with these addresses. Loopback is for networks of one machine, private
    /// addresses for machines that have one.
    pub(super) fn of(hosts: &[IpAddr]) -> Around {
        Around {
            loopback: hosts.iter().all(|ip| range(*ip) == Range::Loopback),
            private: hosts.iter().any(|ip| range(*ip) == Range::Private),
        }
    }

    /// Nobody is made to send to nobody or to many at once either.
    fn has(self, at: &SocketAddr) -> bool {
        let reaches = match range(at.ip()) {
            Range::Global => true,
            Range::Private => self.private,
            Range::Loopback => self.loopback,
            Range::Link | Range::Metadata | Range::Nowhere => false,
        };
        reaches && at.port() > 0
    }
}

/// The ways to a member: where its NAT lets it be seen, its own places, and then those that have
/// room in any case: the relays that carry to it, and streams, of which `stream` says where one is.
pub(super) fn candidates(
    member: &Member,
    around: Around,
    stream: impl Fn(&PublicKey) -> Option<SocketAddr>,
) -> Vec<Candidate> {
    let address = |place: &String| place.parse().ok().filter(|at| around.has(at));
    let places = member.card.places.iter().filter_map(address);
    let outside = member.card.outside.iter().filter_map(address);
    let outside = outside.map(|at| Candidate::at(Kind::Punched, at));
    let own = outside.chain(places.map(|at| Candidate::at(kind(&at), at)));
    let relays = member.relays.iter().filter_map(|way| {
        let at = address(&way.place)?;
        Some(Candidate::relay(at, way.ticket))
    });
    let mut last: Vec<Candidate> = relays.collect();
    last.extend(stream(&member.node).map(|at| Candidate::at(Kind::Stream, at)));
    let mut relays: Vec<_> = member.relays.iter().map(|w| (w.node, w.ticket)).collect();
    relays.dedup();
    let by_stream = |(node, ticket)| Some(Candidate::relay_stream(stream(&node)?, ticket));
    last.extend(relays.into_iter().filter_map(by_stream).take(RELAYS));
    let mut all: Vec<Candidate> = own.take(WAYS.saturating_sub(last.len())).collect();
    all.extend(last);
    all
}

fn kind(at: &SocketAddr) -> Kind {
    match range(at.ip()) {
        Range::Global => Kind::Direct,
        _ => Kind::Lan,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_core::cluster::{Card, RelayWay, VIAS};
    use gridbay_protocol::keys::SecretKey;

    #[test]
    fn loopback_counts_where_there_is_nothing_else() {
        let ips = |texts: &[&str]| texts.iter().map(|t| t.parse().unwrap()).collect::<Vec<_>>();
        let all = ips(&[
            "127.0.0.1",
            "192.168.1.2",
            "192.168.1.2",
            "0.0.0.0",
            "2001:db8::1",
        ]);
        assert_eq!(of(&all, 5), ["192.168.1.2:5", "[2001:db8::1]:5"]);
        assert_eq!(of(&ips(&["127.0.0.1"]), 5), ["127.0.0.1:5"]);
        assert_eq!(of(&[IpAddr::from([10, 0, 0, 1]); 20], 5).len(), 1);
    }

    #[test]
    fn places_that_are_nobodys_or_everybodys_are_left_out() {
        let card = Card {
            public: [0; 32],
            places: [
                "10.0.0.1:7",
                "192.0.2.1:7",
                "255.255.255.255:7",
                "224.0.0.1:7",
                "0.0.0.0:7",
                "10.0.0.1:0",
                "127.0.0.1:7",
                "169.254.169.254:7",
                "169.254.1.1:7",
                "nowhere",
            ]
            .map(str::to_owned)
            .into(),
            outside: Some("192.0.2.3:9".to_owned()),
        };
        let way = |place: &str| RelayWay {
            node: SecretKey::from_seed(&[2; 32]).public(),
            place: place.to_owned(),
            ticket: [7; 16],
        };
        let mut member = Member {
            node: SecretKey::from_seed(&[1; 32]).public(),
            ranks: vec![0],
            card,
            relays: vec![way("192.0.2.9:7"), way("224.0.0.1:7")],
        };
        let around = |hosts: &[[u8; 4]]| {
            Around::of(&hosts.iter().map(|ip| IpAddr::from(*ip)).collect::<Vec<_>>())
        };
        let site = around(&[[192, 0, 2, 7], [10, 0, 0, 2]]);
        let kinds_at = |member: &Member, around| {
            candidates(member, around, |_| None)
                .iter()
                .map(|c| c.kind)
                .collect::<Vec<_>>()
        };
        let kinds = |member: &Member| kinds_at(member, site);
        let all = [Kind::Punched, Kind::Lan, Kind::Direct, Kind::Relay];
        assert_eq!(kinds(&member), all);
        let far = kinds_at(&member, around(&[[192, 0, 2, 7]]));
        assert_eq!(far, [Kind::Punched, Kind::Direct, Kind::Relay]);
        let alone = kinds_at(&member, around(&[[127, 0, 0, 1]]));
        let kept = [Kind::Punched, Kind::Direct, Kind::Lan, Kind::Relay];
        assert_eq!(alone, kept, "its own loopback, and the Internet");
        member.card.outside = Some("224.0.0.1:9".to_owned());
        assert_eq!(kinds(&member), all[1..]);
        member.card.places = vec!["10.0.0.1:7".to_owned(); PLACES];
        let kinds = kinds(&member);
        assert_eq!((kinds.len(), kinds.last()), (WAYS, Some(&Kind::Relay)));
        member.relays = vec![way("192.0.2.9:7"); VIAS];
        for (at, way) in (1..).zip(&mut member.relays) {
            (way.node, way.ticket) = (SecretKey::from_seed(&[at; 32]).public(), [at; 16]);
        }
        let all = candidates(&member, site, |_| Some("127.0.0.1:9".parse().unwrap()));
        let of = |kind| all.iter().filter(|c| c.kind == kind).count();
        let counts = [Kind::Lan, Kind::Relay, Kind::Stream, Kind::RelayStream].map(of);
        assert_eq!((counts, all.len()), ([1, VIAS, 1, 2], WAYS));
    }
}
