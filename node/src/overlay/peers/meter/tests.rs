//! Tests of negotiation lines, and of each peer's streams of each protocol.

use super::*;

fn line(text: &[u8]) -> Vec<u8> {
    let mut line = vec![text.len() as u8 + 1];
    line.extend_from_slice(text);
    line.push(b'\n');
    line
}

#[test]
fn lines_are_taken_whole_however_they_come() {
    let mut sent = [line(HEADER), line(b"na"), line(b"/ipfs/ping/1.0.0")].concat();
    let long = vec![b'x'; 300];
    sent.extend([0xad, 0x02]);
    sent.extend_from_slice(&long);
    sent.push(b'\n');
    let (mut answered, mut lines) = (Vec::new(), Vec::new());
    for byte in sent {
        answered.push(byte);
        lines.extend(take_line(&mut answered));
    }
    let expected = [
        HEADER.to_vec(),
        b"na".to_vec(),
        b"/ipfs/ping/1.0.0".to_vec(),
        long,
    ];
    assert_eq!(lines, expected);
    assert!(answered.is_empty());
}

#[test]
fn each_peer_and_protocol_has_its_own_and_what_is_cut_off_is_told() {
    let meters = Meters::new(&Names::new(&[7; 32]), &Quotas::default(), 8);
    let (a, b) = (PeerId::random(), PeerId::random());
    let push = meters.row_of(b"/ipfs/id/push/1.0.0").unwrap();
    let ping = meters.row_of(b"/ipfs/ping/1.0.0").unwrap();
    assert_eq!(meters.row_of(b""), None);
    let passed = (0..100).filter(|_| meters.may(a, push, None)).count();
    let stop = meters.row_of(b"/libp2p/circuit/relay/0.2.0/stop");
    let stops = (0..300).filter(|_| meters.may(a, stop.unwrap(), None));
    assert_eq!((passed, stops.count()), (32, 256));
    assert!(meters.may(a, ping, None) && meters.may(b, push, None));
    let pings = (0..1000).filter(|_| meters.may(b, ping, Some(32))).count();
    assert_eq!(pings, 128);
    let excess = meters.take_excess(Instant::now());
    let cut = |own, by_order| Excess { own, by_order };
    assert_eq!(excess, [(a, cut(68, 44)), (b, cut(872, 0))].into());
    assert!(meters.take_excess(Instant::now()).is_empty());
}
