//! A moment as its user writes it: a day or a minute in UTC, or how long ago.

use crate::config::parse;
use std::str::FromStr;
use std::time::{SystemTime, UNIX_EPOCH};
use time::{Date, Month, Time};

/// A moment, in milliseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moment(u64);

impl Moment {
    /// In milliseconds since 1970.
    pub(crate) fn ms(self) -> u64 {
        self.0
    }
}

impl FromStr for Moment {
    type Err = String;
    fn from_str(text: &str) -> Result<Moment, String> {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = u64::try_from(since.unwrap_or_default().as_millis()).unwrap_or(u64::MAX);
        read(text, now).ok_or_else(|| {
            format!(
                "`{text}` is no time: write 2026-01-31, 2026-01-31T12:30, or 30d for so long ago"
            )
        })
    }
}

fn read(text: &str, now_ms: u64) -> Option<Moment> {
    if let Some((day, clock)) = text.split_once('T') {
        return at(day, clock);
    }
    if text.contains('-') {
        return at(text, "00:00");
    }
    // A bare number would be seconds elsewhere, and a year to whoever writes it here.
    let has_unit = text.ends_with(|c: char| c.is_ascii_alphabetic());
    let ago = parse::duration(text).ok().filter(|_| has_unit)?;
    let ago = u64::try_from(ago.as_millis()).ok()?;
    Some(Moment(now_ms.saturating_sub(ago)))
}

fn at(day: &str, clock: &str) -> Option<Moment> {
    let [year, month, day] = numbers(day.split('-'))?;
    let month = Month::try_from(u8::try_from(month).ok()?).ok()?;
    let day = u8::try_from(day).ok()?;
    let date = Date::from_calendar_date(i32::try_from(year).ok()?, month, day).ok()?;
    let [hour, minute] = numbers(clock.split(':'))?;
    let (hour, minute) = (u8::try_from(hour).ok()?, u8::try_from(minute).ok()?);
    let time = Time::from_hms(hour, minute, 0).ok()?;
    let seconds = date.with_time(time).assume_utc().unix_timestamp();
    u64::try_from(seconds).ok()?.checked_mul(1_000).map(Moment)
}

fn numbers<'a, const N: usize>(parts: impl Iterator<Item = &'a str>) -> Option<[u32; N]> {
    let digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    let number = |part: &'a str| part.parse().ok().filter(|_| digits(part));
    let numbers: Option<Vec<u32>> = parts.map(number).collect();
    numbers?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_minutes_and_times_ago() {
        let now = 86_400_000 * 40;
        for (text, ms) in [
            ("1970-01-02", 86_400_000),
            ("1970-01-01T01:30", 5_400_000),
            ("2024-02-29", 1_709_164_800_000),
            ("30d", 86_400_000 * 10),
            ("90d", 0),
        ] {
            assert_eq!(read(text, now), Some(Moment(ms)), "{text}");
        }
        for text in [
            "",
            "2026",
            "2026-13-01",
            "2026-02-30",
            "2026-1",
            "2026-01-01T25:00",
            "2026-01-01T",
            "1969-12-31",
            "+2026-01-01",
            "2026-+1-01",
            "-1",
            "30",
        ] {
            assert_eq!(read(text, now), None, "{text}");
        }
    }
}
