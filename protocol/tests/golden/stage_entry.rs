//! Received bytes become a checked entry only if every rule of their kind holds.

use crate::samples::entry::{self, ACCOUNT, SIGNER, TOKEN};
use crate::samples::{NETWORK, key, micros};
use gridbay_protocol::account::{AccountKey, Roles};
use gridbay_protocol::appeal::Appeal;
use gridbay_protocol::codec::{self, CodecError};
use gridbay_protocol::entry::{EntryBody, SignedEntry};
use gridbay_protocol::ids::{
    AccountId, ClassId, EntryId, Hash32, LeaseId, NetworkId, OfferId, OrderId, ValidatorId,
};
use gridbay_protocol::invitation::{Grant, SignedGrant};
use gridbay_protocol::keys::{SecretKey, Signature};
use gridbay_protocol::limits;
use gridbay_protocol::mechanism::reservation::{CHANNELS, Channels};
use gridbay_protocol::mechanism::share::BUDGET_END;
use gridbay_protocol::offer::{DeadlineTerms, OfferTerms, PoolTerms, Primary, Reclaim};
use gridbay_protocol::order::{Bid, Buy, BuyPart, Claim, Commit, Open, Reservation, Step};
use gridbay_protocol::receipt::{Receipt, SignedReceipt};
use gridbay_protocol::stage::{Malformed, WellFormed};
use gridbay_protocol::units::{Credits, Price};

type Case = (&'static str, EntryBody);

fn receive(signed: &SignedEntry) -> Result<WellFormed, Malformed> {
    WellFormed::receive(&NETWORK, &codec::encode(signed))
}
fn roles(bits: u8) -> Roles {
    codec::decode(&codec::encode(&bits), 2).expect("any byte is a set of roles")
}
/// `n` keys in order, of which all may spend.
fn keys(n: u8) -> Vec<AccountKey> {
    let mut keys: Vec<_> = (100..100 + n)
        .map(|seed| AccountKey {
            key: key(seed).public(),
            roles: Roles::SPEND,
        })
        .collect();
    keys.sort_by_key(|k| k.key);
    keys
}
fn set_keys(change: impl FnOnce(&mut Vec<AccountKey>)) -> EntryBody {
    let mut keys = keys(3);
    change(&mut keys);
    EntryBody::SetKeys { keys }
}
fn offer(change: impl FnOnce(&mut OfferTerms)) -> EntryBody {
    let mut terms = entry::offer(Reclaim::None);
    change(&mut terms);
    EntryBody::SetOffer(terms)
}
fn open(change: impl FnOnce(&mut Bid)) -> EntryBody {
    let mut bid = entry::bid();
    change(&mut bid);
    EntryBody::Open(Open {
        commit: EntryId([1; 32]),
        wish: bid.into(),
        salt: [2; 32],
    })
}
fn reserve(change: impl FnOnce(&mut Reservation)) -> EntryBody {
    let mut wish = entry::reservation();
    change(&mut wish);
    EntryBody::Open(Open {
        commit: EntryId([1; 32]),
        wish: wish.into(),
        salt: [2; 32],
    })
}
fn steps(steps: &[(u32, u64)]) -> Vec<Step> {
    let step = |&(units, price)| Step {
        units,
        price: Price(price),
    };
    steps.iter().map(step).collect()
}
/// `n` steps of one unit, falling to a price of 1.
fn stairs(n: usize) -> Vec<Step> {
    steps(&(1..=n as u64).rev().map(|p| (1, p)).collect::<Vec<_>>())
}
fn buy(change: impl FnOnce(&mut Buy)) -> EntryBody {
    let mut buy = entry::buy();
    change(&mut buy);
    EntryBody::Buy(buy)
}
/// One unit of each of so many classes.
fn parts(n: usize) -> Vec<BuyPart> {
    let part = |n| BuyPart::anywhere(ClassId([n; 32]), 1);
    (1..=n as u8).map(part).collect()
}
fn share(change: impl FnOnce(&mut Claim)) -> EntryBody {
    let mut claim = entry::claim();
    change(&mut claim);
    EntryBody::Share(claim)
}
/// An appeal with receipts of `n` validators in order.
fn appeal(bid: EntryBody, n: u8) -> EntryBody {
    let EntryBody::Open(open) = bid else {
        panic!("only openings are appealed for");
    };
    let receipt = |n| SignedReceipt {
        receipt: Receipt {
            entry: EntryId([1; 32]),
            height: u64::MAX,
            validator: ValidatorId([n; 32]),
        },
        signature: Signature([n; 64]),
    };
    EntryBody::Appeal(Box::new(Appeal {
        key: key(SIGNER).public(),
        valid_until: u64::MAX,
        open,
        receipts: (0..n).map(receipt).collect(),
    }))
}
fn offers(n: usize) -> Vec<OfferId> {
    (0..n).map(|i| OfferId([i as u8; 32])).collect()
}
fn commit(bracket: u8) -> EntryBody {
    EntryBody::Commit(Commit {
        class: entry::bid().class,
        seal: Hash32([1; 32]),
        bracket,
    })
}
fn transfer(to: AccountId, amount: Credits) -> EntryBody {
    let memo = Hash32::default();
    EntryBody::Transfer { to, amount, memo }
}
fn opening(keys: Vec<AccountKey>, endowment: u64) -> EntryBody {
    EntryBody::OpenAccount {
        grant: None,
        keys,
        endowment: micros(endowment),
    }
}
fn granted(change: impl FnOnce(&mut Grant), more: u64) -> EntryBody {
    let mut grant = entry::grant();
    change(&mut grant.grant);
    EntryBody::OpenAccount {
        grant: Some(Box::new(grant)),
        keys: keys(1),
        endowment: micros(more),
    }
}

fn refused() -> Vec<Case> {
    let tables = [
        refused_accounts(),
        refused_transfers(),
        refused_offers(),
        refused_bids(),
        refused_buys(),
        refused_reservations(),
        refused_claims(),
        vec![("an appeal without receipts", appeal(open(|_| ()), 0))],
    ];
    tables.into_iter().flatten().collect()
}

fn refused_accounts() -> Vec<Case> {
    vec![
        ("no keys", set_keys(Vec::clear)),
        ("17 keys", EntryBody::SetKeys { keys: keys(17) }),
        ("keys out of order", set_keys(|k| k.swap(0, 1))),
        ("a key twice", set_keys(|k| k[1] = k[0])),
        ("an unknown role", set_keys(|k| k[1].roles = roles(9))),
        ("a key without a role", set_keys(|k| k[1].roles = roles(0))),
        (
            "nobody may spend",
            set_keys(|k| k.iter_mut().for_each(|k| k.roles = Roles::TRADE)),
        ),
        ("an account without keys", opening(vec![], 1)),
        (
            "a grant to another token",
            granted(|g| g.token = key(8).public(), 0),
        ),
        (
            "another's grant",
            granted(|g| g.inviter = AccountId([9; 32]), 0),
        ),
        ("a grant and an endowment", granted(|_| (), 1)),
    ]
}

fn refused_transfers() -> Vec<Case> {
    vec![
        (
            "nothing transferred",
            transfer(AccountId([9; 32]), Credits::ZERO),
        ),
        ("a transfer to oneself", transfer(ACCOUNT, micros(1))),
    ]
}

fn refused_offers() -> Vec<Case> {
    let above = Price(Price::MAX.0 + 1);
    vec![
        ("an offer of nothing", offer(|o| o.units = 0)),
        (
            "too many units offered",
            offer(|o| o.units = limits::OFFER_UNITS + 1),
        ),
        (
            "a reserve too high",
            offer(|o| (o.reserve, o.buy_price) = (above, None)),
        ),
        (
            "a reservation at a buy price",
            offer(|o| o.mechanism = Primary::Reservation),
        ),
        (
            "a deadline offer that is taken back",
            offer(|o| {
                (o.buy_price, o.reclaim) = (None, Reclaim::Notice(1));
                o.mechanism = Primary::Deadline(entry::DEADLINE);
            }),
        ),
        (
            "a stake above the price",
            offer(|o| {
                let bond_ppm = 1_000_001;
                o.buy_price = None;
                o.mechanism = Primary::Deadline(DeadlineTerms {
                    bond_ppm,
                    ..entry::DEADLINE
                });
            }),
        ),
        (
            "a pool of which nobody may have anything",
            offer(|o| {
                let cap_ppm = 0;
                o.buy_price = None;
                o.mechanism = Primary::Share(PoolTerms {
                    cap_ppm,
                    ..entry::POOL
                });
            }),
        ),
        (
            "a pool of which nobody may hold a unit",
            offer(|o| {
                (o.buy_price, o.units) = (None, 2);
                o.mechanism = Primary::Share(PoolTerms {
                    cap_ppm: 499_999,
                    ..entry::POOL
                });
            }),
        ),
        ("a buy price too high", offer(|o| o.buy_price = Some(above))),
        (
            "a buy price below the reserve",
            offer(|o| o.buy_price = Some(Price(o.reserve.0 - 1))),
        ),
    ]
}

fn refused_bids() -> Vec<Case> {
    let above = Price(Price::MAX.0 + 1);
    vec![
        ("a bracket too high", commit(limits::BRACKET + 1)),
        ("no steps", open(|b| b.steps.clear())),
        (
            "65 steps",
            open(|b| b.steps = stairs(limits::BID_STEPS + 1)),
        ),
        ("a step of nothing", open(|b| b.steps[1].units = 0)),
        ("a price too high", open(|b| b.steps[0].price = above)),
        ("rising prices", open(|b| b.steps.reverse())),
        (
            "one price in two steps",
            open(|b| b.steps[1].price = b.steps[0].price),
        ),
        (
            "too many units bid for",
            open(|b| b.steps = steps(&[(limits::ORDER_UNITS, 2), (1, 1)])),
        ),
        (
            "more units than can be counted",
            open(|b| b.steps = steps(&[(u32::MAX, 2), (3, 1)])),
        ),
        ("a least of nothing", open(|b| b.min = 0)),
        ("a least above all", open(|b| b.min = 17)),
        ("a bid for no slots", open(|b| b.slots = 0)),
        (
            "a bid for ever",
            open(|b| b.slots = limits::ORDER_SLOTS + 1),
        ),
    ]
}

fn refused_buys() -> Vec<Case> {
    vec![
        ("a buy of nothing", buy(|b| b.parts[0].units = 0)),
        (
            "too many units bought",
            buy(|b| b.parts[0].units = limits::ORDER_UNITS + 1),
        ),
        ("a buy of no parts", buy(|b| b.parts.clear())),
        (
            "a buy of too many parts",
            buy(|b| b.parts = parts(limits::BUY_PARTS + 1)),
        ),
        ("a class twice", buy(|b| b.parts.push(b.parts[0].clone()))),
        (
            "classes out of order",
            buy(|b| {
                b.parts = parts(3);
                b.parts.swap(1, 2);
            }),
        ),
        (
            "a part of nothing",
            buy(|b| {
                b.parts = parts(2);
                b.parts[1].units = 0;
            }),
        ),
        (
            "too many units of two classes",
            buy(|b| {
                b.parts = parts(2);
                b.parts[1].units = limits::ORDER_UNITS;
            }),
        ),
        (
            "too many offers of two classes",
            buy(|b| {
                b.parts = parts(2);
                b.parts[0].offers = offers(limits::OFFERS_PER_ACCOUNT);
                b.parts[1].offers = offers(1);
            }),
        ),
        ("a buy for no slots", buy(|b| b.slots = 0)),
        ("a buy for ever", buy(|b| b.slots = limits::ORDER_SLOTS + 1)),
        (
            "too many offers named",
            buy(|b| b.parts[0].offers = offers(limits::OFFERS_PER_ACCOUNT + 1)),
        ),
        ("offers out of order", buy(|b| b.parts[0].offers.reverse())),
        (
            "an offer twice",
            buy(|b| b.parts[0].offers[1] = b.parts[0].offers[0]),
        ),
    ]
}

fn refused_reservations() -> Vec<Case> {
    vec![
        ("no groups", reserve(|r| r.groups.clear())),
        (
            "seven groups",
            reserve(|r| r.groups = vec![r.groups[1].clone(); 7]),
        ),
        ("a group of nothing", reserve(|r| r.groups[0].units = 0)),
        (
            "too many units reserved",
            reserve(|r| r.groups[0].units = limits::RESERVATION_UNITS),
        ),
        (
            "more units reserved than can be counted",
            reserve(|r| r.groups[0].units = u32::MAX),
        ),
        (
            "offers of a group out of order",
            reserve(|r| r.groups[0].offers.reverse()),
        ),
        (
            "too many offers in all groups",
            reserve(|r| {
                r.groups[0].offers = offers(limits::RESERVATION_OFFERS);
                r.groups[1].offers = offers(1);
            }),
        ),
        ("a reservation of no slots", reserve(|r| r.slots = 0)),
        (
            "a reservation for ever",
            reserve(|r| r.slots = limits::RESERVATION_SLOTS + 1),
        ),
        (
            "a last start before the first",
            reserve(|r| r.latest = r.earliest - 1),
        ),
        (
            "channels that end before they begin",
            reserve(|r| r.channels = Some(Channels { low: 2, high: 1 })),
        ),
        (
            "too many channels",
            reserve(|r| {
                r.channels = Some(Channels {
                    low: 0,
                    high: CHANNELS,
                })
            }),
        ),
    ]
}

fn accepted_reservations() -> Vec<Case> {
    let most_reserved = |r: &mut Reservation| {
        r.groups
            .resize(limits::RESERVATION_GROUPS, r.groups[1].clone());
        r.groups[0].offers = offers(limits::RESERVATION_OFFERS);
        r.groups[0].units += limits::RESERVATION_UNITS - r.units();
        (r.slots, r.value) = (limits::RESERVATION_SLOTS, Credits::MAX);
        (r.earliest, r.latest) = (u64::MAX, u64::MAX);
        r.channels = Some(Channels {
            low: u32::MAX - CHANNELS + 1,
            high: u32::MAX,
        });
    };
    vec![
        ("the largest reservation", reserve(most_reserved)),
        (
            "the largest appeal for a reservation",
            appeal(reserve(most_reserved), limits::VALIDATORS as u8 / 3 + 1),
        ),
    ]
}

fn refused_claims() -> Vec<Case> {
    vec![
        ("a claim for nothing", share(|c| c.rate = Credits::ZERO)),
        ("a rate too high", share(|c| c.rate = micros(BUDGET_END))),
        ("no weights", share(|c| c.weights.clear())),
        ("processors for nothing", share(|c| c.weights[0] = 0)),
        ("too many weights", share(|c| c.weights = vec![1; 5])),
        ("a claim without tasks", share(|c| c.tasks = 0)),
        (
            "a claim with too many tasks",
            share(|c| c.tasks = limits::ORDER_UNITS + 1),
        ),
        ("a claim for no slot", share(|c| c.slots = 0)),
        (
            "a claim for too many slots",
            share(|c| c.slots = limits::ORDER_SLOTS + 1),
        ),
    ]
}

fn accepted() -> Vec<Case> {
    let most_claimed = |c: &mut Claim| {
        (c.rate, c.budget) = (micros(BUDGET_END - 1), Credits::MAX);
        (c.tasks, c.slots) = (limits::ORDER_UNITS, limits::ORDER_SLOTS);
        (c.weights, c.stands_until) = (vec![u32::MAX; 4], u64::MAX);
    };
    let most_offered = |o: &mut OfferTerms| {
        (o.units, o.reserve) = (limits::OFFER_UNITS, Price::MAX);
        (o.buy_price, o.label) = (Some(Price::MAX), u32::MAX);
    };
    let most_bid = |b: &mut Bid| {
        b.steps = stairs(limits::BID_STEPS);
        b.steps[0] = Step {
            units: limits::ORDER_UNITS - 63,
            price: Price::MAX,
        };
        (b.min, b.slots) = (limits::ORDER_UNITS, limits::ORDER_SLOTS);
        (b.budget, b.stands_until) = (Credits::MAX, u64::MAX);
    };
    let most_bought = |b: &mut Buy| {
        b.parts = parts(limits::BUY_PARTS);
        b.parts[0].units = limits::ORDER_UNITS - (limits::BUY_PARTS as u32 - 1);
        b.parts[0].offers = offers(limits::OFFERS_PER_ACCOUNT);
        (b.slots, b.limit) = (limits::ORDER_SLOTS, Credits::MAX);
    };
    let least_bid = |b: &mut Bid| {
        b.steps = steps(&[(1, 0)]);
        (b.min, b.slots, b.budget, b.stands_until) = (1, 1, Credits::ZERO, 0);
    };
    let (lease, order) = (LeaseId::default(), OrderId::default());
    let tip = Hash32::default();
    vec![
        ("sixteen keys", EntryBody::SetKeys { keys: keys(16) }),
        ("an account for nothing", opening(keys(1), 0)),
        (
            "the dearest account",
            opening(keys(16), Credits::MAX.micros()),
        ),
        (
            "all money there is",
            transfer(AccountId([9; 32]), Credits::MAX),
        ),
        ("the largest offer", offer(most_offered)),
        (
            "a free offer",
            offer(|o| (o.units, o.reserve) = (1, Price(0))),
        ),
        ("the smallest bracket", commit(0)),
        ("the largest bracket", commit(limits::BRACKET)),
        ("the largest bid", open(most_bid)),
        ("the smallest bid", open(least_bid)),
        ("the largest buy", buy(most_bought)),
        ("the largest claim", share(most_claimed)),
        // More than a third of the most validators there can be.
        (
            "the largest appeal",
            appeal(open(most_bid), limits::VALIDATORS as u8 / 3 + 1),
        ),
        ("any tip", EntryBody::RegisterBeacon { tip }),
        ("any label", EntryBody::WithdrawOffer { label: u32::MAX }),
        ("any delivery", EntryBody::Deliver { lease }),
        ("any failure", EntryBody::Fail { lease }),
        ("any cancellation", EntryBody::Cancel { order }),
    ]
}

#[test]
fn each_rule_of_each_kind_refuses() {
    for (case, body) in refused() {
        let name = body.name();
        let by = if matches!(body, EntryBody::OpenAccount { grant: Some(_), .. }) {
            TOKEN
        } else {
            SIGNER
        };
        let flaw = match &body {
            EntryBody::Open(open) => open.wish.check().err(),
            EntryBody::Buy(buy) => buy.check().err(),
            EntryBody::Share(claim) => claim.check().err(),
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
