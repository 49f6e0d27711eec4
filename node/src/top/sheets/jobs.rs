//! Own jobs, those that ended too.

use super::super::look::{Mark, Row, Sheet};
use crate::api::types::{JobRecord, JobState};
use crate::cli::text::{or_dash, time};

/// A row for each.
pub(in crate::top) fn jobs(jobs: &[JobRecord]) -> Sheet {
    Sheet {
        name: "Jobs",
        headings: &[
            "JOB", "NAME", "STATE", "WHY", "CLASS", ">NODES", ">PAID", ">PRICE/H",
        ],
        none: "no job was sent from here: gridbay run -- PROGRAM",
        rows: jobs.iter().map(row).collect(),
    }
}

fn row(job: &JobRecord) -> Row {
    let cells = [
        job.id.to_string(),
        job.name.clone(),
        job.state.name().to_owned(),
        or_dash(job.reason.map(|reason| reason.name())),
        job.class.clone(),
        job.nodes.to_string(),
        job.paid.to_string(),
        or_dash(job.price),
    ];
    let row = Row::new(job.id.as_str(), cells)
        .marked(mark(job.state))
        .with("runs", job.argv.join(" "))
        .with("order", or_dash(job.order.map(|order| order.to_hex())))
        .with("lease", or_dash(job.lease.map(|lease| lease.to_hex())))
        .with(
            "at most",
            format!("{} per node-hour, {} in all", job.max_price, job.budget),
        )
        .with("locked", job.locked)
        .with("sent", time(job.accepted_ms))
        .with("began", or_dash(job.running_ms.map(time)))
        .with("ended", or_dash(job.ended_ms.map(time)))
        .with("lost leases", job.preemptions);
    let row = job.sellers.iter().fold(row, |row, seller| {
        let name = seller.name.as_deref().unwrap_or("no member");
        let ranks: Vec<String> = seller.ranks.iter().map(ToString::to_string).collect();
        row.with(
            "on",
            format!("{} ({name}), ranks {}", seller.node, ranks.join(" ")),
        )
    });
    row.with("why", format!("gridbay job why {}", job.id))
}

fn mark(state: JobState) -> Mark {
    match state {
        JobState::Running | JobState::Done => Mark::Good,
        JobState::Failed | JobState::Expired => Mark::Bad,
        JobState::Cancelled => Mark::Plain,
        _ => Mark::Waiting,
    }
}
