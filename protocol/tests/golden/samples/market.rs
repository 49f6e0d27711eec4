//! Samples of messages that travel outside blocks: adverts and jobs.

use super::{NETWORK, entry, key};
use gridbay_protocol::advert::{Advert, AdvertLine, RoundTrip, SignedAdvert};
use gridbay_protocol::ids::{ClassId, ContentId};
use gridbay_protocol::job::{InputFile, JobSpec};
use gridbay_protocol::offer::offer_id;
use gridbay_protocol::units::Price;

/// An advert of two offers.
pub(crate) fn advert() -> SignedAdvert {
    let mut lines: Vec<_> = (0..2)
        .map(|label| AdvertLine {
            offer: offer_id(&entry::ACCOUNT, label),
            class: ClassId([0xc1; 32]),
            free: 5 + label,
            price: Price(1_000),
        })
        .collect();
    lines.sort_by_key(|l| l.offer);
    let text = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    let mut round_trips = [(21, 7), (22, 150)].map(|(seed, ms)| RoundTrip {
        to: key(seed).public(),
        ms,
    });
    round_trips.sort_by_key(|trip| trip.to);
    let advert = Advert {
        account: entry::ACCOUNT,
        key: key(entry::SIGNER).public(),
        node: key(20).public(),
        sequence: 77,
        valid_until: 900,
        lines,
        attributes: [("arch", "x86_64"), ("site", "a.example.edu")]
            .map(text)
            .into(),
        round_trips: round_trips.to_vec(),
        addresses: vec!["/ip4/127.0.0.1/udp/4020/quic-v1".into()],
    };
    SignedAdvert::new(&NETWORK, advert, &key(entry::SIGNER))
}

/// A job with something in every field.
pub(crate) fn job() -> JobSpec {
    JobSpec {
        argv: vec!["./solve".into(), "--grid".into(), "64".into()],
        env: vec![
            ("LANG".into(), "C".into()),
            ("OMP_NUM_THREADS".into(), "2".into()),
        ],
        inputs: vec![InputFile {
            path: "solve".into(),
            content: ContentId([0xcc; 32]),
            bytes: 70_000,
            executable: true,
        }],
        outputs: vec!["out/result.csv".into()],
        wall_seconds: 3_600,
        network: false,
        internet: false,
        checkpoint: None,
    }
}
