//! Trade: adverts, bids, buys, offers, a block's effects on them, jobs.

use crate::golden::{self, Family, NETWORK};
use crate::{Target, Verdict, decoder, strict};
use gridbay_protocol::advert::SignedAdvert;
use gridbay_protocol::codec;
use gridbay_protocol::effect::Effect;
use gridbay_protocol::entry::{EntryBody, SignedEntry};
use gridbay_protocol::job::{self, JobSpec};
use gridbay_protocol::limits;
use gridbay_protocol::offer::OfferTerms;
use gridbay_protocol::order::{Bid, Buy, Wish};
use gridbay_protocol::record::ausubel::ClearingRecord;
use gridbay_protocol::units::{Credits, Price};
use std::sync::LazyLock;

pub(crate) const ADVERT: Target = decoder(
    "advert",
    "gossiped bytes as an advert: one encoding within the limits, and none passes that was not signed",
    advert,
    || golden::seeds::<SignedAdvert>(Family::Advert),
);
pub(crate) const BID: Target = decoder(
    "bid",
    "bytes as a bid: one encoding; units and value agree with plain arithmetic in wider numbers",
    bid,
    || {
        of_entries(|body| match body {
            EntryBody::Open(open) => match &open.wish {
                Wish::Bid(bid) => Some(bid.clone()),
                Wish::Reservation(_) | Wish::Amendment(_) => None,
            },
            _ => None,
        })
    },
);
pub(crate) const BUY: Target = decoder(
    "buy",
    "bytes as a buy-it-now: one encoding, a valid one within the limits",
    buy,
    || {
        of_entries(|body| match body {
            EntryBody::Buy(buy) => Some(buy.clone()),
            _ => None,
        })
    },
);
pub(crate) const OFFER: Target = decoder(
    "offer_terms",
    "bytes as the terms of an offer: one encoding, a valid one within the limits",
    offer,
    || {
        of_entries(|body| match body {
            EntryBody::SetOffer(terms) => Some(terms.clone()),
            _ => None,
        })
    },
);
pub(crate) const EFFECT: Target = decoder(
    "effect",
    "bytes as an effect of a block (posting, clearing, buy, lease, order): one encoding, one leaf",
    effect,
    || golden::seeds::<Effect>(Family::Effect),
);
pub(crate) const CLEARING: Target = decoder(
    "clearing_record",
    "bytes as the record of a clearing: one encoding",
    |bytes| strict::only::<ClearingRecord>(bytes, limits::BLOCK_BYTES, |_| {}),
    clearings,
);
pub(crate) const JOB: Target = decoder(
    "job_spec",
    "bytes as a job: one encoding; a valid one is bounded and names no path outside its directory",
    job_spec,
    || golden::seeds::<JobSpec>(Family::Job),
);

/// The values that `take` finds in golden entries, as bytes.
fn of_entries<T: serde::Serialize>(take: impl Fn(&EntryBody) -> Option<T>) -> Vec<Vec<u8>> {
    let entries = golden::values::<SignedEntry>(Family::Entry);
    let taken = entries.iter().filter_map(|signed| take(&signed.entry.body));
    taken.map(|value| codec::encode(&value)).collect()
}

fn clearings() -> Vec<Vec<u8>> {
    let effects = golden::values::<Effect>(Family::Effect).into_iter();
    let records = effects.filter_map(|effect| match effect {
        Effect::Clearing(record) => Some(codec::encode(&record)),
        _ => None,
    });
    records.collect()
}

fn advert(bytes: &[u8]) -> Verdict {
    let received = SignedAdvert::receive(&NETWORK, bytes);
    let verdict = strict::only::<SignedAdvert>(bytes, limits::ADVERT_BYTES, |advert| {
        let original = (ADVERT.seeds)().iter().any(|golden| golden == bytes);
        assert_eq!(received.is_ok(), original);
        assert!(received.is_err() || advert.advert.addresses.len() <= limits::ADDRESSES);
    });
    assert!(received.is_err() || verdict == Verdict::Accepted);
    verdict
}

fn bid(bytes: &[u8]) -> Verdict {
    strict::only::<Bid>(bytes, limits::ENTRY_BYTES, |bid| {
        let units: u64 = bid.steps.iter().map(|s| u64::from(s.units)).sum();
        assert_eq!(
            u64::from(bid.units()),
            if units > u64::from(u32::MAX) {
                0
            } else {
                units
            }
        );
        let mut before = Credits::ZERO;
        for asked in [0, 1, 2, bid.min, bid.units(), u32::MAX] {
            let mut left = u128::from(asked);
            let wide = bid.steps.iter().fold(0u128, |sum, step| {
                let n = left.min(u128::from(step.units));
                left -= n;
                sum + n * u128::from(step.price.0)
            });
            let exact = Credits::from_wide(wide).unwrap_or(Credits::MAX);
            assert_eq!(bid.value(asked), exact, "value of {asked} units");
            before = before.max(bid.value(asked));
        }
        assert!(before <= bid.value(u32::MAX));
        if bid.check().is_ok() {
            assert!(bid.steps.len() <= limits::BID_STEPS && bid.min <= bid.units());
            assert!(bid.steps.iter().all(|step| step.price <= Price::MAX));
        }
    })
}

fn buy(bytes: &[u8]) -> Verdict {
    strict::only::<Buy>(bytes, limits::ENTRY_BYTES, |buy| {
        let units = buy.parts.iter().map(|part| u64::from(part.units));
        let ascends = buy.parts.windows(2).all(|w| w[0].class < w[1].class);
        let small = (1..=u64::from(limits::ORDER_UNITS)).contains(&units.sum())
            && (1..=limits::BUY_PARTS).contains(&buy.parts.len())
            && ascends
            && (1..=limits::ORDER_SLOTS).contains(&buy.slots);
        assert!(small || buy.check().is_err());
    })
}

fn offer(bytes: &[u8]) -> Verdict {
    strict::only::<OfferTerms>(bytes, limits::ENTRY_BYTES, |terms| {
        let bounded = terms.units <= limits::OFFER_UNITS && terms.reserve <= Price::MAX;
        assert!(bounded || !terms.is_valid());
        let all = terms.reserve.times(u64::from(terms.units));
        assert!(
            all.is_some() || !terms.is_valid(),
            "a valid offer has a price"
        );
    })
}

/// The golden effects with their leaves.
static EFFECTS: LazyLock<Vec<(Effect, [u8; 32])>> = LazyLock::new(|| {
    let effects = golden::values::<Effect>(Family::Effect).into_iter();
    effects
        .map(|effect| (effect.clone(), effect.leaf()))
        .collect()
});

fn effect(bytes: &[u8]) -> Verdict {
    strict::only::<Effect>(bytes, limits::BLOCK_BYTES, |effect| {
        let own = effect.leaf();
        for (golden, leaf) in &*EFFECTS {
            assert_eq!(own == *leaf, effect == golden);
        }
    })
}

fn job_spec(bytes: &[u8]) -> Verdict {
    strict::only::<JobSpec>(bytes, 2 * job::JOB_BYTES, |spec| {
        spec.work(&[7; 32]);
        if spec.is_valid() {
            assert!(bytes.len() <= job::JOB_BYTES);
            let paths = spec.inputs.iter().map(|f| &f.path).chain(&spec.outputs);
            paths.for_each(|path| assert!(job::path_is_inside(path)));
            let sum = spec
                .inputs
                .iter()
                .map(|f| u128::from(f.bytes))
                .sum::<u128>();
            assert!(sum <= u128::from(job::INPUTS_BYTES));
        }
    })
}
