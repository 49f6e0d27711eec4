//! How programs fared, for people.

use super::{Outcome, Ran};
use gridbay_node::ui::Table;

/// A row for each program.
pub(crate) fn lines(all: &[Ran]) -> String {
    let mut table = Table::new(&["PROGRAM", "COMMAND", ">SECONDS", "RESULT"]);
    for ran in all {
        let seconds = format!("{:.1}", ran.ms as f64 / 1_000.0);
        let (seconds, result) = match &ran.outcome {
            Outcome::Right => (seconds, "as by one process".to_owned()),
            Outcome::Wrong(why) => (seconds, format!("WRONG: {why}")),
            Outcome::LeftOut(what) => ("-".to_owned(), format!("LEFT OUT: needs {what}")),
        };
        table.row([ran.program.clone(), ran.command.clone(), seconds, result]);
    }
    table.render()
}
