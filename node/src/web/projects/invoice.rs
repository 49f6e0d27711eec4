//! The invoice of a project, for paper: what its orders cost within a time.

use super::period::Fields;
use super::words::{about, place};
use crate::api::Answer;
use crate::api::types::{Bought, Signed, Statement};
use crate::backend::Node;
use crate::cli::text;
use crate::ledger::statement::csv::word;
use crate::web::failure::{Failure, block};
use crate::web::figures::{NONE, count, counted, exact, short};
use crate::web::parts::{Field, Panel, cli, column, empty, table};
use crate::web::session::Who;
use crate::web::shell::{Frame, Page};
use axum::Extension;
use axum::extract::{Path, Query, State};
use axum::response::{Html, IntoResponse as _, Response};
use maud::{Markup, html};

/// Orders and days printed at the most; sums are of all, and the command prints all.
const ORDERS: usize = 300;
const DAYS: usize = 100;

/// The handler.
pub(in crate::web) async fn show(
    State(node): State<Node>,
    Extension(who): Extension<Who>,
    Path(name): Path<String>,
    Query(fields): Query<Fields>,
) -> Result<Response, Failure> {
    let name = node.project(&name).await?.name;
    let fields = fields.or_this_month();
    let told = told(&node, &name, &fields).await;
    let frame = Frame::of(&node).await?;
    let page = render(&name, &fields, &told, &frame, &who).into_string();
    Ok(match &told {
        Err(error) => (error.code.status(), Html(page)).into_response(),
        Ok(_) => Html(page).into_response(),
    })
}

async fn told(node: &Node, name: &str, fields: &Fields) -> Answer<Statement> {
    let period = fields.meant()?;
    let times = (Some(period.from_ms), period.to_ms);
    node.statement_of(None, times, Some(name.to_owned())).await
}

fn render(
    name: &str,
    fields: &Fields,
    told: &Answer<Statement>,
    frame: &Frame,
    who: &Who,
) -> Markup {
    let title = format!("Invoice of project {}", short(name, 64));
    let command = fields.command("invoice", name);
    let file = fields.command("statement", name) + " -o csv";
    let page = Page {
        here: "Projects",
        title: &title,
        lede: "What its orders cost within a time, for paper: print this page.",
        actions: html! {
            a.btn href=(fields.before().address(name, "invoice")) { "The month before" }
            a.btn href=(place(name)) { "The project" }
        },
        command: &command,
        events: "/events?page=frame",
        body: html! {
            (period_form(name, fields))
            @match told {
                Err(error) => (block(error)),
                Ok(statement) => {
                    (head(statement))
                    (bought(name, &statement.bought))
                    (others(statement))
                    (days(statement))
                    div.actions {
                        a.btn href=(fields.address(name, "statement.csv")) { "CSV of movements" }
                        (cli("cli-csv", &file))
                    }
                }
            }
        },
    };
    page.render(frame, who)
}

fn period_form(name: &str, fields: &Fields) -> Markup {
    let field = |name, label, value, hint| Field {
        form: "p",
        name,
        label,
        value,
        hint,
        look: "fig",
        ..Field::default()
    };
    html! {
        form.noprint.stack.tight method="get" action={ (place(name)) "/invoice" } {
            div.fields {
                (field("from", "From", &fields.from, "a day, UTC; the beginning without"))
                (field("to", "To", &fields.to, "itself left out; now without"))
            }
            div.actions { button.btn { "Show" } }
        }
    }
}

fn head(statement: &Statement) -> Markup {
    let from = match statement.from_ms {
        0 => "the ledger’s beginning".to_owned(),
        ms => format!("{} UTC", text::time(ms)),
    };
    let cost = Signed(
        statement
            .opening
            .total
            .0
            .saturating_sub(statement.closing.total.0),
    );
    let name = statement.name.as_deref().unwrap_or(NONE);
    html! {
        dl.kv.left {
            dt { "Network" } dd { (short(&statement.network, 80)) }
            dt { "Account" }
            dd { (short(name, 80)) br; code { (statement.account.to_hex()) } }
            @if let Some(project) = &statement.project {
                dt { "Project" } dd { strong { (short(project, 64)) } }
            }
            dt { "From" } dd { (from) }
            dt { "To" } dd { (text::time(statement.to_ms)) " UTC" }
            dt { "Last block" } dd { (count(statement.height)) }
            dt { "Cost" } dd { strong.big { (exact(cost)) } " credits" }
        }
    }
}

fn bought(name: &str, lines: &[Bought]) -> Markup {
    let sum = |of: fn(&Bought) -> Signed| {
        exact(Signed(
            lines
                .iter()
                .map(|line| of(line).0)
                .fold(0, i64::saturating_add),
        ))
    };
    let rows = html! {
        @for line in lines.iter().take(ORDERS) {
            tr {
                th.opt scope="row" {
                    @match &line.job {
                        Some(id) => a href={ "/jobs/" (id) } { (id) },
                        None => (NONE),
                    }
                }
                td.wrap { (short(line.name.as_deref().unwrap_or(NONE), 60)) }
                td.opt2 { span.id { (line.order.to_hex().chars().take(16).collect::<String>()) } }
                td.num.opt { (exact(Signed::from(line.paid))) }
                td.num.opt { (exact(Signed::from(line.returned))) }
                td.num { (exact(line.cost)) }
            }
        }
        tr {
            th.opt scope="row" { "Sum" }
            td.wrap { (counted(lines.len() as u64, "order")) }
            td.opt2 {}
            td.num.opt { (sum(|line| Signed::from(line.paid))) }
            td.num.opt { (sum(|line| Signed::from(line.returned))) }
            td.num { strong { (sum(|line| line.cost)) } }
        }
    };
    let columns = [
        column("Job", "opt"),
        column("Name", ""),
        column("Order", "opt2"),
        column("Paid", "num opt"),
        column("Returned", "num opt"),
        column("Cost", "num"),
    ];
    let more = lines.len().saturating_sub(ORDERS);
    let panel = Panel {
        id: "bought",
        title: "Bought",
        body: html! {
            @if lines.is_empty() {
                (empty("No order cost anything", "In this time, as far as this node’s records \
                    name the project’s orders.", Some(("cli-run",
                    &about(name, &["run", "--project"], &["--", "./job"])))))
            } @else { (table("Orders of the project", &columns, rows)) }
            @if more > 0 {
                div.panel-body {
                    p { (count(more as u64)) " more orders, of which the sums tell too. The \
                        command prints all of them." }
                }
            }
        },
        ..Panel::default()
    };
    html! { (panel) }
}

/// All else, which orders of a project seldom have.
fn others(statement: &Statement) -> Markup {
    let sold = statement
        .sold
        .iter()
        .map(|line| (short(&line.of, 80), line.income));
    let rest = statement.other.iter().map(|line| {
        let change = Signed::from(line.received).0 - Signed::from(line.spent).0;
        (word(line.reason), Signed(change))
    });
    let lines: Vec<(String, Signed)> = sold.chain(rest).take(DAYS).collect();
    let rows = html! {
        @for (of, change) in &lines { tr { th scope="row" { (of) } td.num { (exact(*change)) } } }
    };
    let panel = Panel {
        id: "others",
        title: "All else",
        body: table(
            "All else",
            &[column("Of", ""), column("Income", "num")],
            rows,
        ),
        ..Panel::default()
    };
    html! { @if !lines.is_empty() { (panel) } }
}

fn days(statement: &Statement) -> Markup {
    let lines = &statement.days;
    let rows = html! {
        @for line in lines.iter().rev().take(DAYS) {
            tr { th scope="row" { (line.day) } td.num { (exact(line.cost)) } }
        }
    };
    let panel = Panel {
        id: "days",
        title: "By day",
        meta: Some(html! { "Latest first, UTC" }),
        body: table(
            "Cost by day",
            &[column("Day", ""), column("Cost", "num")],
            rows,
        ),
        ..Panel::default()
    };
    html! { @if !lines.is_empty() { (panel) } }
}

#[cfg(test)]
mod tests {
    use super::super::samples::statement;
    use super::*;
    use crate::api::scope::Scope;
    use crate::backend::failure::usage;
    use crate::web::command::tests::exist;
    use crate::web::samples::{self as shared, HOSTILE};

    fn page(told: &Answer<Statement>, from: &str) -> String {
        let fields = Fields {
            from: from.to_owned(),
            to: "2026-12-01".to_owned(),
        };
        let who = shared::who(Scope::Read);
        render("bio", &fields, told, &shared::frame(), &who).into_string()
    }

    #[test]
    fn an_invoice_has_its_sums_and_no_markup_of_others() {
        let page = page(&Ok(statement(2)), "2026-11-01");
        assert!(!page.contains("<script>alert") && page.contains("&lt;script&gt;alert"));
        for told in [
            "<strong class=\"big\">4.000000</strong>",
            "<td class=\"num opt\">6.000000</td><td class=\"num opt\">2.000000</td>",
            "2 orders",
            "/projects/bio/statement.csv?from=2026-11-01&amp;to=2026-12-01",
            "/projects/bio/invoice?from=2026-10-01&amp;to=2026-11-01",
        ] {
            assert!(page.contains(told), "{told}: {page}");
        }
        assert_eq!(exist(&page), 2, "of the page and of the file");
    }

    #[test]
    fn many_orders_are_summed_and_not_all_printed() {
        let page = page(&Ok(statement(ORDERS + 7)), "2026-11-01");
        assert!(
            page.contains("7 more orders") && page.contains("307 orders"),
            "{page}"
        );
        assert_eq!(page.matches("/jobs/0123456789abcdef").count(), ORDERS);
        assert!(page.len() < 150_000, "{} bytes", page.len());
    }

    #[test]
    fn a_time_that_is_none_keeps_its_form() {
        let wrong = page(&Err(usage(HOSTILE, HOSTILE)), HOSTILE);
        assert!(!wrong.contains("<script>alert"), "{wrong}");
        assert!(wrong.contains("name=\"from\"") && wrong.contains("data-tone=\"bad\""));
        assert_eq!(exist(&wrong), 1);
        let none = page(&Ok(statement(0)), "2026-11-01");
        assert!(none.contains("No order cost anything"), "{none}");
        assert_eq!(exist(&none), 3);
    }
}
