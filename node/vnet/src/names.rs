//! Names of a lease's ranks by DNS (RFC 1035), for programs that read no hosts file.
//!
//! 1. The resolver has the addresses of rank [`RESOLVER`], which no member has. A packet to it
//!    never leaves its node: the thread that reads it from a device writes the answer back.
//! 2. `rank3` and `rank3.<lease>.gridbay` have an A and an AAAA record while that rank is in the
//!    network, and its IPv4 address leads back to the full name. All else does not exist.
//! 3. It takes one question in a UDP datagram of at most 512 bytes. Whatever is no such question
//!    has no answer, and counts as a packet without a route.

use std::net::{IpAddr, Ipv4Addr};

use smoltcp::phy::ChecksumCapabilities;
use smoltcp::wire::{
    DnsFlags, DnsOpcode, DnsPacket, DnsQueryType, DnsQuestion, DnsRcode, IpProtocol, IpRepr,
    Ipv4Packet, Ipv6Packet, UdpPacket, UdpRepr,
};

use crate::address::{Plan, RESOLVER, short_name};
use crate::packet;
use crate::tun::HEADER;

const PORT: u16 = 53;
const LONGEST: usize = 512;
/// Bytes of a name (RFC 1035, section 2.3.4).
const NAME_MAX: usize = 255;
/// Seconds for which an answer may be kept: members come and go.
const TTL_S: u32 = 5;
const HOPS: u8 = 64;
const CLASS_IN: u16 = 1;
const PTR: u16 = 12;
/// Stands for the name of the question, which begins behind the header of 12 bytes.
const SAME_NAME: u16 = 0xc00c;

/// The answer to a packet read from a device, with the kernel's header in front; none if it is no
/// question to the resolver. `is_member` tells whether an address is that of a rank.
pub(crate) fn answer(
    plan: &Plan,
    is_member: impl Fn(&IpAddr) -> bool,
    packet: &[u8],
) -> Option<Vec<u8>> {
    let (source, destination) = packet::ends(packet)?;
    plan.rank(RESOLVER)
        .filter(|resolver| resolver.has(&destination))?;
    let asked = UdpPacket::new_checked(datagram(packet)?).ok()?;
    if asked.dst_port() != PORT {
        return None;
    }
    let said = reply(plan, is_member, asked.payload())?;
    Some(wrapped(destination, source, asked.src_port(), &said))
}

/// What an IP packet carries, if that is a whole datagram of UDP.
fn datagram(packet: &[u8]) -> Option<&[u8]> {
    if packet.first()? >> 4 == 4 {
        let ip = Ipv4Packet::new_checked(packet).ok()?;
        let whole = !ip.more_frags() && ip.frag_offset() == 0;
        (whole && ip.next_header() == IpProtocol::Udp).then(|| ip.payload())
    } else {
        let ip = Ipv6Packet::new_checked(packet).ok()?;
        (ip.next_header() == IpProtocol::Udp).then(|| ip.payload())
    }
}

/// A datagram of the resolver as a packet. Both addresses are of one family.
fn wrapped(from: IpAddr, to: IpAddr, port: u16, said: &[u8]) -> Vec<u8> {
    let udp = UdpRepr {
        src_port: PORT,
        dst_port: port,
    };
    let length = udp.header_len() + said.len();
    let ip = IpRepr::new(from.into(), to.into(), IpProtocol::Udp, length, HOPS);
    let body = HEADER + ip.header_len();
    let mut out = vec![0; body + length];
    let sums = ChecksumCapabilities::default();
    ip.emit(&mut out[HEADER..body], &sums);
    let mut packet = UdpPacket::new_unchecked(&mut out[body..]);
    let fill = |room: &mut [u8]| room.copy_from_slice(said);
    udp.emit(
        &mut packet,
        &from.into(),
        &to.into(),
        said.len(),
        fill,
        &sums,
    );
    out
}

/// The answer to a question.
fn reply(plan: &Plan, is_member: impl Fn(&IpAddr) -> bool, query: &[u8]) -> Option<Vec<u8>> {
    let asked = DnsPacket::new_checked(query).ok()?;
    let ours = !asked.flags().contains(DnsFlags::RESPONSE)
        && asked.opcode() == DnsOpcode::Query
        && asked.question_count() == 1
        && query.len() <= LONGEST;
    let (rest, question) = DnsQuestion::parse(asked.payload()).ok().filter(|_| ours)?;
    let name = spelled(&asked, question.name)?;
    let record = found(plan, is_member, &name, question.type_);

    let mut flags = DnsFlags::RESPONSE | DnsFlags::AUTHORITATIVE | DnsFlags::RECURSION_AVAILABLE;
    flags |= asked.flags() & DnsFlags::RECURSION_DESIRED;
    let (code, data) = match record {
        Some(data) => (DnsRcode::NoError, data),
        None => (DnsRcode::NXDomain, None),
    };
    let answers = u16::from(data.is_some());
    let head = [
        asked.transaction_id(),
        flags.bits() | u16::from(u8::from(code)),
        1,
        answers,
        0,
        0,
    ];
    let mut said: Vec<u8> = head.iter().flat_map(|word| word.to_be_bytes()).collect();
    let asked_for = asked.payload().len() - rest.len();
    said.extend_from_slice(&asked.payload()[..asked_for]);
    if let Some(data) = data {
        let kind = u16::from(question.type_);
        said.extend([SAME_NAME, kind, CLASS_IN].map(u16::to_be_bytes).concat());
        said.extend(TTL_S.to_be_bytes());
        said.extend((data.len() as u16).to_be_bytes());
        said.extend(data);
    }
    Some(said)
}

/// A name with dots, in small letters.
fn spelled(asked: &DnsPacket<&[u8]>, name: &[u8]) -> Option<String> {
    let mut spelled = String::new();
    for label in asked.parse_name(name) {
        let label = std::str::from_utf8(label.ok()?).ok()?;
        if spelled.len() + label.len() >= NAME_MAX {
            return None;
        }
        if !spelled.is_empty() {
            spelled.push('.');
        }
        spelled.push_str(&label.to_ascii_lowercase());
    }
    Some(spelled)
}

/// The data of the record of that name and type: the outer option tells whether there is such a
/// name, the inner one whether it has such a record.
fn found(
    plan: &Plan,
    is_member: impl Fn(&IpAddr) -> bool,
    name: &str,
    kind: DnsQueryType,
) -> Option<Option<Vec<u8>>> {
    let (rank, reverse) = match pointed(name) {
        Some(v4) => (plan.rank_of(v4)?, true),
        None => (rank_of(plan, name)?, false),
    };
    let address = plan.rank(rank).filter(|a| is_member(&IpAddr::V4(a.v4)))?;
    Some(match kind {
        DnsQueryType::A if !reverse => Some(address.v4.octets().to_vec()),
        DnsQueryType::Aaaa if !reverse => Some(address.v6.octets().to_vec()),
        DnsQueryType::Unknown(PTR) if reverse => Some(labels(&plan.name(rank))),
        _ => None,
    })
}

/// The rank of `rank3` or `rank3.<lease>.gridbay`.
fn rank_of(plan: &Plan, name: &str) -> Option<u32> {
    let rank = name.split('.').next()?.strip_prefix("rank")?.parse().ok()?;
    (name == short_name(rank) || name == plan.name(rank)).then_some(rank)
}

/// The address of `4.3.2.1.in-addr.arpa`.
fn pointed(name: &str) -> Option<Ipv4Addr> {
    let backwards: Ipv4Addr = name.strip_suffix(".in-addr.arpa")?.parse().ok()?;
    Some(Ipv4Addr::from(u32::from(backwards).swap_bytes()))
}

/// A name of ours as DNS writes it.
fn labels(name: &str) -> Vec<u8> {
    let labels = name.split('.').flat_map(|label| {
        let length = label.len() as u8;
        std::iter::once(length).chain(label.bytes())
    });
    labels.chain([0]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::ids::{LeaseId, NetworkId};
    use proptest::prelude::*;

    const A: u16 = 1;
    const AAAA: u16 = 28;
    const MX: u16 = 15;

    fn plan() -> Plan {
        Plan::new(&NetworkId([1; 32]), &LeaseId([2; 32]))
    }

    /// Ranks 0 to 3 are there.
    fn members(address: &IpAddr) -> bool {
        (0..4).any(|rank| plan().rank(rank).is_some_and(|r| r.has(address)))
    }

    fn query(name: &str, kind: u16) -> Vec<u8> {
        let head = [7, 0x0100, 1, 0, 0, 0].map(u16::to_be_bytes).concat();
        let end = [kind, CLASS_IN].map(u16::to_be_bytes).concat();
        [head, labels(name), end].concat()
    }

    /// Code and data of the answer.
    fn ask(name: &str, kind: u16) -> (u8, Vec<u8>) {
        let query = query(name, kind);
        let said = reply(&plan(), members, &query).expect("an answer");
        assert_eq!(said[..2], [0, 7], "the question's number");
        assert_eq!(said[2] & 0x85, 0x85, "an answer of its own, as was wanted");
        assert_eq!(said[12..query.len()], query[12..]);
        let record = &said[query.len()..];
        assert_eq!(usize::from(said[7]), usize::from(!record.is_empty()));
        (
            said[3] & 15,
            record.get(12..).unwrap_or_default().to_owned(),
        )
    }

    #[test]
    fn ranks_have_names_as_long_as_they_are_members() {
        let address = plan().rank(3).expect("a rank");
        for name in ["rank3", "rank3.02020202.gridbay", "RANK3.02020202.GridBay"] {
            assert_eq!(ask(name, A), (0, address.v4.octets().to_vec()));
            assert_eq!(ask(name, AAAA), (0, address.v6.octets().to_vec()));
            assert_eq!(ask(name, MX), (0, vec![]));
        }
        let others = [
            "rank4",
            "rank03",
            "rank3.03030303.gridbay",
            "rank3.gridbay",
            "gridbay.example",
            "rank",
        ];
        for name in others {
            assert_eq!(ask(name, A), (3, vec![]), "{name}");
        }
    }

    #[test]
    fn addresses_lead_back_to_names() {
        let (there, name) = ("4.8.201.10.in-addr.arpa", "rank3.02020202.gridbay");
        assert_eq!(ask(there, PTR), (0, labels(name)));
        assert_eq!(ask(there, A), (0, vec![]));
        for other in [
            "5.8.201.10.in-addr.arpa",
            "1.0.0.127.in-addr.arpa",
            "x.in-addr.arpa",
        ] {
            assert_eq!(ask(other, PTR), (3, vec![]), "{other}");
        }
    }

    #[test]
    fn a_packet_to_the_resolver_comes_back_as_one() {
        let (own, resolver) = (
            plan().rank(0).expect("own"),
            plan().rank(RESOLVER).expect("its"),
        );
        let ends: [(IpAddr, IpAddr); 2] = [
            (own.v4.into(), resolver.v4.into()),
            (own.v6.into(), resolver.v6.into()),
        ];
        for (from, to) in ends {
            // Sent from the resolver's port, so that one function makes both.
            let packet = wrapped(from, to, PORT, &query("rank1", A));
            let back = answer(&plan(), members, &packet[HEADER..]).expect("an answer");
            assert_eq!(packet::ends(&back[HEADER..]), Some((to, from)));
            let datagram = datagram(&back[HEADER..]).expect("a datagram");
            let datagram = UdpPacket::new_checked(datagram).expect("whole");
            assert!(datagram.verify_checksum(&to.into(), &from.into()));
            let elsewhere = wrapped(from, to, 54, &query("rank1", A));
            assert_eq!(answer(&plan(), members, &elsewhere[HEADER..]), None);
            let other = wrapped(from, from, PORT, &query("rank1", A));
            assert_eq!(answer(&plan(), members, &other[HEADER..]), None);
        }
    }

    #[test]
    fn what_is_no_question_has_no_answer() {
        let good = query("rank1", A);
        let mut answer = good.clone();
        answer[2] |= 0x80;
        let mut two = good.clone();
        two[5] = 2;
        let mut status = good.clone();
        status[2] |= 0x10;
        let long = [good.clone(), vec![0; LONGEST]].concat();
        for bad in [&answer, &two, &status, &long, &good[..11].to_vec()] {
            assert_eq!(reply(&plan(), members, bad), None);
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
            let said = reply(&plan(), members, &bytes);
            prop_assert!(said.is_none_or(|said| said.len() <= bytes.len() + 12 + 16 + NAME_MAX));
            answer(&plan(), members, &bytes);
        }
    }
}
