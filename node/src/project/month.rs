//! The calendar month of a moment, in UTC.

use std::ops::Range;
use time::{Date, Month, OffsetDateTime, Time};

/// From its first millisecond to that of the next month, since 1970.
pub(crate) fn month_of(ms: u64) -> Range<u64> {
    let seconds = i64::try_from(ms / 1_000).unwrap_or(i64::MAX);
    let at = OffsetDateTime::from_unix_timestamp(seconds);
    let at = at.unwrap_or(OffsetDateTime::UNIX_EPOCH);
    let (year, month) = (at.year(), at.month());
    let after = match month {
        Month::December => (year.saturating_add(1), Month::January),
        month => (year, month.next()),
    };
    // The month after the last one that dates have is endless.
    first((year, month)).unwrap_or(0)..first(after).unwrap_or(u64::MAX)
}

fn first((year, month): (i32, Month)) -> Option<u64> {
    let day = Date::from_calendar_date(year, month, 1).ok()?;
    let seconds = day.with_time(Time::MIDNIGHT).assume_utc().unix_timestamp();
    u64::try_from(seconds).ok()?.checked_mul(1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_follow_one_another() {
        // 2026-01-01, 2026-02-01, 2026-12-01, 2027-01-01.
        let firsts = [
            1_767_225_600_000,
            1_769_904_000_000,
            1_796_083_200_000,
            1_798_761_600_000,
        ];
        assert_eq!(month_of(firsts[0]), firsts[0]..firsts[1]);
        assert_eq!(month_of(firsts[1] - 1), firsts[0]..firsts[1]);
        assert_eq!(month_of(firsts[3] - 1), firsts[2]..firsts[3]);
        assert_eq!(month_of(0), 0..2_678_400_000);
        assert!(month_of(u64::MAX).contains(&0), "a time beyond all dates");
    }
}
