//! Movements of money as a table.

use super::proof;
use crate::api::types::Moved;
use crate::cli::text;
use crate::ledger::statement::csv::word;
use crate::web::figures::{NONE, count, exact, short};
use crate::web::parts::{column, empty, table as tabled};
use maud::{Markup, html};

/// Movements from this one on, newest first.
pub(super) fn table(movements: &[Moved], from: usize, lines: usize) -> Markup {
    if movements.is_empty() {
        return empty(
            "No money has moved yet",
            "Orders, sales and transfers are listed here.",
            None,
        );
    }
    let shown = movements.get(from..).unwrap_or_default();
    let shown = shown.get(..lines).unwrap_or(shown);
    if shown.is_empty() {
        let text = "The pages tell of the last movements only; the file has all.";
        return empty("There is no such page", text, None);
    }
    let rows = html! {
        @for Moved { movement, balance } in shown {
            @let order = movement.order.map(|id| short_id(&id.to_hex()));
            tr {
                @let time = text::time(movement.time_ms);
                th scope="row" {
                    (time.get(11..).unwrap_or(&time))
                    span.sub { (time.get(..10).unwrap_or_default()) }
                }
                td.num.opt2 {
                    a href=(proof::place(movement.height)) download=(proof::name(movement.height))
                        aria-label={ "Proof of block " (count(movement.height)) } {
                        (count(movement.height))
                    }
                }
                td { (word(movement.reason)) }
                td.wrap.opt { (other(&movement.other)) }
                td.opt2 { span.id { (order.unwrap_or_else(|| NONE.to_owned())) } }
                td.num { (exact(movement.amount)) }
                td.num.opt { (exact(*balance)) }
            }
        }
    };
    let columns = [
        column("Time", ""),
        column("Height", "num opt2"),
        column("Reason", ""),
        column("Other side", "opt"),
        column("Order", "opt2"),
        column("Amount", "num"),
        column("After", "num opt"),
    ];
    tabled("Movements of money", &columns, rows)
}

/// The other purse, with the beginning of its id.
fn other(purse: &str) -> String {
    match purse.split_once(' ') {
        Some((kind, id)) if id.len() == 64 && id.bytes().all(|b| b.is_ascii_hexdigit()) => {
            format!("{kind} {}", short_id(id))
        }
        _ => short(purse, 60),
    }
}

fn short_id(hex: &str) -> String {
    hex.chars().take(8).collect()
}
