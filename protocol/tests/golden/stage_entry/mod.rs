//! Received bytes become a checked entry only if every rule of their kind holds.

mod cases;
mod edges;

use crate::samples::entry::{self, SIGNER, TOKEN};
use crate::samples::{NETWORK, key, micros};
use cases::{granted, keys, refused, transfer};
use edges::{accepted, accepted_reservations};
use gridbay_protocol::codec::{self, CodecError};
use gridbay_protocol::entry::{EntryBody, SignedEntry};
use gridbay_protocol::ids::{AccountId, NetworkId};
use gridbay_protocol::invitation::SignedGrant;
use gridbay_protocol::keys::SecretKey;
use gridbay_protocol::limits;
use gridbay_protocol::stage::{Malformed, WellFormed};
use gridbay_protocol::units::Credits;

fn receive(signed: &SignedEntry) -> Result<WellFormed, Malformed> {
    WellFormed::receive(&NETWORK, &codec::encode(signed))
}

#[test]
fn each_rule_of_each_kind_refuses() {
    for (case, body) in refused() {
        let name = body.kind().name;
        let by = if matches!(body, EntryBody::OpenAccount { grant: Some(_), .. }) {
            TOKEN
        } else {
            SIGNER
        };
        let flaw = match &body {
            EntryBody::Open(open) => open.wish.check().err(),
            EntryBody::Buy(buy) => buy.check().err(),
            EntryBody::Share(claim) => claim.check().err(),
            EntryBody::Posted(hire) => hire.check().err(),
            _ => None,
        };
        let expected = flaw.map_or(Malformed::Range(name), |flaw| Malformed::Order {
            kind: name,
            flaw,
        });
        let result = receive(&entry::signed(body, by));
        assert_eq!(result, Err(expected), "{case}");
    }
}

#[test]
fn the_edges_of_each_range_are_inside() {
    for (case, body) in accepted().into_iter().chain(accepted_reservations()) {
        let signed = entry::signed(body, SIGNER);
        let wellformed = receive(&signed).expect(case);
        assert_eq!(
            (wellformed.id(), wellformed.signed()),
            (signed.id(), &signed)
        );
        assert_eq!(
            wellformed.authenticate().expect(case).entry(),
            &signed.entry
        );
    }
    let (_, granted) = &entry::all()[2];
    assert!(receive(granted).unwrap().authenticate().is_ok());
}

#[test]
fn foreign_oversized_and_broken_bytes_are_refused() {
    let (_, signed) = &entry::all()[4];
    let bytes = codec::encode(signed);
    let other = NetworkId([0x22; 32]);
    let foreign = WellFormed::receive(&other, &bytes);
    assert_eq!(foreign, Err(Malformed::Network(NETWORK)));

    // Size counts before anything is parsed.
    let long = vec![0xff; limits::ENTRY_BYTES + 1];
    let too_large = CodecError::TooLarge {
        len: long.len(),
        max: limits::ENTRY_BYTES,
    };
    assert_eq!(
        WellFormed::receive(&NETWORK, &long),
        Err(Malformed::Bytes(too_large))
    );

    let refuse = |bad: &[u8], why| {
        let refused = WellFormed::receive(&NETWORK, bad);
        assert_eq!(refused, Err(Malformed::Bytes(why)), "{bad:02x?}");
    };
    refuse(&long[1..], CodecError::Malformed);
    refuse(&[], CodecError::Malformed);
    refuse(&[&bytes[..], &[0]].concat(), CodecError::Malformed);
    // {"entry": .., "signature": ..} of indefinite length, and under a tag.
    refuse(
        &[&[0xbf], &bytes[1..], &[0xff]].concat(),
        CodecError::NotCanonical,
    );
    refuse(
        &[&[0xd8, 0x2a], &bytes[..]].concat(),
        CodecError::NotCanonical,
    );
    // A third field.
    let more = [&[0xa3], &bytes[1..], &[0x61, b'x', 0]].concat();
    refuse(&more, CodecError::Malformed);
    // The signature before the entry.
    let at = bytes.len() - 76;
    assert_eq!(bytes[at..at + 10], *b"\x69signature");
    let swapped = [&[0xa2], &bytes[at..], &bytes[1..at]].concat();
    refuse(&swapped, CodecError::NotCanonical);
    // An integer longer than it need be: valid_until is 2,400 = 0x19 09 60.
    let name = b"valid_until";
    let at = bytes.windows(name.len()).position(|w| w == name).unwrap() + name.len();
    assert_eq!(bytes[at..at + 3], [0x19, 0x09, 0x60]);
    let wider = [&bytes[..at], &[0x1a, 0, 0], &bytes[at + 1..]].concat();
    refuse(&wider, CodecError::NotCanonical);
}

#[test]
fn unknown_fields_of_a_kind_are_refused_in_text_too() {
    for text in [
        r#"{"withdraw_offer":{"label":1,"units":2}}"#,
        r#"{"withdraw_offer":{}}"#,
        r#"{"withdraw":{"label":1}}"#,
    ] {
        assert!(serde_json::from_str::<EntryBody>(text).is_err(), "{text}");
    }
    let good = serde_json::from_str(r#"{"withdraw_offer":{"label":1}}"#).unwrap();
    assert_eq!(EntryBody::WithdrawOffer { label: 1 }, good);
}

#[test]
fn a_signature_binds_key_and_every_part_of_the_entry() {
    let (_, good) = &entry::all()[4];
    type Damage = fn(&mut SignedEntry);
    let damage: [(&str, Damage); 7] = [
        ("another key", |s| s.entry.key = key(2).public()),
        ("another account", |s| s.entry.account = AccountId([3; 32])),
        ("another window", |s| s.entry.valid_until += 1),
        ("another body", |s| {
            s.entry.body = transfer(AccountId([0xa2; 32]), micros(10_000_001));
        }),
        ("a bit of R", |s| s.signature.0[0] ^= 1),
        ("a bit of s", |s| s.signature.0[32] ^= 1),
        ("no signature", |s| s.signature.0 = [0; 64]),
    ];
    for (case, damage) in damage {
        let mut bad = good.clone();
        damage(&mut bad);
        let received = receive(&bad).expect("well formed, only not authentic");
        assert!(received.authenticate().is_err(), "{case}");
    }
    // A valid signature of the same body for another network is none here.
    let mut elsewhere = good.entry.clone();
    elsewhere.network = NetworkId([0x22; 32]);
    let mut replayed = SignedEntry::new(elsewhere, &key(SIGNER));
    replayed.entry.network = NETWORK;
    assert!(receive(&replayed).unwrap().authenticate().is_err());
    assert!(receive(good).unwrap().authenticate().is_ok());
}

#[test]
fn a_forged_grant_opens_no_account() {
    let forger: SecretKey = key(77);
    let resign = |body: EntryBody| receive(&entry::signed(body, TOKEN)).unwrap().authenticate();
    assert!(resign(granted(|_| (), 0)).is_ok());
    // Changed by the newcomer, who can sign the entry but not the grant.
    assert!(resign(granted(|g| g.endowment = Credits::MAX, 0)).is_err());
    assert!(resign(granted(|g| g.valid_until += 1, 0)).is_err());
    assert!(resign(granted(|g| g.key = forger.public(), 0)).is_err());
    // Signed for another network.
    let grant = entry::grant().grant;
    let network = NetworkId([0x22; 32]);
    let elsewhere = SignedGrant::new(&network, grant, &key(SIGNER));
    let body = EntryBody::OpenAccount {
        grant: Some(Box::new(elsewhere)),
        keys: keys(1),
        endowment: Credits::ZERO,
    };
    assert!(resign(body).is_err());
}
