//! Which options of `gridbay run` may stand together: those of one way of buying.
//!
//! clap alone does not see to that. It lets an option stand without the one it requires where that
//! one conflicts with another that is given: `--posted --wait 5s` would hire, and forget the wait.

use super::{ausubel, buy, contract, deadline, posted, reservation, share};
use clap::error::{Error, ErrorKind};
use clap::parser::ValueSource;
use clap::{ArgMatches, Args as _, Command};

/// Adds the options of a way.
type Options = fn(Command) -> Command;

/// The option that names a way, and all its options.
const WAYS: &[(&str, Options)] = &[
    ("buy", buy::BuyFlags::augment_args),
    ("posted", posted::PostedFlags::augment_args),
    ("hard", deadline::DeadlineFlags::augment_args),
    ("reserve", reservation::ReserveFlags::augment_args),
    ("share", share::ShareFlags::augment_args),
    ("worth", ausubel::BidFlags::augment_args),
    ("provider", contract::ContractFlags::augment_args),
];

/// Refuses options of two ways, and options of a way that is not named.
///
/// # Errors
/// The mistake in a command line, in clap's words.
pub(super) fn check(line: &ArgMatches) -> Result<(), Error> {
    let given = |id: &str| line.value_source(id) == Some(ValueSource::CommandLine);
    let mut named = WAYS.iter().map(|(way, _)| *way).filter(|way| given(way));
    if let (Some(one), Some(other)) = (named.next(), named.next()) {
        let why = format!(
            "the argument '{}' cannot be used with '{}'\n",
            option(one),
            option(other)
        );
        return Err(Error::raw(ErrorKind::ArgumentConflict, why));
    }
    let unnamed = WAYS.iter().filter(|(way, _)| !given(way));
    for (way, options) in unnamed {
        let own = options(Command::new(*way));
        let ids = own.get_arguments().map(|option| option.get_id().as_str());
        if let Some(stray) = ids.into_iter().find(|id| given(id)) {
            let why = format!("'{}' goes with '{}' only\n", option(stray), option(way));
            return Err(Error::raw(ErrorKind::MissingRequiredArgument, why));
        }
    }
    Ok(())
}

/// An option as it is written.
fn option(id: &str) -> String {
    format!("--{}", id.replace('_', "-"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buy::Flags;
    use clap::FromArgMatches as _;
    use std::collections::BTreeSet;

    /// A legal line of each way.
    const LINES: &[&str] = &[
        "--buy --wait 5s --surcharge 1",
        "--posted",
        "--hard 2h --soft 1h --pay 5 --late-pay 1 --shape convex --seller a",
        "--reserve --from 2h --until 3h --channel 1-2",
        "--share --rate 5 --utility log",
        "--worth 20 --length 1h",
        "--provider a --jobs 4 --value 1 --hold 1h",
    ];

    fn command() -> Command {
        // `array`, `nodes` and others of `run` that ways conflict with are not of this part.
        let others = ["array", "nodes", "max_price", "budget"];
        let others = others.map(|id| clap::Arg::new(id).long(id));
        Flags::augment_args(Command::new("run").args(others))
    }

    fn parse(line: &str) -> Result<Flags, Error> {
        let words = ["run"].into_iter().chain(line.split_whitespace());
        Flags::from_arg_matches(&command().try_get_matches_from(words)?)
    }

    #[test]
    fn options_of_one_way_stand_together() {
        for line in LINES {
            assert!(parse(line).is_ok(), "{line}: {}", parse(line).unwrap_err());
        }
        assert!(parse("").is_ok());
    }

    #[test]
    fn no_option_of_another_way_is_passed_over() {
        for line in LINES {
            for other in LINES.iter().filter(|other| *other != line) {
                assert!(parse(&format!("{line} {other}")).is_err(), "{line} {other}");
                // Each option of the other way, with its value, in company of this way alone.
                let words: Vec<&str> = other.split(' ').collect();
                for (n, word) in words
                    .iter()
                    .enumerate()
                    .filter(|(_, w)| w.starts_with("--"))
                {
                    let value = words.get(n + 1).filter(|next| !next.starts_with("--"));
                    let stray = format!("{line} {word} {}", value.copied().unwrap_or_default());
                    assert!(parse(&stray).is_err(), "{stray}");
                }
            }
        }
    }

    #[test]
    fn every_option_belongs_to_a_way() {
        let ids = |command: &Command| -> BTreeSet<String> {
            let ids = command.get_arguments().map(|option| option.get_id());
            ids.map(|id| id.to_string()).collect()
        };
        let ways = WAYS.iter();
        let of_ways = ways.flat_map(|(way, options)| ids(&options(Command::new(*way))));
        let all = Flags::augment_args(Command::new("run"));
        assert_eq!(ids(&all), of_ways.collect());
    }
}
