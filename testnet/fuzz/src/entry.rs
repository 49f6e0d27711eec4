//! Entries: the bytes, the stages they pass, the grants inside.

use crate::golden::{self, Family, NETWORK};
use crate::{Target, Verdict, decoder, strict};
use gridbay_protocol::codec;
use gridbay_protocol::entry::{EntryBody, SignedEntry};
use gridbay_protocol::invitation::SignedGrant;
use gridbay_protocol::limits;
use gridbay_protocol::order::{Amendment, Wish};
use gridbay_protocol::stage::WellFormed;
use gridbay_protocol::units::Price;
use std::sync::LazyLock;

pub(crate) const SIGNED_ENTRY: Target = decoder(
    "signed_entry",
    "bytes as a signed entry: one encoding, one id; the arithmetic on its numbers never overflows",
    signed_entry,
    || ENTRIES.clone(),
);
pub(crate) const RECEIVE: Target = decoder(
    "entry_receive",
    "bytes through the stages: what is well formed lies within the limits, what is authentic was signed",
    receive,
    || ENTRIES.clone(),
);
pub(crate) const GRANT: Target = decoder(
    "signed_grant",
    "bytes as an inviter's grant: one encoding, and none verifies that was not signed",
    grant,
    || golden::seeds::<SignedGrant>(Family::Invitation),
);

static ENTRIES: LazyLock<Vec<Vec<u8>>> =
    LazyLock::new(|| golden::seeds::<SignedEntry>(Family::Entry));

fn signed_entry(bytes: &[u8]) -> Verdict {
    strict::only::<SignedEntry>(bytes, limits::ENTRY_BYTES, |signed| {
        assert!(signed.entry.body.kind().number <= 19);
        match &signed.entry.body {
            EntryBody::Open(open) => {
                open.wish.lock();
                if let Wish::Bid(bid) = &open.wish {
                    bid.value(u32::MAX);
                }
                open.wish.seal(&NETWORK, &signed.entry.account, &open.salt);
            }
            EntryBody::OpenAccount {
                grant: Some(grant), ..
            } => {
                let _ = grant.verify(&NETWORK);
            }
            _ => {}
        }
    })
}

fn receive(bytes: &[u8]) -> Verdict {
    let Ok(formed) = WellFormed::receive(&NETWORK, bytes) else {
        return Verdict::Refused;
    };
    let signed = formed.signed().clone();
    assert_eq!(codec::encode(&signed), bytes);
    assert_eq!(formed.id(), signed.id());
    assert_eq!(signed.entry.network, NETWORK);
    assert_within_limits(&signed.entry.body);
    let original = ENTRIES.iter().any(|golden| golden == bytes);
    match formed.authenticate() {
        Ok(authentic) => {
            assert!(original, "a forged entry is authentic");
            assert_eq!(authentic.signed(), &signed);
        }
        Err(_) => assert!(!original, "a signed entry is refused"),
    }
    Verdict::Accepted
}

/// The limits in other words than those of the check.
fn assert_within_limits(body: &EntryBody) {
    match body {
        EntryBody::SetKeys { keys } | EntryBody::OpenAccount { keys, .. } => {
            assert!((1..=limits::ACCOUNT_KEYS).contains(&keys.len()));
        }
        EntryBody::Transfer { amount, .. } => assert!(amount.micros() > 0),
        EntryBody::SetOffer(terms) => {
            assert!((1..=limits::OFFER_UNITS).contains(&terms.units));
            assert!(terms.reserve <= terms.buy_price.unwrap_or(Price::MAX));
        }
        EntryBody::Commit(commit) => assert!(1u32 << commit.bracket <= limits::ORDER_UNITS),
        EntryBody::Open(open) => {
            assert!((1..=limits::ORDER_UNITS).contains(&open.wish.units()));
            match &open.wish {
                Wish::Bid(bid) | Wish::Amendment(Amendment { bid, .. }) => {
                    assert!((1..=limits::BID_STEPS).contains(&bid.steps.len()));
                }
                Wish::Reservation(wish) => {
                    assert!((1..=limits::RESERVATION_GROUPS).contains(&wish.groups.len()));
                    assert!((1..=limits::RESERVATION_SLOTS).contains(&wish.slots));
                    let (each, first) = wish.per_slot();
                    let sum = each.checked_mul(u64::from(wish.slots));
                    assert_eq!(sum.and_then(|s| s.checked_add(first)), Some(wish.value));
                }
            }
        }
        EntryBody::Deadline(job) => {
            assert!((1..=limits::ORDER_UNITS).contains(&job.tasks));
            assert!(job.soft <= job.hard && job.hard <= limits::ORDER_SLOTS);
            assert!(job.pmin <= job.pmax && job.unit_slots >= u64::from(job.tasks));
        }
        EntryBody::Share(claim) => {
            assert!((1..=limits::RESOURCES).contains(&claim.weights.len()) && claim.weights[0] > 0);
            assert!(claim.rate.micros() > 0 && claim.tasks > 0 && claim.slots > 0);
        }
        EntryBody::Posted(hire) => {
            assert!((1..=limits::ORDER_UNITS).contains(&hire.units));
            assert!((1..=limits::ORDER_SLOTS).contains(&hire.slots) && hire.limit <= Price::MAX);
        }
        EntryBody::Buy(buy) => {
            let named: usize = buy.parts.iter().map(|part| part.offers.len()).sum();
            assert!(named <= limits::OFFERS_PER_ACCOUNT);
            assert!((1..=limits::BUY_PARTS).contains(&buy.parts.len()));
            let units: u64 = buy.parts.iter().map(|part| u64::from(part.units)).sum();
            assert!((1..=u64::from(limits::ORDER_UNITS)).contains(&units));
            assert_eq!(u64::from(buy.units()), units);
        }
        _ => {}
    }
}

fn grant(bytes: &[u8]) -> Verdict {
    strict::only::<SignedGrant>(bytes, limits::ENTRY_BYTES, |grant| {
        let original = (GRANT.seeds)().iter().any(|golden| golden == bytes);
        assert_eq!(grant.verify(&NETWORK).is_ok(), original);
    })
}
