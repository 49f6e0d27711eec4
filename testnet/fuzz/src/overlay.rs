//! The overlay's input from strangers: frames on a stream, records of nodes from the DHT.

use crate::golden::{self, Family, NETWORK};
use crate::reader::Reader;
use crate::{Target, Verdict, decoder, strict};
use gridbay_core::frame;
use gridbay_protocol::limits;
use gridbay_protocol::node_record::SignedNodeRecord;

pub(crate) const NODE_RECORD: Target = decoder(
    "node_record",
    "bytes from the DHT as a node record: one encoding within the limits, and none passes that was not signed or is out of date",
    node_record,
    || golden::seeds::<SignedNodeRecord>(Family::NodeRecord),
);
pub(crate) const FRAME: Target = decoder(
    "frame",
    "a stream, in pieces, as a frame of the request and one-way protocols: what a plain slice of it is, and not a byte more is taken",
    frame,
    || {
        // Cap and pieces, then the stream.
        let stream = |cap: u16, body: &[u8], rest: &[u8]| {
            let frame = frame::frame(body, usize::from(cap)).expect("it fits");
            [&cap.to_be_bytes(), &[3][..], &frame, rest].concat()
        };
        vec![
            stream(0, &[], &[]),
            stream(4, &[1, 2, 3], &[9, 9]),
            stream(u16::MAX, &[7; 5_000], &[]),
        ]
    },
);

fn node_record(bytes: &[u8]) -> Verdict {
    let golden = (NODE_RECORD.seeds)();
    let verdict = strict::only::<SignedNodeRecord>(bytes, limits::NODE_RECORD_BYTES, |signed| {
        let expires = signed.record.expires;
        let received = SignedNodeRecord::receive(&NETWORK, bytes, expires);
        assert_eq!(received.is_ok(), golden.iter().any(|seed| seed == bytes));
        if received.is_ok() {
            assert!(signed.record.addresses.len() <= limits::ADDRESSES);
        }
        let late = SignedNodeRecord::receive(&NETWORK, bytes, expires.saturating_add(1));
        assert!(late.is_err() || expires == u64::MAX);
    });
    let at_once = SignedNodeRecord::receive(&NETWORK, bytes, 0);
    assert!(at_once.is_err() || verdict == Verdict::Accepted);
    verdict
}

fn frame(bytes: &[u8]) -> Verdict {
    let mut choices = Reader::new(bytes);
    let cap = usize::from(choices.short());
    let piece = usize::from(choices.byte()).max(1);
    let stream = bytes.get(3..).unwrap_or_default();
    let mut reader = frame::Reader::new(cap);
    let mut taken = 0;
    while reader.wants() > 0 && taken < stream.len() {
        let end = stream.len().min(taken + piece);
        let (wanted, took) = (reader.wants(), reader.take(&stream[taken..end]));
        assert!(took > 0 && took <= wanted);
        taken += took;
    }
    // The same by plain slices.
    let announced = stream
        .first_chunk()
        .map(|head| u32::from_be_bytes(*head) as usize);
    let body = announced
        .filter(|size| *size <= cap)
        .and_then(|size| stream.get(frame::PREFIX..frame::PREFIX + size));
    let refused = announced.is_some_and(|size| size > cap);
    assert_eq!(reader.announced().is_err(), refused);
    let most = frame::PREFIX + announced.filter(|_| !refused).unwrap_or(0);
    assert_eq!(taken, stream.len().min(most), "no more than the frame");
    assert_eq!(reader.whole().as_deref(), body);
    if let Some(body) = body {
        let again = frame::frame(body, cap);
        assert_eq!(again.as_deref(), Some(&stream[..most]), "the only encoding");
    }
    Verdict::of(body.is_some())
}
