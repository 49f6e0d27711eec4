//! Options of `run` for a batch of jobs under contract.

use super::ContractHow;
use crate::config::parse;
use clap::Args;
use gridbay_protocol::limits;
use gridbay_protocol::mechanism::contract::limits::{ALPHA_PPM_MAX, BETA16_MAX};
use gridbay_protocol::units::{Credits, MICROS_PER_CREDIT};
use std::time::Duration;

const JOBS: std::ops::RangeInclusive<i64> = 1..=limits::CONTRACT_JOBS as i64;

/// Of the help. One for each option: a heading of the command would go on over what follows.
const HEADING: &str = "Under contract";

/// A contract: `--provider NAME --jobs N --value CREDITS`.
#[derive(Clone, Debug, Default, Args)]
pub(in crate::buy) struct ContractFlags {
    /// Who is to run the jobs: a member's name, or an account
    #[arg(long, help_heading = HEADING, value_name = "NAME", requires_all = ["jobs", "value"],
        conflicts_with_all = ["nodes", "array", "max_price"])]
    provider: Option<String>,
    /// Jobs, each on one node for at most --time; told apart by GRIDBAY_RANK
    #[arg(long, help_heading = HEADING, value_name = "N", requires = "provider",
        value_parser = clap::value_parser!(u32).range(JOBS))]
    pub(in crate::buy) jobs: Option<u32>,
    /// What a job pays if it is done within --hold
    #[arg(long, help_heading = HEADING, value_name = "CREDITS", requires = "provider",
        value_parser = parse::credits)]
    value: Option<Credits>,
    /// What the provider owes for a job that is not done [default: nothing]
    #[arg(long, help_heading = HEADING, value_name = "CREDITS", requires = "provider",
        value_parser = parse::credits)]
    penalty: Option<Credits>,
    /// For how long a job keeps its value [default: twice --time]
    #[arg(long, help_heading = HEADING, value_name = "TIME", requires = "provider",
        value_parser = parse::duration)]
    hold: Option<Duration>,
    /// In what time the value then falls to nothing [default: --time]
    #[arg(long, help_heading = HEADING, value_name = "TIME", requires = "provider",
        value_parser = parse::duration)]
    decay: Option<Duration>,
    /// What all jobs done are worth, in parts of their sum [default: 1]
    #[arg(long, help_heading = HEADING, value_name = "FACTOR", requires = "provider",
        value_parser = alpha)]
    alpha: Option<u32>,
    /// How much it matters that most are done: 0 not at all, 1 in proportion, more: the last ones
    /// most [default: 1]
    #[arg(long, help_heading = HEADING, value_name = "POWER", requires = "provider",
        value_parser = beta)]
    beta: Option<u32>,
    /// For how long jobs may be requested [default: four times --time]
    #[arg(long, help_heading = HEADING, value_name = "TIME", requires = "provider",
        value_parser = parse::duration)]
    window: Option<Duration>,
}

impl ContractFlags {
    /// The order's terms; `None` without a provider.
    pub(in crate::buy) fn how(&self, seconds: u32) -> Option<ContractHow> {
        let of = |time: Option<Duration>, times: u32| match time {
            Some(time) => u32::try_from(time.as_secs()).unwrap_or(u32::MAX),
            None => seconds.saturating_mul(times),
        };
        Some(ContractHow {
            provider: self.provider.clone()?,
            value: self.value?,
            penalty: self.penalty.unwrap_or_default(),
            hold_seconds: of(self.hold, 2),
            decay_seconds: of(self.decay, 1),
            alpha_ppm: self.alpha.unwrap_or(1_000_000),
            beta16: self.beta.unwrap_or(16),
            window_seconds: of(self.window, 4),
        })
    }
}

/// A decimal number in parts of `unit`, exactly.
fn parts(text: &str, unit: u64, most: u32) -> Result<u32, String> {
    let number: Credits = text
        .parse()
        .map_err(|_| "want a number with at most six decimals, as 1.5".to_owned())?;
    let scaled = u128::from(number.micros()) * u128::from(unit);
    let exact = scaled.is_multiple_of(u128::from(MICROS_PER_CREDIT));
    let parts = u32::try_from(scaled / u128::from(MICROS_PER_CREDIT)).unwrap_or(u32::MAX);
    if !exact || parts > most {
        let most = u64::from(most) / unit;
        return Err(format!("want a number up to {most} in steps of 1/{unit}"));
    }
    Ok(parts)
}

/// Alpha as parts per million.
fn alpha(text: &str) -> Result<u32, String> {
    parts(text, 1_000_000, ALPHA_PPM_MAX)
}

/// Beta as sixteenths.
fn beta(text: &str) -> Result<u32, String> {
    parts(text, 16, BETA16_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_and_powers_are_exact() {
        assert_eq!(alpha("1.25"), Ok(1_250_000));
        assert_eq!(alpha("10"), Ok(10_000_000));
        assert_eq!(beta("2"), Ok(32));
        assert_eq!(beta("0.0625"), Ok(1));
        for bad in ["10.1", "-1", "x"] {
            assert!(alpha(bad).is_err(), "{bad}");
        }
        for bad in ["16.1", "0.01", "99999999999999"] {
            assert!(beta(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn times_default_to_parts_of_the_jobs_own() {
        let args = ContractFlags {
            provider: Some("b".into()),
            value: Some("2".parse().unwrap()),
            hold: Some(Duration::from_secs(90)),
            ..ContractFlags::default()
        };
        let how = args.how(60).unwrap();
        assert_eq!((how.hold_seconds, how.decay_seconds), (90, 60));
        assert_eq!((how.window_seconds, how.beta16), (240, 16));
        assert!(ContractFlags::default().how(60).is_none());
    }
}
