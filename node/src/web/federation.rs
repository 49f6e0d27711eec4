//! The federation: its health, its members, the validators that sign its blocks, its rules.

use super::failure::Shown;
use super::figures::{NONE, count, money, short};
use super::parts::{
    Fragment, Panel, Tone, cli, column, empty, live, meter, notice, pill, row_of_stats, stat, table,
};
use super::session::Who;
use super::shell::{Frame, Page};
use crate::api::Answer;
use crate::api::types::{BankReport, Federation, FederationMember, FederationValidator};
use crate::backend::{Node, NodeBackend, wall_ms};
use crate::cli::{rules_told, text};
use axum::Extension;
use axum::extract::State;
use axum::response::Html;
use maud::{Markup, html};

/// Members, and validators, shown at the most.
const LINES: usize = 100;
/// A block that is older than so many heartbeats is late.
const HEARTBEATS: u64 = 3;

/// What the page shows.
struct View {
    federation: Federation,
    /// `None` if the bank's figures cannot be told now.
    bank: Option<BankReport>,
    now_ms: u64,
}

/// The handler.
pub(super) async fn show(State(node): State<Node>, Extension(who): Extension<Who>) -> Shown {
    let (frame, page) = (Frame::of(&node).await?, View::of(&node).await?);
    Ok(Html(page.render(&frame, &who).into_string()))
}

/// The places that change. The rules do not.
pub(super) async fn fragments(node: &NodeBackend) -> Answer<Vec<Fragment>> {
    Ok(View::of(node).await?.fragments())
}

impl View {
    /// As things stand.
    async fn of(node: &NodeBackend) -> Answer<View> {
        Ok(View {
            federation: node.federation().await?,
            bank: node.bank().await.ok(),
            now_ms: wall_ms(),
        })
    }

    fn fragments(&self) -> Vec<Fragment> {
        vec![
            ("health", self.health()),
            ("stats", self.stats()),
            ("signers", self.validators()),
            ("founders", self.members()),
            ("money", self.money()),
        ]
    }

    fn render(&self, frame: &Frame, who: &Who) -> Markup {
        let validators = Panel {
            id: "validators",
            title: "Validators",
            meta: Some(html! {
                "Signatures under the last " (count(self.federation.blocks)) " blocks. More than "
                "two thirds of the power decide; the others may be late."
            }),
            body: live("signers", &self.validators()),
            foot: Some(cli("cli-verify", "gridbay ledger verify")),
            ..Panel::default()
        };
        let members = Panel {
            id: "members",
            title: "Members",
            meta: Some(html! { "They founded the network, and answer for those they invited" }),
            body: live("founders", &self.members()),
            ..Panel::default()
        };
        let page = Page {
            here: "Federation",
            title: "Federation",
            lede: "Who founded this network, who signs its blocks, and by which rules it trades.",
            actions: html! {},
            command: "gridbay federation",
            events: "/events?page=federation",
            body: html! {
                div.stack id="health" data-live="replace" { (self.health()) }
                (row_of_stats(self.stats()))
                (validators) (members)
                div.cols.two { (self.rules()) (self.bank()) }
            },
        };
        page.render(frame, who)
    }

    /// The power whose signatures are under the last blocks.
    fn present(&self) -> u64 {
        let all = self.federation.validators.iter();
        let present = all.filter(|validator| validator.signed.is_some());
        present.map(|v| v.power).fold(0, u64::saturating_add)
    }

    /// Troubles with the making of blocks.
    fn health(&self) -> Markup {
        let federation = &self.federation;
        let age = self.now_ms.saturating_sub(federation.block_ms);
        let late = age > HEARTBEATS.saturating_mul(federation.rules.heartbeat_ms);
        let spare = self.present().saturating_sub(federation.quorum);
        let missing = federation.power.saturating_sub(self.present());
        html! {
            @if late {
                (notice(Tone::Bad, "No block has come for a while.", &format!(
                    "The last one is {} old; at rest one comes every {}. This node is cut off, or \
                     too few validators are up: see gridbay doctor.",
                    text::span(age), text::span(federation.rules.heartbeat_ms))))
            } @else if missing > 0 {
                (notice(Tone::Warn, "Not all validators sign.", &format!(
                    "Power of {} has not signed of late. Blocks are made as long as no more than \
                     {} of the rest is lost.", count(missing), count(spare))))
            }
        }
    }

    fn stats(&self) -> Markup {
        let federation = &self.federation;
        let interval = federation.interval_ms.map(text::span);
        let rules = &federation.rules;
        let pace = format!(
            "on average; {} with work, {} at rest",
            text::span(rules.block_interval_ms),
            text::span(rules.heartbeat_ms)
        );
        let last = format!("at {} UTC", text::time(federation.block_ms));
        let power = format!("of {}, and {} decide", federation.power, federation.quorum);
        let slot = format!("{} rounds", count(rules.slot_rounds));
        let accounts = format!(
            "of {} members and those they invited",
            federation.members.len()
        );
        html! {
            (stat("Height", &count(federation.height), "", &last))
            (stat("Block interval", &interval.unwrap_or(NONE.to_owned()), "", &pace))
            (stat("Signing power", &count(self.present()), "", &power))
            (stat("Slot", &text::span(rules.slot_ms), "", &slot))
            (stat("Accounts", &count(federation.accounts), "", &accounts))
        }
    }

    fn validators(&self) -> Markup {
        let all = &self.federation.validators;
        if all.is_empty() {
            let text = "Without one no block is made. The genesis names them.";
            return empty("No validators", text, None);
        }
        let rows = html! { @for one in all.iter().take(LINES) { (self.validator(one)) } };
        let columns = [
            column("Validator", ""),
            column("State", ""),
            column("Power", "num"),
            column("Last signed", "num"),
            column("Signed", "opt"),
            column("Node", "opt2"),
        ];
        html! { (table("Validators", &columns, rows)) (more(all.len())) }
    }

    fn validator(&self, one: &FederationValidator) -> Markup {
        let blocks = self.federation.blocks.max(1);
        let percent = one.signatures.min(blocks) * 100 / blocks;
        let (tone, word) = match (one.signed, percent) {
            (None, _) => (Tone::Bad, "Silent"),
            (_, 0..50) => (Tone::Warn, "Late"),
            _ => (Tone::Ok, "Signs"),
        };
        let name = one.name.as_ref().map(|name| short(name, 40));
        let name = name.unwrap_or_else(|| one.validator.to_string());
        let says = format!("{name}: part of the last blocks that it signed");
        html! {
            tr class=[one.own.then_some("own")] {
                th scope="row" {
                    (name) span.sub { span.id { (one.validator) } @if one.own { " this node" } }
                }
                td { (pill(tone, word)) }
                td.num { (count(one.power)) }
                td.num { (one.signed.map_or(NONE.to_owned(), count)) }
                td.opt { (meter(u32::try_from(percent).unwrap_or(100), &says)) }
                td.opt2 { span.id { (one.node) } }
            }
        }
    }

    fn members(&self) -> Markup {
        let all = &self.federation.members;
        if all.is_empty() {
            let text = "The genesis names them; a node that has not joined has none. This command \
                        joins a network:";
            return empty(
                "No members",
                text,
                Some(("cli-join", "gridbay join --file genesis.cbor")),
            );
        }
        let rows = html! { @for one in all.iter().take(LINES) { (member(one)) } };
        let columns = [
            column("Member", ""),
            column("Power", "num"),
            column("Guests", "num"),
            column("Credit line", "num opt"),
            column("Account", "opt2"),
        ];
        html! { (table("Members", &columns, rows)) (more(all.len())) }
    }

    fn rules(&self) -> Markup {
        let panel = Panel {
            id: "rules",
            title: "Rules",
            meta: Some(html! { "Of the genesis; they cannot be changed later" }),
            body: html! {
                div.panel-body {
                    dl.kv.left {
                        @for (name, value) in rules_told(&self.federation.rules) {
                            dt { (capital(name)) } dd { (short(&value, 200)) }
                        }
                        dt { "Network" } dd { code { (self.federation.network.to_hex()) } }
                    }
                }
            },
            ..Panel::default()
        };
        html! { (panel) }
    }

    fn bank(&self) -> Markup {
        let panel = Panel {
            id: "bank",
            title: "Bank",
            meta: Some(html! { "Who gets the buyers’ money, and how much money there is" }),
            body: live("money", &self.money()),
            foot: Some(cli("cli-bank", "gridbay ledger bank")),
            ..Panel::default()
        };
        html! { (panel) }
    }

    fn money(&self) -> Markup {
        match &self.bank {
            Some(bank) => money_of(bank),
            None => html! {
                div.panel-body { p.muted { "The ledger does not tell its figures now." } }
            },
        }
    }
}

fn member(one: &FederationMember) -> Markup {
    html! {
        tr class=[one.own.then_some("own")] {
            th scope="row" { (short(&one.name, 40)) @if one.own { span.sub { "this node" } } }
            td.num { @if one.power == 0 { (NONE) } @else { (count(one.power)) } }
            td.num { (count(one.guests)) }
            td.num.opt { (money(one.credit_line)) }
            td.opt2 { span.id { (one.account) } }
        }
    }
}

fn money_of(bank: &BankReport) -> Markup {
    let (rules, supply) = (&bank.policy, &bank.supply);
    let percent = |ppm: u64| format!("{} %", text::thousandths(ppm / 10));
    let tax = rules.tax_ppm.zip(rules.tax_every).map(|(ppm, every)| {
        let goes = match rules.tax_goes_to {
            Some(gridbay_protocol::bank::Redistribution::Deficit) => "those below their baseline",
            _ => "all by their shares",
        };
        let part = percent(u64::from(ppm));
        format!("{part} of savings every {} blocks, to {goes}", count(every))
    });
    html! {
        div.panel-body {
            dl.kv {
                dt { "Revenue" }
                dd {
                    @match rules.shared_every {
                        Some(every) => { "shared by all every " (count(every)) " blocks" }
                        None => { "to the owners of the units" }
                    }
                }
                dt { "Tax" } dd { (tax.unwrap_or("none".to_owned())) }
                dt { "Baseline" } dd { (money(rules.baseline)) }
                dt { "Minted" } dd { (money(supply.minted)) }
                dt { "Circulating" } dd { (money(supply.circulating)) }
                dt { "Credit drawn" } dd { (money(supply.drawn)) }
                dt { "Treasury" } dd { (money(supply.treasury)) }
                dt { "Velocity" }
                dd { (bank.velocity_ppm.map_or(NONE.to_owned(), percent)) }
                @for class in bank.classes.iter().take(LINES) {
                    dt { "Price index, " (short(&class.class, 40)) }
                    dd { (class.index_ppm.map_or(NONE.to_owned(), percent)) }
                }
            }
        }
    }
}

/// A name with a capital letter.
fn capital(name: &str) -> String {
    let mut chars = name.chars();
    let first = chars.next().into_iter().flat_map(char::to_uppercase);
    first.chain(chars).collect()
}

fn more(all: usize) -> Markup {
    let more = all.saturating_sub(LINES);
    html! {
        @if more > 0 { div.panel-body { p.muted { (count(more as u64)) " more." } } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::scope::Scope;
    use crate::web::command::tests::exist;
    use crate::web::samples::{self, HOSTILE};

    fn shows(lines: usize, signed: bool) -> View {
        let mut federation = crate::cli::federation_sample();
        let (mut member, mut validator) = (
            federation.members[0].clone(),
            federation.validators[0].clone(),
        );
        member.name = HOSTILE.to_owned();
        validator.name = Some(HOSTILE.to_owned());
        if !signed {
            (validator.signed, validator.signatures) = (None, 0);
        }
        federation.members = vec![member; lines];
        federation.validators = vec![validator; lines];
        federation.power = 2 * lines as u64;
        federation.quorum = federation.power * 2 / 3 + 1;
        View {
            federation,
            bank: None,
            now_ms: 1_000,
        }
    }

    fn page(shows: &View) -> String {
        let page = shows.render(&samples::frame(), &samples::who(Scope::Read));
        page.into_string()
    }

    #[test]
    fn a_page_of_hostile_words_has_no_markup_of_them_and_an_end() {
        let page = page(&shows(150, true));
        assert!(!page.contains("<script>alert") && page.contains("&lt;script&gt;alert"));
        for (id, _) in shows(1, true).fragments() {
            let place = format!("id=\"{id}\" data-live=\"replace\"");
            assert_eq!(page.matches(&place).count(), 1, "{id}");
        }
        assert_eq!(page.matches("50 more.").count(), 2, "{page}");
        assert_eq!(exist(&page), 3);
        assert!(!page.contains("Not all validators sign"), "{page}");
    }

    #[test]
    fn silence_is_told_with_what_may_still_be_lost() {
        let mut some = shows(3, true);
        some.federation.validators[0].signed = None;
        let told = some.health().into_string();
        assert!(told.contains("Power of 2 has not signed"), "{told}");
        assert!(page(&shows(1, false)).contains("Silent"));
        some.now_ms = 60_000;
        let told = some.health().into_string();
        assert!(
            told.contains("No block has come") && told.contains("1m00s"),
            "{told}"
        );
    }

    #[test]
    fn a_node_of_no_network_says_how_to_join() {
        let page = page(&shows(0, true));
        assert!(page.contains("No validators") && page.contains("No members"));
        assert_eq!(exist(&page), 4);
    }

    #[test]
    fn what_the_bank_tells_is_shown() {
        let bank: BankReport = serde_json::from_value(serde_json::json!({
            "height": 1, "policy": {
                "shared_every": 3_600, "baseline": "1000", "shares": 1, "tax_ppm": 50_000,
                "tax_every": 60, "tax_goes_to": "deficit",
            },
            "supply": {"minted": "9", "circulating": "8", "drawn": "0", "pool": "1"},
            "velocity_ppm": 1_250_000, "taxing": false, "epochs": [],
            "classes": [{"class": HOSTILE, "index_ppm": 1_500_000}],
        }))
        .unwrap();
        let told = money_of(&bank).into_string();
        for part in [
            "3,600 blocks",
            "5 % of savings",
            "125 %",
            "150 %",
            "below their baseline",
        ] {
            assert!(told.contains(part), "{part}: {told}");
        }
        assert!(!told.contains("<script"), "{told}");
    }
}
