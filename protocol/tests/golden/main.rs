//! Golden vectors: the wire and disk form of every type, byte for byte.
//!
//! 1. A sample of every variant from fixed seeds encodes to the pinned bytes and back.
//! 2. Ids and hashes of the samples are pinned beside them.
//! 3. Damaged bytes are refused, or are the only encoding of another value; nothing panics, not
//!    even what a node computes from a decoded value before it trusts it.
//! 4. One hash over thousands of generated values per family catches what the samples miss.
//!
//! After a deliberate change of format: `GOLDEN=write cargo test -p gridbay-protocol --test
//! golden`, then read the diff. Nothing else ever writes the fixtures.

mod conformance;
mod fixture;
mod generate;
mod rng;
mod samples;
mod stage_contract;
mod stage_entry;
mod stage_genesis;
mod stage_proof;

use fixture::{Fixture, damage};
use gridbay_protocol::advert::SignedAdvert;
use gridbay_protocol::bank::BankPolicy;
use gridbay_protocol::block::Block;
use gridbay_protocol::calendar::Calendar;
use gridbay_protocol::effect::Effect;
use gridbay_protocol::entry::{EntryBody, SignedEntry};
use gridbay_protocol::genesis::{Genesis, Policy};
use gridbay_protocol::ids::{AccountId, BlockId, EntryId, OrderId};
use gridbay_protocol::invitation::Invitation;
use gridbay_protocol::job::{JobExit, content_id};
use gridbay_protocol::lease::lease_id;
use gridbay_protocol::mechanism::ausubel::Rule;
use gridbay_protocol::node_record::{SignedNodeRecord, rendezvous};
use gridbay_protocol::order::Wish;
use gridbay_protocol::policy::ausubel::AuctionPolicy;
use gridbay_protocol::policy::buy::BuyPolicy;
use gridbay_protocol::record::ausubel::clearing_id;
use gridbay_protocol::stage::WellFormed;
use gridbay_protocol::units::Price;
use gridbay_protocol::validator::ValidatorSet;
use gridbay_protocol::{account, beacon, codec, election, offer, order};
use samples::{NETWORK, block, effect, entry, genesis, market, node};
use std::collections::BTreeSet;

/// The checks of a decoded entry before a node knows anything of it.
fn probe_entry(signed: &SignedEntry, sample: &SignedEntry) {
    if let EntryBody::Open(open) = &signed.entry.body {
        open.wish.lock();
        if let Wish::Bid(bid) = &open.wish {
            bid.value(u32::MAX);
        }
    }
    if let Ok(checked) = WellFormed::check(&NETWORK, signed.clone()) {
        assert_eq!(checked.id(), signed.id());
        let authentic = checked.authenticate();
        if let Ok(authentic) = &authentic {
            assert_eq!(authentic.signed_bytes(), codec::encode(signed).len());
        }
        assert_eq!(
            authentic.is_ok(),
            signed == sample,
            "damage breaks the signature"
        );
    }
}

fn probe_set(set: &ValidatorSet) {
    assert!(set.is_quorum(set.total_power()));
    let _ = block::certificate().verify(&NETWORK, set);
    let ranks = election::ranking(&[1; 32], u64::MAX, set);
    assert_eq!(ranks.len(), set.members().len());
}

fn probe_calendar(calendar: &Calendar) {
    if !calendar.is_valid() {
        return;
    }
    for height in [0, 1, u64::MAX - 1, u64::MAX] {
        assert!(calendar.last_of_round(calendar.round(height)) >= height);
        calendar.heights_left(height);
    }
}

#[test]
fn entries() {
    let mut fixture = Fixture::open("signed_entry");
    let samples = entry::all();
    for (name, signed) in &samples {
        assert!(name.starts_with(signed.entry.body.kind().name), "{name}");
        fixture.sample(name, signed, |s| probe_entry(s, signed));
        fixture.pin(&format!("{name}.id"), signed.id().as_bytes());
        let received = WellFormed::receive(&NETWORK, &codec::encode(signed));
        assert_eq!(received.map(|w| w.id()), Ok(signed.id()), "{name}");
    }
    fixture.close();
    let kinds: BTreeSet<u8> = samples
        .iter()
        .map(|(_, s)| s.entry.body.kind().number)
        .collect();
    assert_eq!(kinds, (0..=19).collect(), "a sample of every kind");
}

#[test]
fn ids() {
    let mut fixture = Fixture::open("ids");
    let (entry, order) = (EntryId([0xe1; 32]), OrderId([0x0d; 32]));
    let class = genesis::genesis().classes[0].key.id();
    let seal = entry::bid().seal(&NETWORK, &entry::ACCOUNT, &[0x5a; 32]);
    let pins: [(&str, [u8; 32]); 12] = [
        ("account.opened", account::opened_by(&entry).0),
        ("beacon.mix", beacon::mix(&[1; 32], &[2; 32])),
        ("beacon.rank", beacon::rank(&[1; 32], &[2; 32])),
        ("beacon.tip", beacon::Chain::new(&[3; 32], 100).tip()),
        ("class", class.0),
        ("clearing", clearing_id(&class, 24).0),
        ("content", content_id(b"hello").0),
        ("lease", lease_id(&order, 24).0),
        ("offer", offer::offer_id(&entry::ACCOUNT, 7).0),
        ("order", order::order_of(&entry).0),
        ("seal", seal.0),
        ("work", market::job().work(&[0x5a; 32]).0),
    ];
    for (name, bytes) in &pins {
        fixture.pin(name, bytes);
    }
    // Ids as they travel: a byte string, not a list of numbers.
    fixture.sample("account.encoded", &AccountId([0xa1; 32]), |_| {});
    fixture.close();
}

#[test]
fn blocks() {
    let mut fixture = Fixture::open("block");
    fixture.sample("header", &block::header(), |h| {
        h.id();
    });
    fixture.pin("header.id", block::header().id().as_bytes());
    for (name, sample) in [
        ("block.first", block::first()),
        ("block.full", block::full()),
    ] {
        fixture.sample(name, &sample, |b| {
            b.entries.iter().for_each(|e| {
                let _ = WellFormed::check(&NETWORK, e.clone());
            });
        });
        fixture.pin(&format!("{name}.id"), sample.id().as_bytes());
        assert_eq!(Block::decode(&sample.encode()), Ok(sample));
    }
    fixture.close();
}

#[test]
fn votes() {
    let mut fixture = Fixture::open("vote");
    let set = block::validators();
    for (name, id) in [
        ("vote.block", Some(BlockId([0xb1; 32]))),
        ("vote.nil", None),
    ] {
        let (vote, signature) = block::signed_vote(block::vote(id));
        fixture.sample(name, &vote, |_| {});
        fixture.pin(&format!("{name}.signature"), &signature.0);
    }
    fixture.sample("proposal.fresh", &block::proposal(None), |_| {});
    fixture.sample("proposal.again", &block::proposal(Some(1)), |_| {});
    fixture.sample("certificate", &block::certificate(), |c| {
        let _ = c.verify(&NETWORK, &set);
    });
    fixture.pin("certificate.hash", &block::certificate().hash().0);
    fixture.sample("evidence", &block::evidence(), |e| {
        let guilty = e.convicts(&NETWORK, &set);
        assert_eq!(guilty, *e == block::evidence(), "damage acquits");
    });
    fixture.sample("validator_set", &set, probe_set);
    fixture.pin("validator_set.hash", &set.hash().0);
    for round in 0..4 {
        let elected = election::proposer(&[7; 32], 1_200, round, &set);
        fixture.pin(&format!("proposer.{round}"), elected.as_bytes());
    }
    fixture.close();
}

#[test]
fn the_constitution() {
    let mut fixture = Fixture::open("genesis");
    let sample = genesis::genesis();
    fixture.sample("genesis", &sample, |g| {
        let _ = g.check();
        g.policy.slot_ms();
    });
    fixture.pin("genesis.network", sample.network().as_bytes());
    for member in &sample.members {
        let name = format!("account.{}", member.name);
        fixture.pin(&name, sample.account(member).as_bytes());
    }
    for (name, policy) in [
        ("local", Policy::local()),
        ("wide_area", Policy::wide_area()),
        (
            "sticky",
            Policy {
                auction: AuctionPolicy {
                    rule: Rule::Paper,
                    switch_cost: Price(10),
                },
                buy: BuyPolicy {
                    surcharge_ppm: 200_000,
                },
                ..Policy::local()
            },
        ),
        (
            "mirage",
            Policy {
                bank: BankPolicy::mirage(250),
                ..Policy::local()
            },
        ),
    ] {
        fixture.sample(&format!("policy.{name}"), &policy, |p| {
            p.slot_ms();
            probe_calendar(&p.calendar);
        });
    }
    assert_eq!(Genesis::decode(&sample.encode()), Ok(sample));
    fixture.close();
}

#[test]
fn invitations() {
    let mut fixture = Fixture::open("invitation");
    let sample = genesis::invitation();
    fixture.sample("invitation", &sample, |i| {
        let trusted = Invitation::from_text(&i.to_text());
        assert!(trusted.is_err() || i.grant == sample.grant);
    });
    fixture.sample("grant", &entry::grant(), |g| {
        assert_eq!(g.verify(&NETWORK).is_ok(), *g == entry::grant());
    });
    let text = sample.to_text();
    fixture.pin("invitation.text", text.as_bytes());
    assert_eq!(Invitation::from_text(&text).as_ref(), Ok(&sample));
    damage("invitation.text", text.as_bytes(), |bad| {
        std::str::from_utf8(bad).is_ok_and(|bad| {
            let read = Invitation::from_text(bad);
            // Letters of either case are one text; all else damages the bytes inside.
            read == Ok(sample.clone()) && !bad.eq_ignore_ascii_case(&text)
        })
    });
    fixture.close();
}

#[test]
fn receipts() {
    let mut fixture = Fixture::open("receipt");
    let (set, id) = (block::validators(), EntryId([0xe1; 32]));
    for (name, sample) in ["receipt.first", "receipt.second"]
        .into_iter()
        .zip(entry::receipts(id))
    {
        fixture.sample(name, &sample, |r| {
            let right = r.verify(&NETWORK, &set).is_ok();
            assert_eq!(right, *r == sample, "damage breaks the signature");
        });
    }
    fixture.close();
}

#[test]
fn adverts() {
    let mut fixture = Fixture::open("signed_advert");
    let sample = market::advert();
    fixture.sample("advert", &sample, |a| {
        let received = SignedAdvert::receive(&NETWORK, &codec::encode(a));
        assert_eq!(
            received.is_ok(),
            *a == sample,
            "damage breaks the signature"
        );
    });
    fixture.close();
}

#[test]
fn node_records() {
    let mut fixture = Fixture::open("signed_node_record");
    let sample = node::record();
    let now = sample.record.expires;
    fixture.sample("node_record", &sample, |r| {
        let received = SignedNodeRecord::receive(&NETWORK, &codec::encode(r), now);
        assert_eq!(
            received.is_ok(),
            *r == sample,
            "damage breaks the signature"
        );
    });
    fixture.pin("rendezvous", &rendezvous(&NETWORK, "relay", b""));
    fixture.close();
}

#[test]
fn jobs() {
    let mut fixture = Fixture::open("job");
    fixture.sample("job", &market::job(), |j| {
        j.is_valid();
    });
    assert!(market::job().is_valid());
    let exits = [
        ("code", JobExit::Code(-1)),
        ("signal", JobExit::Signal(9)),
        ("time_limit", JobExit::TimeLimit),
        ("stopped", JobExit::Stopped),
        ("lost", JobExit::Lost),
        ("disk_limit", JobExit::DiskLimit),
    ];
    for (name, exit) in exits {
        fixture.sample(&format!("exit.{name}"), &exit, |_| {});
    }
    fixture.close();
}

#[test]
fn effects() {
    let mut fixture = Fixture::open("effect");
    let samples = effect::all();
    for (name, sample) in &samples {
        fixture.sample(name, sample, |e| {
            e.leaf();
        });
        fixture.pin(&format!("{name}.leaf"), &sample.leaf());
    }
    fixture.close();
    let names: BTreeSet<_> = samples.iter().map(|(name, _)| name).collect();
    assert_eq!(names.len(), samples.len());
    // A new variant breaks this match: give it a sample, then list it here.
    for (name, sample) in &samples {
        let family = match sample {
            Effect::Posting(_) => "posting.",
            Effect::Clearing(_) => "clearing.",
            Effect::Buy(_) => "buy",
            Effect::Planning(_) => "planning",
            Effect::Reservation(_) => "reservation",
            Effect::Sharing(_) => "sharing",
            Effect::Lease(_) => "lease.",
            Effect::Order { .. } => "order.",
            Effect::Contract(_) => "contract.",
            Effect::Posted(_) => "posted",
        };
        assert!(name.starts_with(family), "{name}");
    }
}
