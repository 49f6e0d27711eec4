//! Conversions between the ledger's price per unit and slot and the API's per node-hour.

use gridbay_protocol::units::{Credits, MS_PER_HOUR, Price};

/// A price per node-hour as it was set.
pub(crate) fn limit_hourly(price: Price, slot_ms: u64) -> Credits {
    price.hourly_as_set(slot_ms)
}

/// Seconds that so many slots last, rounded up.
pub(crate) fn seconds(slots: u32, slot_ms: u64) -> u32 {
    let ms = u64::from(slots).saturating_mul(slot_ms);
    u32::try_from(ms.div_ceil(1_000)).unwrap_or(u32::MAX)
}

/// Mean price per node-hour of an amount paid for so many unit-milliseconds, rounded to the nearest
/// micro-credit; `None` for no time.
pub(crate) fn mean_hourly(paid: Credits, unit_ms: u128) -> Option<Credits> {
    if unit_ms == 0 {
        return None;
    }
    let wide = u128::from(paid.micros()) * u128::from(MS_PER_HOUR);
    Some(Credits::from_wide((wide + unit_ms / 2) / unit_ms).unwrap_or(Credits::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn credits(text: &str) -> Credits {
        text.parse().unwrap()
    }

    #[test]
    fn a_price_limit_is_shown_as_it_was_written() {
        for slot_ms in [1_000, 2_000, 60_000] {
            for text in ["0", "1", "10", "0.5", "12.25", "999"] {
                let price = Price::from_hourly(credits(text), slot_ms).unwrap();
                assert_eq!(
                    limit_hourly(price, slot_ms).to_string(),
                    text,
                    "slots of {slot_ms}"
                );
            }
        }
    }

    #[test]
    fn a_shown_limit_means_the_same_price_again() {
        for micros in [0, 1, 7, 5_555, 5_556, 1_234_567, Price::MAX.0] {
            for slot_ms in [250, 2_000, 60_000, MS_PER_HOUR] {
                let shown = limit_hourly(Price(micros), slot_ms);
                let back = Price::from_hourly(shown, slot_ms).map_or(0, |p| p.0);
                assert!(micros - back <= 1, "{micros} at {slot_ms} shown as {shown}");
            }
        }
    }

    #[test]
    fn mean_prices() {
        // 4 units for 30 minutes cost 20 credits: 10 a node-hour.
        assert_eq!(
            mean_hourly(credits("20"), 4 * 1_800_000),
            Some(credits("10"))
        );
        assert_eq!(mean_hourly(credits("20"), 0), None);
        assert_eq!(mean_hourly(Credits::MAX, 1), Some(Credits::MAX));
    }
}
