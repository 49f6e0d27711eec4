//! Splitting and joining are each other's inverse.

use super::checksum::{add, finish, fold, pseudo};
use super::header::Super;
use super::*;
use crate::tun::HEADER;
use proptest::prelude::*;

/// A super-packet as a kernel would leave it to us: lengths right, checksum open.
fn packet(v6: bool, protocol: u8, body: &[u8], seed: u8) -> Vec<u8> {
    let transport = if protocol == TCP { 32 } else { 8 };
    let start = if v6 { 40 } else { 20 };
    let length = start + transport + body.len();
    let mut packet = vec![0; start + transport];
    if v6 {
        packet[0] = 0x60;
        packet[4..6].copy_from_slice(&((length - 40) as u16).to_be_bytes());
        packet[6] = protocol;
        packet[7] = 64;
        packet[8..40].fill(seed);
    } else {
        packet[0] = 0x45;
        packet[2..4].copy_from_slice(&(length as u16).to_be_bytes());
        packet[6] = 0x40;
        packet[8] = 64;
        packet[9] = protocol;
        packet[12..20].fill(seed);
        let sum = finish(add(0, &packet[..20]));
        packet[10..12].copy_from_slice(&sum);
    }
    let at = &mut packet[start..];
    at[..4].copy_from_slice(&[1, 2, 3, 4]);
    if protocol == TCP {
        at[4..8].copy_from_slice(&[0xff, 0xff, 0xff, seed]);
        at[12] = 8 << 4;
        at[13] = 0x10;
        at[20..32].fill(seed);
    } else {
        at[4..6].copy_from_slice(&((8 + body.len()) as u16).to_be_bytes());
    }
    packet.extend_from_slice(body);
    let offset = if protocol == TCP { 16 } else { 6 };
    let partial = fold(pseudo(&packet, protocol, length - start));
    packet[start + offset..start + offset + 2].copy_from_slice(&partial);
    packet
}

fn header(v6: bool, protocol: u8, size: u16) -> Header {
    Header {
        kind: if protocol == TCP {
            Super::Tcp
        } else {
            Super::Udp
        },
        size,
        open: true,
        start: if v6 { 40 } else { 20 },
        offset: if protocol == TCP { 16 } else { 6 },
    }
}

/// Whether all checksums of a packet are right.
fn is_right(packet: &[u8], protocol: u8) -> bool {
    let (start, _) = plain(packet).expect("a plain packet");
    let ip = packet[0] >> 4 == 6 || finish(add(0, &packet[..20])) == [0, 0];
    let sum = pseudo(packet, protocol, packet.len() - start);
    ip && finish(add(sum, &packet[start..])) == [0, 0]
}

fn written(merger: &mut Merger<u8>, packets: &[&[u8]], udp: bool) -> Vec<Vec<u8>> {
    let mut out = Vec::new();
    let mut sink = |_: &u8, packet: &[u8]| out.push(packet.to_vec());
    for packet in packets {
        merger.push(&1, udp, packet, &mut sink);
    }
    merger.flush(&mut sink);
    out
}

proptest! {
    /// What is split has right checksums and sizes, and joined again it is what it was.
    #[test]
    fn joined_segments_are_the_super_packet(
        v6: bool, tcp: bool, size in 1_u16..1400, count in 2_usize..40, last in 1_usize..1400, seed: u8,
    ) {
        let protocol = if tcp { TCP } else { UDP };
        let length = usize::from(size) * (count - 1) + last.min(usize::from(size));
        let body: Vec<u8> = (0..length).map(|i| (i % 251) as u8).collect();
        let before = packet(v6, protocol, &body, seed);
        let mut segments = Segments::default();
        let head = header(v6, protocol, size);
        prop_assert!(split(&head, &mut before.clone(), &mut segments));
        prop_assert_eq!(segments.len(), count);
        let all: Vec<_> = (0..count).map(|i| segments.get(i)).collect();
        prop_assert!(all.iter().all(|segment| is_right(segment, protocol)));
        let out = written(&mut Merger::new(), &all, true);
        prop_assert_eq!(out.len(), 1);
        prop_assert_eq!(Header::read(&out[0]), Some(head));
        prop_assert!(out[0][HEADER..] == before[..]);
    }

    /// No header and no packet makes it panic, and each segment is no longer than the packet.
    #[test]
    fn hostile_packets_are_survived(
        bytes in proptest::collection::vec(any::<u8>(), 0..200), first in 0_u8..3, head: [u8; 10], kind in 0_u8..6,
    ) {
        let mut bytes = bytes;
        if let Some(byte) = bytes.first_mut() {
            *byte = [*byte, 0x45, 0x60][usize::from(first)];
        }
        let mut head = head;
        head[1] = kind;
        head[7] = 0;
        head[9] = 0;
        let mut segments = Segments::default();
        if let Some(header) = Header::read(&head) {
            let length = bytes.len();
            split(&header, &mut bytes, &mut segments);
            prop_assert!((0..segments.len()).all(|i| segments.get(i).len() <= length));
        }
        written(&mut Merger::new(), &[&bytes, &bytes], true);
    }
}

#[test]
fn what_does_not_follow_is_not_joined_and_keeps_its_order() {
    let whole = packet(false, TCP, &[5; 300], 9);
    let mut segments = Segments::default();
    assert!(split(
        &header(false, TCP, 100),
        &mut whole.clone(),
        &mut segments
    ));
    let at = |i| segments.get(i);
    let mut finished = at(1).to_vec();
    finished[33] |= 1;
    for order in [[at(0), at(2)], [at(1), at(0)], [at(0), &finished]] {
        let out = written(&mut Merger::new(), &order, true);
        let bodies: Vec<_> = out.iter().map(|packet| &packet[HEADER..]).collect();
        assert_eq!(bodies, order);
        assert!(out.iter().all(|packet| packet[..HEADER] == [0; HEADER]));
    }
}

#[test]
fn datagrams_stay_single_where_the_kernel_wants_it() {
    let mut segments = Segments::default();
    let mut whole = packet(true, UDP, &[5; 300], 9);
    assert!(split(&header(true, UDP, 100), &mut whole, &mut segments));
    let all: Vec<_> = (0..3).map(|i| segments.get(i)).collect();
    assert_eq!(written(&mut Merger::new(), &all, false).len(), 3);
}

#[test]
fn two_devices_are_never_mixed() {
    let mut segments = Segments::default();
    let mut whole = packet(false, TCP, &[5; 200], 9);
    assert!(split(&header(false, TCP, 100), &mut whole, &mut segments));
    let mut out = Vec::new();
    let mut sink = |device: &u8, packet: &[u8]| out.push((*device, packet.len()));
    let mut merger = Merger::new();
    merger.push(&1, true, segments.get(0), &mut sink);
    merger.push(&2, true, segments.get(1), &mut sink);
    merger.flush(&mut sink);
    assert_eq!(out, [(1, 162), (2, 162)]);
}

#[test]
fn a_longer_header_follows_a_short_segment_without_harm() {
    let short = packet(false, TCP, &[7], 9);
    // Its options are twelve bytes longer, as with a selective acknowledgement.
    let mut long = packet(false, TCP, &[0; 13], 9);
    long[32] = 11 << 4;
    long[27] = 10;
    for order in [[&short[..], &long[..]], [&long[..], &short[..]]] {
        let out = written(&mut Merger::new(), &order, true);
        let bodies: Vec<_> = out.iter().map(|packet| &packet[HEADER..]).collect();
        assert_eq!(bodies, order, "not joined");
    }
}
