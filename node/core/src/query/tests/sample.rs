//! Random queries and random nodes.

use crate::query::Query;
use crate::query::attribute::{Attribute, FIXED};
use crate::query::condition::{Condition, Operator};
use crate::query::group::{Group, Sites, Spread};
use crate::query::order::{Direction, Key};
use crate::query::subject::{Line, Subject};
use crate::query::value::{Kind, Value};
use gridbay_protocol::advert::RoundTrip;
use gridbay_protocol::class::{Class, ClassKey, Isolation};
use gridbay_protocol::ids::{AccountId, OfferId};
use gridbay_protocol::keys::{PublicKey, SecretKey};
use gridbay_protocol::splitmix::splitmix64;
use gridbay_protocol::units::{Credits, Price};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// A seeded generator (SplitMix64).
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn below(&mut self, n: u64) -> u64 {
        splitmix64(&mut self.0) % n
    }
    pub(super) fn pick<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize].clone()
    }
}

const TEXTS: [&str; 9] = [
    "amd64",
    "arm64",
    "*64",
    "*.edu",
    "cs.A.edu",
    "linux",
    "small",
    "*",
    "say \"\\\" twice",
];
const OWN: [&str; 3] = ["gpu-model", "ecc", "n"];

fn attribute(dice: &mut Dice) -> Attribute {
    match dice.below(6) {
        0 => Attribute::Own(dice.pick(&OWN).to_owned()),
        _ => dice.pick(&FIXED).0,
    }
}

fn value(dice: &mut Dice, kind: Kind) -> Value {
    match kind {
        Kind::Number => Value::Number(match dice.below(3) {
            0 => dice.below(10_000_000),
            _ => dice.below(9) * 1_000_000,
        }),
        Kind::Size => Value::Size(dice.below(20) << dice.pick(&[0, 10, 20, 29, 30])),
        Kind::Duration => Value::Duration(dice.below(60) * dice.pick(&[1, 1_000, 1_000_000])),
        Kind::Text => Value::Text(dice.pick(&TEXTS).to_owned()),
        Kind::Switch => Value::Switch(dice.below(2) == 0),
    }
}

fn kind(dice: &mut Dice, attribute: &Attribute) -> Kind {
    let any = [
        Kind::Number,
        Kind::Size,
        Kind::Duration,
        Kind::Text,
        Kind::Switch,
    ];
    attribute.kind().unwrap_or_else(|| dice.pick(&any))
}

fn condition(dice: &mut Dice, depth: u64) -> Condition {
    let some = |dice: &mut Dice| {
        (0..1 + dice.below(3))
            .map(|_| condition(dice, depth - 1))
            .collect()
    };
    match dice.below(if depth == 0 { 4 } else { 8 }) {
        0 => {
            let switches = [Attribute::Firm, Attribute::Own("ecc".into())];
            Condition::On(dice.pick(&switches))
        }
        1 => {
            let attribute = attribute(dice);
            let values = (0..1 + dice.below(3)).map(|_| {
                let kind = kind(dice, &attribute);
                value(dice, kind)
            });
            let values = values.collect();
            Condition::In(attribute, values)
        }
        2 | 3 => {
            let attribute = attribute(dice);
            let kind = kind(dice, &attribute);
            let operator = match kind.is_ordered() {
                true => dice.pick(&Operator::ALL),
                false => dice.pick(&[Operator::Equal, Operator::Unequal]),
            };
            Condition::Compare(attribute, operator, value(dice, kind))
        }
        4 => Condition::Not(Box::new(condition(dice, depth - 1))),
        5 => Condition::any(some(dice)),
        _ => Condition::all(some(dice)),
    }
}

pub(super) fn group(dice: &mut Dice) -> Group {
    let nodes = 1 + dice.below(4) as u32;
    let sites = (dice.below(2) == 0).then(|| Sites {
        spread: dice.pick(&[Spread::Exactly, Spread::AtLeast, Spread::AtMost]),
        count: 1 + dice.below(nodes.into()) as u32,
    });
    let within = (dice.below(2) == 0).then(|| (dice.below(60) * 1_000, dice.below(2) == 0));
    Group {
        nodes,
        sites,
        within,
    }
}

pub(super) fn query(dice: &mut Dice) -> Query {
    let keys = (0..dice.below(3)).map(|_| Key {
        attribute: dice.pick(&FIXED).0,
        direction: dice.pick(&[Direction::Up, Direction::Down]),
    });
    let keys = keys.collect();
    let group = (dice.below(4) == 0).then(|| group(dice));
    let limit = (group.is_none() && dice.below(2) == 0).then(|| 1 + dice.below(9) as u32);
    Query {
        condition: (dice.below(8) > 0).then(|| condition(dice, 3)),
        group,
        keys,
        limit,
    }
}

/// A thing that a node of a shop sells.
pub(super) struct Ware {
    class: Class,
    free: u32,
    price: Credits,
    buy: Option<Credits>,
    firm: bool,
}

pub(super) struct Stall {
    node: PublicKey,
    texts: BTreeMap<String, String>,
    trips: Vec<RoundTrip>,
    rtt: Option<u64>,
    wares: Vec<Ware>,
}

/// Some nodes with what they sell.
pub(super) struct Shop(Vec<Stall>);

/// Keys in the order of their numbers, so that ties can be foretold.
static NODES: LazyLock<Vec<PublicKey>> = LazyLock::new(|| {
    let key = |n: u8| SecretKey::from_seed(&[n; 32]).public();
    let mut keys: Vec<PublicKey> = (1..=64).map(key).collect();
    keys.sort();
    keys
});

pub(super) fn node(n: usize) -> PublicKey {
    NODES[n]
}

pub(super) fn class(name: &str, vcpu: u32, memory_mib: u64, gpu: u32) -> Class {
    Class {
        name: name.to_owned(),
        key: ClassKey {
            vcpu,
            memory_mib,
            disk_mib: 10 << 10,
            gpu,
            isolation: Isolation::Process,
            circle: "members".to_owned(),
        },
        reference_price: Price(1),
    }
}

pub(super) fn credits(text: &str) -> Credits {
    text.parse().unwrap()
}

fn ware(dice: &mut Dice) -> Ware {
    let half = |n: u64| Credits::from_micros(n * 500_000).unwrap();
    Ware {
        class: class(
            dice.pick(&["small", "large"]),
            dice.pick(&[1, 2, 4, 8]),
            dice.pick(&[512, 4 << 10, 8 << 10]),
            dice.below(2) as u32,
        ),
        free: dice.below(9) as u32,
        price: half(dice.below(9)),
        buy: (dice.below(2) == 0).then(|| half(9)),
        firm: dice.below(2) == 0,
    }
}

impl Stall {
    pub(super) fn new(n: usize, texts: &[(&str, &str)], trips: &[(usize, u16)]) -> Stall {
        let mut trips: Vec<RoundTrip> = trips
            .iter()
            .map(|(landmark, ms)| RoundTrip {
                to: node(*landmark),
                ms: *ms,
            })
            .collect();
        trips.sort_by_key(|trip| trip.to);
        let text = |(k, v): &(&str, &str)| ((*k).to_owned(), (*v).to_owned());
        Stall {
            node: node(n),
            texts: texts.iter().map(text).collect(),
            trips,
            rtt: None,
            wares: Vec::new(),
        }
    }
    pub(super) fn rtt_ms(mut self, ms: u64) -> Stall {
        self.rtt = Some(ms * 1_000);
        self
    }
    pub(super) fn sells(mut self, class: Class, free: u32, price: &str) -> Stall {
        self.wares.push(Ware {
            class,
            free,
            price: credits(price),
            buy: None,
            firm: false,
        });
        self
    }
}

impl Shop {
    pub(super) fn of(stalls: Vec<Stall>) -> Shop {
        Shop(stalls)
    }
    pub(super) fn new(dice: &mut Dice, nodes: usize) -> Shop {
        let stall = |n| {
            let mut texts = Vec::new();
            let all = [
                ("site", &["cs.a.edu", "b.edu", "c.org"][..]),
                ("arch", &["amd64", "arm64"]),
                ("os", &["linux"]),
                ("x.gpu-model", &["A100", "linux"]),
                ("x.ecc", &["true", "false", "maybe"]),
                ("x.n", &["3", "0.5", "4GiB", "20ms", "-"]),
            ];
            for (name, values) in all {
                if dice.below(4) > 0 {
                    texts.push((name, dice.pick(values)));
                }
            }
            let mut trips = Vec::new();
            for landmark in [60, 61, 62] {
                if dice.below(3) > 0 {
                    trips.push((landmark, dice.pick(&[1, 5, 10, 30])));
                }
            }
            let mut stall = Stall::new(n, &texts, &trips);
            stall.rtt = (dice.below(3) > 0).then(|| dice.below(60) * 1_000);
            stall.wares = (0..dice.below(4)).map(|_| ware(dice)).collect();
            stall
        };
        Shop((0..nodes).map(stall).collect())
    }
    pub(super) fn subjects(&self) -> Vec<Subject<'_>> {
        fn line((m, ware): (usize, &Ware)) -> Line<'_> {
            Line {
                offer: OfferId([m as u8; 32]),
                class: &ware.class,
                free: ware.free,
                price: ware.price,
                buy: ware.buy,
                mechanism: "ausubel",
                firm: ware.firm,
            }
        }
        fn subject((n, stall): (usize, &Stall)) -> Subject<'_> {
            Subject {
                node: stall.node,
                seller: AccountId([n as u8; 32]),
                texts: &stall.texts,
                round_trips: &stall.trips,
                rtt: stall.rtt,
                lines: stall.wares.iter().enumerate().map(line).collect(),
            }
        }
        self.0.iter().enumerate().map(subject).collect()
    }
}
