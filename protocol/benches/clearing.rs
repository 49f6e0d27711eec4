//! How long clearings take, each next to a baseline measured in the same run.
//!
//! `cargo bench -p gridbay-protocol --bench clearing` prints one line per case. A case with a
//! target fails the run only beyond three times the target, so that a busy machine does not.
#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
#![allow(clippy::print_stdout, reason = "a benchmark reports to its reader")]

#[path = "../tests/mechanism/dice.rs"]
mod dice;

use dice::Dice;
use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use gridbay_protocol::limits;
use gridbay_protocol::mechanism::ausubel::sellers::{self, Offer};
use gridbay_protocol::mechanism::ausubel::{Bidder, Input, Rule, clear};

impl Dice {
    /// Bidders in no order: divisible with `count` prices each, or all-or-none with one price for
    /// up to `count` units.
    fn bidders(&mut self, ids: std::ops::Range<u64>, count: u64, lumpy: bool) -> Vec<Bidder<u64>> {
        let mut bidders: Vec<Bidder<u64>> = ids
            .map(|id| {
                let count = if lumpy { 1 + self.below(count) } else { count };
                let mut prices: Vec<u64> = (0..count).map(|_| self.below(10_000_000)).collect();
                if lumpy {
                    let price = prices[0];
                    prices.fill(price);
                }
                prices.sort_unstable_by(|a, b| b.cmp(a));
                let min = if lumpy { count as u32 } else { 0 };
                Bidder {
                    id,
                    time: self.below(4),
                    min,
                    prices,
                    sponsor: None,
                }
            })
            .collect();
        for last in (1..bidders.len()).rev() {
            bidders.swap(last, self.below(last as u64 + 1) as usize);
        }
        bidders
    }
}

/// The median of several runs; `prepare` is not timed.
fn median<T, R>(mut prepare: impl FnMut() -> T, mut run: impl FnMut(T) -> R) -> Duration {
    let mut times: Vec<Duration> = (0..9)
        .map(|_| {
            let input = prepare();
            let start = Instant::now();
            black_box(run(black_box(input)));
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[times.len() / 2]
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Prints a case and says whether it is within three times its target.
fn report(case: &str, time: Duration, baseline: (&str, Duration), target: Option<f64>) -> bool {
    let ratio = time.as_secs_f64() / baseline.1.as_secs_f64();
    let goal = target.map_or("reported".to_owned(), |target| {
        format!("target {target:.1}x")
    });
    println!(
        "{case:<52} {:9.3} ms | {} {:9.3} ms | {ratio:6.2}x, {goal}",
        millis(time),
        baseline.0,
        millis(baseline.1),
    );
    target.is_none_or(|target| ratio <= 3.0 * target)
}

fn time_clear(input: &Input<u64>) -> Duration {
    median(|| input, clear)
}

/// One million prices of 100,000 divisible bidders, against sorting these prices.
fn divisible() -> bool {
    let bidders = Dice(1).bidders(0..100_000, 10, false);
    let prices: Vec<u64> = bidders
        .iter()
        .flat_map(|b| b.prices.iter().copied())
        .collect();
    let sort = median(
        || prices.clone(),
        |mut prices: Vec<u64>| {
            prices.sort_unstable();
            prices
        },
    );
    let mut input = Input {
        rule: Rule::Exact,
        supply: 0,
        reserve: 1_000,
        bidders,
    };
    let mut good = true;
    for supply in [4_096, 65_536, 500_000] {
        input.supply = supply;
        let case = format!("a 1M prices, 100k divisible, {supply} units");
        good &= report(
            &case,
            time_clear(&input),
            ("sort_unstable", sort),
            Some(3.0),
        );
    }
    good
}

/// 100 all-or-none bidders over 512 units, against 5 ms.
fn all_or_none() -> bool {
    let bidders = Dice(2).bidders(0..100, 32, true);
    let mut input = Input {
        rule: Rule::Exact,
        supply: 512,
        reserve: 1_000,
        bidders,
    };
    let limit = ("limit        ", Duration::from_millis(5));
    let narrow = time_clear(&input);
    let mut good = report("b 100 all-or-none, 512 units", narrow, limit, Some(1.0));
    for price in input.bidders.iter_mut().flat_map(|b| &mut b.prices) {
        *price <<= 39;
    }
    let wide = time_clear(&input);
    good &= report("b the same with 62-bit prices", wide, limit, Some(1.0));
    good
}

/// Both kinds together, against sorting the prices.
fn mixed() {
    let mut dice = Dice(3);
    let mut bidders = dice.bidders(0..10_000, 10, false);
    bidders.extend(dice.bidders(10_000..10_100, 64, true));
    let prices: Vec<u64> = bidders
        .iter()
        .flat_map(|b| b.prices.iter().copied())
        .collect();
    let sort = median(
        || prices.clone(),
        |mut prices: Vec<u64>| {
            prices.sort_unstable();
            prices
        },
    );
    let baseline = ("sort_unstable", sort);
    let mut input = Input {
        rule: Rule::Exact,
        supply: 4_096,
        reserve: 1_000,
        bidders,
    };
    for rule in [Rule::Exact, Rule::Floor, Rule::Paper] {
        input.rule = rule;
        let case = format!("c 10k divisible + 100 all-or-none, 4096, {rule:?}");
        report(&case, time_clear(&input), baseline, None);
    }
    input.rule = Rule::Exact;
    input.supply = 65_536;
    report(
        "c the same, 65536 units, exact",
        time_clear(&input),
        baseline,
        None,
    );
    let offers: Vec<Offer<u64>> = (0..64)
        .map(|id| Offer {
            id,
            units: 64,
            held: 32,
            reserve: dice.below(5_000_000),
        })
        .collect();
    let pool = sellers::Input {
        rule: Rule::Exact,
        switch_cost: 1_000,
        offers,
        bids: input.bidders,
    };
    let time = median(|| &pool, sellers::clear);
    report(
        "c the same bids, 64 sellers of 64 units, exact",
        time,
        baseline,
        None,
    );
}

/// The greatest value alone, by one pass of the plain dynamic programme over all bidders.
fn plain_value(input: &Input<u64>) -> i128 {
    let supply = input.supply as usize;
    let mut table = vec![0i128; supply + 1];
    for bidder in &input.bidders {
        let earlier = table.clone();
        let mut sum = 0;
        for (units, &price) in (1..=supply).zip(&bidder.prices) {
            sum += i128::from(price) - i128::from(input.reserve);
            if units >= bidder.min as usize {
                for (best, rest) in table[units..].iter_mut().zip(&earlier) {
                    *best = (*best).max(rest + sum);
                }
            }
        }
    }
    table[supply]
}

/// 1,000 bidders of whom 200 all-or-none over 4,096 units, against 200 ms and beside the plain
/// programme.
fn a_fifth_all_or_none() -> bool {
    let mut dice = Dice(4);
    let mut bidders = dice.bidders(0..800, 10, false);
    bidders.extend(dice.bidders(800..1_000, 64, true));
    let input = Input {
        rule: Rule::Exact,
        supply: 4_096,
        reserve: 1_000,
        bidders,
    };
    let time = time_clear(&input);
    let plain = median(|| &input, plain_value);
    report(
        "d 800 divisible + 200 all-or-none, 4096 units",
        time,
        ("plain, value  ", plain),
        None,
    );
    let limit = ("limit        ", Duration::from_millis(200));
    report("d the same", time, limit, Some(1.0))
}

/// Sponsors of a federation that trades in one class.
const SPONSORS: u64 = 64;

/// A bid of `most` different marginal values that takes no less than `min` units.
fn bid(dice: &mut Dice, id: u64, min: u32, most: u32) -> Bidder<u64> {
    let mut prices: Vec<u64> = (0..most).map(|_| dice.below(1 << 40)).collect();
    prices.sort_unstable_by(|a, b| b.cmp(a));
    Bidder {
        id,
        time: 0,
        min,
        prices,
        sponsor: None,
    }
}

/// The most expensive all-or-none bids that the ledger's limits allow for a whole class, with 1,000
/// divisible ones of 16 units, against the block interval of a local network. A bid that leaves a
/// choice of units counts as several. The same with the sponsor rule, where every sponsor has
/// winners of both kinds.
fn at_the_limits() {
    let limit = ("block        ", Duration::from_millis(250));
    let most = limits::ALL_OR_NONE_PER_CLASS as u64;
    let choosy = most / limits::ALL_OR_NONE_CHOICE as u64;
    let whole = [16, 64, limits::ORDER_UNITS].map(|units| (most, units, units));
    let choices = [(2, 24), (1_000, 1_512), (2, limits::ORDER_UNITS)];
    let choices = choices.map(|(min, units)| (choosy, min, units));
    let mut dice = Dice(5);
    for (count, min, units) in whole.into_iter().chain(choices) {
        let mut bidders: Vec<_> = (0..count)
            .map(|id| bid(&mut dice, id, min, units))
            .collect();
        bidders.extend((count..count + 1_000).map(|id| bid(&mut dice, id, 0, 16)));
        let mut input = Input {
            rule: Rule::Exact,
            supply: limits::CLASS_UNITS,
            reserve: 0,
            bidders,
        };
        let case = format!("e {count} of {min} to {units}, {} units", input.supply);
        report(&case, time_clear(&input), limit, None);
        for bidder in &mut input.bidders {
            bidder.sponsor = Some((bidder.id % SPONSORS) as u32);
        }
        let case = format!("{case}, {SPONSORS} sponsors");
        report(&case, time_clear(&input), limit, None);
    }
}

/// As many divisible bids as a class may hold, each for as many units as it may ask for.
fn divisible_at_the_limits() {
    let mut dice = Dice(6);
    let count = limits::ORDERS_PER_CLASS as u64;
    let input = Input {
        rule: Rule::Exact,
        supply: limits::CLASS_UNITS,
        reserve: 0,
        bidders: (0..count)
            .map(|id| bid(&mut dice, id, 0, limits::ORDER_UNITS))
            .collect(),
    };
    let case = format!("f {count} divisible of {}", limits::ORDER_UNITS);
    let limit = ("block        ", Duration::from_millis(250));
    report(&case, time_clear(&input), limit, None);
}

fn main() -> ExitCode {
    let good = divisible() & all_or_none() & a_fifth_all_or_none();
    mixed();
    at_the_limits();
    divisible_at_the_limits();
    if good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
