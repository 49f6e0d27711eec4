//! Several leases at once on one engine.

use std::fs;

use gridbay_vnet::drops::Drop as Why;

use crate::nodes::{Node, until};
use crate::rank::{Rank, lease};

/// The third byte of a lease's id chooses its IPv4 network: of 64, so these two have the same.
const TWINS: (u8, u8) = (80, 80 + 64);

#[test]
fn equal_addresses_of_two_leases_do_not_meet() {
    let start = |byte, rank| Rank::start(byte, rank);
    let ranks = (
        start(TWINS.0, 0),
        start(TWINS.0, 1),
        start(TWINS.1, 0),
        start(TWINS.1, 1),
    );
    let (Some(mut a0), Some(mut a1), Some(mut b0), Some(mut b1)) = ranks else {
        return;
    };
    assert_eq!(a1.address.v4, b1.address.v4);
    let nodes = [Node::new(80), Node::new(81)];
    let mut attached = Vec::new();
    for (byte, zero, one) in [(TWINS.0, &mut a0, &mut a1), (TWINS.1, &mut b0, &mut b1)] {
        nodes[0].open(byte, &[0], vec![nodes[1].member(&[1])]);
        nodes[1].open(byte, &[1], vec![nodes[0].member(&[0])]);
        attached.push(nodes[0].attach(byte, 0, zero));
        attached.push(nodes[1].attach(byte, 1, one));
    }
    let to = a1.address.v4;
    assert!(a0.reaches(to) && b0.reaches(to));
    nodes[1].engine.close(&lease(TWINS.0));
    assert!(
        a0.misses(to),
        "the other lease's rank does not take its place"
    );
    assert!(b0.reaches(to));
    assert!(nodes[1].engine.drops().of(Why::UnknownSession) > 0);
}

/// Threads and descriptors of this process that an engine may have made.
fn held() -> (usize, usize) {
    let count = |folder| fs::read_dir(folder).expect("procfs").count();
    let threads = fs::read_dir("/proc/self/task").expect("procfs");
    let names = threads
        .flatten()
        .map(|task| fs::read_to_string(task.path().join("comm")));
    let vnet = names.flatten().filter(|name| name.starts_with("vnet-tx"));
    (vnet.count(), count("/proc/self/fd"))
}

/// In a process of its own: it counts what the process holds.
#[test]
fn two_hundred_leases_leave_nothing_behind() {
    const MARK: &str = "GRIDBAY_TEST_ALONE";
    if std::env::var(MARK).is_err() {
        let own = std::env::current_exe().expect("this binary");
        let status = std::process::Command::new(own)
            .args(["--exact", "leases::two_hundred_leases_leave_nothing_behind"])
            .args(["--nocapture", "--test-threads", "1"])
            .env(MARK, "1")
            .status()
            .expect("starts");
        assert!(status.success());
        return;
    }
    let nodes = [Node::new(90), Node::new(91)];
    let before = held();
    let memory = resident();
    for byte in 0..200 {
        nodes[0].open(byte, &[0], vec![nodes[1].member(&[1])]);
        nodes[1].open(byte, &[1], vec![nodes[0].member(&[0])]);
    }
    let all = |node: &Node| (0..200).all(|byte| node.status(byte).pairs[0].handshake_age.is_some());
    until("all pairs have keys", || all(&nodes[0]) && all(&nodes[1]));
    let Some(mut ranks) = (0..2)
        .map(|i| Rank::start(7, i))
        .collect::<Option<Vec<_>>>()
    else {
        return;
    };
    let mut attached = vec![nodes[0].attach(7, 0, &mut ranks[0])];
    attached.push(nodes[1].attach(7, 1, &mut ranks[1]));
    let to = ranks[1].address.v4;
    assert!(ranks[0].reaches(to));
    for byte in (0..200).filter(|byte| *byte != 7) {
        let pair = &nodes[1].status(byte).pairs[0];
        assert_eq!(pair.received.packets, 0, "lease {byte} heard nothing of it");
        assert_eq!(pair.drops.seen().count(), 0, "lease {byte}");
    }
    let each = resident().saturating_sub(memory) / 400;
    println!("{each} KiB for each idle lease and engine");
    assert!(each < 2048, "{each} KiB for each idle lease");
    for node in &nodes {
        (0..200).for_each(|byte| node.engine.close(&lease(byte)));
        assert!(node.engine.leases().is_empty());
    }
    drop((attached, ranks));
    assert_eq!(held(), before);
}

/// KiB of this process in memory.
fn resident() -> usize {
    let status = fs::read_to_string("/proc/self/status").expect("procfs");
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().nth(1));
    number.and_then(|text| text.parse().ok()).expect("a number")
}
