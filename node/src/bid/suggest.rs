//! Suggests a bid: the price that would have won a wanted share of the last clearings.
//!
//! 1. A bid for the nodes, at one price each, is added to each of the last clearings (see `odds`);
//!    the least price with which it wins there is found by clearing again.
//! 2. The price suggested is the least that would have won the share asked for, and no less than
//!    the reserve of the cheapest offers which have enough units now.
//! 3. Without a clearing to go by it is that reserve, and nothing is said about chances. Without
//!    offers it is the class's reference price.

use crate::api::Answer;
use crate::api::types::{BidAdvice, BidHow, BidWish, How, PriceChance, Want};
use crate::backend::NodeBackend;
use crate::backend::failure::usage;
use crate::market::Market;
use crate::market::odds::Odds;
use crate::market::price::limit_hourly;
use gridbay_protocol::units::Price;

/// Shares of the clearings whose prices are told, percent.
const SHARES: [u32; 5] = [25, 50, 75, 90, 100];

impl NodeBackend {
    /// The bid to make, by the last clearings.
    pub async fn suggest(&self, wish: BidWish) -> Answer<BidAdvice> {
        if !(1..=100).contains(&wish.chance) {
            let what = format!("a chance of {} percent", wish.chance);
            return Err(usage(what, "want 1 to 100"));
        }
        let want = Want {
            class: wish.class.clone(),
            nodes: wish.nodes,
            max_price: None,
            seconds: wish.seconds,
            budget: None,
            how: How::Ausubel(BidHow {
                divisible: wish.divisible,
            }),
        };
        let planned = self.planned(want, None, |at, plan| (at.market.clone(), plan.slots));
        let (market, slots) = planned.await?;
        let min = if wish.divisible { 1 } else { wish.nodes };
        let heights = market.policy.calendar.slot_heights();
        let tried = self.odds(market.id, wish.nodes, min, heights).await?;
        Ok(advice(&wish, &market, slots, &tried))
    }
}

fn advice(wish: &BidWish, market: &Market, slots: u32, tried: &Odds) -> BidAdvice {
    let slot_ms = market.policy.slot_ms();
    let hourly = |price: Price| limit_hourly(price, slot_ms);
    let wanted = if wish.divisible { 1 } else { wish.nodes };
    let reserve = market.reserve_of(wanted);
    let floor = reserve.unwrap_or_default();
    let price = match tried.tried {
        0 => Some(reserve.unwrap_or(market.reference)),
        _ => tried.price_for(wish.chance).map(|price| price.max(floor)),
    };
    let most = price.and_then(|price| {
        let slot = price.times(u64::from(wish.nodes))?;
        slot.checked_mul(u64::from(slots) + 1)
    });
    BidAdvice {
        class: market.name.clone(),
        nodes: wish.nodes,
        seconds: market.seconds(slots),
        clearings: tried.tried,
        reserve: reserve.map(hourly),
        price: price.map(hourly),
        won: price.and_then(|price| tried.at(price)),
        most,
        prices: chances(tried, reserve, hourly),
    }
}

/// The clearings that the reserve would have won, and the prices that would have won certain
/// shares.
fn chances(
    tried: &Odds,
    reserve: Option<Price>,
    hourly: impl Fn(Price) -> gridbay_protocol::units::Credits,
) -> Vec<PriceChance> {
    let shares = SHARES.iter().filter_map(|share| tried.price_for(*share));
    let mut prices: Vec<Price> = reserve.into_iter().chain(shares).collect();
    prices.sort_unstable();
    prices.dedup();
    let chance = |price: Price| {
        Some(PriceChance {
            price: hourly(price),
            won: tried.at(price)?,
        })
    };
    prices.into_iter().filter_map(chance).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::market::tests::market;

    fn wish(chance: u32) -> BidWish {
        BidWish {
            class: None,
            nodes: 2,
            divisible: false,
            seconds: 5,
            chance,
        }
    }
    fn prices(list: &[u64]) -> Odds {
        Odds::of(4, list.iter().map(|p| Price(*p)).collect())
    }

    #[test]
    fn the_price_is_the_least_that_won_the_share_and_no_less_than_the_reserve() {
        let market = market(&[(8, 8, 5_556, None)]);
        let tried = prices(&[3_000, 11_111, 16_667]);
        let said = advice(&wish(50), &market, 3, &tried);
        assert_eq!(said.price.unwrap().to_string(), "20");
        assert_eq!(
            (said.won, said.clearings, said.seconds),
            (Some(50), 4, 6),
            "{said:?}"
        );
        // Two nodes for three slots and the rest of a fourth.
        assert_eq!(said.most.unwrap().micros(), 11_111 * 2 * 4);
        let low = advice(&wish(25), &market, 3, &tried);
        assert_eq!(low.price, low.reserve);
        let rows: Vec<u32> = said.prices.iter().map(|row| row.won).collect();
        assert_eq!(rows, [25, 25, 50, 75], "3000, the reserve, and two more");
        let hopeless = advice(&wish(90), &market, 3, &tried);
        assert_eq!((hopeless.price, hopeless.most), (None, None));
    }

    #[test]
    fn without_history_it_is_the_reserve_and_no_chance_is_told() {
        let lines = [(1, 1, 2_778, None), (8, 8, 5_555, None)];
        let said = advice(&wish(90), &market(&lines), 3, &Odds::default());
        assert_eq!(said.price.unwrap().to_string(), "10", "of two units");
        assert_eq!((said.won, said.prices.len(), said.clearings), (None, 0, 0));
        let bare = advice(&wish(90), &market(&[]), 3, &Odds::default());
        assert_eq!(bare.reserve, None);
        assert_eq!(bare.price, Some(limit_hourly(Price(100), 2_000)));
    }
}
