//! Pools: who has which share of units that all who claim some divide among them.

use super::failure::Shown;
use super::figures::{NONE, count, counted, money, short};
use super::gantt::{Bar, Gantt, Look, Row, legend};
use super::parts::{Fragment, Panel, cli, column, empty, meter, row_of_stats, stat, table};
use super::session::Who;
use super::shell::{Frame, Page};
use crate::api::Answer;
use crate::api::types::{PoolClaim, PoolView};
use crate::backend::{Node, NodeBackend};
use crate::cli::text::thousandths;
use crate::cli::{percent_text, text};
use axum::Extension;
use axum::extract::State;
use axum::response::Html;
use maud::{Markup, html};

/// Pools, and claims of one, shown at the most.
const POOLS: usize = 6;
const CLAIMS: usize = 40;
/// Own claims drawn by themselves at the most; the others are one bar.
const DRAWN: usize = 4;
/// Millionths in a per cent.
const PERCENT: u64 = 10_000;

/// What the page shows.
struct Pools(Vec<PoolView>);

/// The handler.
pub(super) async fn show(State(node): State<Node>, Extension(who): Extension<Who>) -> Shown {
    let (frame, page) = (Frame::of(&node).await?, Pools::of(&node).await?);
    Ok(Html(page.render(&frame, &who).into_string()))
}

/// The places that change.
pub(super) async fn fragments(node: &NodeBackend) -> Answer<Vec<Fragment>> {
    Ok(Pools::of(node).await?.fragments())
}

impl Pools {
    /// As things stand; those of this node first, then those with most claims.
    async fn of(node: &NodeBackend) -> Answer<Pools> {
        let mut all = node.pools().await?;
        all.sort_by_key(|pool| (!pool.own, std::cmp::Reverse(pool.claims.len()), pool.offer));
        Ok(Pools(all))
    }

    fn fragments(&self) -> Vec<Fragment> {
        vec![("stats", self.stats()), ("pools", self.panels())]
    }

    fn panels(&self) -> Markup {
        let more = self.0.len().saturating_sub(POOLS);
        html! {
            @if self.0.is_empty() { (none()) }
            @for (n, pool) in self.0.iter().take(POOLS).enumerate() { (panel(n, pool)) }
            @if more > 0 { p.muted { (count(more as u64)) " more pools." } }
        }
    }

    fn render(&self, frame: &Frame, who: &Who) -> Markup {
        let page = Page {
            here: "Pools",
            title: "Pools",
            lede: "Units that are divided anew each slot among all who claim some, by what they \
                   pay.",
            actions: html! {},
            command: "gridbay market pools",
            events: "/events?page=pools",
            body: html! {
                (row_of_stats(self.stats()))
                div.stack id="pools" data-live="replace" { (self.panels()) }
            },
        };
        page.render(frame, who)
    }

    fn stats(&self) -> Markup {
        let units: u64 = self.0.iter().map(|pool| u64::from(pool.units)).sum();
        let claims = || self.0.iter().flat_map(|pool| &pool.claims);
        let running: u64 = claims().map(|claim| u64::from(claim.running)).sum();
        let own = || claims().filter(|claim| claim.job.is_some());
        let worth: u64 = own().map(|claim| claim.processors_milli).sum();
        let pools = counted(self.0.len() as u64, "pool");
        html! {
            (stat("Units", &count(units), "", &format!("in {pools}")))
            (stat("In use", &count(running), "", "units of the running slot, by all claims"))
            (stat("Claims", &count(claims().count() as u64), "",
                &format!("{} of this node", own().count())))
            (stat("Own share", &thousandths(worth), "", "nodes’ worth of processors now"))
        }
    }
}

fn none() -> Markup {
    let text = "No offer is shared now. A seller sets one so:";
    let command = "gridbay offer set --class CLASS --units 4 --reserve 1 --mechanism share";
    let panel = Panel {
        id: "none",
        title: "Pools",
        body: empty("No pool", text, Some(("cli-set", command))),
        ..Panel::default()
    };
    html! { (panel) }
}

fn panel(n: usize, pool: &PoolView) -> Markup {
    let seller = match &pool.name {
        Some(name) => short(name, 40),
        None => pool.account.to_string(),
    };
    let title = format!("Pool of {seller}, {}", short(&pool.class, 40));
    let panel = Panel {
        id: &format!("pool-{n}"),
        title: &title,
        meta: Some(html! {
            (count(pool.units)) " units in slot " (count(pool.slot)) ", from "
            (money(pool.reserve)) " credits per node-hour. The users of one member hold "
            (percent_text(pool.cap_ppm)) " of a resource at the most."
        }),
        body: body(pool),
        foot: (n == 0).then(|| cli("cli-offers", "gridbay offer list")),
        ..Panel::default()
    };
    html! { (panel) }
}

fn body(pool: &PoolView) -> Markup {
    if pool.claims.is_empty() {
        let text = "The pool stands, and nobody claims a share of it: its units are auctioned \
                    meanwhile. This command claims one:";
        let command = "gridbay run --array 2 --time 10m --share --rate 5 -- hostname";
        return empty("No claims", text, Some(("cli-claim", command)));
    }
    let mut claims: Vec<&PoolClaim> = pool.claims.iter().collect();
    claims.sort_by_key(|claim| {
        (
            claim.job.is_none(),
            std::cmp::Reverse(claim.rate),
            claim.order,
        )
    });
    let rows = html! { @for claim in claims.iter().take(CLAIMS) { (row(pool, claim)) } };
    let columns = [
        column("Claim", ""),
        column("Rate/h", "num"),
        column("Runs", "num"),
        column("Entitled now", "num opt"),
        column("Next slot", "opt"),
        column("Of each resource", "wrap opt2"),
    ];
    let more = claims.len().saturating_sub(CLAIMS);
    html! {
        div.panel-body { (chart(pool, &claims)) }
        (table("Claims on the pool", &columns, rows))
        @if more > 0 { div.panel-body { p.muted { (count(more as u64)) " more claims." } } }
    }
}

fn row(pool: &PoolView, claim: &PoolClaim) -> Markup {
    let name = name(claim);
    let most = claim.shares_ppm.iter().max().copied().unwrap_or(0);
    let shares = pool.resources.iter().zip(&claim.shares_ppm);
    let shares = shares.map(|(one, ppm)| format!("{one} {}", percent_text(*ppm)));
    let shares: Vec<String> = shares.collect();
    html! {
        tr class=[claim.job.is_some().then_some("own")] {
            th.wrap scope="row" {
                @if let Some(id) = &claim.job { a href={ "/jobs/" (id) } { (name) } }
                @else { span.id { (claim.order) } }
                span.sub { (text::or_dash(claim.sponsor.as_ref().map(|name| short(name, 40)))) }
            }
            td.num { (money(claim.rate)) }
            td.num { (count(claim.running)) span.faint { " of " (count(claim.tasks)) } }
            td.num.opt { (thousandths(claim.processors_milli)) }
            td.opt {
                (meter((most / 10_000).min(100), &format!("{name}: share of the next slot")))
            }
            td.wrap.opt2 {
                @if shares.is_empty() { (NONE) } @else { (short(&shares.join(", "), 120)) }
            }
        }
    }
}

fn name(claim: &PoolClaim) -> String {
    let name = claim.name.as_ref().map(|name| short(name, 40));
    name.unwrap_or_else(|| claim.order.to_string())
}

/// A bar for each resource: own claims, then those of others together. Claims come own first.
fn chart(pool: &PoolView, claims: &[&PoolClaim]) -> Markup {
    let row = |(at, resource): (usize, &String)| {
        let (mut from, mut bars) = (0u64, Vec::new());
        let mut add = |share: u64, look: Look, text: String| {
            let to = from.saturating_add(share);
            let (first, end) = (from / PERCENT, to / PERCENT);
            if end > first {
                bars.push(Bar {
                    first,
                    last: end - 1,
                    look,
                    text,
                });
            }
            from = to;
        };
        let share = |claim: &PoolClaim| u64::from(claim.shares_ppm.get(at).copied().unwrap_or(0));
        let drawn = claims.iter().take_while(|claim| claim.job.is_some());
        let drawn = drawn.take(DRAWN).count();
        for claim in &claims[..drawn] {
            add(share(claim), Look::Own, name(claim));
        }
        let others = claims[drawn..].iter().map(|claim| share(claim)).sum();
        add(others, Look::Others, "others".to_owned());
        Row {
            name: resource.clone(),
            bars,
            marks: Vec::new(),
        }
    };
    let rows: Vec<Row> = pool.resources.iter().enumerate().map(row).collect();
    let says = format!(
        "Shares of {} claims in the next slot, by resource.",
        claims.len()
    );
    let gantt = Gantt {
        first: 0,
        slots: 100,
        rows: &rows,
        says: &says,
    };
    html! {
        (legend(&[(Look::Own, "This node, per cent"), (Look::Others, "Others")]))
        (gantt.draw())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::scope::Scope;
    use crate::web::command::tests::exist;
    use crate::web::samples::{self, HOSTILE};
    use serde_json::json;

    fn pool(own: usize, others: usize) -> PoolView {
        let id = "11".repeat(32);
        let claim = |own: bool| {
            json!({
                "order": id, "job": own.then_some("0123456789abcdef"),
                "name": own.then_some(HOSTILE), "sponsor": HOSTILE, "rate": "2", "tasks": 4,
                "running": 1, "processors_milli": 1_500, "shares_ppm": [250_000, 100_000],
            })
        };
        let own = (0..own).map(|_| claim(true));
        let claims: Vec<_> = own.chain((0..others).map(|_| claim(false))).collect();
        serde_json::from_value(json!({
            "offer": id, "label": 1, "account": id, "name": HOSTILE, "own": false,
            "class": HOSTILE, "slot": 8, "units": 4, "reserve": "1", "cap_ppm": 500_000,
            "sixteenths": 8, "resources": ["cpu", HOSTILE], "claims": claims,
        }))
        .unwrap()
    }

    fn page(pools: Vec<PoolView>) -> String {
        let page = Pools(pools).render(&samples::frame(), &samples::who(Scope::Read));
        page.into_string()
    }

    #[test]
    fn a_page_of_hostile_words_has_no_markup_of_them_and_an_end() {
        let page = page(vec![pool(1, 60); 8]);
        assert!(!page.contains("<script>alert") && page.contains("&lt;script&gt;alert"));
        for (id, _) in Pools(Vec::new()).fragments() {
            let place = format!("id=\"{id}\" data-live=\"replace\"");
            assert_eq!(page.matches(&place).count(), 1, "{id}");
        }
        assert!(
            page.contains("21 more claims") && page.contains("2 more pools"),
            "{page}"
        );
        assert_eq!(exist(&page), 2);
    }

    #[test]
    fn own_shares_come_first_and_others_behind_them() {
        let page = page(vec![pool(1, 2)]);
        let own = "class=\"bar soft c1\" x=\"0%\" y=\"6\" width=\"25%\"";
        let others = "class=\"bar soft c5\" x=\"25%\" y=\"6\" width=\"50%\"";
        assert!(page.contains(own) && page.contains(others), "{page}");
        assert!(page.contains("cpu 25 %") && page.contains("1.5"), "{page}");
    }

    #[test]
    fn no_pool_and_no_claim_say_what_to_do() {
        assert_eq!(exist(&page(Vec::new())), 2);
        let unclaimed = page(vec![pool(0, 0)]);
        assert!(unclaimed.contains("No claims"), "{unclaimed}");
        assert_eq!(exist(&unclaimed), 3);
    }
}
