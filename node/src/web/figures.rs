//! Figures as the pages write them.

use crate::api::types::Signed;
use gridbay_protocol::units::Credits;

/// The text of nothing to show.
pub(super) const NONE: &str = "–";

/// A whole number with marks between thousands.
pub(super) fn count(n: impl Into<u64>) -> String {
    let digits = n.into().to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// An amount with two decimals from one credit on, with four below, and exact where even those
/// would show nothing.
pub(super) fn money(amount: Credits) -> String {
    let micros = amount.micros();
    let (unit, decimals) = match micros {
        0 => (10_000, 2),
        1..100 => (1, 6),
        100..999_950 => (100, 4),
        _ => (10_000, 2),
    };
    let rounded = (micros + unit / 2) / unit;
    let one = 1_000_000 / unit;
    format!("{}.{:0decimals$}", count(rounded / one), rounded % one)
}

/// The same, or a dash.
pub(super) fn money_or_none(amount: Option<Credits>) -> String {
    amount.map_or_else(|| NONE.to_owned(), money)
}

/// An amount with its sign where it is negative.
pub(super) fn signed(amount: Signed) -> String {
    let size = Credits::from_micros(amount.0.unsigned_abs()).unwrap_or(Credits::MAX);
    let sign = if amount.0 < 0 { "−" } else { "" };
    format!("{sign}{}", money(size))
}

/// So many of something that takes an s.
pub(super) fn counted(n: impl Into<u64>, what: &str) -> String {
    match n.into() {
        1 => format!("1 {what}"),
        n => format!("{} {what}s", count(n)),
    }
}

/// How an offer sells, in a word.
pub(super) fn sold_by(mechanism: &str) -> String {
    match mechanism {
        "ausubel" => "auction".to_owned(),
        "posted" => "fixed price".to_owned(),
        other => short(other, 24),
    }
}

/// An amount to the micro-credit, with its sign where it is negative.
pub(super) fn exact(amount: Signed) -> String {
    let size = amount.0.unsigned_abs();
    let sign = if amount.0 < 0 { "−" } else { "" };
    format!("{sign}{}.{:06}", count(size / 1_000_000), size % 1_000_000)
}

/// MiB as a size: `4 GiB`, `512 MiB`.
pub(super) fn mib(mib: u64) -> String {
    match mib {
        0..1_024 => format!("{mib} MiB"),
        _ if mib.is_multiple_of(1_024) => format!("{} GiB", count(mib >> 10)),
        _ => format!("{}.{} GiB", count(mib >> 10), mib % 1_024 * 10 / 1_024),
    }
}

/// Bytes as a size.
pub(super) fn bytes(bytes: u64) -> String {
    match bytes {
        0..1_024 => format!("{bytes} B"),
        1_024..1_048_576 => format!("{}.{} KiB", bytes >> 10, bytes % 1_024 * 10 / 1_024),
        _ => mib(bytes >> 20),
    }
}

/// Milliseconds as hours, minutes and seconds: `0:02:58`.
pub(super) fn clock(ms: u64) -> String {
    let s = ms / 1_000;
    format!("{}:{:02}:{:02}", count(s / 3_600), s / 60 % 60, s % 60)
}

/// Seconds left, as a countdown shows them: `0:42`.
pub(super) fn left(ms: u64) -> String {
    let s = ms.div_ceil(1_000);
    format!("{}:{:02}", s / 60, s % 60)
}

/// A change in percent, with its sign.
pub(super) fn change(from: Credits, to: Credits) -> Option<String> {
    let (from, to) = (i128::from(from.micros()), i128::from(to.micros()));
    let percent = ((to - from) * 100).checked_div(from)?;
    Some(match percent {
        0 => "0 %".to_owned(),
        1.. => format!("+{percent} %"),
        _ => format!("−{} %", -percent),
    })
}

/// At most so many characters, the last of which says that there were more.
pub(super) fn short(text: &str, most: usize) -> String {
    let text = crate::ui::clean(text);
    if text.chars().count() <= most {
        return text;
    }
    let kept: String = text.chars().take(most.saturating_sub(1)).collect();
    format!("{kept}…")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_amounts() {
        let shown = |micros| exact(Signed(micros));
        assert_eq!(shown(-3_333), "−0.003333");
        assert_eq!(shown(9_887_588_123), "9,887.588123");
        assert_eq!(shown(0), "0.000000");
        assert_eq!(shown(i64::MIN), "−9,223,372,036,854.775808");
    }

    #[test]
    fn amounts() {
        let shown = |text: &str| money(text.parse().unwrap());
        assert_eq!(shown("0"), "0.00");
        assert_eq!(shown("0.000042"), "0.000042");
        assert_eq!(shown("0.12344"), "0.1234");
        assert_eq!(shown("0.99996"), "1.00");
        assert_eq!(shown("842.614999"), "842.61");
        assert_eq!(shown("1234567.895"), "1,234,567.90");
        assert_eq!(money_or_none(None), NONE);
        assert_eq!(signed(Signed(-1_500_000)), "−1.50");
        assert_eq!(signed(Signed(2_000_000)), "2.00");
        assert!(signed(Signed(i64::MIN)).starts_with('−'));
    }

    #[test]
    fn counts_sizes_and_times() {
        let all = [0, 999, 1_000, 28_841, 1_000_000].map(|n: u32| count(n));
        assert_eq!(all, ["0", "999", "1,000", "28,841", "1,000,000"]);
        assert_eq!(
            [mib(512), mib(4_096), mib(1_536)],
            ["512 MiB", "4 GiB", "1.5 GiB"]
        );
        assert_eq!(
            [bytes(9), bytes(1_536), bytes(5 << 20)],
            ["9 B", "1.5 KiB", "5 MiB"]
        );
        assert_eq!(clock(178_999), "0:02:58");
        assert_eq!(
            [left(0), left(41_001), left(61_000)],
            ["0:00", "0:42", "1:01"]
        );
    }

    #[test]
    fn changes() {
        let of = |a: &str, b: &str| change(a.parse().unwrap(), b.parse().unwrap());
        assert_eq!(of("2", "3").as_deref(), Some("+50 %"));
        assert_eq!(of("3", "2").as_deref(), Some("−33 %"));
        assert_eq!(of("3", "3").as_deref(), Some("0 %"));
        assert_eq!(of("0", "3"), None);
    }

    #[test]
    fn long_and_unseen_text() {
        assert_eq!(short("abcdef", 4), "abc…");
        assert_eq!(short("a\u{202e}b", 9), "a\u{fffd}b");
    }
}
