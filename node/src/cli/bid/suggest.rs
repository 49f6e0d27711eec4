//! `bid suggest`: the prices that would have won the last clearings.

use crate::api::types::{BidAdvice, BidWish};
use crate::cli::context::Context;
use crate::cli::error::{CliError, During as _};
use crate::cli::fit::{Fit, bid};
use crate::cli::text;
use crate::config::parse;
use crate::ui::Table;
use clap::Args;
use gridbay_protocol::limits;
use std::time::Duration;

const NODES: std::ops::RangeInclusive<i64> = 1..=limits::ORDER_UNITS as i64;

/// Say which price would have won the last clearings as often as wanted, and what others would have
/// won
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct SuggestArgs {
    /// Nodes, all or none [default: 1]
    #[arg(long, short = 'n', value_parser = clap::value_parser!(u32).range(NODES))]
    nodes: Option<u32>,
    /// Tasks of which fewer are of use too
    #[arg(long, conflicts_with = "nodes", value_parser = clap::value_parser!(u32).range(NODES))]
    array: Option<u32>,
    /// For how long
    #[arg(long, short = 't', default_value = "1h", value_parser = parse::duration)]
    time: Duration,
    /// Percent of the clearings to win
    #[arg(long, value_name = "PERCENT", default_value_t = 90, value_parser = clap::value_parser!(u32).range(1..=100))]
    chance: u32,
    #[command(flatten)]
    fit: Fit,
}

impl SuggestArgs {
    pub(super) fn run(self, at: &Context) -> Result<(), CliError> {
        let (nodes, divisible) = (self.array.or(self.nodes).unwrap_or(1), self.array.is_some());
        let seconds = text::seconds(self.time, "no price to suggest")?;
        at.wait(async {
            let client = at.client()?;
            let bid = bid(nodes, divisible, seconds);
            let (bid, _) = self.fit.quoted(&client, bid, "no price to suggest").await?;
            let wish = BidWish {
                class: bid.class,
                nodes,
                divisible,
                seconds,
                chance: self.chance,
            };
            let advice = client.post("/bids/suggest", &wish, None).await;
            let advice: BidAdvice = advice.during("no price to suggest")?;
            at.tell(&advice, |advice| describe(advice, &wish))
        })
    }
}

fn describe(advice: &BidAdvice, wish: &BidWish) -> String {
    let mut said = sentence(advice, wish);
    if let (Some(price), Some(most)) = (advice.price, advice.most) {
        let time = text::span(u64::from(advice.seconds) * 1_000);
        let size = if wish.divisible { "--array" } else { "-n" };
        said += &format!(
            "for {time} it can cost {most} credits at most: gridbay run {size} {} --max-price {price} --time {}s",
            advice.nodes, advice.seconds
        );
        if let Some(class) = &wish.class {
            said += &format!(" --class {class}");
        }
        said += "\n";
    }
    if advice.prices.is_empty() {
        return said;
    }
    let mut table = Table::new(&[">PRICE/H", ">WON"]);
    for row in &advice.prices {
        table.row([row.price.to_string(), format!("{} %", row.won)]);
    }
    said + "\n" + &table.render()
}

fn sentence(advice: &BidAdvice, wish: &BidWish) -> String {
    let n = advice.clearings;
    match (advice.price, advice.won) {
        (Some(price), Some(won)) => format!(
            "{price} credits per node-hour would have won {won} % of the last {n} clearings\n"
        ),
        (Some(price), None) if advice.reserve.is_some() => {
            format!("no clearing yet to go by; the offers ask {price} credits per node-hour\n")
        }
        (Some(price), None) => format!(
            "no clearing yet to go by, and too few nodes offered; the class's reference price is {price}\n"
        ),
        (None, _) => format!(
            "no price would have won {} % of the last {n} clearings for {}\n",
            wish.chance,
            text::nodes(wish.nodes)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said() {
        let wish = BidWish {
            class: None,
            nodes: 2,
            divisible: false,
            seconds: 3_600,
            chance: 90,
        };
        let advice = BidAdvice {
            class: "small".into(),
            nodes: 2,
            seconds: 3_600,
            clearings: 16,
            reserve: Some("1".parse().unwrap()),
            price: Some("2.5".parse().unwrap()),
            won: Some(93),
            most: Some("5".parse().unwrap()),
            prices: vec![],
        };
        let said = describe(&advice, &wish);
        assert!(
            said.contains("2.5 credits per node-hour would have won 93 % of the last 16"),
            "{said}"
        );
        assert!(said.contains("-n 2 --max-price 2.5"), "{said}");
        let fresh = BidAdvice {
            clearings: 0,
            won: None,
            ..advice.clone()
        };
        assert!(describe(&fresh, &wish).contains("no clearing yet"));
        let hopeless = BidAdvice {
            price: None,
            won: None,
            most: None,
            ..advice
        };
        assert!(describe(&hopeless, &wish).starts_with("no price would have won 90 %"));
    }
}
