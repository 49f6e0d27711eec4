//! Movements for a spreadsheet: the file of the command and that of the web page.

use super::types::Moved;
use crate::cli::text;
use crate::ui::csv;
use gridbay_protocol::payment::Reason;

/// A heading, and a line for each movement.
pub(crate) fn file<'a>(movements: impl Iterator<Item = &'a Moved>) -> String {
    let mut text = "time,height,amount,balance,reason,order,other\n".to_owned();
    for Moved { movement, balance } in movements {
        let cells = [
            text::time(movement.time_ms),
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

/// A reason in a word.
pub(crate) fn word(reason: Reason) -> String {
    format!("{reason:?}").to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::types::{Movement, Signed};
    use gridbay_protocol::ids::OrderId;

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
                "1970-01-01 00:01:01,4,-3,2,lock,{},\"class a,\"\"b\"",
                order.to_hex()
            )
        );
    }
}
