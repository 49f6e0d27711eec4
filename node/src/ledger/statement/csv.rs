//! Movements for a spreadsheet: the file of the command and that of the web page.

use super::types::{Moved, Statement};
use crate::cli::text;
use crate::ui::{clean, csv};
use gridbay_protocol::payment::Reason;

/// A heading, and a line for each movement.
pub(crate) fn file<'a>(movements: impl Iterator<Item = &'a Moved>) -> String {
    let mut text = "time,height,amount,balance,reason,order,other\n".to_owned();
    for Moved { movement, balance } in movements {
        let cells = [
            text::zoned(movement.time_ms),
            movement.height.to_string(),
            movement.amount.to_string(),
            balance.to_string(),
            word(movement.reason),
            movement.order.map_or(String::new(), |order| order.to_hex()),
            movement.other.clone(),
        ];
        text += &csv::record(cells.iter().map(String::as_str));
        text.push('\n');
    }
    text
}

/// The invoice: a line for each order bought, thing sold, other reason and day, between the
/// balances before and after. What `total` is, the section says: cost, income, change or balance.
pub(crate) fn invoice(statement: &Statement) -> String {
    let mut text = "section,of,name,order,amount,returned,total\n".to_owned();
    let mut line = |section: &str, of: String, [name, order]: [String; 2], sums: [String; 3]| {
        let [amount, returned, total] = sums;
        let cells = [section.to_owned(), of, name, order, amount, returned, total];
        let cells = cells.map(|cell| clean(&cell));
        text += &csv::record(cells.iter().map(String::as_str));
        text.push('\n');
    };
    let none = String::new;
    let nameless = || [none(), none()];
    let total = |total: String| [none(), none(), total];
    let opening = statement.opening.total.to_string();
    line("balance", "before".to_owned(), nameless(), total(opening));
    for bought in &statement.bought {
        let job = bought.job.as_ref().map_or(none(), ToString::to_string);
        let names = [
            bought.name.clone().unwrap_or_default(),
            bought.order.to_hex(),
        ];
        let sums = [
            bought.paid.to_string(),
            bought.returned.to_string(),
            bought.cost.to_string(),
        ];
        line("bought", job, names, sums);
    }
    for sold in &statement.sold {
        let sums = [
            sold.earned.to_string(),
            sold.returned.to_string(),
            sold.income.to_string(),
        ];
        line("sold", sold.of.clone(), nameless(), sums);
    }
    for other in &statement.other {
        let sums = [other.received.to_string(), other.spent.to_string(), none()];
        line("other", word(other.reason), nameless(), sums);
    }
    for day in &statement.days {
        line(
            "day",
            day.day.clone(),
            nameless(),
            total(day.change.to_string()),
        );
    }
    let closing = statement.closing.total.to_string();
    line("balance", "after".to_owned(), nameless(), total(closing));
    text
}

/// A reason in a word.
pub(crate) fn word(reason: Reason) -> String {
    format!("{reason:?}").to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::types::{Movement, Signed};
    use gridbay_protocol::ids::OrderId;
    use serde_json::json;

    #[test]
    fn every_line_of_an_invoice_has_the_same_columns() {
        let money =
            |total: &str| json!({"balance": total, "held": "0", "retained": "0", "total": total});
        let statement = json!({
            "network": "lab", "account": "11".repeat(32), "name": null, "from_ms": 0, "to_ms": 1,
            "height": 9, "opening": money("10"), "closing": money("9.5"), "movements": [],
            "bought": [{
                "order": "22".repeat(32), "job": "0123456789abcdef", "name": "a,\"b",
                "paid": "2", "returned": "0.5", "cost": "1.5",
            }],
            "sold": [{"of": "class small", "earned": "1", "returned": "0", "income": "1"}],
            "other": [{"reason": serde_json::to_value(Reason::Lock).unwrap(),
                "received": "0", "spent": "3"}],
            "days": [{"day": "2026-01-31", "cost": "1.5", "income": "1", "other": "0",
                "change": "-0.5"}],
        });
        let file = invoice(&serde_json::from_value(statement).unwrap());
        let order = "22".repeat(32);
        let wanted = [
            "section,of,name,order,amount,returned,total",
            "balance,before,,,,,10",
            &format!("bought,0123456789abcdef,\"a,\"\"b\",{order},2,0.5,1.5"),
            "sold,class small,,,1,0,1",
            "other,lock,,,0,3,",
            "day,2026-01-31,,,,,-0.5",
            "balance,after,,,,,9.5",
        ];
        assert_eq!(file.lines().collect::<Vec<_>>(), wanted);
    }

    #[test]
    fn a_spreadsheet_gets_each_movement_as_it_is() {
        let order = OrderId([7; 32]);
        let moved = Moved {
            movement: Movement {
                height: 4,
                time_ms: 61_000,
                amount: Signed(-3_000_000),
                reason: Reason::Lock,
                other: "class a,\"b".to_owned(),
                order: Some(order),
            },
            balance: Signed(2_000_000),
        };
        let file = file([moved].iter());
        let lines: Vec<_> = file.lines().collect();
        assert_eq!(lines.len(), 2);
        assert_eq!(
            lines[1],
            format!(
                "1970-01-01 00:01:01Z,4,-3,2,lock,{},\"class a,\"\"b\"",
                order.to_hex()
            )
        );
    }
}
