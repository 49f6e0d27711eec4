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

/// What parts of slots, each rounded up, may add to an amount, in micro-credits.
const ROUNDED_UP: u128 = 2;
/// Prices that may have come to an amount and are looked at.
const TRIED: u64 = 64;

/// Mean price per node-hour of an amount paid for so many unit-milliseconds; `None` for no time. If
/// prices of a slot come to that amount, parts of slots rounded up, it is the one of them that is
/// written shortest, as it was set; else the mean is rounded to the nearest micro-credit.
pub(crate) fn mean_hourly(paid: Credits, unit_ms: u128, slot_ms: u64) -> Option<Credits> {
    if unit_ms == 0 {
        return None;
    }
    let (paid, slot) = (u128::from(paid.micros()), u128::from(slot_ms));
    let nearest = |wide: u128| (wide + unit_ms / 2) / unit_ms;
    let highest = u64::try_from(nearest(paid * slot)).unwrap_or(u64::MAX);
    let comes_to = |price: &u64| {
        let all = u128::from(*price).saturating_mul(unit_ms);
        (paid * slot).abs_diff(all) < ROUNDED_UP * slot
    };
    let prices = (highest.saturating_sub(TRIED)..=highest)
        .rev()
        .take_while(comes_to);
    let shown = prices.map(|price| limit_hourly(Price(price), slot_ms));
    if let Some(set) = shown.min_by_key(|set| set.to_string().len()) {
        return Some(set);
    }
    let mean = Credits::from_wide(nearest(paid * u128::from(MS_PER_HOUR)));
    Some(mean.unwrap_or(Credits::MAX))
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
            mean_hourly(credits("20"), 4 * 1_800_000, 60_000),
            Some(credits("10"))
        );
        assert_eq!(mean_hourly(credits("20"), 0, 2_000), None);
        assert_eq!(mean_hourly(Credits::MAX, 1, 2_000), Some(Credits::MAX));
        // Seven of the eight heights of a slot at 30 an hour, which is 16,666 millionths a slot.
        let paid = Credits::from_micros(14_583).unwrap();
        assert_eq!(mean_hourly(paid, 1_750, 2_000), Some(credits("30")));
        // Half of a slot at a credit an hour, which is 555 millionths a slot.
        let paid = Credits::from_micros(278).unwrap();
        assert_eq!(mean_hourly(paid, 1_000, 2_000), Some(credits("1")));
    }
}
