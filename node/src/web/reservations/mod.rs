//! The calendar of reservations: units of sellers by slots, free ones with their price, bookings,
//! and a form that books ([`book`]).

pub(super) mod book;

use super::failure::Shown;
use super::figures::{NONE, count, money, short};
use super::gantt::{Bar, Gantt, Look, Row, legend};
use super::parts::{Fragment, Panel, cli, column, empty, row_of_stats, stat, table};
use super::session::Who;
use super::shell::{Frame, Page};
use crate::api::Answer;
use crate::api::scope::needed;
use crate::api::types::{BookingAhead, OfferAhead, ReservationWindow};
use crate::backend::{Node, NodeBackend};
use crate::cli::text::span;
use crate::reservation::runs;
use axum::Extension;
use axum::extract::State;
use axum::response::Html;
use maud::{Markup, html};

/// Classes, offers of one in chart and table, and bookings of one shown at the most.
const CLASSES: usize = 6;
const OFFERS: usize = 16;
const BOOKINGS: usize = 40;

/// What the page shows.
struct Reservations(Vec<ReservationWindow>);

/// The handler.
pub(super) async fn show(State(node): State<Node>, Extension(who): Extension<Who>) -> Shown {
    let (frame, page) = (Frame::of(&node).await?, Reservations::of(&node).await?);
    Ok(Html(page.render(&frame, &who).into_string()))
}

/// The places that change.
pub(super) async fn fragments(node: &NodeBackend) -> Answer<Vec<Fragment>> {
    Ok(Reservations::of(node).await?.fragments())
}

impl Reservations {
    /// As things stand.
    async fn of(node: &NodeBackend) -> Answer<Reservations> {
        node.reservations().await.map(Reservations)
    }

    fn fragments(&self) -> Vec<Fragment> {
        vec![("stats", self.stats()), ("calendar", self.calendar())]
    }

    fn calendar(&self) -> Markup {
        let more = self.0.len().saturating_sub(CLASSES);
        html! {
            @if self.0.is_empty() { (none()) }
            @for (n, window) in self.0.iter().take(CLASSES).enumerate() { (panel(n, window)) }
            @if more > 0 { p.muted { (count(more as u64)) " more classes." } }
        }
    }

    fn render(&self, frame: &Frame, who: &Who) -> Markup {
        let books = who.may(needed("post", book::ADDRESS)).is_ok() && !self.0.is_empty();
        let page = Page {
            here: "Reservations",
            title: "Reservations",
            lede: "Nodes together for a time that is fixed ahead: what is free, and what is \
                   booked.",
            actions: html! {},
            command: "gridbay market calendar",
            events: "/events?page=reservations",
            body: html! {
                (row_of_stats(self.stats()))
                div.stack id="calendar" data-live="replace" { (self.calendar()) }
                @if books {
                    @let classes: Vec<String> = self.0.iter().map(|w| w.class.clone()).collect();
                    (book::panel(&book::Fields::default(), &classes, who))
                }
            },
        };
        page.render(frame, who)
    }

    fn stats(&self) -> Markup {
        let offers = self.0.iter().flat_map(|window| &window.offers);
        let units: u64 = offers.map(|offer| u64::from(offer.units)).sum();
        let bookings = self.0.iter().flat_map(|window| &window.bookings);
        let own = bookings.clone().filter(|one| one.job.is_some()).count();
        let waiting = self.0.iter().map(|window| window.waiting);
        let window = self.0.first();
        let ahead = window.map_or(NONE.to_owned(), |w| {
            span(w.slot_ms.saturating_mul(w.slots.into()))
        });
        let slots = window.map_or(String::new(), |w| format!("{} slots", count(w.slots)));
        html! {
            (stat("Units", &count(units), "", "are sold ahead of time"))
            (stat("Ahead", &ahead, "", &slots))
            (stat("Booked", &count(bookings.count() as u64), "",
                &format!("{} by this node", count(own as u64))))
            (stat("Waiting", &count(waiting.fold(0, u64::saturating_add)), "",
                "decided at the end of the slot"))
        }
    }
}

fn none() -> Markup {
    let text = "No offer sells ahead of time now. A seller sets one so:";
    let command = "gridbay offer set --class CLASS --units 1 --reserve 1 --mechanism reservation";
    let panel = Panel {
        id: "none",
        title: "Calendar",
        body: empty("Nothing can be reserved", text, Some(("cli-set", command))),
        ..Panel::default()
    };
    html! { (panel) }
}

fn panel(n: usize, window: &ReservationWindow) -> Markup {
    let title = format!("Class {}", short(&window.class, 40));
    let panel = Panel {
        id: &format!("class-{n}"),
        title: &title,
        meta: Some(html! {
            "From " (money(window.posted)) " credits per node-hour. A slot is "
            (span(window.slot_ms)) "; a start is sold in the first " (count(window.starts))
            " of " (count(window.slots)) ". A winner pays what it bids."
        }),
        body: html! { (offers(window)) (bookings(&window.bookings)) },
        foot: (n == 0).then(|| cli("cli-offers", "gridbay offer list")),
        ..Panel::default()
    };
    html! { (panel) }
}

fn offers(window: &ReservationWindow) -> Markup {
    if window.offers.is_empty() {
        let text = "Its offers sell in other ways by now; what is booked stays booked.";
        return empty("Nothing is for sale ahead", text, None);
    }
    let rows = html! { @for offer in window.offers.iter().take(OFFERS) { (row(window, offer)) } };
    let columns = [
        column("Seller", ""),
        column("Units", "num"),
        column("Free next", "num"),
        column("Fewest free", "num opt"),
        column("All free from", "num opt"),
        column("Price/h", "num"),
    ];
    let more = window.offers.len().saturating_sub(OFFERS);
    html! {
        div.panel-body { (chart(window)) }
        (table("Offers ahead of time", &columns, rows))
        @if more > 0 { div.panel-body { p.muted { (count(more as u64)) " more offers." } } }
    }
}

fn chart(window: &ReservationWindow) -> Markup {
    let bar = |units: u32, (free, first, last): (u32, u64, u64)| Bar {
        first,
        last,
        look: if free == 0 { Look::Firm } else { Look::Open },
        text: match free {
            0 => "booked".to_owned(),
            free if free == units => format!("{} free", count(free)),
            free => format!("{} of {} free", count(free), count(units)),
        },
    };
    let row = |offer: &OfferAhead| Row {
        name: seller(offer),
        bars: runs(window.slot, &offer.free)
            .into_iter()
            .map(|run| bar(offer.units, run))
            .collect(),
        marks: Vec::new(),
    };
    let rows: Vec<Row> = window.offers.iter().take(OFFERS).map(row).collect();
    let free = |slot: usize| {
        let offers = window.offers.iter();
        offers.filter_map(|offer| offer.free.get(slot)).sum::<u32>()
    };
    let most = (0..window.slots as usize).map(free).max().unwrap_or(0);
    let says = format!(
        "At most {} units are free together in one of the next {} slots.",
        count(most),
        count(window.slots)
    );
    let gantt = Gantt {
        first: window.slot,
        slots: u64::from(window.slots).max(1),
        rows: &rows,
        says: &says,
    };
    html! {
        (legend(&[(Look::Open, "Free"), (Look::Firm, "All booked")]))
        (gantt.draw())
    }
}

fn seller(offer: &OfferAhead) -> String {
    match &offer.name {
        Some(name) => short(name, 40),
        None => offer.account.to_string(),
    }
}

fn row(window: &ReservationWindow, offer: &OfferAhead) -> Markup {
    let fewest = offer.free.iter().min().copied();
    let taken = offer.free.iter().rposition(|free| *free < offer.units);
    let from = match taken {
        Some(at) if at + 1 == offer.free.len() => None,
        Some(at) => Some(window.slot.saturating_add(at as u64 + 1)),
        None => Some(window.slot),
    };
    html! {
        tr class=[offer.own.then_some("own")] {
            th scope="row" {
                (seller(offer)) span.sub { "offer " (offer.label) " " span.id { (offer.offer) } }
            }
            td.num { (count(offer.units)) }
            td.num { (offer.free.first().map_or(NONE.to_owned(), |free| count(*free))) }
            td.num.opt { (fewest.map_or(NONE.to_owned(), count)) }
            td.num.opt { (from.map_or(NONE.to_owned(), count)) }
            td.num { (money(window.posted)) }
        }
    }
}

fn bookings(bookings: &[BookingAhead]) -> Markup {
    if bookings.is_empty() {
        return html! { div.panel-body { p.muted { "Nothing is booked that has not begun." } } };
    }
    let rows = html! {
        @for one in bookings.iter().take(BOOKINGS) {
            tr class=[one.job.is_some().then_some("own")] {
                th.wrap scope="row" {
                    @match (&one.job, &one.name) {
                        (Some(job), Some(name)) => {
                            a href={ "/jobs/" (job) } { (short(name, 40)) }
                        }
                        _ => { span.id { (one.order) } }
                    }
                }
                td.num { (count(one.units)) }
                td.num { (count(one.first_slot)) "–" (count(one.last_slot)) }
                td.num { (money(one.price)) }
            }
        }
    };
    let columns = [
        column("Booked for", ""),
        column("Units", "num"),
        column("Slots", "num"),
        column("Price a slot", "num"),
    ];
    let more = bookings.len().saturating_sub(BOOKINGS);
    html! {
        (table("Bookings that have not begun", &columns, rows))
        @if more > 0 { div.panel-body { p.muted { (count(more as u64)) " more bookings." } } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::scope::Scope;
    use crate::web::command::tests::exist;
    use crate::web::samples::{self, HOSTILE};
    use serde_json::json;

    fn window(offers: usize, booked: usize) -> ReservationWindow {
        let id = "11".repeat(32);
        let offer = json!({
            "offer": id, "label": 1, "account": id, "name": HOSTILE, "own": true, "units": 4,
            "free": [4, 4, 0, 1, 4, 4, 4, 4, 4, 4],
        });
        let booking = json!({
            "order": id, "job": "0123456789abcdef", "name": HOSTILE, "units": 4,
            "first_slot": 9, "last_slot": 9, "price": "0.25",
        });
        serde_json::from_value(json!({
            "class": HOSTILE, "slot": 7, "slots": 10, "starts": 8, "slot_ms": 60_000,
            "posted": "1.5", "waiting": 2, "offers": vec![offer; offers],
            "bookings": vec![booking; booked],
        }))
        .unwrap()
    }

    fn page(windows: Vec<ReservationWindow>, scope: Scope) -> String {
        let page = Reservations(windows).render(&samples::frame(), &samples::who(scope));
        page.into_string()
    }

    #[test]
    fn a_calendar_of_hostile_words_has_no_markup_of_them_and_an_end() {
        let page = page(vec![window(20, 50); 8], Scope::Trade);
        assert!(!page.contains("<script>alert") && page.contains("&lt;script&gt;alert"));
        for (id, _) in Reservations(Vec::new()).fragments() {
            let place = format!("id=\"{id}\" data-live=\"replace\"");
            assert_eq!(page.matches(&place).count(), 1, "{id}");
        }
        for told in [
            "4 more offers",
            "10 more bookings",
            "2 more classes",
            "1 of 4 free",
        ] {
            assert!(page.contains(told), "{told}");
        }
        assert_eq!(exist(&page), 2);
    }

    #[test]
    fn slots_lie_where_they_are_and_prices_stand_beside_them() {
        let page = page(vec![window(1, 1)], Scope::Read);
        // Booked in the third slot of ten, one free in the fourth, all from the fifth on.
        assert!(page.contains("class=\"bar soft c3\" x=\"20%\""), "{page}");
        assert!(page.contains("<td class=\"num opt\">11</td>"), "{page}");
        assert!(
            page.contains("1.50") && !page.contains("/reservations/ask"),
            "{page}"
        );
    }

    #[test]
    fn only_a_trader_is_offered_a_booking_and_nothing_for_sale_says_why() {
        assert!(page(vec![window(1, 0)], Scope::Trade).contains("/reservations/ask"));
        let none = page(Vec::new(), Scope::Admin);
        assert!(none.contains("Nothing can be reserved"), "{none}");
        assert!(!none.contains("/reservations/ask"), "{none}");
        assert_eq!(exist(&none), 2);
    }
}
