//! Contracts for batches of jobs, and the plans of those who take jobs by deadlines ([`plans`]).

mod plans;

use super::failure::Shown;
use super::figures::{NONE, count, counted, money, short};
use super::gantt::{Bar, Gantt, Look, Row, legend};
use super::parts::{
    Fragment, Panel, Tone, cli, column, empty, live, pill, row_of_stats, stat, table,
};
use super::session::Who;
use super::shell::{Frame, Page};
use crate::api::Answer;
use crate::api::types::{Contract, ContractRole, PlanView};
use crate::backend::{Node, NodeBackend};
use crate::cli::text::span;
use axum::Extension;
use axum::extract::State;
use axum::response::Html;
use gridbay_protocol::units::Credits;
use maud::{Markup, html};

/// Contracts shown at the most.
const CONTRACTS: usize = 50;
/// Rows of a chart at the most.
const ROWS: usize = 12;

/// What the page shows.
struct View {
    /// Those of this node.
    own: Vec<Contract>,
    /// Contracts on the ledger.
    in_all: usize,
    plans: Vec<PlanView>,
    /// The running slot.
    slot: u64,
}

/// The handler.
pub(super) async fn show(State(node): State<Node>, Extension(who): Extension<Who>) -> Shown {
    let frame = Frame::of(&node).await?;
    let page = View::of(&node, frame.status.slot).await?;
    Ok(Html(page.render(&frame, &who).into_string()))
}

/// The places that change.
pub(super) async fn fragments(node: &NodeBackend, slot: u64) -> Answer<Vec<Fragment>> {
    Ok(View::of(node, slot).await?.fragments())
}

impl View {
    /// As things stand.
    async fn of(node: &NodeBackend, slot: u64) -> Answer<View> {
        let mut own = node.contracts().await?;
        let in_all = own.len();
        own.retain(|contract| contract.role != ContractRole::None);
        Ok(View {
            own,
            in_all,
            plans: node.plans().await?,
            slot,
        })
    }

    fn fragments(&self) -> Vec<Fragment> {
        vec![
            ("stats", self.stats()),
            ("contracts", self.contracts()),
            ("plans", plans::panels(&self.plans)),
        ]
    }

    fn render(&self, frame: &Frame, who: &Who) -> Markup {
        let contracts = Panel {
            id: "own",
            title: "Contracts",
            meta: Some(html! {
                "As client or provider. " (counted(self.in_all as u64, "contract"))
                " on the ledger in all."
            }),
            body: live("contracts", &self.contracts()),
            foot: Some(cli("cli-all", "gridbay contract list --all")),
            ..Panel::default()
        };
        let page = Page {
            here: "Contracts",
            title: "Contracts and deadlines",
            lede: "Jobs that a provider promised to run, and jobs that are paid by when they are \
                   done.",
            actions: html! {},
            command: "gridbay contract list",
            events: "/events?page=contracts",
            body: html! {
                (row_of_stats(self.stats()))
                (contracts)
                div.stack id="plans" data-live="replace" { (plans::panels(&self.plans)) }
            },
        };
        page.render(frame, who)
    }

    fn stats(&self) -> Markup {
        let of = |role| {
            self.own
                .iter()
                .filter(move |contract| contract.role == role)
        };
        let sum = |all: Vec<Credits>| Credits::sum(all).unwrap_or(Credits::MAX);
        let bonds = sum(of(ContractRole::Provider).map(|c| c.bond).collect());
        let locked = sum(of(ContractRole::Client).map(|c| c.escrow).collect());
        let jobs = self.plans.iter().flat_map(|plan| &plan.jobs);
        let own = jobs.clone().filter(|job| job.job.is_some()).count();
        let (bought, sold) = (of(ContractRole::Client), of(ContractRole::Provider));
        html! {
            (stat("As client", &count(bought.count() as u64), "",
                &format!("{} credits locked", money(locked))))
            (stat("As provider", &count(sold.count() as u64), "",
                &format!("{} credits staked", money(bonds))))
            (stat("Jobs by deadlines", &count(jobs.count() as u64), "planned",
                &format!("{} of this node", count(own as u64))))
            (stat("Running slot", &count(self.slot), "", "where the charts begin"))
        }
    }

    fn contracts(&self) -> Markup {
        if self.own.is_empty() {
            let text = "A contract buys a batch of jobs from one provider: it earns each job’s \
                        value, and owes a penalty for each that it does not do. It is proposed \
                        by an order, and signed by its provider:";
            let command = "gridbay run --provider MEMBER --jobs 10 --time 10m --value 2 --hold 1h \
                           --decay 30m --penalty 0.5 -- hostname";
            return empty(
                "No contract of this node",
                text,
                Some(("cli-none", command)),
            );
        }
        let rows = html! { @for one in self.own.iter().take(CONTRACTS) { (row(one)) } };
        let columns = [
            column("Contract", ""),
            column("State", ""),
            column("Done", "num"),
            column("Asked", "num opt"),
            column("Failed", "num opt"),
            column("Value", "num"),
            column("Penalty", "num opt2"),
            column("A job", "num opt2"),
            column("Earned", "num opt2"),
            column("Owed", "num opt2"),
        ];
        let more = self.own.len().saturating_sub(CONTRACTS);
        html! {
            div.panel-body { (self.chart()) }
            (table("Contracts of this node", &columns, rows))
            @if more > 0 { div.panel-body { p.muted { (count(more as u64)) " more contracts." } } }
            (self.next())
        }
    }

    /// The slots in which jobs may be requested.
    fn chart(&self) -> Markup {
        let ends = self.own.iter().map(|contract| contract.last_slot);
        let end = ends.max().unwrap_or(self.slot).max(self.slot);
        let row = |contract: &Contract| Row {
            name: contract.contract.to_string(),
            bars: vec![Bar {
                first: contract.first_slot,
                last: contract.last_slot,
                look: match contract.signed && !contract.closed {
                    true => Look::Planned,
                    false => Look::Open,
                },
                text: format!("{} of {} jobs done", contract.completed, contract.jobs),
            }],
            marks: Vec::new(),
        };
        let rows: Vec<Row> = self.own.iter().take(ROWS).map(row).collect();
        let gantt = Gantt {
            first: self.slot,
            slots: end.saturating_sub(self.slot).saturating_add(1),
            rows: &rows,
            says: "Slots in which jobs of each contract may be requested; the table has the rest.",
        };
        html! {
            (legend(&[
                (Look::Planned, "Jobs may be requested"),
                (Look::Open, "Not signed, or closed"),
            ]))
            (gantt.draw())
        }
    }

    /// The words that this node may say of its contracts.
    fn next(&self) -> Markup {
        let sign = |c: &&Contract| c.role == ContractRole::Provider && !c.signed && !c.closed;
        let close = |c: &&Contract| c.role == ContractRole::Client && !c.closed;
        html! {
            div.panel-body {
                @if let Some(one) = self.own.iter().find(sign) {
                    p.muted { "Signing stakes the penalty of every job:" }
                    (cli("cli-sign", &format!("gridbay contract sign {}", one.contract.to_hex())))
                }
                @if let Some(one) = self.own.iter().find(close) {
                    p.muted { "This requests no more jobs, or takes a proposal back:" }
                    (cli("cli-close", &format!("gridbay contract close {}", one.contract.to_hex())))
                }
            }
        }
    }
}

fn row(contract: &Contract) -> Markup {
    let (tone, word) = match (contract.signed, contract.closed) {
        (_, true) => (Tone::Idle, "Closed"),
        (true, false) => (Tone::Live, "Signed"),
        (false, false) => (Tone::Warn, "Proposed"),
    };
    let role = match contract.role {
        ContractRole::Client => "client",
        ContractRole::Provider => "provider",
        ContractRole::None => NONE,
    };
    html! {
        tr {
            th scope="row" {
                span.id { (contract.contract) }
                span.sub { (role) ", " (short(&contract.class, 24)) }
            }
            td { (pill(tone, word)) }
            td.num { (count(contract.completed)) span.faint { " of " (count(contract.jobs)) } }
            td.num.opt { (count(contract.requested)) }
            td.num.opt { (count(contract.failed)) }
            td.num { (money(contract.value)) }
            td.num.opt2 { (money(contract.penalty)) }
            td.num.opt2 { (span(contract.job_seconds.saturating_mul(1_000))) }
            td.num.opt2 { (money(contract.earned)) }
            td.num.opt2 { (money(contract.owed)) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::scope::Scope;
    use crate::web::command::tests::exist;
    use crate::web::samples::{self, HOSTILE};
    use serde_json::json;

    fn contract(role: &str, signed: bool) -> Contract {
        serde_json::from_value(json!({
            "contract": "ab".repeat(32), "class": HOSTILE, "client": "11".repeat(32),
            "provider": "22".repeat(32), "role": role, "signed": signed, "closed": false,
            "jobs": 10, "requested": 4, "completed": 3, "failed": 1, "served": 0,
            "job_seconds": 60, "value": "2", "penalty": "0.5", "hold_seconds": 60,
            "decay_seconds": 60, "alpha_ppm": 0, "beta16": 16, "first_slot": 1, "last_slot": 90,
            "stands_until": 9, "escrow": "20", "bond": "5", "earned": "6", "owed": "0.5",
        }))
        .unwrap()
    }

    fn shows(own: Vec<Contract>) -> View {
        View {
            in_all: own.len() + 3,
            own,
            plans: vec![plans::tests::plan(2)],
            slot: 7,
        }
    }

    fn page(shows: &View) -> String {
        let page = shows.render(&samples::frame(), &samples::who(Scope::Read));
        page.into_string()
    }

    #[test]
    fn a_page_of_hostile_words_has_no_markup_of_them_and_an_end() {
        let page = page(&shows(vec![contract("client", true); 60]));
        assert!(!page.contains("<script>alert") && page.contains("&lt;script&gt;alert"));
        for (id, _) in shows(Vec::new()).fragments() {
            let place = format!("id=\"{id}\" data-live=\"replace\"");
            assert_eq!(page.matches(&place).count(), 1, "{id}");
        }
        assert!(page.contains("10 more contracts") && page.contains("3 of 10 jobs done"));
        assert_eq!(page.matches("jobs done</title>").count(), ROWS);
        assert_eq!(exist(&page), 4);
    }

    #[test]
    fn each_party_is_told_its_own_word() {
        let page = |role: &str, signed| page(&shows(vec![contract(role, signed)]));
        assert!(page("provider", false).contains("contract sign abab"));
        assert!(!page("provider", true).contains("contract sign"));
        assert!(page("client", true).contains("contract close abab"));
    }

    #[test]
    fn no_contract_says_how_one_comes_about() {
        let page = page(&shows(Vec::new()));
        assert!(page.contains("No contract of this node"), "{page}");
        assert_eq!(exist(&page), 4);
    }
}
