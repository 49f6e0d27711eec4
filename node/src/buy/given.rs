//! Which options of `gridbay run` may stand together: those of one way of buying.
//!
//! clap alone does not see to that. It lets an option stand without the one it requires where that
//! one conflicts with another that is given: `--reserve --wait 5s` would reserve, and forget the
//! wait.

use super::WAYS;
use clap::error::{Error, ErrorKind};
use clap::parser::ValueSource;
use clap::{ArgMatches, Command};

/// The option that names a cluster that is held: nothing is bought.
const HELD: &str = "cluster";

/// Refuses options of two ways, of one for what is not bought, and options of a way that is not
/// named.
///
/// # Errors
/// The mistake in a command line, in clap's words.
pub(super) fn check(line: &ArgMatches) -> Result<(), Error> {
    let given = |id: &str| line.value_source(id) == Some(ValueSource::CommandLine);
    let held = line.try_contains_id(HELD).unwrap_or_default();
    let ways = WAYS.iter().map(|(way, _)| *way).filter(|way| given(way));
    let mut named = ways.chain(held.then_some(HELD));
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
    use crate::buy::tests::LINES;
    use clap::{Args as _, FromArgMatches as _};
    use std::collections::BTreeSet;

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
    fn what_is_held_is_not_bought() {
        let command = command().arg(clap::Arg::new(HELD).long(HELD));
        for line in LINES {
            let words = ["run", "--cluster", "1"].into_iter().chain(line.split(' '));
            let matched = command.clone().try_get_matches_from(words).unwrap();
            assert!(Flags::from_arg_matches(&matched).is_err(), "{line}");
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
