//! Answers of all nodes become a look.

use super::blocks::Blocks;
use crate::network::NodeRecord;
use gridbay_node::api::types::{AuctionSummary, ClassPrice, NodeState, NodeStatus};
use gridbay_node::top::sheets::{Fault, faults, prices};
use gridbay_node::top::{Look, Mark, Row, Sheet, spark};

/// A node and its answer, or why there is none.
pub(super) type Answer = (NodeRecord, Result<NodeStatus, String>);

/// All that is shown.
pub(super) fn look(
    name: &str,
    answers: &[Answer],
    (classes, auctions): (&[ClassPrice], &[AuctionSummary]),
    blocks: &Blocks,
) -> Look {
    let mut look = Look::default();
    let heights = answers
        .iter()
        .filter_map(|(_, status)| status.as_ref().ok());
    let heights = heights.map(|status| status.height);
    let top = heights.clone().max().unwrap_or(0);
    let (all, up) = (answers.len(), heights.clone().count());
    let low = heights.min().unwrap_or(0);
    let mark = if up == all { Mark::Good } else { Mark::Bad };
    look.tell(
        mark,
        format!("{name}: {up} of {all} nodes answer, heights {low} to {top}"),
    );
    if let Some((per_second, entries)) = blocks.rates() {
        let line = format!(
            "{} blocks/s, {} entries/s  {}",
            thousandths(per_second),
            thousandths(entries),
            spark(&blocks.entries())
        );
        look.tell(Mark::Plain, line);
    }
    let wrong: Vec<Fault> = answers.iter().flat_map(wrong).collect();
    look.sheets = vec![
        nodes(answers, top),
        prices(classes, auctions),
        of_blocks(blocks),
        faults(&wrong),
    ];
    look
}

fn thousandths(n: u64) -> String {
    format!("{}.{:02}", n / 1_000, n % 1_000 / 10)
}

fn nodes(answers: &[Answer], top: u64) -> Sheet {
    Sheet {
        name: "Nodes",
        headings: &[
            "NODE", "ROLE", "STATE", ">HEIGHT", ">BEHIND", ">PEERS", ">LEASED", ">OFFERED",
            ">JOBS", ">BALANCE",
        ],
        none: "the run has no nodes",
        rows: answers.iter().map(|answer| node(answer, top)).collect(),
    }
}

fn node((record, answer): &Answer, top: u64) -> Row {
    let mut cells = vec![record.name.clone(), record.role.clone()];
    let mark = match answer {
        Ok(status) => {
            cells.push(status.state.name().to_owned());
            cells.extend([
                status.height.to_string(),
                (top - status.height.min(top)).to_string(),
                status.peers.to_string(),
                status.units_leased.to_string(),
                status.units_offered.to_string(),
                status.jobs_hosted.to_string(),
                status.balance.to_string(),
            ]);
            match (status.state, status.troubles.is_empty()) {
                (NodeState::Ready, true) => Mark::Good,
                (NodeState::Halted | NodeState::Closed, _) | (_, false) => Mark::Bad,
                _ => Mark::Waiting,
            }
        }
        Err(_) => {
            cells.push("down".to_owned());
            Mark::Bad
        }
    };
    let listen = record.listen.join(" ");
    let row = Row::new(&record.name, cells)
        .marked(mark)
        .with("key", &record.node)
        .with("listens on", listen)
        .with("data", record.data.display())
        .with("log", record.log.display());
    match &record.process {
        Some(process) => row.with("pid", process.pid),
        None => row,
    }
}

/// The faults of a node.
fn wrong((record, answer): &Answer) -> Vec<Fault> {
    match answer {
        Ok(status) => Fault::of(status, None),
        Err(why) => vec![Fault {
            node: record.name.clone(),
            kind: "down".to_owned(),
            since_ms: None,
            what: why.clone(),
            hint: format!("see its log, {}", record.log.display()),
        }],
    }
}

fn of_blocks(blocks: &Blocks) -> Sheet {
    let row = |(block, since): (&gridbay_node::api::types::BlockInfo, Option<u64>)| {
        let cells = [
            block.height.to_string(),
            block.entries.to_string(),
            since.map_or_else(|| "-".to_owned(), |ms| format!("{ms} ms")),
            block.proposer.to_hex()[..12].to_owned(),
        ];
        Row::new(block.height.to_string(), cells)
            .with("block", block.block.to_hex())
            .with("state root", block.state_root.to_hex())
    };
    Sheet {
        name: "Blocks",
        headings: &[">HEIGHT", ">ENTRIES", ">AFTER", "PROPOSER"],
        none: "no block was decided yet",
        rows: blocks.newest_first().map(row).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::blocks::tests::blocks;
    use super::*;
    use gridbay_protocol::keys::SecretKey;
    use serde_json::json;

    fn record(name: &str) -> NodeRecord {
        NodeRecord {
            name: name.to_owned(),
            role: "validator".to_owned(),
            node: "02".repeat(32),
            listen: Vec::new(),
            socket: "s".into(),
            data: "d".into(),
            log: "v.log".into(),
            process: None,
        }
    }

    fn status(name: &str, height: u64) -> NodeStatus {
        let id = "0a".repeat(32);
        let key = SecretKey::from_seed(&[2; 32]).public();
        let status = json!({
            "state": "ready", "name": name, "version": "0", "pid": 1, "started_ms": 0,
            "network": id, "network_name": "lab", "node": key, "account": id, "validator": id,
            "listen": [], "peers": 2, "height": height, "block_ms": 0, "round": 1, "slot": 1,
            "balance": "5", "held": "0", "units_offered": 4, "units_leased": 1,
            "jobs_hosted": 0, "jobs_open": 0, "troubles": [],
        });
        serde_json::from_value(status).unwrap()
    }

    #[test]
    fn nodes_stand_side_by_side_and_one_that_is_down_is_a_fault() {
        let answers = [
            (record("v1"), Ok(status("v1", 40))),
            (record("v2"), Ok(status("v2", 38))),
            (record("v3"), Err("the node is gone".to_owned())),
        ];
        let look = look("lab", &answers, (&[], &[]), &blocks(&[(0, 1), (500, 3)]));
        let head: Vec<&str> = look.head.iter().map(|(_, line)| line.as_str()).collect();
        let told = "lab: 2 of 3 nodes answer, heights 38 to 40";
        assert_eq!(head, [told, "2.00 blocks/s, 6.00 entries/s  ▁█"]);
        let rows = |sheet: usize| -> Vec<String> {
            let rows = look.sheets[sheet].rows.iter();
            rows.map(|row| row.cells().join(" ")).collect()
        };
        assert_eq!(
            rows(0),
            [
                "v1 validator ready 40 0 2 1 4 0 5",
                "v2 validator ready 38 2 2 1 4 0 5",
                "v3 validator down",
            ]
        );
        assert_eq!(rows(2), ["2 3 500 ms 0a0a0a0a0a0a", "1 1 - 0a0a0a0a0a0a"]);
        assert_eq!(rows(3), ["v3 down the node is gone -"]);
    }
}
