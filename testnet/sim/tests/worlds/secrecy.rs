//! I7 between two worlds that differ in the price of one bid only: until the commitments of its
//! round have closed, an observer of every message's time, sender, receiver, kind and length sees
//! the same in both.

use gridbay_core::buy::{BidTerms, NewOrder, Relaying, Terms};
use gridbay_core::effect::Effect;
use gridbay_core::input::Command;
use gridbay_core::key::OrderKey;
use gridbay_protocol::job::JobSpec;
use gridbay_protocol::order::Step;
use gridbay_protocol::units::{Credits, Price};
use gridbay_sim::check::{Check, Sight};
use gridbay_sim::plan::Plan;
use gridbay_sim::trace::Trace;
use gridbay_sim::world::World;
use std::sync::{Arc, Mutex};

const BUYER: usize = 1;
const KEY: OrderKey = OrderKey(77_777);

/// A message as an onlooker sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Seen {
    at: u64,
    from: usize,
    to: Option<usize>,
    kind: String,
    length: usize,
}

type Record = Arc<Mutex<Vec<(u64, Seen)>>>;

/// Keeps what is said, with the height that the sender had then.
struct Onlooker(Record);

/// The kind of message of some bytes: the one key of the map.
fn kind(bytes: &[u8]) -> String {
    let length = bytes.get(1).map_or(0, |b| usize::from(b & 0x1f));
    let name = bytes.get(2..2 + length).unwrap_or_default();
    String::from_utf8_lossy(name).into_owned()
}

impl Check for Onlooker {
    fn id(&self) -> &'static str {
        "I7"
    }
    fn see(&mut self, world: &World, sight: &Sight<'_>) -> Result<(), String> {
        let Sight::Step { node, effects, .. } = sight else {
            return Ok(());
        };
        let height = world.core(*node).map_or(0, |core| core.state().height());
        for effect in *effects {
            let (to, kind, length) = match effect {
                Effect::Send { to, bytes } => (world.node_of(to), kind(bytes), bytes.len()),
                Effect::Broadcast { bytes, .. } => (None, kind(bytes), bytes.len()),
                Effect::Gossip(bytes) => (None, "gossip".to_owned(), bytes.len()),
                Effect::Ask { to, .. } => {
                    let name = "ask".to_owned();
                    (world.node_of(to.as_bytes()), name, 0)
                }
                _ => continue,
            };
            let seen = Seen {
                at: world.now,
                from: *node,
                to,
                kind,
                length,
            };
            let mut record = self.0.lock().expect("one thread");
            record.push((height, seen));
        }
        Ok(())
    }
}

fn order(world: &World, price: u64) -> Command {
    let spec = JobSpec {
        argv: vec!["sleep".into(), "2".into()],
        env: vec![],
        inputs: vec![],
        outputs: vec![],
        wall_seconds: 600,
        network: false,
        internet: false,
        checkpoint: None,
    };
    let steps = vec![Step {
        units: 2,
        price: Price(price),
    }];
    Command::Order(Box::new(NewOrder {
        worth: None,
        relay: Relaying::Free,
        request: None,
        key: KEY,
        entropy: [7; 32],
        name: "secret".into(),
        accepted_ms: 0,
        class: world.genesis.classes[0].key.id(),
        terms: Terms::Sealed(BidTerms {
            steps,
            min: 1,
            budget: Credits::from_micros(20_000_000).expect("an amount"),
            patience: 40,
        }),
        slots: 3,
        tasks: 2,
        spec,
    }))
}

/// All messages before the round of the bid has closed, and after.
fn said(price: u64, at: u64) -> (Vec<Seen>, Vec<Seen>) {
    let record = Record::default();
    let checks: Vec<Box<dyn Check>> = vec![Box::new(Onlooker(Arc::clone(&record)))];
    let mut world = World::new(Plan::calm(11, 4), checks, Trace::default());
    world.run_until(at).expect("an onlooker objects to nothing");
    let command = order(&world, price);
    world.instruct(BUYER, command);
    world
        .run_until(at + 6_000)
        .expect("an onlooker objects to nothing");
    let core = world.core(BUYER).expect("nothing goes wrong");
    let agent = core.buyer().order(&KEY).expect("it was placed");
    let committed = agent.milestones().committed;
    assert!(committed > 0 && agent.milestones().opened > 0, "{agent:?}");
    let calendar = world.genesis.policy.calendar;
    let close = calendar.last_of_round(calendar.round(committed));
    let all = record.lock().expect("one thread").clone();
    let (before, after): (Vec<_>, Vec<_>) = all.into_iter().partition(|(h, _)| *h < close);
    let strip = |list: Vec<(u64, Seen)>| list.into_iter().map(|(_, seen)| seen).collect();
    (strip(before), strip(after))
}

#[test]
fn two_worlds_that_differ_in_one_bid_look_alike_until_the_close() {
    let (cheap, _) = said(21, 6_000);
    let (dear, _) = said(299, 6_000);
    assert!(cheap.len() > 100, "{} messages", cheap.len());
    let differ = cheap.iter().zip(&dear).find(|(a, b)| a != b);
    assert_eq!(differ, None);
    assert_eq!(cheap.len(), dear.len());
    // The onlooker does see: the same bid a little later is another world.
    let (later, _) = said(21, 6_037);
    assert_ne!(cheap, later);
}
