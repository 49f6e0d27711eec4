//! Sellers' nodes by a query, and what each of its conditions did.

use crate::api::types::{FindGroup, FindReport, FindStep, FoundNode, FoundOffer};
use crate::api::{Answer, ApiError};
use crate::backend::NodeBackend;
use crate::web::command::{address, command};
use crate::web::failure::sentence;
use crate::web::figures::{NONE, count, counted, money, money_or_none, short, sold_by};
use crate::web::parts::{Panel, cli, column, table};
use crate::web::sought::sought;
use gridbay_protocol::ids::AccountId;
use maud::{Markup, html};
use std::collections::BTreeMap;

/// Offers and conditions shown at the most.
const OFFERS: usize = 60;
const STEPS: usize = 24;
/// Characters of a query at the most: those that the language takes.
const QUERY: usize = 4_096;
/// Conditions that are offered to be added.
const CHIPS: [&str; 4] = ["cpu >= 4", "mem >= 8GiB", "gpu >= 1", "firm"];

/// A query and its answer.
pub(super) struct Found {
    query: String,
    report: Answer<FindReport>,
    /// Names of sellers that are founding members.
    names: BTreeMap<AccountId, String>,
}

impl Found {
    /// Asks the node.
    pub(super) async fn of(node: &NodeBackend, query: String) -> Found {
        let query: String = query.chars().take(QUERY + 1).collect();
        let report = sought(node, &query).await;
        let names = match &report {
            Ok(report) => names(node, report).await,
            Err(_) => BTreeMap::new(),
        };
        Found {
            query,
            report,
            names,
        }
    }

    /// Whether there is something to tell of the conditions.
    pub(super) fn is_explained(&self) -> bool {
        self.report.as_ref().is_ok_and(|r| !r.steps.is_empty())
    }

    /// The query box and the offers that fit.
    pub(super) fn panel(&self, class: &str) -> Markup {
        let meta = match &self.report {
            Ok(report) => said(report),
            Err(_) => "There is no answer to the query.".to_owned(),
        };
        let panel = Panel {
            id: "offers",
            title: "Offers",
            meta: Some(html! {
                span role="status" { (meta) }
                " Round trips with ≤ are bounds by landmarks, not measured from here."
            }),
            body: html! {
                (self.form(class))
                @if let Ok(report) = &self.report { (self.table(report)) }
            },
            foot: Some(cli(
                "cli-find",
                &command(["gridbay", "market", "find", "--explain", "--", &self.query]),
            )),
            ..Panel::default()
        };
        html! { (panel) }
    }

    fn form(&self, class: &str) -> Markup {
        let error = self.report.as_ref().err();
        html! {
            form.panel-body method="get" action="/market" {
                input type="hidden" name="class" value=(class);
                div.query {
                    label.sr for="q" { "Query" }
                    input.input.code id="q" name="q" value=(self.query) spellcheck="false"
                        autocomplete="off" autocapitalize="off" maxlength=(QUERY)
                        placeholder="any node"
                        aria-describedby={ @if error.is_some() { "q-error " } "q-add" }
                        aria-invalid=[error.map(|_| "true")];
                    button.btn.primary { "Find" }
                }
                @if let Some(error) = error { (mistake(error)) }
                ul.chips id="q-add" aria-label="Conditions to add" {
                    li { "Add" }
                    @for chip in CHIPS {
                        @if let Some(query) = with(chip, &self.query) {
                            li {
                                a href=(address("/market", &[("class", class), ("q", &query)])) {
                                    (chip)
                                }
                            }
                        }
                    }
                    li { a href=(address("/market", &[("class", class)])) { "start anew" } }
                }
            }
        }
    }

    fn table(&self, report: &FindReport) -> Markup {
        let all = || {
            let lines = report.nodes.iter();
            lines.flat_map(|node| node.offers.iter().map(move |offer| (node, offer)))
        };
        let more = all().count().saturating_sub(OFFERS);
        if report.nodes.is_empty() {
            return html! {};
        }
        let rows = html! {
            @for (node, offer) in all().take(OFFERS) { (self.row(node, offer)) }
        };
        let columns = [
            column("Seller", ""),
            column("Class", "opt"),
            column("Free", "num"),
            column("Reserve/h", "num"),
            column("Buy now/h", "num opt"),
            column("Sold by", "opt2"),
            column("Taken back", "opt2"),
            column("RTT, ms", "num opt"),
        ];
        html! {
            (table("Offers that fit", &columns, rows))
            @if more > 0 {
                div.panel-body {
                    p.muted { (count(more as u64)) " more offers: narrow the query." }
                }
            }
        }
    }

    fn row(&self, node: &FoundNode, offer: &FoundOffer) -> Markup {
        let key = node.node.to_hex();
        let id = node.seller.to_hex();
        let name = self.names.get(&node.seller).map(|name| short(name, 32));
        let site = node.attributes.get("site").map(|site| short(site, 40));
        html! {
            tr {
                th scope="row" {
                    (name.unwrap_or_else(|| id.chars().take(8).collect()))
                    span.sub title={ "Node " (key) } {
                        (site.unwrap_or_else(|| key.chars().take(16).collect()))
                    }
                }
                td.opt { (short(&offer.class, 40)) }
                td.num { (count(offer.free)) }
                td.num { (money(offer.price)) }
                td.num.opt { (money_or_none(offer.buy)) }
                td.opt2 { (sold_by(&offer.mechanism)) }
                td.opt2 { (if offer.firm { "never" } else { "with notice" }) }
                td.num.opt { (rtt(node)) }
            }
        }
    }

    /// What each condition did.
    pub(super) fn why_panel(&self, class: &str) -> Markup {
        let Some(report) = self.report.as_ref().ok().filter(|r| !r.steps.is_empty()) else {
            return html! {};
        };
        let out = report.known.saturating_sub(report.fitting);
        let title = match out {
            0 => "What each condition did".to_owned(),
            1 => "Why not the other node".to_owned(),
            n => format!("Why not the other {} nodes", count(n)),
        };
        let mut fields = vec![("class", class)];
        let freed = freed(report);
        fields.extend(freed.as_deref().map(|query| ("q", query)));
        let panel = Panel {
            id: "why",
            title: &title,
            meta: Some(html! {
                "Conditions in order. Alone counts the nodes that fulfil all others; nearest is \
                 the closest value among these."
            }),
            body: html! {
                (steps(report))
                @if let Some(group) = &report.group {
                    div.panel-body { p.muted { (of_group(group)) } }
                }
            },
            foot: freed.is_some().then(|| {
                html! {
                    span { "Without any condition all known nodes fit." }
                    a href=(address("/market", &fields)) { "Show them" }
                }
            }),
            ..Panel::default()
        };
        html! { (panel) }
    }
}

/// The query that leaves all conditions away, where they leave nothing.
fn freed(report: &FindReport) -> Option<String> {
    (report.nodes.is_empty() && report.group.is_none() && report.known > 0)
        .then(|| "sort by price".to_owned())
}

/// The names of sellers, of those that have one.
async fn names(node: &NodeBackend, report: &FindReport) -> BTreeMap<AccountId, String> {
    let sellers: Vec<AccountId> = report.nodes.iter().map(|node| node.seller).collect();
    let named = node.query(move |core| {
        let state = core.state();
        let name = |id: AccountId| Some((id, state.member_name(&id)?.to_owned()));
        sellers.into_iter().filter_map(name).collect()
    });
    named.await.unwrap_or_default()
}

fn said(report: &FindReport) -> String {
    let free: u64 = report
        .nodes
        .iter()
        .flat_map(|node| node.offers.iter().map(|offer| u64::from(offer.free)))
        .sum();
    let mut text = format!(
        "{} of {} known nodes fit, with {}.",
        count(report.fitting),
        count(report.known),
        counted(free, "free unit")
    );
    if report.asked > 0 {
        text.push_str(&format!(
            " {} further nodes were asked; {} answered with something new.",
            count(report.asked),
            count(report.learnt)
        ));
    }
    text
}

fn mistake(error: &ApiError) -> Markup {
    html! {
        div.field {
            p.error id="q-error" role="alert" {
                (sentence(&error.message)) " " (sentence(&error.hint))
            }
        }
    }
}

/// A query with another condition in front; `None` where that would change its meaning, or where
/// it has the condition.
fn with(condition: &str, query: &str) -> Option<String> {
    let rest = query.trim();
    if rest.contains("||") || rest.contains(condition) {
        return None;
    }
    let ends = ["choose ", "sort ", "limit "];
    let between = match rest {
        "" => "",
        rest if ends.iter().any(|word| rest.starts_with(word)) => " ",
        _ => " && ",
    };
    Some(format!("{condition}{between}{rest}"))
}

/// A round trip in milliseconds; with a sign where it is only a bound.
fn rtt(node: &FoundNode) -> String {
    match node.rtt_us {
        None => NONE.to_owned(),
        Some(0) => "here".to_owned(),
        Some(us) => {
            let sign = if node.rtt_measured { "" } else { "≤ " };
            format!("{sign}{}.{}", count(us / 1_000), us % 1_000 / 100)
        }
    }
}

fn steps(report: &FindReport) -> Markup {
    let more = report.steps.len().saturating_sub(STEPS);
    let row = |step: &FindStep| {
        let nearest = step.nearest.as_ref().map(|value| short(value, 40));
        html! {
            tr {
                th.wrap scope="row" { code { (short(&step.condition, 120)) } }
                td.num { (count(step.left)) }
                td.num { (count(step.alone)) }
                td.num.opt { (count(step.unknown)) }
                td.num { (nearest.unwrap_or_else(|| NONE.to_owned())) }
            }
        }
    };
    let rows = html! {
        tr {
            th scope="row" { "Nodes known" }
            td.num { (count(report.known)) }
            td {} td.opt {} td {}
        }
        @for step in report.steps.iter().take(STEPS) { (row(step)) }
    };
    let columns = [
        column("Condition", ""),
        column("Left", "num"),
        column("Alone", "num"),
        column("Unknown", "num opt"),
        column("Nearest", "num"),
    ];
    html! {
        (table("What each condition did", &columns, rows))
        @if more > 0 { div.panel-body { p.muted { (count(more as u64)) " more conditions." } } }
    }
}

fn of_group(group: &FindGroup) -> String {
    let result = if group.found { "found" } else { "not found" };
    let mut text = format!(
        "Group of {}: {result}; {} nodes looked at, of {} sites",
        short(&group.wanted, 120),
        count(group.candidates),
        count(group.sites)
    );
    if group.pairs > 0 {
        text.push_str(&format!(
            ", {} of {} pairs near enough, {} unknown",
            count(group.near_pairs),
            count(group.pairs),
            count(group.unknown_pairs)
        ));
    }
    if group.gave_up {
        text.push_str("; given up before everything was tried: ask for less");
    }
    text + "."
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::api::ErrorCode;
    use crate::web::command::tests::exist;
    use crate::web::samples::{HOSTILE, found};

    /// A report of hostile sellers.
    pub(in crate::web::market) fn of(report: Answer<FindReport>) -> Found {
        let names = match &report {
            Ok(report) => report
                .nodes
                .iter()
                .map(|n| (n.seller, HOSTILE.to_owned()))
                .collect(),
            Err(_) => BTreeMap::new(),
        };
        let query = format!("seller == \"{HOSTILE}\"");
        Found {
            query,
            report,
            names,
        }
    }

    #[test]
    fn offers_of_hostile_sellers_are_text() {
        let found = of(Ok(found(1)));
        let page = html! { (found.panel(HOSTILE)) (found.why_panel(HOSTILE)) }.into_string();
        assert!(
            !page.contains("<script") && page.contains("&lt;script"),
            "{page}"
        );
        assert!(
            page.contains("≤ 12.3") && page.contains("with notice"),
            "{page}"
        );
        assert_eq!(exist(&page), 1);
    }

    #[test]
    fn many_offers_are_counted_and_not_listed() {
        let page = of(Ok(found(500))).panel("small").into_string();
        assert_eq!(page.matches("<tr><th scope=\"row\">").count(), OFFERS);
        assert!(page.contains("440 more offers"), "{page}");
    }

    #[test]
    fn a_mistake_stands_under_the_query() {
        let found = of(Err(ApiError::new(
            ErrorCode::Usage,
            "column 3: <b>",
            "write 8GiB",
        )));
        let page = found.panel("small").into_string();
        assert!(page.contains("aria-invalid=\"true\"") && page.contains("Column 3: &lt;b&gt;."));
        assert!(!found.is_explained() && found.why_panel("small").0.is_empty());
    }

    #[test]
    fn conditions_are_added_in_front() {
        let with = |query| with("firm", query);
        assert_eq!(with("").unwrap(), "firm");
        assert_eq!(with("cpu > 1").unwrap(), "firm && cpu > 1");
        assert_eq!(with("sort by price").unwrap(), "firm sort by price");
        assert_eq!(
            with("a == 1 || b == 2"),
            None,
            "would bind to the first alone"
        );
        assert_eq!(with("firm && cpu > 1"), None);
        for query in [
            "",
            "cpu > 1",
            "sort by price",
            "choose 2 nodes from 2 sites",
        ] {
            let query = with(query).unwrap();
            assert!(
                query.parse::<gridbay_core::query::Query>().is_ok(),
                "{query}"
            );
        }
    }
}
