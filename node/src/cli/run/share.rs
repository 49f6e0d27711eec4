//! `run --share`: what a claim on a pool asks for.

use super::NOT_SENT;
use crate::api::types::{Claim, How, Quote};
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::text;
use crate::config::parse;
use clap::{Args, ValueEnum};
use gridbay_protocol::ids::OfferId;
use gridbay_protocol::mechanism::share::Utility;
use gridbay_protocol::units::Credits;
use std::collections::BTreeMap;

/// Options of a claim.
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct ShareArgs {
    /// Claim a share of a pool for a budget per hour, instead of bidding for nodes
    #[arg(long, requires = "rate", conflicts_with_all = ["buy", "nodes", "max_price", "provider", "reserve", "hard"])]
    pub(super) share: bool,
    /// Most credits per hour for all of the share
    #[arg(long, value_name = "CREDITS", requires = "share", value_parser = parse::credits)]
    rate: Option<Credits>,
    /// What the resources are worth to the program, as in cpu=2,memory=1; auto learns it from past runs
    #[arg(long, value_name = "WEIGHTS", requires = "share", default_value = "auto", value_parser = weights)]
    weights: Weights,
    /// What the program makes of its shares: linear if one resource replaces another, log if it needs all
    #[arg(long, value_enum, requires = "share", default_value = "linear")]
    utility: Shape,
    /// The pool [default: the one of the class that gives most]
    #[arg(long, value_name = "ID", requires = "share", value_parser = offer)]
    pool: Option<OfferId>,
}

/// Weights as they are written.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Weights(Option<BTreeMap<String, u32>>);

/// The shapes of a utility.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Shape {
    Linear,
    Log,
}

fn weights(text: &str) -> Result<Weights, String> {
    if text == "auto" {
        return Ok(Weights(None));
    }
    let wrong = || format!("`{text}` are no weights: write cpu=2,memory=1 or auto");
    let mut named = BTreeMap::new();
    for part in text.split(',') {
        let (name, weight) = part.split_once('=').ok_or_else(wrong)?;
        let weight = weight.trim().parse().map_err(|_| wrong())?;
        if named.insert(name.trim().to_owned(), weight).is_some() {
            return Err(wrong());
        }
    }
    Ok(Weights(Some(named)))
}

fn offer(text: &str) -> Result<OfferId, String> {
    let wrong =
        || format!("`{text}` is no offer: want 64 hex digits, see gridbay offer list -o json");
    text.parse().map_err(|_| wrong())
}

impl ShareArgs {
    /// How an order with these options gets its nodes; `None` if they claim nothing. Past runs of `program` tell the
    /// weights.
    pub(super) fn how(&self, program: &str) -> Option<How> {
        let rate = self.rate.filter(|_| self.share)?;
        Some(How::Share(Claim {
            offer: self.pool,
            rate,
            utility: match self.utility {
                Shape::Linear => Utility::Linear,
                Shape::Log => Utility::Log,
            },
            weights: self.weights.0.clone(),
            program: Some(program.to_owned()),
        }))
    }
}

/// The line that is said before a claim is sent.
pub(super) fn cost_line(quote: &Quote) -> Option<String> {
    let share = quote.share.as_ref()?;
    let shares: Vec<String> = share
        .resources
        .iter()
        .map(|r| format!("{} {}", r.resource, percent(r.share_ppm)))
        .collect();
    let likely = quote.likely.map_or("nothing".to_owned(), |l| l.to_string());
    let weights = if share.learnt {
        ", weights learnt from past runs"
    } else {
        ""
    };
    Some(format!(
        "can cost at most {} credits (a share of a pool of {} nodes for {} at up to {} per hour); now, beside {} other \
         claims, it would run on {} nodes ({}{weights}) and likely cost {likely}",
        quote.most,
        share.units,
        text::span(u64::from(quote.seconds) * 1_000),
        quote.max_price,
        share.claims,
        thousandths(share.nodes_milli),
        shares.join(", "),
    ))
}

/// A claim that would never run now is not sent.
pub(super) fn refuse_hopeless(quote: &Quote) -> Result<(), CliError> {
    match &quote.share {
        Some(share) if share.nodes_milli == 0 => {
            let why = "at this rate it would get no node of the pool";
            let next = "raise --rate, or name another pool with --offer";
            Err(CliError::new(Exit::NO_MATCH, NOT_SENT, why, next))
        }
        _ => Ok(()),
    }
}

fn percent(ppm: u32) -> String {
    format!("{}.{}%", ppm / 10_000, ppm / 1_000 % 10)
}

/// Thousandths with their decimals: `2.5`.
pub(in crate::cli) fn thousandths(milli: u64) -> String {
    let text = format!("{}.{:03}", milli / 1_000, milli % 1_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_names_and_numbers() {
        assert_eq!(weights("auto"), Ok(Weights(None)));
        let named = BTreeMap::from([("cpu".into(), 2), ("memory".into(), 1)]);
        assert_eq!(weights("cpu=2, memory=1"), Ok(Weights(Some(named))));
        for bad in ["", "cpu", "cpu=", "cpu=-1", "cpu=1,cpu=2", "cpu=1.5"] {
            assert!(weights(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn figures() {
        let shown = [0, 500, 2_500, 3_000, 1_001].map(thousandths);
        assert_eq!(shown, ["0", "0.5", "2.5", "3", "1.001"]);
        assert_eq!(
            (percent(123_456), percent(1_000_000)),
            ("12.3%".into(), "100.0%".into())
        );
    }
}
