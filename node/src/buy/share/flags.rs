//! `run --share`: what a claim on a pool asks for.

use super::Claim;
use crate::config::parse;
use clap::{Args, ValueEnum};
use gridbay_protocol::mechanism::share::Utility;
use gridbay_protocol::units::Credits;
use std::collections::BTreeMap;

/// Options of a claim.
#[derive(Clone, Debug, Args)]
pub(in crate::buy) struct ShareFlags {
    /// Claim a share of a pool for a budget per hour, instead of bidding for nodes
    #[arg(
        long,
        requires = "rate",
        conflicts_with_all = ["nodes", "max_price"],
    )]
    share: bool,
    /// Most credits per hour for all of the share
    #[arg(long, value_name = "CREDITS", requires = "share", value_parser = parse::credits)]
    rate: Option<Credits>,
    /// What the resources are worth to the program, as in cpu=2,memory=1; auto learns it from past
    /// runs
    #[arg(
        long,
        value_name = "WEIGHTS",
        requires = "share",
        default_value = "auto",
        value_parser = weights,
    )]
    weights: Weights,
    /// What the program makes of its shares: linear if one resource replaces another, log if it
    /// needs all
    #[arg(long, value_enum, requires = "share", default_value = "linear")]
    utility: Shape,
    /// The pool, by its offer's id or how that begins [default: the one of the class that gives
    /// most]
    #[arg(long, value_name = "ID", requires = "share")]
    pool: Option<String>,
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

impl ShareFlags {
    /// The terms, if the command claims a share. Past runs of `program` tell the weights.
    pub(in crate::buy) fn how(&self, program: &str) -> Option<Claim> {
        let rate = self.rate.filter(|_| self.share)?;
        Some(Claim {
            offer: self.pool.clone(),
            rate,
            utility: match self.utility {
                Shape::Linear => Utility::Linear,
                Shape::Log => Utility::Log,
            },
            weights: self.weights.0.clone(),
            program: Some(program.to_owned()),
        })
    }
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
}
