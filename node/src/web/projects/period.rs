//! The time of an invoice, as an address names it: the calendar month without anything.

use super::words::place;
use crate::api::Answer;
use crate::backend::failure::usage;
use crate::backend::wall_ms;
use crate::cli::moment::Moment;
use crate::cli::text;
use crate::project::month_of;
use crate::web::command::{address, command};
use serde::Deserialize;

/// The fields, as texts.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::web) struct Fields {
    pub(super) from: String,
    pub(super) to: String,
}

/// What the fields mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Period {
    pub(super) from_ms: u64,
    /// To the last block without it.
    pub(super) to_ms: Option<u64>,
}

impl Fields {
    /// The month of a moment, by its days.
    pub(super) fn month(ms: u64) -> Fields {
        let month = month_of(ms);
        Fields {
            from: day(month.start),
            to: day(month.end),
        }
    }
    /// These, or this month if there are none.
    pub(super) fn or_this_month(self) -> Fields {
        let none = self.from.trim().is_empty() && self.to.trim().is_empty();
        if none { Fields::month(wall_ms()) } else { self }
    }
    /// What they mean.
    pub(super) fn meant(&self) -> Answer<Period> {
        Ok(Period {
            from_ms: moment("From", &self.from)?.unwrap_or(0),
            to_ms: moment("To", &self.to)?,
        })
    }
    /// The month before the one in which the time begins; the present one's if it begins nowhere.
    pub(super) fn before(&self) -> Fields {
        let from = moment("From", &self.from).ok().flatten();
        let month = month_of(from.unwrap_or_else(wall_ms));
        Fields::month(month.start.saturating_sub(1))
    }
    /// Address of a page or file of a project for this time.
    pub(super) fn address(&self, name: &str, page: &str) -> String {
        let path = format!("{}/{page}", place(name));
        address(&path, &[("from", self.from.trim()), ("to", self.to.trim())])
    }
    /// The command of a project for this time.
    pub(super) fn command(&self, noun: &str, name: &str) -> String {
        let mut words = vec!["gridbay", "ledger", noun, "--project", name];
        for (option, text) in [("--from", self.from.trim()), ("--to", self.to.trim())] {
            // What is no time is in no command.
            if matches!(moment("", text), Ok(Some(_))) {
                words.extend([option, text]);
            }
        }
        command(words)
    }
}

fn moment(field: &str, text: &str) -> Answer<Option<u64>> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    let read = text.parse::<Moment>();
    let read = read.map_err(|why| usage(format!("{field}: {why}"), "days are in UTC"));
    read.map(|moment| Some(moment.ms()))
}

fn day(ms: u64) -> String {
    let time = text::time(ms);
    time.get(..10).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(from: &str, to: &str) -> Fields {
        Fields {
            from: from.to_owned(),
            to: to.to_owned(),
        }
    }

    #[test]
    fn a_time_is_read_and_written_back() {
        let november = fields("2026-11-01", "2026-12-01");
        let meant = november.meant().unwrap();
        assert_eq!(meant.from_ms, 1_793_491_200_000);
        assert_eq!(meant.to_ms, Some(1_796_083_200_000));
        let again = Fields::month(meant.from_ms + 5);
        assert_eq!(
            (again.from, again.to),
            (november.from.clone(), november.to.clone())
        );
        let before = november.before();
        assert_eq!(
            (&before.from[..], &before.to[..]),
            ("2026-10-01", "2026-11-01")
        );
        assert_eq!(
            november.address("bio", "invoice"),
            "/projects/bio/invoice?from=2026-11-01&to=2026-12-01"
        );
        assert_eq!(fields("", "").or_this_month().from.len(), 10);
        assert_eq!(fields("", "2026-12-01").or_this_month().from, "");
    }

    #[test]
    fn what_is_no_time_is_told_and_in_no_command() {
        let wrong = fields("<b>", "2026-12-01");
        assert!(wrong.meant().unwrap_err().message.contains("From"));
        let line = wrong.command("invoice", "bio");
        assert_eq!(line, "gridbay ledger invoice --project bio --to 2026-12-01");
    }
}
