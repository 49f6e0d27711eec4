//! Small texts that several commands share.

use super::error::CliError;
use super::exit::Exit;
use crate::api::types::JobState;
use crate::ui::{Layout, clean};
use std::time::Duration;
use time::OffsetDateTime;

/// Lines `name  value`, values aligned.
pub(crate) fn fields(lines: &[(&str, String)]) -> String {
    let width = lines.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    lines
        .iter()
        .map(|(name, value)| format!("{name:<width$}  {}\n", clean(value)))
        .collect()
}

/// A time in UTC, as in `2026-01-31 23:59:59`.
pub(crate) fn time(ms: u64) -> String {
    let seconds = i64::try_from(ms / 1_000).unwrap_or(i64::MAX);
    let Ok(at) = OffsetDateTime::from_unix_timestamp(seconds) else {
        return "after the year 9999".to_owned();
    };
    let ((year, month, day), (h, m, s)) = (at.to_calendar_date(), at.to_hms());
    let month = u8::from(month);
    format!("{year:04}-{month:02}-{day:02} {h:02}:{m:02}:{s:02}")
}

/// A time beside its name: in UTC, and how long ago.
pub(crate) fn moment(ms: u64) -> String {
    format!("{} UTC ({})", time(ms), since(ms, now_ms()))
}

/// A time in a table: for people how long ago, else in UTC.
pub(crate) fn ago(ms: u64) -> String {
    match Layout::chosen() {
        Layout::Within(_) | Layout::Whole => since(ms, now_ms()),
        Layout::Ids | Layout::Csv => zoned(ms),
    }
}

/// A time in UTC that says so, as in `2026-01-31 23:59:59Z`.
pub(crate) fn zoned(ms: u64) -> String {
    time(ms) + "Z"
}

/// How long ago a time was, or how long it takes until then.
fn since(ms: u64, now: u64) -> String {
    let roughly = |ms: u64| match ms / 1_000 {
        s @ 0..60 => format!("{s} s"),
        s @ 60..3_600 => format!("{} min", s / 60),
        s @ 3_600..172_800 => format!("{} h", s / 3_600),
        s => format!("{} d", s / DAY),
    };
    match now.checked_sub(ms) {
        Some(passed) => format!("{} ago", roughly(passed)),
        None => format!("in {}", roughly(ms - now)),
    }
}

/// This machine's time, milliseconds since 1970.
pub(crate) fn now_ms() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |d| u64::try_from(d.as_millis()).unwrap_or(u64::MAX))
}

/// Seconds of a day.
const DAY: u64 = 86_400;

/// A length of time, as in `3d04h`, `1h05m`, `3m20s`, `2.5s`.
pub(crate) fn span(ms: u64) -> String {
    let s = ms / 1_000;
    match s {
        0..60 => format!("{s}.{}s", ms % 1_000 / 100),
        60..3_600 => format!("{}m{:02}s", s / 60, s % 60),
        3_600..DAY => format!("{}h{:02}m", s / 3_600, s / 60 % 60),
        _ => format!("{}d{:02}h", s / DAY, s / 3_600 % 24),
    }
}

/// So many nodes, in words.
pub(crate) fn nodes(nodes: u32) -> String {
    match nodes {
        1 => "1 node".to_owned(),
        n => format!("{n} nodes"),
    }
}

/// Whole seconds of a time, rounded up.
pub(crate) fn seconds(time: Duration, what: &'static str) -> Result<u32, CliError> {
    let seconds = u32::try_from(time.as_millis().div_ceil(1_000)).ok();
    seconds.filter(|s| *s > 0).ok_or_else(|| {
        let why = "a time of nothing, or longer than any lease";
        CliError::new(Exit::USAGE, what, why, "as in --time 30m")
    })
}

/// What has become of a job or a cluster that its user has given up: an order that stands is taken
/// back with the next blocks.
pub(crate) fn given_up(state: JobState) -> String {
    match state {
        JobState::Ending => "is ending: its lease runs out with the slot".to_owned(),
        state if state.is_final() => format!("is {}", state.name()),
        state => format!("is being taken back; it was {}", state.name()),
    }
}

/// A value or a dash.
pub(crate) fn or_dash<T: ToString>(value: Option<T>) -> String {
    value.map_or("-".to_owned(), |v| v.to_string())
}

/// Thousandths with their decimals: `2.5`.
pub(crate) fn thousandths(milli: u64) -> String {
    let text = format!("{}.{:03}", milli / 1_000, milli % 1_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        assert_eq!(time(0), "1970-01-01 00:00:00");
        assert_eq!(time(951_782_399_999), "2000-02-28 23:59:59");
        assert_eq!(time(951_782_400_000), "2000-02-29 00:00:00");
        assert_eq!(time(1_767_225_600_000), "2026-01-01 00:00:00");
        assert_eq!(time(4_107_542_400_000), "2100-03-01 00:00:00");
        assert_eq!(time(253_402_300_799_999), "9999-12-31 23:59:59");
        assert_eq!(time(253_402_300_800_000), "after the year 9999");
        assert_eq!(time(u64::MAX), "after the year 9999");
    }

    #[test]
    fn spans() {
        assert_eq!(span(2_540), "2.5s");
        assert_eq!(span(200_000), "3m20s");
        assert_eq!(span(3_900_000), "1h05m");
        assert_eq!(span(86_399_999), "23h59m");
        assert_eq!(span(30 * 86_400_000 + 4 * 3_600_000), "30d04h");
    }

    #[test]
    fn times_are_told_by_how_long_ago_they_were() {
        let day = 86_400_000;
        let told = |passed: u64| since(9 * day - passed, 9 * day);
        assert_eq!(told(0), "0 s ago");
        assert_eq!(told(59_999), "59 s ago");
        assert_eq!(told(12 * 60_000), "12 min ago");
        assert_eq!(told(47 * 3_600_000), "47 h ago");
        assert_eq!(told(2 * day), "2 d ago");
        assert_eq!(since(90_000, 0), "in 1 min");
        assert_eq!(
            since(0, u64::MAX),
            format!("{} d ago", u64::MAX / 1_000 / DAY)
        );
        assert_eq!(zoned(0), "1970-01-01 00:00:00Z");
        assert!(moment(0).starts_with("1970-01-01 00:00:00 UTC ("));
    }

    #[test]
    fn what_is_given_up_does_not_pass_for_what_it_was() {
        let said = [JobState::Bidding, JobState::Ending, JobState::Cancelled].map(given_up);
        assert_eq!(said[0], "is being taken back; it was bidding");
        assert_eq!(said[1], "is ending: its lease runs out with the slot");
        assert_eq!(said[2], "is cancelled");
    }

    #[test]
    fn figures() {
        assert_eq!([0, 1, 2].map(nodes), ["0 nodes", "1 node", "2 nodes"]);
        let shown = [0, 500, 2_500, 3_000, 1_001].map(thousandths);
        assert_eq!(shown, ["0", "0.5", "2.5", "3", "1.001"]);
    }
}
