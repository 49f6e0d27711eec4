//! Money: the last movements of this node's account, and what it earned by them.

use super::super::look::{Mark, Row, Sheet};
use super::super::spark::spark;
use crate::api::types::{Movement, Signed};
use crate::cli::text::{or_dash, time};
use gridbay_protocol::payment::Reason;

/// Spans of time in a line.
const SPANS: usize = 24;

/// A row for each movement, newest first.
pub(in crate::top) fn money(movements: &[Movement]) -> Sheet {
    Sheet {
        name: "Money",
        headings: &["TIME", ">AMOUNT", "REASON", "OTHER", ">HEIGHT"],
        none: "no money has moved",
        rows: movements.iter().enumerate().map(row).collect(),
    }
}

fn row((index, moved): (usize, &Movement)) -> Row {
    let cells = [
        time(moved.time_ms),
        moved.amount.to_string(),
        format!("{:?}", moved.reason).to_ascii_lowercase(),
        moved.other.clone(),
        moved.height.to_string(),
    ];
    let mark = match moved.amount.0 {
        ..0 => Mark::Waiting,
        _ => Mark::Good,
    };
    let order = moved.order.map(|order| order.to_hex());
    // Movements of one block have no names of their own.
    let key = format!("{} {} {} {index}", moved.height, moved.amount, moved.other);
    Row::new(key, cells)
        .marked(mark)
        .with("order", or_dash(order))
}

/// Earnings of this node among movements, newest first, and their course; `None` without any.
pub(in crate::top) fn earned(movements: &[Movement]) -> Option<String> {
    let is_income = |moved: &&Movement| moved.reason == Reason::Earning && moved.amount.0 > 0;
    let income: Vec<&Movement> = movements.iter().filter(is_income).collect();
    let (last, first) = (income.first()?.time_ms, income.last()?.time_ms);
    let total: i64 = income
        .iter()
        .map(|moved| moved.amount.0)
        .fold(0, i64::saturating_add);
    let mut spans = [0u64; SPANS];
    for moved in &income {
        let part = moved.time_ms.saturating_sub(first) as u128 * SPANS as u128;
        let at = part / u128::from(last.saturating_sub(first).max(1));
        let span = &mut spans[(at as usize).min(SPANS - 1)];
        *span = span.saturating_add(moved.amount.0.unsigned_abs());
    }
    Some(format!(
        "earned {} since {} {}",
        Signed(total),
        time(first),
        spark(&spans)
    ))
}
