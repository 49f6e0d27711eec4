//! The frame of every page: head, navigation, the line at the top.

use super::clock::Clock;
use super::figures::{count, left, signed};
use super::parts::{Tone, cli, pill};
use super::session::Who;
use crate::api::Answer;
use crate::api::types::{NodeState, NodeStatus};
use crate::backend::NodeBackend;
use maud::{DOCTYPE, Markup, PreEscaped, html};

/// What the frame shows.
pub(super) struct Frame {
    pub(super) status: NodeStatus,
    /// `None` while the core does not answer.
    pub(super) clock: Option<Clock>,
}

impl Frame {
    /// As things stand.
    pub(super) async fn of(node: &NodeBackend) -> Answer<Frame> {
        let (status, clock) = tokio::join!(node.node(), Clock::of(node));
        Ok(Frame {
            status: status?,
            clock: clock.ok(),
        })
    }
    /// The clock, for pages that show nothing without it.
    pub(super) fn clock(&self) -> Answer<Clock> {
        self.clock.ok_or_else(crate::backend::failure::late)
    }
    /// The places of the frame that change, by their ids.
    pub(super) fn fragments(&self) -> Vec<(&'static str, Markup)> {
        vec![
            ("clock", clock(self.clock.as_ref())),
            ("whoami", whoami(&self.status)),
            ("free", free(&self.status)),
        ]
    }
}

/// The pages, as the navigation lists them: heading, then name and address of each.
const PAGES: &[(&str, &[(&str, &str)])] = &[
    ("", &[("Overview", "/")]),
    (
        "Buy",
        &[
            ("Market", "/market"),
            ("Submit", "/submit"),
            ("Jobs", "/jobs"),
            ("Leases", "/leases"),
            ("Reservations", "/reservations"),
            ("Contracts", "/contracts"),
            ("Pools", "/pools"),
        ],
    ),
    ("Clearing", &[("Auctions", "/auctions")]),
    (
        "Account",
        &[
            ("Seller", "/seller"),
            ("Ledger", "/ledger"),
            ("Projects", "/projects"),
        ],
    ),
    (
        "Federation",
        &[("Federation", "/federation"), ("Network", "/network")],
    ),
];

/// One page.
pub(super) struct Page<'a> {
    /// Its name in the navigation.
    pub(super) here: &'a str,
    /// Its one heading.
    pub(super) title: &'a str,
    /// A sentence about it.
    pub(super) lede: &'a str,
    /// What can be done.
    pub(super) actions: Markup,
    /// The command that shows the same.
    pub(super) command: &'a str,
    /// Address of the stream of its changes.
    pub(super) events: &'a str,
    pub(super) body: Markup,
}

impl Page<'_> {
    /// The whole page.
    pub(super) fn render(&self, frame: &Frame, who: &Who) -> Markup {
        let name = &frame.status.name;
        html! {
            (DOCTYPE)
            html lang="en" {
                (head(&format!("{} · {name} · gridbay", self.title)))
                body data-events=(self.events) {
                    a.skip href="#main" { "Skip to content" }
                    div.shell {
                        (nav(self.here, &frame.status, who))
                        (top(frame, self.events))
                        main.main id="main" tabindex="-1" {
                            div.page-head {
                                div { h1 { (self.title) } p.lede { (self.lede) } }
                                div.actions { (self.actions) }
                            }
                            (cli("cli", self.command))
                            (self.body)
                        }
                    }
                }
            }
        }
    }
}

/// A page without navigation: for those who are not signed in, and for failures.
pub(super) fn plain(title: &str, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            (head(&format!("{title} · gridbay")))
            body {
                main.main id="main" {
                    a.brand href="/" { (logo()) " gridbay" }
                    div.page-head { div { h1 { (title) } } }
                    (body)
                }
            }
        }
    }
}

fn head(title: &str) -> Markup {
    const ICON: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' \
        viewBox='0 0 8 8'%3E%3Crect width='8' height='8' rx='2' fill='%231858b8'/%3E%3Cpath \
        d='M2 3h4M4 5h2' stroke='%23fff'/%3E%3C/svg%3E";
    html! {
        head {
            meta charset="utf-8";
            meta name="viewport" content="width=device-width, initial-scale=1";
            title { (title) }
            link rel="icon" href=(ICON);
            link rel="stylesheet" href="/gridbay.css";
            script src="/gridbay.js" {}
        }
    }
}

/// A grid with one bay of two units let.
fn logo() -> Markup {
    const LOGO: &str = concat!(
        "<svg viewBox=\"0 0 24 24\" aria-hidden=\"true\">",
        "<rect x=\"2\" y=\"2\" width=\"5.5\" height=\"5.5\" rx=\"1.5\"/>",
        "<rect x=\"9.25\" y=\"2\" width=\"5.5\" height=\"5.5\" rx=\"1.5\"/>",
        "<rect x=\"16.5\" y=\"2\" width=\"5.5\" height=\"5.5\" rx=\"1.5\"/>",
        "<rect x=\"2\" y=\"9.25\" width=\"5.5\" height=\"5.5\" rx=\"1.5\"/>",
        "<rect class=\"on\" x=\"9.25\" y=\"9.25\" width=\"12.75\" height=\"5.5\" rx=\"1.5\"/>",
        "<rect x=\"2\" y=\"16.5\" width=\"5.5\" height=\"5.5\" rx=\"1.5\"/>",
        "<rect class=\"on\" x=\"9.25\" y=\"16.5\" width=\"12.75\" height=\"5.5\" rx=\"1.5\"/>",
        "</svg>"
    );
    PreEscaped(LOGO.to_owned())
}

fn nav(here: &str, status: &NodeStatus, who: &Who) -> Markup {
    html! {
        nav.nav id="nav" popover aria-label="Pages" {
            a.brand href="/" { (logo()) " gridbay" }
            @for (group, pages) in PAGES {
                @if !group.is_empty() { h2 { (group) } }
                ul {
                    @for (name, address) in *pages {
                        li {
                            a href=(address) aria-current=[(*name == here).then_some("page")] {
                                (name)
                                @if *name == "Jobs" && status.jobs_open > 0 {
                                    " " span.count { (status.jobs_open) }
                                }
                            }
                        }
                    }
                }
            }
            div.whoami id="whoami" data-live="replace" { (whoami(status)) }
            button.btn.quiet.small type="button" data-theme-toggle { "Theme: " span { "auto" } }
            form method="post" action="/logout" {
                input type="hidden" name="token" value=(who.token);
                button.btn.quiet.small { "Sign out" }
            }
        }
    }
}

fn whoami(status: &NodeStatus) -> Markup {
    let (tone, word) = match status.state {
        NodeState::Joining => (Tone::Warn, "Joining"),
        NodeState::Ready => (Tone::Ok, "Ready"),
        NodeState::Closed => (Tone::Idle, "Closed"),
        NodeState::Draining => (Tone::Warn, "Draining"),
        NodeState::Halted => (Tone::Bad, "Halted"),
    };
    html! {
        b { (status.name) " " }
        @if let Some(network) = &status.network_name { "in " (network) br; }
        (pill(tone, word))
    }
}

fn free(status: &NodeStatus) -> Markup {
    html! { strong { (signed(status.balance)) } " " span.faint { "credits free" } }
}

fn clock(clock: Option<&Clock>) -> Markup {
    let Some(Clock {
        slot,
        left_ms,
        slot_ms,
        ..
    }) = clock
    else {
        return html! { span { "The ledger does not answer" } };
    };
    let (seconds, whole) = (left_ms.div_ceil(1_000), slot_ms.div_ceil(1_000).max(1));
    html! {
        span title="Earliest time: without work, heights follow one another more slowly" {
            "Slot " b.fig { (count(*slot)) } " closes in "
            b.count data-countdown=(seconds) { (left(*left_ms)) }
        }
        progress data-countdown=(seconds) max=(whole) value=(whole.saturating_sub(seconds))
            aria-label="Slot elapsed" {}
    }
}

/// `events` tells whether the page itself changes, or its frame alone.
fn top(frame: &Frame, events: &str) -> Markup {
    let word = match events.ends_with("page=frame") {
        true => "Clock only",
        false => "Live",
    };
    html! {
        header.top {
            button.btn.quiet.small.menu type="button" popovertarget="nav" { "Menu" }
            a.brand href="/" { (logo()) span.sr { "gridbay" } }
            div.clock id="clock" data-live="replace" { (clock(frame.clock.as_ref())) }
            span.grow {}
            span.wide.fig id="free" data-live="replace" { (free(&frame.status)) }
            span.live role="status" data-live-state="lost" data-live-word=(word) { "Not live" }
        }
    }
}
