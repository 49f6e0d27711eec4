//! Shared by the mechanism tests: random markets from a seed, and oracles that restate the rules
//! without calling production code.

pub(crate) use crate::dice::Dice;
use gridbay_protocol::mechanism::ausubel::Bidder;

impl Dice {
    pub(crate) fn within(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    pub(crate) fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// Never rising prices below `bound`, times `scale`.
    pub(crate) fn prices(&mut self, count: u64, bound: u64, scale: u64) -> Vec<u64> {
        let mut prices: Vec<u64> = (0..count).map(|_| self.below(bound) * scale).collect();
        prices.sort_unstable_by(|a, b| b.cmp(a));
        prices
    }

    /// A bidder with up to `longest` prices; all-or-none in `lumpy` percent of the cases.
    pub(crate) fn bidder(&mut self, id: u64, longest: u64, bound: u64, lumpy: u64) -> Bidder<u64> {
        let count = self.below(longest + 1);
        let prices = self.prices(count, bound, 1);
        let min = if self.chance(lumpy) {
            self.within(0, count + 1) as u32
        } else {
            0
        };
        Bidder {
            id,
            time: self.below(3),
            min,
            prices,
            sponsor: None,
        }
    }

    pub(crate) fn shuffle<T>(&mut self, list: &mut [T]) {
        for last in (1..list.len()).rev() {
            list.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}

/// Units and payment of every bidder, in the order given.
pub(crate) type Result = Vec<(usize, i128)>;

/// VCG by looking at every allocation. Bidders come in tie order as (min, prices).
pub(crate) fn brute_force(supply: usize, reserve: i128, bidders: &[(usize, Vec<u64>)]) -> Result {
    let mut search = Search {
        reserve,
        bidders,
        units: vec![0; bidders.len()],
        best: (i128::MIN, vec![]),
        without: vec![i128::MIN; bidders.len()],
    };
    search.extend(0, supply, 0);
    let (best, units) = search.best;
    let pay = |(i, &units): (usize, &usize)| {
        let own = net(&bidders[i].1, units, reserve);
        let externality = search.without[i] - (best - own);
        (
            units,
            if units == 0 {
                0
            } else {
                reserve * units as i128 + externality
            },
        )
    };
    units.iter().enumerate().map(pay).collect()
}

struct Search<'a> {
    reserve: i128,
    bidders: &'a [(usize, Vec<u64>)],
    units: Vec<usize>,
    /// The best allocation so far; `>` on (value, allocation) is the tie rule.
    best: (i128, Vec<usize>),
    /// The best value of an allocation that gives bidder i nothing.
    without: Vec<i128>,
}

impl Search<'_> {
    fn extend(&mut self, index: usize, free: usize, value: i128) {
        let Some((min, prices)) = self.bidders.get(index) else {
            if value > self.best.0 || (value == self.best.0 && self.units > self.best.1) {
                self.best = (value, self.units.clone());
            }
            for (without, &units) in self.without.iter_mut().zip(&self.units) {
                if units == 0 {
                    *without = value.max(*without);
                }
            }
            return;
        };
        let mut sum = value;
        for units in 0..=prices.len().min(free) {
            if units > 0 {
                sum += i128::from(prices[units - 1]) - self.reserve;
            }
            if units == 0 || units >= *min {
                self.units[index] = units;
                self.extend(index + 1, free - units, sum);
            }
        }
        self.units[index] = 0;
    }
}

fn net(prices: &[u64], units: usize, reserve: i128) -> i128 {
    prices[..units]
        .iter()
        .map(|&p| i128::from(p) - reserve)
        .sum()
}

/// The greatest net value, as an oracle's allocation has it.
pub(crate) fn total(bidders: &[(usize, Vec<u64>)], reserve: i128, result: &Result) -> i128 {
    let each = bidders.iter().zip(result);
    each.map(|((_, prices), (units, _))| net(prices, *units, reserve))
        .sum()
}

/// VCG by the plain dynamic programme of the specification (A.4), one full run per winner.
pub(crate) fn plain_programme(
    supply: usize,
    reserve: i128,
    bidders: &[(usize, Vec<u64>)],
) -> Result {
    let g = tables(supply, reserve, bidders);
    let mut free = supply;
    let mut result = Vec::new();
    for (i, (min, prices)) in bidders.iter().enumerate() {
        let fits = |&k: &usize| {
            (k == 0 || k >= *min) && net(prices, k, reserve) + g[i + 1][free - k] == g[i][free]
        };
        let units = (0..=prices.len().min(free)).rev().find(fits).unwrap();
        free -= units;
        result.push((units, 0));
    }
    for (i, (units, pay)) in result
        .iter_mut()
        .enumerate()
        .filter(|(_, (units, _))| *units > 0)
    {
        let mut others = bidders.to_vec();
        others.remove(i);
        let without = tables(supply, reserve, &others)[0][supply];
        let own = net(&bidders[i].1, *units, reserve);
        *pay = reserve * *units as i128 + without - (g[0][supply] - own);
    }
    result
}

/// `g[i][c]` = best net value of the bidders i.. with capacity c.
fn tables(supply: usize, reserve: i128, bidders: &[(usize, Vec<u64>)]) -> Vec<Vec<i128>> {
    let mut g = vec![vec![0; supply + 1]];
    for (min, prices) in bidders.iter().rev() {
        let later = g.last().unwrap();
        let mut now = later.clone();
        let mut sum = 0;
        for units in 1..=prices.len().min(supply) {
            sum += i128::from(prices[units - 1]) - reserve;
            if units >= *min {
                for capacity in units..=supply {
                    now[capacity] = now[capacity].max(later[capacity - units] + sum);
                }
            }
        }
        g.push(now);
    }
    g.reverse();
    g
}

/// Bidders by (time, id), as the oracles take them.
pub(crate) fn in_tie_order(bidders: &[Bidder<u64>]) -> (Vec<u64>, Vec<(usize, Vec<u64>)>) {
    let mut sorted: Vec<&Bidder<u64>> = bidders.iter().collect();
    sorted.sort_by_key(|b| (b.time, b.id));
    let ids = sorted.iter().map(|b| b.id).collect();
    (
        ids,
        sorted
            .iter()
            .map(|b| (b.min.max(1) as usize, b.prices.clone()))
            .collect(),
    )
}
