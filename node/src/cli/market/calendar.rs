//! `market calendar`: what is free ahead of time, and what is booked.

use crate::api::types::{BookingAhead, OfferAhead, ReservationWindow};
use crate::cli::context::Context;
use crate::cli::error::{CliError, During as _};
use crate::cli::text;
use crate::ui::{Table, clean};

pub(super) fn calendar(at: &Context) -> Result<(), CliError> {
    at.wait(async {
        let windows = at.client()?.get("/reservations").await;
        let windows: Vec<ReservationWindow> = windows.during("no calendar")?;
        at.tell(&windows, |windows| shown(windows))
    })
}

fn shown(windows: &[ReservationWindow]) -> String {
    if windows.is_empty() {
        return "no offer sells ahead of time\n".to_owned();
    }
    let one = |window: &ReservationWindow| {
        format!(
            "{}: slots {} to {} of {}, from {} per node-hour, {} reservations wait\n{}{}",
            clean(&window.class),
            window.slot,
            window
                .slot
                .saturating_add(window.slots.into())
                .saturating_sub(1),
            text::span(window.slot_ms),
            window.posted,
            window.waiting,
            offers(window),
            bookings(&window.bookings)
        )
    };
    windows.iter().map(one).collect::<Vec<_>>().join("\n")
}

fn offers(window: &ReservationWindow) -> String {
    Table::of(
        &window.offers,
        &[
            ("OFFER", &|o| o.offer.to_string()),
            ("SELLER", &|o| seller(o)),
            (">UNITS", &|o| o.units.to_string()),
            ("FREE", &|o| runs(window.slot, &o.free)),
        ],
    )
}

fn bookings(bookings: &[BookingAhead]) -> String {
    if bookings.is_empty() {
        return String::new();
    }
    Table::of(
        bookings,
        &[
            ("BOOKED", &|b| b.order.to_string()),
            ("JOB", &|b| text::or_dash(b.name.clone())),
            (">UNITS", &|b| b.units.to_string()),
            (">FIRST", &|b| b.first_slot.to_string()),
            (">LAST", &|b| b.last_slot.to_string()),
            (">PRICE/SLOT", &|b| b.price.to_string()),
        ],
    )
}

fn seller(offer: &OfferAhead) -> String {
    let name = offer.name.clone();
    name.unwrap_or_else(|| offer.account.to_string())
}

/// Free units by runs of slots: `2 in 7-20, 0 in 21-30`.
fn runs(first: u64, free: &[u32]) -> String {
    let all = crate::reservation::runs(first, free).into_iter();
    let one = |(units, from, to): (u32, u64, u64)| format!("{units} in {from}-{to}");
    all.map(one).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_calendar_tells_what_is_free_and_what_is_booked() {
        let id = "11".repeat(32);
        let window: ReservationWindow = serde_json::from_value(json!({
            "class": "small", "slot": 7, "slots": 4, "starts": 3, "slot_ms": 60_000,
            "posted": "1.5", "waiting": 2,
            "offers": [{
                "offer": id, "label": 0, "account": id, "name": "uni-a", "own": true, "units": 2,
                "free": [2, 2, 0, 1],
            }],
            "bookings": [{
                "order": id, "job": null, "name": null, "units": 2, "first_slot": 9,
                "last_slot": 9, "price": "0.05",
            }],
        }))
        .unwrap();
        let told = shown(&[window]);
        for part in [
            "slots 7 to 10 of 1m00s",
            "1.5 per",
            "2 in 7-8, 0 in 9-9, 1 in 10-10",
            "0.05",
        ] {
            assert!(told.contains(part), "{part}: {told}");
        }
        assert_eq!(shown(&[]), "no offer sells ahead of time\n");
    }
}
