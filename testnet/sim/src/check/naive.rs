//! A clearing computed in the plainest way, for checkers: the auction with every offer as a bidder
//! for its own units, from the words of the specification. Steps 1 to 4 are the rule `exact`;
//! `floor` and `paper` have files of their own.
//!
//! 1. A bid asks for nothing, or for `min` (at least 1) to all of its units, as far as the supply
//!    reaches. Behind all bids, in order of (round, rank, order), the sellers ask for the dearest
//!    units: each at its reserve, and the switch cost if no running bid holds it.
//! 2. `best[i][c]` is the most that bids `i..` and the sellers are worth with `c` units; from the
//!    front, every bid gets the most units that a best allocation can give it.
//! 3. A winner pays the worth of the others without it, less their worth with it.
//! 4. The winners of one sponsor are also removed together. If they pay less than their joint
//!    removal requires, each pays more, in proportion to the worth of its bid above its payment;
//!    the largest fractions are rounded up, ties by step 1.
//! 5. As many units are sold as were won: lowest first by price asked, then held ones, then by
//!    offer. Each earns the greater of its reserve and a level, the remainder by offer.

mod floor;
mod paper;

use gridbay_protocol::ids::{AccountId, OfferId};
use gridbay_protocol::mechanism::ausubel::Rule;
use gridbay_protocol::record::ausubel::{Award, ClearingBid, ClearingRecord, Sold};
use gridbay_protocol::units::Credits;
use std::collections::{BTreeMap, BTreeSet};

/// The worth of 0, 1, 2... units to a bidder; `None` where it does not want that many.
type Worth = Vec<Option<i128>>;

fn worth(bid: &ClearingBid, supply: usize) -> Worth {
    let mut sum = 0;
    let mut worth = vec![Some(0)];
    for price in prices(bid, supply) {
        sum += price;
        let wanted = worth.len() >= bid.min as usize;
        worth.push(wanted.then_some(sum));
    }
    worth
}

/// The worth of each unit of a bid, as far as the supply reaches.
fn prices(bid: &ClearingBid, supply: usize) -> Vec<i128> {
    let all = bid.steps.iter();
    let all = all.flat_map(|s| std::iter::repeat_n(i128::from(s.price.0), s.units as usize));
    all.take(supply).collect()
}

/// The blocks of a bid, as value and size: first the units that it takes together or not at all,
/// then single ones. None if the supply is too small.
fn blocks(bid: &ClearingBid, supply: usize) -> Vec<(i128, i128)> {
    let prices = prices(bid, supply);
    let head = bid.min.max(1) as usize;
    if head > prices.len() {
        return Vec::new();
    }
    let first = (prices[..head].iter().sum(), head as i128);
    let singles = prices[head..].iter().map(|price| (*price, 1));
    std::iter::once(first).chain(singles).collect()
}

/// A unit for sale: what is asked for it, whose it is, its reserve.
type Unit = (u64, OfferId, u64);

/// Every unit for sale, those first that sell first.
fn units(record: &ClearingRecord) -> Vec<Unit> {
    let mut units = Vec::new();
    for entered in &record.offers {
        let held = record.held.iter().find(|h| h.offer == entered.offer);
        let held = held.map_or(0, |h| h.units);
        for n in 0..entered.units {
            let extra = if n < held {
                0
            } else {
                record.policy.switch_cost.0
            };
            let unit = (entered.reserve.0 + extra, entered.offer, entered.reserve.0);
            units.push((unit, n >= held));
        }
    }
    units.sort_unstable_by_key(|((ask, offer, _), free)| (*ask, *free, *offer));
    units.into_iter().map(|(unit, _)| unit).collect()
}

/// The worth of all units to all sellers together, dearest first.
fn sellers(units: &[Unit]) -> Worth {
    let mut sum = 0;
    let all = units.iter().rev().map(|(ask, _, _)| {
        sum += i128::from(*ask);
        Some(sum)
    });
    std::iter::once(Some(0)).chain(all).collect()
}

/// The best total with one more bidder, for every number of units.
fn with(table: &[i128], worth: &Worth) -> Vec<i128> {
    let choose = |units: usize| {
        let choices = worth.iter().take(units + 1).enumerate();
        let choices = choices.filter_map(|(k, w)| Some((*w)? + table[units - k]));
        choices.max().unwrap_or(0)
    };
    (0..table.len()).map(choose).collect()
}

/// Winners ascending by order, offers sold ascending by offer; only the input of the record is
/// looked at.
pub(super) fn clear(record: &ClearingRecord) -> (Vec<Award>, Vec<Sold>) {
    let units = units(record);
    let mut bids: Vec<&ClearingBid> = record.bids.iter().collect();
    bids.sort_by_key(|b| (b.round, b.rank, b.order));
    let won = match record.policy.rule {
        Rule::Exact => exact(&bids, &units),
        Rule::Floor => floor::raise(&bids, &units, exact(&bids, &units)),
        Rule::Paper => paper::clear(&bids, &units),
    };
    let awards = won.into_iter().map(|win| Award {
        order: bids[win.bid].order,
        units: win.units as u32,
        pay: credits(win.pay),
    });
    let mut awards: Vec<Award> = awards.collect();
    awards.sort_by_key(|a| a.order);
    let sold = sell(&units, &awards);
    (awards, sold)
}

/// Steps 1 to 4, for bids in the order of ties.
fn exact(bids: &[&ClearingBid], units: &[Unit]) -> Vec<Win> {
    let supply = units.len();
    let sellers = sellers(units);
    let worths: Vec<Worth> = bids.iter().map(|b| worth(b, supply)).collect();
    // Suffixes: best[i] is over bids i.. and the sellers.
    let mut best = vec![with(&vec![0; supply + 1], &sellers)];
    for worth in worths.iter().rev() {
        best.push(with(&best[best.len() - 1], worth));
    }
    best.reverse();
    let mut left = supply;
    let mut before = vec![0; supply + 1];
    let mut won = Vec::new();
    for (i, worth) in worths.iter().enumerate() {
        let choices = worth.iter().take(left + 1).enumerate();
        let fits = |k: usize, w: i128| w + best[i + 1][left - k] == best[i][left];
        let units = choices
            .filter_map(|(k, w)| fits(k, (*w)?).then_some(k))
            .max();
        let units = units.unwrap_or(0);
        left -= units;
        if units > 0 {
            let others = best[0][supply] - worth[units].unwrap_or(0);
            let without = (0..=supply).map(|c| before[c] + best[i + 1][supply - c]);
            let pay = without.max().unwrap_or(0) - others;
            won.push(Win {
                bid: i,
                units,
                value: worth[units].unwrap_or(0),
                pay,
            });
        }
        before = with(&before, worth);
    }
    raise(bids, &worths, &sellers, best[0][supply], &mut won);
    won
}

/// The win of a bid.
struct Win {
    bid: usize,
    units: usize,
    value: i128,
    pay: i128,
}

/// Step 4; `best` is the worth of everything as it is.
fn raise(bids: &[&ClearingBid], worths: &[Worth], sellers: &Worth, best: i128, won: &mut [Win]) {
    let supply = sellers.len() - 1;
    let mut sponsors: BTreeMap<AccountId, Vec<usize>> = BTreeMap::new();
    for (n, win) in won.iter().enumerate() {
        sponsors.entry(bids[win.bid].sponsor).or_default().push(n);
    }
    for wins in sponsors.into_values().filter(|wins| wins.len() > 1) {
        let gone: BTreeSet<usize> = wins.iter().map(|n| won[*n].bid).collect();
        let stay = (0..bids.len()).filter(|i| !gone.contains(i));
        let alone = with(&vec![0; supply + 1], sellers);
        let without = stay.fold(alone, |table, i| with(&table, &worths[i]))[supply];
        let value: i128 = wins.iter().map(|n| won[*n].value).sum();
        let paid: i128 = wins.iter().map(|n| won[*n].pay).sum();
        let missing = without - (best - value) - paid;
        if missing <= 0 {
            continue;
        }
        // Something is missing, so some winner's bid is worth more than its payment.
        let room = |n: usize| won[n].value - won[n].pay;
        let shares = wins.iter().map(|n| missing * room(*n));
        let shares: Vec<i128> = shares.collect();
        let mut by_fraction: Vec<usize> = (0..wins.len()).collect();
        by_fraction.sort_by_key(|n| std::cmp::Reverse(shares[*n] % (value - paid)));
        let whole: i128 = shares.iter().map(|share| share / (value - paid)).sum();
        let up = &by_fraction[..(missing - whole) as usize];
        for (n, win) in wins.iter().enumerate() {
            won[*win].pay += shares[n] / (value - paid) + i128::from(up.contains(&n));
        }
    }
}

fn credits(micros: i128) -> Credits {
    let micros = u64::try_from(micros).unwrap_or(u64::MAX);
    Credits::from_micros(micros).unwrap_or(Credits::MAX)
}

/// Step 5.
fn sell(units: &[Unit], awards: &[Award]) -> Vec<Sold> {
    let won: u32 = awards.iter().map(|a| a.units).sum();
    let mut sold: BTreeMap<OfferId, (u32, i128)> = BTreeMap::new();
    for (_, offer, reserve) in units.iter().take(won as usize) {
        sold.entry(*offer).or_insert((0, i128::from(*reserve))).0 += 1;
    }
    let paid: i128 = awards.iter().map(|a| i128::from(a.pay.micros())).sum();
    let earned = |level: i128| -> i128 {
        let earned = sold.values();
        earned.map(|(n, r)| i128::from(*n) * level.max(*r)).sum()
    };
    // The greatest level that the money reaches: it does not exceed what was paid.
    let (mut low, mut high) = (0, paid + 1);
    while high - low > 1 {
        let middle = (low + high) / 2;
        if earned(middle) <= paid {
            low = middle;
        } else {
            high = middle;
        }
    }
    let mut rest = paid - earned(low);
    let sold = sold.into_iter().map(|(offer, (units, reserve))| {
        let extra = if reserve <= low {
            rest.clamp(0, i128::from(units))
        } else {
            0
        };
        rest -= extra;
        Sold {
            offer,
            units,
            earns: credits(i128::from(units) * low.max(reserve) + extra),
        }
    });
    sold.collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use gridbay_protocol::ids::{ClassId, Hash32, OrderId};
    use gridbay_protocol::lease::Share;
    use gridbay_protocol::mechanism::ausubel::sellers;
    use gridbay_protocol::order::Step;
    use gridbay_protocol::policy::ausubel::AuctionPolicy;
    use gridbay_protocol::record::ausubel::{ClearingKind, ClearingOffer, clearing_id};
    use gridbay_protocol::units::Price;

    pub(crate) fn offer(n: u8, units: u32, reserve: u64) -> ClearingOffer {
        ClearingOffer {
            offer: OfferId([n; 32]),
            units,
            reserve: Price(reserve),
        }
    }
    /// A free clearing of class 7 at height 4, without its outcome.
    pub(crate) fn record(offers: &[ClearingOffer], bids: &[ClearingBid]) -> ClearingRecord {
        let class = ClassId([7; 32]);
        ClearingRecord {
            id: clearing_id(&class, 4),
            class,
            kind: ClearingKind::Free,
            height: 4,
            slot: 0,
            heights: 4,
            policy: AuctionPolicy::default(),
            offers: offers.to_vec(),
            held: vec![],
            bids: bids.to_vec(),
            awards: vec![],
            sold: vec![],
        }
    }
    fn clear(offers: &[ClearingOffer], bids: &[ClearingBid]) -> (Vec<Award>, Vec<Sold>) {
        super::clear(&record(offers, bids))
    }
    pub(crate) fn bid(n: u8, min: u32, steps: &[(u32, u64)]) -> ClearingBid {
        let step = |(units, price): &(u32, u64)| Step {
            units: *units,
            price: Price(*price),
        };
        ClearingBid {
            order: OrderId([n; 32]),
            sponsor: AccountId([n; 32]),
            round: 1,
            rank: Hash32([n; 32]),
            min,
            steps: steps.iter().map(step).collect(),
        }
    }

    #[test]
    fn ausubels_own_example() {
        // Five units; the article's result: A gets 3 for 225, C gets 2 for 160.
        let bids = [
            bid(1, 1, &[(1, 123), (1, 113), (1, 103)]),
            bid(2, 1, &[(1, 75), (1, 5), (1, 3)]),
            bid(3, 1, &[(1, 125), (1, 125), (1, 49)]),
            bid(4, 1, &[(1, 85), (1, 65), (1, 7)]),
            bid(5, 1, &[(1, 45), (1, 25), (1, 5)]),
        ];
        let (awards, sold) = clear(&[offer(1, 5, 0)], &bids);
        let won: Vec<_> = awards
            .iter()
            .map(|a| (a.order.0[0], a.units, a.pay.micros()))
            .collect();
        assert_eq!(won, [(1, 3, 225), (3, 2, 160)]);
        assert_eq!((sold[0].units, sold[0].earns.micros()), (5, 385));
    }

    #[test]
    fn winners_of_one_sponsor_pay_for_both() {
        // Two units for somebody who needs both and offers 10; two others offer 9 for one each.
        let offers = [offer(1, 2, 0)];
        let mut bids = [
            bid(1, 2, &[(2, 5)]),
            bid(2, 1, &[(1, 9)]),
            bid(3, 1, &[(1, 9)]),
        ];
        let pays = |bids: &[ClearingBid]| -> Vec<u64> {
            let (awards, _) = clear(&offers, bids);
            awards.iter().map(|a| a.pay.micros()).collect()
        };
        assert_eq!(pays(&bids), [1, 1]);
        bids[2].sponsor = bids[1].sponsor;
        assert_eq!(pays(&bids), [5, 5]);
        bids[1].steps[0].price.0 = 8;
        assert_eq!(pays(&bids), [5, 5], "each had the same room above 1 and 2");
    }

    #[test]
    fn reserves_hold_and_all_or_none_is_all_or_none() {
        let offers = [offer(1, 2, 10), offer(2, 2, 40)];
        // Three or nothing at 30 each: without it the sellers keep 100, with it 40.
        let (awards, sold) = clear(&offers, &[bid(1, 3, &[(3, 30)])]);
        assert_eq!((awards[0].units, awards[0].pay.micros()), (3, 60));
        let earned: Vec<_> = sold.iter().map(|s| (s.units, s.earns.micros())).collect();
        assert_eq!(earned, [(2, 20), (1, 40)]);
        assert_eq!(clear(&offers, &[bid(1, 3, &[(3, 20)])]).0.len(), 1, "a tie");
        assert_eq!(clear(&offers, &[bid(1, 3, &[(3, 19)])]).0, []);
    }

    /// Two of three or nothing at 10 each, and three bids for one unit.
    fn lumpy(rule: Rule) -> Vec<(u8, u32, u64)> {
        let bids = [
            bid(1, 2, &[(2, 10)]),
            bid(2, 1, &[(1, 13)]),
            bid(3, 1, &[(1, 12)]),
            bid(4, 1, &[(1, 4)]),
        ];
        let mut record = record(&[offer(1, 3, 1)], &bids);
        record.policy.rule = rule;
        let (awards, _) = super::clear(&record);
        let won = awards.iter();
        won.map(|a| (a.order.0[0], a.units, a.pay.micros()))
            .collect()
    }

    #[test]
    fn the_three_rules_differ_where_bids_are_all_or_none() {
        // Worth most: 13 and the two for 20. Without the one 12 + 20, so it pays 12; without the
        // pair 12 + 4, so that pays 16.
        assert_eq!(lumpy(Rule::Exact), [(1, 2, 16), (2, 1, 12)]);
        // Ranked below the winner of one: 12, 10, 10; below the pair: 13, 12, 4, of which the last
        // two.
        assert_eq!(lumpy(Rule::Floor), [(1, 2, 16), (2, 1, 12)]);
        // By average 13 and 12; the pair does not fit, and 4 is behind it. Each pays by the clock.
        assert_eq!(lumpy(Rule::Paper), [(2, 1, 10), (3, 1, 10)]);
    }

    #[test]
    fn a_held_unit_goes_first_unless_another_is_cheaper_by_the_switch_cost() {
        let mut record = record(&[offer(2, 1, 7), offer(3, 1, 10)], &[bid(1, 1, &[(1, 30)])]);
        record.held = vec![Share {
            offer: OfferId([3; 32]),
            units: 1,
        }];
        let mut sold = |switch_cost| {
            record.policy.switch_cost = Price(switch_cost);
            let (_, sold) = super::clear(&record);
            (sold[0].offer.0[0], sold[0].earns.micros())
        };
        assert_eq!([sold(0), sold(2), sold(4)], [(2, 7), (2, 9), (3, 10)]);
        assert_eq!(sold(3), (3, 10), "not for nothing");
    }

    #[test]
    fn random_markets_clear_as_the_mechanism_clears_them() {
        let mut rng = crate::rng::Rng::new(4, "naive");
        for round in 0..600 {
            let offers: Vec<_> = (1..=rng.range(1, 3) as u8)
                .map(|n| offer(n, rng.range(1, 4) as u32, rng.range(0, 9)))
                .collect();
            let bids: Vec<_> = (1..=rng.range(1, 6) as u8)
                .map(|n| {
                    let (dear, cheap) = (rng.range(6, 20), rng.range(0, 6));
                    let steps = [
                        (rng.range(1, 3) as u32, dear),
                        (rng.range(1, 3) as u32, cheap),
                    ];
                    let mut bid = bid(n, rng.range(0, 4) as u32, &steps);
                    bid.sponsor = AccountId([rng.range(1, 3) as u8; 32]);
                    bid
                })
                .collect();
            let mut record = record(&offers, &bids);
            let share = |o: &ClearingOffer| Share {
                offer: o.offer,
                units: 1 + o.units / 2,
            };
            record.held = offers.iter().take(1).map(share).collect();
            record.policy.switch_cost = Price(rng.range(0, 5));
            for rule in Rule::ALL {
                record.policy.rule = rule;
                let outcome = sellers::clear(&record.input()).unwrap();
                let (awards, sold) = super::clear(&record);
                let mut won: Vec<_> = outcome
                    .awards
                    .iter()
                    .map(|a| (a.id.1, a.units, a.pay))
                    .collect();
                won.sort_unstable();
                let naive = awards.iter();
                let naive: Vec<_> = naive
                    .map(|a| (a.order, a.units, a.pay.micros().into()))
                    .collect();
                assert_eq!(won, naive, "{round} {rule:?}: {record:?}");
                let earned = outcome.sales.iter().map(|s| (s.offer, s.units, s.earned));
                let naive = sold
                    .iter()
                    .map(|s| (s.offer, s.units, s.earns.micros().into()));
                assert!(earned.eq(naive), "{round} {rule:?}: {record:?}");
            }
        }
    }
}
