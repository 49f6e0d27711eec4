//! Where packets for a node's networks are sent: said by the node itself, judged by the others.

use std::net::{IpAddr, SocketAddr};

use gridbay_core::cluster::{Member, PLACES};
use gridbay_protocol::keys::PublicKey;
use gridbay_vnet::path::{Candidate, Kind, WAYS};

use super::streams::RELAYS;

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

/// The ways to a member: where its NAT lets it be seen, its own places, and then those that have
/// room in any case: the relays that carry to it, and streams, of which `stream` says where one is.
pub(super) fn candidates(
    member: &Member,
    stream: impl Fn(&PublicKey) -> Option<SocketAddr>,
) -> Vec<Candidate> {
    let address = |place: &String| place.parse().ok().filter(is_sound);
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

/// Nobody is made to send to many at once, or to nobody.
fn is_sound(at: &SocketAddr) -> bool {
    let ip = at.ip().to_canonical();
    let broadcast = matches!(ip, IpAddr::V4(v4) if v4.is_broadcast());
    at.port() > 0 && !ip.is_unspecified() && !ip.is_multicast() && !broadcast
}

fn kind(at: &SocketAddr) -> Kind {
    let local = match at.ip().to_canonical() {
        IpAddr::V4(ip) => ip.is_private() || ip.is_loopback() || ip.is_link_local(),
        IpAddr::V6(ip) => ip.is_unique_local() || ip.is_loopback() || ip.is_unicast_link_local(),
    };
    if local { Kind::Lan } else { Kind::Direct }
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
        let kinds = |member: &Member| {
            candidates(member, |_| None)
                .iter()
                .map(|c| c.kind)
                .collect::<Vec<_>>()
        };
        let all = [Kind::Punched, Kind::Lan, Kind::Direct, Kind::Relay];
        assert_eq!(kinds(&member), all);
        member.card.outside = Some("224.0.0.1:9".to_owned());
        assert_eq!(kinds(&member), all[1..]);
        member.card.places = vec!["10.0.0.1:7".to_owned(); PLACES];
        let kinds = kinds(&member);
        assert_eq!((kinds.len(), kinds.last()), (WAYS, Some(&Kind::Relay)));
        member.relays = vec![way("192.0.2.9:7"); VIAS];
        for (at, way) in (1..).zip(&mut member.relays) {
            (way.node, way.ticket) = (SecretKey::from_seed(&[at; 32]).public(), [at; 16]);
        }
        let all = candidates(&member, |_| Some("127.0.0.1:9".parse().unwrap()));
        let of = |kind| all.iter().filter(|c| c.kind == kind).count();
        let counts = [Kind::Lan, Kind::Relay, Kind::Stream, Kind::RelayStream].map(of);
        assert_eq!((counts, all.len()), ([1, VIAS, 1, 2], WAYS));
    }
}
