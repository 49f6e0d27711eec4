//! `run --hard`: a bag of tasks by a deadline.

use super::{DeadlineHow, DeadlineQuote};
use crate::cli::text;
use crate::config::parse;
use clap::{Args, ValueEnum};
use gridbay_protocol::mechanism::deadline::Shape;
use gridbay_protocol::units::Credits;
use std::time::Duration;

/// Options of a job by a deadline; `--array` says how many tasks, `--time` how long each may take.
#[derive(Clone, Debug, Args)]
pub(in crate::buy) struct DeadlineFlags {
    /// Time by which it must be done, or costs nothing; with --soft, --pay and --late-pay
    #[arg(long, value_parser = parse::duration, requires_all = ["soft", "pay", "late_pay"],
        conflicts_with_all = ["nodes", "max_price", "budget"])]
    hard: Option<Duration>,
    /// Time until which it pays in full
    #[arg(long, value_parser = parse::duration, requires = "hard")]
    soft: Option<Duration>,
    /// Credits for all of it until the soft deadline
    #[arg(long, value_name = "CREDITS", value_parser = parse::credits, requires = "hard")]
    pay: Option<Credits>,
    /// Credits at the hard deadline
    #[arg(long, value_name = "CREDITS", value_parser = parse::credits, requires = "hard")]
    late_pay: Option<Credits>,
    /// How the price falls in between [default: linear]
    #[arg(long, value_enum, requires = "hard")]
    shape: Option<Fall>,
    /// Id of the offer, or how it begins [default: the one with the most room]
    #[arg(long, requires = "hard")]
    offer: Option<String>,
    /// Name or account of the seller
    #[arg(long, requires = "hard")]
    seller: Option<String>,
}

/// How a price falls with time.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Fall {
    /// Evenly
    Linear,
    /// First fast, then slowly
    Convex,
    /// First slowly, then fast
    Concave,
}

impl DeadlineFlags {
    /// The terms, if there is a deadline.
    pub(in crate::buy) fn how(&self) -> Option<DeadlineHow> {
        let seconds = |time: Duration| u32::try_from(time.as_secs()).unwrap_or(u32::MAX);
        Some(DeadlineHow {
            soft_seconds: seconds(self.soft?),
            hard_seconds: seconds(self.hard?),
            pay: self.pay?,
            late_pay: self.late_pay?,
            shape: match self.shape {
                None | Some(Fall::Linear) => Shape::Linear,
                Some(Fall::Convex) => Shape::Convex,
                Some(Fall::Concave) => Shape::Concave,
            },
            offer: self.offer.clone(),
            seller: self.seller.clone(),
        })
    }
}

/// The line that is said before anything is sent.
pub(super) fn line(said: &DeadlineQuote) -> String {
    let span = |seconds: u64| text::span(seconds * 1_000);
    let now = match (said.done_seconds, said.price) {
        (Some(done), Some(price)) => format!(
            "its seller's plan would take it now, be done after {} for {price} and stake {} on it",
            span(done),
            said.bond
        ),
        _ => "its seller's plan would not take it now".to_owned(),
    };
    format!(
        "pays {} credits if done within {}, falling to {} at {}, nothing after it; {now}",
        said.pay,
        span(said.soft_seconds),
        said.late_pay,
        span(said.hard_seconds),
    )
}

/// Why its seller would not take it, and what to do about it.
pub(super) fn hopeless(said: &DeadlineQuote) -> Option<(String, String)> {
    let why = said.refused.as_deref()?;
    let (why, next) = why.rsplit_once("; ").unwrap_or((why, "ask another seller"));
    Some((why.to_owned(), next.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::ids::{AccountId, OfferId};

    fn said() -> DeadlineQuote {
        let credits = |text: &str| text.parse::<Credits>().unwrap();
        DeadlineQuote {
            offer: OfferId([1; 32]),
            seller: AccountId([2; 32]),
            node_slots: 40,
            soft_seconds: 1_800,
            hard_seconds: 7_200,
            pay: credits("5"),
            late_pay: credits("1.5"),
            bond: credits("1.25"),
            done_seconds: Some(1_200),
            price: Some(credits("5")),
            refused: None,
        }
    }

    #[test]
    fn one_line_says_what_it_pays_and_whether_it_would_be_taken() {
        let taken = line(&said());
        assert!(
            taken.starts_with("pays 5 credits if done within "),
            "{taken}"
        );
        assert!(taken.contains("falling to 1.5 at ") && taken.contains("nothing after it"));
        assert!(taken.contains("for 5 and stake 1.25 on it"), "{taken}");
        assert_eq!(hopeless(&said()), None);
        let none = DeadlineQuote {
            done_seconds: None,
            price: None,
            refused: Some("it has no room; accept a later deadline".into()),
            ..said()
        };
        assert!(line(&none).ends_with("would not take it now"));
        let told = (
            "it has no room".to_owned(),
            "accept a later deadline".to_owned(),
        );
        assert_eq!(hopeless(&none), Some(told));
    }
}
