//! Faults: what is wrong now, and what to do about it.

use super::super::look::{Mark, Row, Sheet};
use crate::api::types::{NodeStatus, Ourselves};
use crate::cli::text::time;

/// Something that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Of which node.
    pub node: String,
    /// Kind, in a word.
    pub kind: String,
    /// Since when, milliseconds since 1970; `None` if nobody knows.
    pub since_ms: Option<u64>,
    /// The fault itself, in a line.
    pub what: String,
    /// Advice, in a line.
    pub hint: String,
}

impl Fault {
    /// All that a node says is wrong with it; how it is reached is known of the own one alone.
    pub fn of(node: &NodeStatus, me: Option<&Ourselves>) -> Vec<Fault> {
        let fault = |kind: &str, since_ms: Option<u64>, what: &str, hint: &str| Fault {
            node: node.name.clone(),
            kind: kind.to_owned(),
            since_ms,
            what: what.to_owned(),
            hint: hint.to_owned(),
        };
        let troubles = node.troubles.iter();
        let mut all: Vec<Fault> = troubles
            .map(|t| fault(t.kind.name(), Some(t.since_ms), &t.what, &t.hint))
            .collect();
        let joining = node.joining.iter();
        all.extend(joining.map(|why| fault("joining", None, why, "see gridbay doctor")));
        let refuted = me.into_iter().flat_map(|me| &me.refuted);
        all.extend(refuted.map(|address| {
            let what = format!("nobody reaches this node at {address}, which it declares");
            fault(
                "address",
                None,
                &what,
                "open the port, or declare another address",
            )
        }));
        all
    }
}

/// A row for each.
pub fn faults(faults: &[Fault]) -> Sheet {
    Sheet {
        name: "Faults",
        headings: &["NODE", "KIND", "WHAT", "SINCE"],
        none: "nothing is wrong",
        rows: faults.iter().map(row).collect(),
    }
}

fn row(fault: &Fault) -> Row {
    let since = fault.since_ms.map_or_else(|| "-".to_owned(), time);
    let cells = [&fault.node, &fault.kind, &fault.what, &since].map(Clone::clone);
    let key = format!("{} {} {}", fault.node, fault.kind, fault.what);
    Row::new(key, cells)
        .marked(Mark::Bad)
        .with("try", &fault.hint)
}
