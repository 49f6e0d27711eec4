//! Options of `run --worth`.

use super::JobWorth;
use crate::buy::flags::NOT_SENT;
use crate::cli::CliError;
use crate::cli::text;
use crate::config::parse;
use clap::Args;
use gridbay_protocol::units::Credits;
use std::time::Duration;

/// Bidding by what the job is worth.
#[derive(Clone, Debug, Args)]
pub(in crate::buy) struct BidFlags {
    /// What the job is worth when it is done, and nothing before: bids that for the time it still
    /// needs
    #[arg(long, value_name = "CREDITS", requires = "length", value_parser = parse::credits,
        conflicts_with_all = ["array", "max_price"])]
    worth: Option<Credits>,
    /// How long it needs on end
    #[arg(long, value_name = "TIME", requires = "worth", value_parser = parse::duration)]
    length: Option<Duration>,
}

impl BidFlags {
    /// The worth, if the job has one.
    pub(in crate::buy) fn worth(&self) -> Result<Option<JobWorth>, CliError> {
        let (Some(worth), Some(length)) = (self.worth, self.length) else {
            return Ok(None);
        };
        Ok(Some(JobWorth {
            worth,
            length_seconds: text::seconds(length, NOT_SENT)?,
        }))
    }
}

impl JobWorth {
    /// The first bid, per node-hour: the worth over all nodes and the whole length, rounded down.
    pub(crate) fn first_price(&self, nodes: u32) -> Credits {
        let wide = u128::from(self.worth.micros()) * 3_600;
        let all = u128::from(nodes.max(1)) * u128::from(self.length_seconds.max(1));
        Credits::from_wide(wide / all).unwrap_or(Credits::MAX)
    }
    /// The default budget: twice the worth. Each slot is bid for as if earlier payments did not
    /// count, so the sum of the bids exceeds the worth.
    pub(crate) fn budget(&self) -> Credits {
        self.worth.checked_mul(2).unwrap_or(Credits::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bid_is_the_worth_over_nodes_and_length() {
        let worth = JobWorth {
            worth: "24".parse().unwrap(),
            length_seconds: 3 * 3_600,
        };
        assert_eq!(worth.first_price(4).to_string(), "2");
        assert_eq!(worth.budget().to_string(), "48");
    }
}
