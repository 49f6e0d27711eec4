//! Measures the gain by a solver: reservations drawn at random, decided by the rule with 10 and 30
//! attempts and by the solver.
//!
//! `cargo run -p gridbay-node --example solver -- PROGRAM [SECONDS] [INSTANCES]`, each instance
//! with that many seconds at the most. One line a market: the worth of what is booked, in parts of
//! the rule's with 10 attempts, as mean and as the largest; how often the solver's answer became a
//! hint; and its time.
#![allow(clippy::print_stdout, reason = "it reports to its reader")]

use gridbay_node::solver::Solver;
use gridbay_protocol::ids::{ClassId, Hash32, OfferId, OrderId};
use gridbay_protocol::lease::Share;
use gridbay_protocol::mechanism::reservation::window::WindowPolicy;
use gridbay_protocol::mechanism::reservation::{Channels, Orders, clear};
use gridbay_protocol::order::Group;
use gridbay_protocol::record::reservation::{ReservationBid, ReservationRecord};
use gridbay_protocol::splitmix::splitmix64;
use gridbay_protocol::units::{Credits, Price};
use std::time::{Duration, Instant};

/// A kind of market.
struct Market {
    name: &'static str,
    offers: u8,
    units: u32,
    slots: u32,
    starts: u32,
    bids: u8,
    /// Longest reservation, most units of a group, most groups.
    longest: u64,
    widest: u64,
    groups: u64,
}

const MARKETS: [Market; 4] = [
    Market {
        name: "2 offers of 8, 12 slots, 16 bids",
        offers: 2,
        units: 8,
        slots: 12,
        starts: 8,
        bids: 16,
        longest: 5,
        widest: 8,
        groups: 1,
    },
    Market {
        name: "4 offers of 8, 24 slots, 30 bids",
        offers: 4,
        units: 8,
        slots: 24,
        starts: 16,
        bids: 30,
        longest: 8,
        widest: 12,
        groups: 2,
    },
    Market {
        name: "1 offer of 97, 104 slots, 60 bids",
        offers: 1,
        units: 97,
        slots: 104,
        starts: 72,
        bids: 60,
        longest: 32,
        widest: 60,
        groups: 1,
    },
    Market {
        name: "4 offers of 24, 104 slots, 60 bids",
        offers: 4,
        units: 24,
        slots: 104,
        starts: 72,
        bids: 60,
        longest: 32,
        widest: 24,
        groups: 2,
    },
];

/// Numbers from a seed (SplitMix64).
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        splitmix64(&mut self.0) % n
    }
}

fn draw(market: &Market, seed: u64) -> ReservationRecord {
    let mut dice = Dice(seed);
    let offer = |n: u8| OfferId([n + 1; 32]);
    let bids = (0..market.bids).map(|n| {
        let groups: Vec<Group> = (0..1 + dice.below(market.groups))
            .map(|_| Group {
                units: 1 + dice.below(market.widest) as u32,
                offers: match dice.below(2) {
                    0 => vec![],
                    _ => vec![offer(dice.below(market.offers.into()) as u8)],
                },
            })
            .collect();
        let slots = 1 + dice.below(market.longest) as u32;
        let units: u32 = groups.iter().map(|g| g.units).sum();
        let earliest = dice.below(u64::from(market.starts) / 2);
        let worth = u64::from(units * slots) * (1_000 + dice.below(9_000));
        ReservationBid {
            order: OrderId([n; 32]),
            round: 1,
            rank: Hash32([n; 32]),
            groups,
            slots,
            earliest,
            latest: earliest + dice.below(u64::from(market.starts) / 2),
            value: Credits::from_micros(worth).expect("a small amount"),
            channels: (dice.below(5) == 0).then_some(Channels { low: 1, high: 3 }),
        }
    });
    ReservationRecord {
        class: ClassId([1; 32]),
        height: 1,
        slot: 0,
        posted: Price(0),
        units: (0..market.offers)
            .map(|n| Share {
                offer: offer(n),
                units: market.units,
            })
            .collect(),
        busy: vec![],
        channels: vec![],
        bids: bids.collect(),
        booked: vec![],
        beaten: None,
    }
}

/// Worth with 30 attempts and with the solver, in parts of that with 10; and what the solver took.
async fn compare(
    solver: &Solver,
    market: &Market,
    seed: u64,
    limit: Duration,
) -> (f64, f64, Result<bool, String>, Duration) {
    let record = draw(market, seed);
    let ten = WindowPolicy {
        slots: market.slots,
        starts: market.starts,
        fronts: 10,
        orders: Orders::Density,
    };
    let thirty = WindowPolicy {
        orders: Orders::Three,
        ..ten
    };
    let worth = |window: &WindowPolicy| {
        clear(&record.input(window))
            .expect("within the limits")
            .total as f64
    };
    let (base, more) = (worth(&ten), worth(&thirty));
    let began = Instant::now();
    let better = solver.improve(&record, &ten, limit).await;
    let took = began.elapsed();
    let best = better
        .as_ref()
        .ok()
        .and_then(Option::as_ref)
        .map_or(base, |b| b.worth as f64);
    let taken = better
        .map(|better| better.is_some())
        .map_err(|error| error.to_string());
    (more / base, best / base, taken, took)
}

#[tokio::main]
async fn main() {
    let mut args = std::env::args().skip(1);
    let program = args.next().unwrap_or_else(|| "highs".to_owned());
    let mut number = |default: u64| args.next().and_then(|n| n.parse().ok()).unwrap_or(default);
    let (limit, instances) = (Duration::from_secs(number(10)), number(10));
    let folder = std::env::temp_dir().join(format!("gridbay-solver-{}", std::process::id()));
    let solver = Solver::new(program.into(), folder.clone(), limit);
    for market in &MARKETS {
        let (mut more, mut best, mut times) = (vec![], vec![], vec![]);
        let (mut hints, mut errors) = (0, vec![]);
        for seed in 0..instances {
            let (thirty, solved, taken, took) = compare(&solver, market, seed, limit).await;
            more.push(thirty);
            best.push(solved);
            times.push(took.as_secs_f64());
            match taken {
                Ok(taken) => hints += u32::from(taken),
                Err(error) => errors.push(error),
            }
        }
        let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
        let most = |of: &[f64]| of.iter().copied().fold(0.0, f64::max);
        println!(
            "{}: 30 attempts {:.3} (most {:.3}), solver {:.3} (most {:.3}), hints {hints} of {instances}, {:.2} s (most {:.2}) {}",
            market.name,
            mean(&more),
            most(&more),
            mean(&best),
            most(&best),
            mean(&times),
            most(&times),
            errors.join(", ")
        );
    }
    let _gone = std::fs::remove_dir_all(folder);
}
