//! Leases that this node has bought or sold.

use super::super::look::{Mark, Row, Sheet};
use super::short;
use crate::api::types::LeaseView;
use crate::cli::text::or_dash;

/// A row for each.
pub(in crate::top) fn leases(leases: &[LeaseView]) -> Sheet {
    Sheet {
        name: "Leases",
        headings: &[
            "LEASE",
            "PART",
            "JOB",
            "CLASS",
            ">UNITS",
            ">NODES",
            ">PAID/SLOT",
        ],
        none: "this node has neither bought nor sold a lease that runs",
        rows: leases.iter().map(row).collect(),
    }
}

fn row(lease: &LeaseView) -> Row {
    let id = lease.lease.to_hex();
    let cells = [
        short(&id),
        lease.part.name().to_owned(),
        or_dash(lease.name.as_deref()),
        lease.class.clone(),
        lease.units.to_string(),
        lease.nodes.len().to_string(),
        lease.paid.to_string(),
    ];
    let network = match (&lease.setup, lease.network) {
        (Some(setup), _) => format!("{} members, stood after {} ms", setup.members, setup.ms),
        (None, true) => "yes".to_owned(),
        (None, false) => "none".to_owned(),
    };
    let row = Row::new(&id, cells)
        .marked(Mark::Good)
        .with("id", &id)
        .with("slot", lease.slot)
        .with("job id", or_dash(lease.job.as_ref()))
        .with("network", network);
    lease.nodes.iter().fold(row, |row, node| {
        let name = node.name.as_deref().unwrap_or("no member");
        row.with(
            "node",
            format!("{} ({name}), units: {}", node.node, node.units),
        )
    })
}
