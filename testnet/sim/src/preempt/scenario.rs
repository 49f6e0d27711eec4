//! The requests of CloudBay's scheduling experiment.

use crate::rng::Rng;

/// Units of the market, all alike.
pub const UNITS: u32 = 512;
/// Units of a request at the most.
pub const REQUEST_UNITS: u32 = 32;
/// Price of a buy, and bound of bids, in the paper's units.
const BUY: f64 = 20.0;
/// Mean and deviation of bids.
const BID: (f64, f64) = (8.0, 4.0);
/// Prices of the auction are whole: so many of them are one of the paper's units.
const FINE: f64 = 1_000.0;
/// The shortest request, milliseconds.
const SHORTEST_MS: f64 = 60_000.0;
const HOUR_MS: f64 = 3_600_000.0;

/// What is drawn.
#[derive(Clone, Copy, Debug)]
pub struct Scenario {
    /// Of all chance.
    pub seed: u64,
    /// Days that it lasts.
    pub days: u32,
    /// Unit-hours asked for by those that there are, percent.
    pub load: f64,
    /// Share of requests that bid, percent.
    pub bids: u32,
    /// Mean hours of a request.
    pub hours: f64,
}

/// One request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// When it comes, milliseconds.
    pub at_ms: u64,
    /// Units, all or none.
    pub units: u32,
    /// Milliseconds of work of each unit.
    pub work_ms: u64,
    /// Price of a unit and slot that it bids; `None` if it buys.
    pub bid: Option<u64>,
}

impl Scenario {
    /// Milliseconds that it lasts.
    pub fn span_ms(&self) -> u64 {
        u64::from(self.days) * 86_400_000
    }

    /// All requests, in the order of their coming.
    pub fn draw(&self) -> Vec<Request> {
        let mut rng = Rng::new(self.seed, "preemption");
        let mean_units = f64::from(1 + REQUEST_UNITS) / 2.0;
        let apart_ms = mean_units * self.hours * HOUR_MS / (f64::from(UNITS) * self.load / 100.0);
        let mut requests = Vec::new();
        let mut at = 0.0;
        loop {
            at += exponential(&mut rng, apart_ms);
            let at_ms = at as u64;
            if at_ms >= self.span_ms() {
                return requests;
            }
            let units = rng.range(1, u64::from(REQUEST_UNITS)) as u32;
            let work = exponential(&mut rng, self.hours * HOUR_MS).max(SHORTEST_MS);
            let bids = rng.chance(u64::from(self.bids) * 10_000);
            let price = price(&mut rng);
            requests.push(Request {
                at_ms,
                units,
                work_ms: work as u64,
                bid: bids.then_some((price * FINE) as u64),
            });
        }
    }
}

/// A number from 0, not included, to 1.
fn unit(rng: &mut Rng) -> f64 {
    (rng.below(1 << 53) + 1) as f64 / (1u64 << 53) as f64
}

fn exponential(rng: &mut Rng, mean: f64) -> f64 {
    -unit(rng).ln() * mean
}

/// Normal, drawn again until it is within the bounds.
fn price(rng: &mut Rng) -> f64 {
    loop {
        let angle = unit(rng) * std::f64::consts::TAU;
        let normal = (-2.0 * unit(rng).ln()).sqrt() * angle.cos();
        let price = BID.0 + BID.1 * normal;
        if price * FINE >= 1.0 && price < BUY {
            return price;
        }
    }
}
