//! A genesis is refused for each kind of damage; so are adverts and invitations out of range.

use crate::samples::genesis::{class, genesis, invitation, member};
use crate::samples::{NETWORK, entry, key, market, micros};
use gridbay_protocol::account::Roles;
use gridbay_protocol::advert::{Advert, AdvertError, RoundTrip, SignedAdvert};
use gridbay_protocol::bank::{BankPolicy, Preset, WEIGHT};
use gridbay_protocol::class::Isolation;
use gridbay_protocol::codec;
use gridbay_protocol::genesis::{FORMAT, Genesis, GenesisError, MemberValidator, RULES};
use gridbay_protocol::invitation::{Invitation, InvitationError};
use gridbay_protocol::limits;
use gridbay_protocol::units::{Credits, Price};

type Damage = (&'static str, fn(&mut Genesis));

fn validator(g: &mut Genesis) -> &mut MemberValidator {
    g.members[0].validator.as_mut().expect("alpha validates")
}
fn long_name() -> String {
    "n".repeat(limits::NAME_CHARS + 1)
}
/// Members `m00`, `m01` .. that each run a validator.
fn crowd(g: &mut Genesis, n: usize) {
    g.members = (0..n)
        .map(|i| member(&format!("m{i:02}"), 2 * i as u8, 1))
        .collect();
}

const POLICY: &[Damage] = &[
    ("policy", |g| g.policy.calendar.round_heights = 1),
    ("policy", |g| g.policy.calendar.round_heights = 101),
    ("policy", |g| {
        g.policy.auction.switch_cost.0 = Price::MAX.0 + 1;
    }),
    ("policy", |g| {
        g.policy.buy.surcharge_ppm = limits::SURCHARGE_PPM + 1;
    }),
    ("policy", |g| g.policy.entries.user.entries = 63),
    ("policy", |g| g.policy.entries.member.entries = 2_400_001),
    ("policy", |g| g.policy.entries.user.bytes = 8_191),
    ("policy", |g| g.policy.invitations.depth = 0),
    ("policy", |g| g.policy.invitations.depth = 9),
    ("policy", |g| g.policy.calendar.slot_rounds = 0),
    ("policy", |g| g.policy.calendar.slot_rounds = 1_001),
    ("policy", |g| g.policy.block_interval_ms = 9),
    ("policy", |g| {
        (g.policy.block_interval_ms, g.policy.heartbeat_ms) = (60_001, 60_001);
    }),
    ("policy", |g| g.policy.heartbeat_ms = 249),
    ("policy", |g| g.policy.heartbeat_ms = 3_600_001),
    ("policy", |g| g.policy.propose_timeout_ms = 49),
    ("policy", |g| g.policy.propose_timeout_ms = 60_001),
    ("policy", |g| g.policy.max_firm_slots = 0),
    ("policy", |g| {
        g.policy.max_firm_slots = limits::ORDER_SLOTS + 1
    }),
    ("policy", |g| g.policy.delivery_heights = 0),
    ("policy", |g| {
        g.policy.delivery_heights = limits::ORDER_WINDOW + 1
    }),
    ("policy", |g| {
        g.policy.bank = BankPolicy {
            shares: 0,
            ..BankPolicy::mirage(250)
        }
    }),
];

const CLASSES: &[Damage] = &[
    ("list of classes", |g| g.classes.clear()),
    ("list of classes", |g| g.classes.reverse()),
    ("list of classes", |g| g.classes[1] = g.classes[0].clone()),
    ("list of classes", |g| {
        g.classes = (1..=limits::CLASSES as u32 + 1)
            .map(|n| class(&format!("c{n}"), n, Isolation::Process))
            .collect();
        g.classes.sort_by_key(|c| c.key.id());
    }),
    ("list of class names", |g| {
        g.classes[1].name = g.classes[0].name.clone()
    }),
    ("class number 1", |g| g.classes[0].name.clear()),
    ("class number 2", |g| g.classes[1].name = long_name()),
    ("class number 1", |g| g.classes[0].name = "two words".into()),
    ("class number 1", |g| {
        g.classes[0].reference_price = Price(Price::MAX.0 + 1)
    }),
    ("class number 1", |g| {
        g.classes.truncate(1);
        g.classes[0].key.vcpu = 0;
    }),
    ("class number 1", |g| {
        g.classes.truncate(1);
        g.classes[0].key.vcpu = 1_025;
    }),
    ("class number 1", |g| {
        g.classes.truncate(1);
        g.classes[0].key.memory_mib = 0;
    }),
    ("class number 1", |g| {
        g.classes.truncate(1);
        g.classes[0].key.circle = "zwölf".into();
    }),
];

const MEMBERS: &[Damage] = &[
    ("member number 1", |g| g.members[0].name.clear()),
    ("member number 2", |g| g.members[1].name = long_name()),
    ("member number 2", |g| g.members[1].keys.clear()),
    ("member number 2", |g| g.members[1].keys.reverse()),
    ("member number 2", |g| {
        g.members[1].addresses = vec![String::new(); limits::ADDRESSES + 1];
    }),
    ("member number 2", |g| {
        g.members[1].addresses = vec!["a".repeat(limits::ADDRESS_CHARS + 1)];
    }),
    ("list of members", |g| g.members.reverse()),
    ("list of members", |g| g.members[1].name = "alpha".into()),
    ("list of members", |g| {
        let one = g.members[0].clone();
        let named = |n| {
            let mut member = one.clone();
            member.name = format!("member{n:04}");
            member
        };
        g.members = (0..=limits::MEMBERS).map(named).collect();
    }),
    ("sum of endowments and credit lines", |g| {
        g.members[1].endowment = Credits::MAX;
    }),
    ("sum of endowments and credit lines", |g| {
        g.members[1].credit_line = Credits::MAX;
    }),
    ("list of validators", |g| g.members.clear()),
    ("list of validators", |g| g.members[0].validator = None),
    ("list of validators", |g| validator(g).power = 0),
    ("list of validators", |g| validator(g).power = (1 << 32) + 1),
    ("list of validators", |g| {
        g.members[1].validator = g.members[0].validator.clone();
    }),
    ("list of validators", |g| crowd(g, limits::VALIDATORS + 1)),
];

#[test]
fn each_kind_of_damage_is_named() {
    let rest: &[Damage] = &[
        ("network name", |g| g.name.clear()),
        ("network name", |g| g.name = long_name()),
        ("founding time", |g| g.time_ms = limits::GENESIS_MS + 1),
    ];
    for (part, damage) in [rest, POLICY, CLASSES, MEMBERS].concat() {
        let mut bad = genesis();
        damage(&mut bad);
        let error = GenesisError::Invalid(part.to_owned());
        assert_eq!(bad.check(), Err(error.clone()), "{bad:?}");
        assert_eq!(Genesis::decode(&bad.encode()), Err(error));
        assert_ne!(bad.network(), genesis().network());
    }
}

#[test]
fn members_keep_to_the_bank() {
    let founded = |preset: Preset, weight, line| {
        let mut genesis = genesis();
        genesis.policy.bank = preset.policy(250);
        let members = genesis.members.iter_mut();
        members.for_each(|m| m.credit_line = Credits::ZERO);
        genesis.members[1].weight = weight;
        genesis.members[1].credit_line = micros(line);
        genesis
    };
    let weight = |weight, most| {
        Err(GenesisError::Weight {
            member: "beta".into(),
            weight,
            most,
        })
    };
    let line = |line, limit| {
        Err(GenesisError::CreditLine {
            member: "beta".into(),
            line: micros(line),
            limit,
        })
    };
    let cases = [
        (Preset::Owners, 1, 7, Ok(())),
        (Preset::Owners, 0, 7, weight(0, 1)),
        (Preset::Owners, 2, 7, weight(2, 1)),
        (Preset::Mirage, 2, 0, Ok(())),
        (Preset::Bellagio, WEIGHT, 0, Ok(())),
        (Preset::Mirage, WEIGHT + 1, 0, weight(WEIGHT + 1, WEIGHT)),
        (Preset::Bellagio, 0, 7, weight(0, WEIGHT)),
        (Preset::Mirage, 2, 7, line(7, Credits::ZERO)),
    ];
    for (preset, weight, line, expect) in cases {
        let genesis = founded(preset, weight, line);
        assert_eq!(genesis.check(), expect, "{preset:?}");
        assert_eq!(Genesis::decode(&genesis.encode()).map(|_| ()), expect);
    }
    let double = founded(Preset::Mirage, 2, 0);
    let standing = double.standing(&double.members[1]);
    assert_eq!(standing.base.to_string(), "2000");
}

#[test]
fn other_versions_are_refused_first() {
    for (format, rules) in [(FORMAT + 1, RULES), (FORMAT, RULES + 1), (0, 0)] {
        let mut bad = genesis();
        (bad.format, bad.rules) = (format, rules);
        bad.name.clear();
        assert_eq!(bad.check(), Err(GenesisError::Version { format, rules }));
    }
}

#[test]
fn edges_are_inside() {
    let edges: [fn(&mut Genesis); 6] = [
        |g| crowd(g, limits::VALIDATORS),
        |g| validator(g).power = 1 << 32,
        |g| g.time_ms = limits::GENESIS_MS,
        |g| {
            // Whichever key comes first, alone it must be able to spend.
            g.members[0].keys.truncate(1);
            g.members[0].keys[0].roles = Roles::SPEND;
        },
        |g| g.classes.truncate(1),
        |g| {
            let spare = genesis().members[0].endowment.micros() + 1_000_000_000;
            g.members[1].endowment = micros(Credits::MAX.micros() - spare);
        },
    ];
    for (i, change) in edges.into_iter().enumerate() {
        let mut good = genesis();
        change(&mut good);
        assert_eq!(good.check(), Ok(()), "edge {i}");
        assert_eq!(Genesis::decode(&good.encode()).as_ref(), Ok(&good));
    }
}

#[test]
fn an_invitation_keeps_its_limits() {
    let node = invitation().bootstrap[0].clone();
    let long = "a".repeat(limits::ADDRESS_CHARS);
    let mut most = invitation();
    most.bootstrap = vec![node.clone(); limits::ADDRESSES];
    most.bootstrap[0].addresses = vec![long.clone(); limits::ADDRESSES];
    assert_eq!(Invitation::from_text(&most.to_text()).as_ref(), Ok(&most));

    let mut nodes = most.clone();
    nodes.bootstrap.push(node);
    let mut addresses = most.clone();
    addresses.bootstrap[0].addresses.push(String::new());
    let mut chars = most;
    chars.bootstrap[0].addresses[3] = long + "a";
    for bad in [nodes, addresses, chars] {
        let read = Invitation::from_text(&bad.to_text());
        assert_eq!(read, Err(InvitationError::Range));
    }
}

#[test]
fn an_advert_keeps_its_limits() {
    type Change = fn(&mut Advert);
    let cases: [(&str, Change); 11] = [
        ("free", |a| a.lines[0].free = limits::OFFER_UNITS + 1),
        ("price", |a| a.lines[0].price = Price(Price::MAX.0 + 1)),
        ("order", |a| a.lines.reverse()),
        ("twice", |a| a.lines[1] = a.lines[0].clone()),
        ("addresses", |a| a.addresses = vec![String::new(); 17]),
        ("address", |a| a.addresses[0] = "a".repeat(257)),
        ("attribute", |a| {
            a.attributes.insert("k".repeat(257), String::new());
        }),
        ("value", |a| {
            a.attributes.insert("k".into(), "v".repeat(257));
        }),
        ("attributes", |a| {
            a.attributes = (0..33).map(|n| (n.to_string(), String::new())).collect();
        }),
        ("landmarks", |a| {
            let trip = |n| RoundTrip {
                to: key(n).public(),
                ms: 1,
            };
            a.round_trips = (30..39).map(trip).collect();
            a.round_trips.sort_by_key(|trip| trip.to);
        }),
        ("landmark twice", |a| a.round_trips[1] = a.round_trips[0]),
    ];
    let signer = key(entry::SIGNER);
    for (case, change) in cases {
        let mut advert = market::advert().advert;
        change(&mut advert);
        let signed = SignedAdvert::new(&NETWORK, advert, &signer);
        let received = SignedAdvert::receive(&NETWORK, &codec::encode(&signed));
        assert_eq!(received, Err(AdvertError::Invalid), "{case}");
    }
    let mut forged = market::advert();
    forged.advert.sequence += 1;
    let received = SignedAdvert::receive(&NETWORK, &codec::encode(&forged));
    assert!(matches!(received, Err(AdvertError::Signature(_))));
}
