//! The checks that a client can make by itself: chains of headers, and auctions in a block.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod four_members;

use four_members::{genesis, key};
use gridbay_ledger::log::{InclusionProof, Log};
use gridbay_node::api::types::{AuctionProof, AuctionRecord, EffectProof, Hex, SignedHeader};
use gridbay_node::cli::{AuctionError, ChainError, HeaderChain, verify_auction};
use gridbay_protocol::block::Header;
use gridbay_protocol::codec;
use gridbay_protocol::effect::{Effect, OrderEnd};
use gridbay_protocol::genesis::*;
use gridbay_protocol::hash::Domain;
use gridbay_protocol::ids::*;
use gridbay_protocol::mechanism::ausubel::Rule;
use gridbay_protocol::order::Step;
use gridbay_protocol::policy::ausubel::AuctionPolicy;
use gridbay_protocol::record::ausubel::*;
use gridbay_protocol::record::buy::*;
use gridbay_protocol::record::posted::*;
use gridbay_protocol::units::{Credits, Price};
use gridbay_protocol::validator::{ValidatorSet, validator_id};
use gridbay_protocol::vote::{Certificate, CertificateSignature};

fn header(genesis: &Genesis, height: u64, parent: BlockId, effects_root: Hash32) -> Header {
    let set = genesis.validators().unwrap();
    Header {
        format: FORMAT,
        rules: RULES,
        network: genesis.network(),
        height,
        time_ms: genesis.time_ms + height,
        parent,
        proposer: set.members()[0].id,
        entries_root: Hash32::default(),
        effects_root,
        state_root: Hash32::default(),
        validators: set.hash(),
        next_validators: set.hash(),
        log_root: Hash32::default(),
        last_commit: Hash32::default(),
        beacon_reveal: Hash32::default(),
        evidence_root: Hash32::default(),
        hints_root: Hash32::default(),
    }
}

/// A certificate by the first `signers` of the four keys.
fn certify(header: &Header, signers: u8) -> Certificate {
    let mut certificate = Certificate {
        height: header.height,
        round: 0,
        block: header.id(),
        signatures: vec![],
    };
    for n in 1..=signers {
        let validator = validator_id(&key(n).public());
        let vote = codec::encode(&certificate.vote(validator));
        certificate.signatures.push(CertificateSignature {
            validator,
            signature: key(n).sign(Domain::Vote, &header.network, &vote),
        });
    }
    certificate.signatures.sort_by_key(|s| s.validator);
    certificate
}

fn signed(header: &Header, signers: u8) -> SignedHeader {
    SignedHeader {
        header: Hex(codec::encode(header)),
        certificate: Hex(codec::encode(&certify(header, signers))),
        validators: None,
    }
}

#[test]
fn a_chain_is_followed_and_every_change_is_found() {
    let genesis = genesis();
    let first = header(&genesis, 1, BlockId::default(), Hash32::default());
    let second = header(&genesis, 2, first.id(), Hash32::default());
    let mut chain = HeaderChain::new(&genesis).unwrap();
    chain.push(&signed(&first, 3)).unwrap();
    for (field, change) in [
        (
            "network",
            (|h| h.network = NetworkId([9; 32])) as fn(&mut Header),
        ),
        ("height", |h| h.height = 3),
        ("parent", |h| h.parent = BlockId([9; 32])),
        ("time", |h| h.time_ms = 1_001),
        ("validators", |h| h.validators = Hash32([9; 32])),
    ] {
        let mut changed = second.clone();
        change(&mut changed);
        let wrong = ChainError::Field { height: 2, field };
        assert_eq!(chain.push(&signed(&changed, 4)), Err(wrong));
    }
    let few = chain.push(&signed(&second, 2)).unwrap_err();
    assert!(matches!(few, ChainError::Certificate(_)), "{few}");
    let mut other = signed(&second, 4);
    other.certificate = signed(&first, 4).certificate;
    assert!(chain.push(&other).is_err());
    chain.push(&signed(&second, 4)).unwrap();
    assert_eq!((chain.height(), chain.head()), (2, second.id()));
}

#[test]
fn new_validators_must_have_been_promised() {
    let genesis = genesis();
    let set = genesis.validators().unwrap();
    let three = ValidatorSet::new(set.members()[..3].to_vec()).unwrap();
    let mut first = header(&genesis, 1, BlockId::default(), Hash32::default());
    first.next_validators = three.hash();
    let mut second = header(&genesis, 2, first.id(), Hash32::default());
    second.validators = three.hash();
    let mut chain = HeaderChain::new(&genesis).unwrap();
    chain.push(&signed(&first, 4)).unwrap();
    let mut next = signed(&second, 4);
    let wrong = chain.clone().push(&next).unwrap_err();
    assert!(matches!(
        wrong,
        ChainError::Field {
            field: "list of validators",
            ..
        }
    ));
    next.validators = Some(Hex(codec::encode(&three)));
    let stranger = chain.clone().push(&next).unwrap_err();
    assert!(matches!(stranger, ChainError::Certificate(_)), "{stranger}");
    let mut certificate = certify(&second, 4);
    certificate
        .signatures
        .retain(|s| three.get(&s.validator).is_some());
    next.certificate = Hex(codec::encode(&certificate));
    chain.push(&next).unwrap();
}

fn clearing(class: ClassId, height: u64) -> ClearingRecord {
    let credits = |n| Credits::from_micros(n).unwrap();
    let bid = |n: u8, price| ClearingBid {
        order: OrderId([n; 32]),
        sponsor: AccountId([n; 32]),
        round: 1,
        rank: Hash32([n; 32]),
        min: 1,
        steps: vec![Step {
            units: 2,
            price: Price(price),
        }],
    };
    ClearingRecord {
        id: clearing_id(&class, height),
        class,
        kind: ClearingKind::Boundary,
        height,
        slot: 1,
        heights: 8,
        policy: AuctionPolicy::default(),
        held: vec![],
        offers: vec![ClearingOffer {
            offer: OfferId([7; 32]),
            units: 3,
            reserve: Price(2),
        }],
        bids: vec![bid(1, 10), bid(2, 6)],
        awards: vec![
            Award {
                order: OrderId([1; 32]),
                units: 2,
                pay: credits(8),
            },
            Award {
                order: OrderId([2; 32]),
                units: 1,
                pay: credits(2),
            },
        ],
        sold: vec![Sold {
            offer: OfferId([7; 32]),
            units: 3,
            earns: credits(10),
        }],
    }
}

/// A block of three effects whose second is the record.
fn proof(genesis: &Genesis, record: AuctionRecord) -> AuctionProof {
    let auction = record.auction();
    let other = Effect::Order {
        order: OrderId([1; 32]),
        end: OrderEnd::Served,
    };
    let effects = [other.clone(), Effect::from(auction), other];
    let mut log = Log::default();
    for effect in &effects {
        log.append(effect.leaf());
    }
    let path: InclusionProof = log.inclusion_proof(1, 3).unwrap();
    let root = Hash32(log.root());
    let header = header(genesis, auction.height(), BlockId::default(), root);
    AuctionProof {
        id: to_hex(&auction.id()),
        class: "small".into(),
        record,
        header: Hex(codec::encode(&header)),
        certificate: Hex(codec::encode(&certify(&header, 4))),
        validators: Hex(codec::encode(&genesis.validators().unwrap())),
        proof: Hex(codec::encode(&EffectProof {
            index: 1,
            size: 3,
            proof: path,
        })),
    }
}

/// A clearing that is what it says.
fn sold(genesis: &Genesis) -> AuctionProof {
    let record = clearing(genesis.classes[0].key.id(), 8);
    proof(genesis, AuctionRecord::Clearing(record))
}

fn check(genesis: &Genesis, proof: &AuctionProof) -> Result<(), AuctionError> {
    verify_auction(proof, genesis, &genesis.validators().unwrap())
}

#[test]
fn an_auction_is_proved_and_survives_json() {
    let genesis = genesis();
    let good = sold(&genesis);
    check(&genesis, &good).unwrap();
    let json = serde_json::to_string(&good).unwrap();
    check(&genesis, &serde_json::from_str(&json).unwrap()).unwrap();
}

#[test]
fn a_record_that_is_not_in_the_block_is_refused() {
    let genesis = genesis();
    let mut lie = sold(&genesis);
    if let AuctionRecord::Clearing(record) = &mut lie.record {
        record.awards.pop();
    }
    assert!(matches!(
        check(&genesis, &lie),
        Err(AuctionError::NotInBlock { height: 8, .. })
    ));
    let mut unsigned = sold(&genesis);
    unsigned.certificate = Hex(vec![]);
    assert!(matches!(
        check(&genesis, &unsigned),
        Err(AuctionError::Bytes("certificate", _))
    ));
}

type Lie = Box<dyn Fn(&mut ClearingRecord)>;

#[test]
fn certified_but_wrong_outcomes_are_refused() {
    let genesis = genesis();
    let class = genesis.classes[0].key.id();
    let micros = |n| Credits::from_micros(n).unwrap();
    let lies: [(&str, Lie); 11] = [
        (
            "pays above",
            Box::new(move |r| r.awards[0].pay = micros(21)),
        ),
        ("are paid", Box::new(move |r| r.awards[0].pay = micros(9))),
        ("were awarded", Box::new(|r| r.awards[0].units = 1)),
        ("did not bid", Box::new(|r| r.awards[0].units = 3)),
        (
            "did not bid",
            Box::new(|r| r.awards[0].order = OrderId::default()),
        ),
        (
            "below its reserve",
            Box::new(move |r| r.sold[0].earns = micros(5)),
        ),
        ("did not offer", Box::new(|r| r.sold[0].units = 4)),
        (
            "other awards",
            Box::new(move |r| {
                (r.awards[0].pay, r.awards[1].pay) = (micros(7), micros(3));
            }),
        ),
        (
            "other awards",
            Box::new(|r| r.bids[1].steps[0].price = Price(7)),
        ),
        ("out of order", Box::new(|r| r.bids.swap(0, 1))),
        (
            "under rule floor",
            Box::new(|r| r.policy.rule = Rule::Floor),
        ),
    ];
    for (says, lie) in lies {
        let mut record = clearing(class, 8);
        lie(&mut record);
        let record = AuctionRecord::Clearing(record);
        let error = check(&genesis, &proof(&genesis, record)).unwrap_err();
        assert!(error.to_string().contains(says), "{says}: {error}");
    }
}

#[test]
fn a_buy_is_priced_by_its_rule() {
    let genesis = genesis();
    let micros = |n| Credits::from_micros(n).unwrap();
    for (part, price, fits) in [(30, 30, true), (31, 31, false), (30, 31, false)] {
        let buy = BuyRecord {
            order: OrderId([1; 32]),
            height: 8,
            parts: vec![BoughtPart {
                class: genesis.classes[0].key.id(),
                taken: vec![ClearingOffer {
                    offer: OfferId([7; 32]),
                    units: 2,
                    reserve: Price(10),
                }],
                displaced: vec![],
                displaced_value: micros(30),
                evicted: vec![],
                price: micros(part),
            }],
            price: micros(price),
            slots: 3,
        };
        let proof = proof(&genesis, AuctionRecord::Buy(buy));
        assert_eq!(check(&genesis, &proof).is_ok(), fits);
    }
}

/// Two sellers, and three buyers for their six units: the second one finds too few that are cheap.
/// A third seller is too dear for all.
fn hires(class: ClassId) -> PostedRecord {
    let offer = |n: u8, units, price| ClearingOffer {
        offer: OfferId([n; 32]),
        units,
        reserve: Price(price),
    };
    let came = |n: u8, units, limit| PostedBid {
        order: OrderId([n; 32]),
        units,
        limit: Price(limit),
    };
    let hired = |n: u8, taken, price| Hired {
        order: OrderId([n; 32]),
        taken,
        price: Credits::from_micros(price).unwrap(),
    };
    PostedRecord {
        class,
        height: 8,
        offers: vec![offer(2, 3, 10), offer(1, 3, 20)],
        left_out: 3,
        bids: vec![came(9, 2, 30), came(8, 2, 10), came(7, 3, 20)],
        served: vec![
            hired(9, vec![offer(2, 2, 10)], 20),
            hired(7, vec![offer(1, 2, 20), offer(2, 1, 10)], 50),
        ],
    }
}

type Untruth = fn(&mut PostedRecord);

#[test]
fn hires_are_served_as_they_came_from_the_cheapest_units() {
    let genesis = genesis();
    let class = genesis.classes[0].key.id();
    let judge = |lie: Untruth| {
        let mut record = hires(class);
        lie(&mut record);
        check(&genesis, &proof(&genesis, AuctionRecord::Posted(record)))
    };
    judge(|_| ()).unwrap();
    let lies: [(&str, Untruth); 9] = [
        ("out of order", |r| r.offers.swap(0, 1)),
        ("other offers", |r| {
            r.offers.push(ClearingOffer {
                reserve: Price(31),
                ..r.offers[1]
            });
            r.offers[2].offer = OfferId([3; 32]);
        }),
        ("other hires", |r| r.bids.swap(0, 2)),
        ("other hires", |r| r.served.swap(0, 1)),
        ("other hires", |r| r.served[0].taken[0] = r.offers[1]),
        ("other hires", |r| r.served[0].price = Credits::ZERO),
        ("other hires", |r| r.bids[2].limit = Price(19)),
        ("other hires", |r| r.served.clear()),
        ("not what the mechanism takes", |r| {
            r.bids.push(r.bids[0]);
            r.served.clear();
        }),
    ];
    for (says, lie) in lies {
        let error = judge(lie).unwrap_err().to_string();
        assert!(error.contains(says), "{says}: {error}");
    }
}
