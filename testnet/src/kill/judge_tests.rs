//! One acknowledged transfer, order and head, spoilt in every way that must be found.

use super::super::history::{Head, Order};
use super::*;
use gridbay_node::api::types::{JobId, JobRecord, Movement, Signed};
use gridbay_protocol::ids::{AccountId, BlockId, EntryId, Hash32, NetworkId, ValidatorId};

const AMOUNT: i64 = 1_000_007;

struct Case {
    parties: Vec<Party>,
    written: Written,
    chains: Vec<Chain>,
    statements: Vec<Statement>,
}

fn header(height: u64, evidence: u8) -> Header {
    let root = |n| Hash32([n; 32]);
    Header {
        format: 1,
        network: NetworkId([1; 32]),
        height,
        time_ms: height,
        parent: BlockId([0; 32]),
        proposer: ValidatorId([0; 32]),
        rules: 1,
        entries_root: root(0),
        effects_root: root(0),
        state_root: root(height as u8),
        validators: root(0),
        next_validators: root(0),
        log_root: root(0),
        last_commit: root(0),
        beacon_reveal: root(0),
        evidence_root: root(evidence),
        hints_root: root(0),
    }
}

fn line(height: u64, amount: i64) -> Movement {
    Movement {
        height,
        time_ms: 0,
        amount: Signed(amount),
        reason: Reason::Transfer,
        other: String::new(),
        order: None,
    }
}

fn job(state: &str) -> JobRecord {
    let text = format!(
        r#"{{"id":"0101010101010101","order":null,"name":"kill-0","argv":["echo"],"class":"small",
        "nodes":1,"how":{{"mechanism":"ausubel","divisible":false}},"max_price":"1","seconds":1,"budget":"1",
        "state":"{state}","reason":null,"accepted_ms":0,"committed_height":null,
        "opened_height":null,"won_height":null,"lease":null,"sellers":[],"running_ms":null,
        "ended_ms":null,"exits":[],"files":[],"paid":"0","price":null,"preemptions":0}}"#
    );
    serde_json::from_str(&text).expect("a job's record")
}

fn good() -> Case {
    let party = |name: &str, n| Party {
        name: name.to_owned(),
        account: AccountId([n; 32]),
        start: 5_000_000,
    };
    let headers: Vec<Header> = (1..=4).map(|height| header(height, 0)).collect();
    let mut written = Written {
        transfers: vec![Transfer {
            from: 0,
            to: 1,
            amount: AMOUNT,
            outcome: Outcome::Final(EntryId([9; 32]), 3),
        }],
        orders: vec![Order {
            buyer: 1,
            name: "kill-0".to_owned(),
            id: Some(JobId::from_bytes([1; 8])),
            end: Some(job("done")),
        }],
        movements: vec![(4, vec![line(3, -AMOUNT)]), (4, vec![line(3, AMOUNT)])],
        ..Written::default()
    };
    let head = Head {
        block: headers[1].id(),
        state_root: headers[1].state_root,
    };
    written.heads.insert(2, head);
    let chain = |node: &str| Chain {
        node: node.to_owned(),
        headers: headers.iter().map(codec::encode).collect(),
    };
    let statement = |moved| Statement {
        balance: 5_000_000 + moved,
        height: 4,
    };
    Case {
        parties: vec![party("v1", 1), party("v2", 2)],
        written,
        chains: vec![chain("v1"), chain("v2")],
        statements: vec![statement(-AMOUNT), statement(AMOUNT)],
    }
}

fn judged(spoil: impl FnOnce(&mut Case)) -> Findings {
    let mut case = good();
    spoil(&mut case);
    let Case {
        parties,
        written,
        chains,
        statements,
    } = case;
    compare(&parties, &written, &chains, &statements, Vec::new())
}

#[test]
fn a_good_run_is_clean() {
    let found = judged(|_| {});
    assert!(found.is_clean(), "{found:?}");
    assert_eq!((found.acknowledged(), found.orders_done), (2, 1));
    assert_eq!((found.heads, found.height), (1, 4));
}

#[test]
fn a_posting_that_is_missing_or_elsewhere_is_a_loss() {
    let found = judged(|case| case.written.movements[0].1.clear());
    assert_eq!(found.lost.len(), 1);
    assert_eq!(found.wrong.len(), 1, "the statement does not add up either");
    let found = judged(|case| case.written.movements[1].1[0].height = 2);
    assert_eq!((found.lost.len(), found.wrong.len()), (1, 0));
}

#[test]
fn what_happened_twice_or_was_denied_is_doubled() {
    let found = judged(|case| case.written.movements[1].1.push(line(4, AMOUNT)));
    assert_eq!(found.doubled.len(), 1);
    let found = judged(|case| case.written.transfers[0].outcome = Outcome::NoEffect);
    assert_eq!(found.doubled.len(), 2, "on both sides");
    let found = judged(|case| {
        let twin = Order {
            name: "kill-1".to_owned(),
            ..case.written.orders[0].clone()
        };
        case.written.orders.push(twin);
    });
    assert_eq!(found.doubled.len(), 1);
}

#[test]
fn an_order_that_is_not_over_is_lost() {
    let found = judged(|case| case.written.orders[0].end = None);
    assert_eq!(found.lost.len(), 1);
    let found = judged(|case| case.written.orders[0].end = Some(job("running")));
    assert_eq!(found.lost.len(), 1);
    let found = judged(|case| case.written.orders[0].end = Some(job("failed")));
    assert!(found.is_clean(), "an end, though not a good one");
    assert_eq!((found.orders_done, found.other_ends["failed "]), (0, 1));
    let found = judged(|case| case.written.orders[0].id = None);
    assert_eq!(found.wrong.len(), 1);
}

#[test]
fn heads_belong_to_the_one_chain() {
    let found = judged(|case| {
        for head in case.written.heads.values_mut() {
            head.block = BlockId([8; 32]);
        }
    });
    assert_eq!(found.lost.len(), 1);
    let found = judged(|case| {
        let head = case.written.heads[&2];
        case.written.heads.insert(9, head);
    });
    assert_eq!(found.lost.len(), 1, "a head above the chain");
    let found = judged(|case| case.chains[1].headers[3] = codec::encode(&header(4, 7)));
    assert_eq!(found.wrong, ["v1 and v2 differ at height 4"]);
    let found = judged(|case| {
        case.chains[1].headers.pop();
    });
    assert_eq!(found.wrong.len(), 1);
    let found = judged(|case| {
        for chain in &mut case.chains {
            chain.headers[3] = codec::encode(&header(4, 7));
        }
    });
    assert!(found.wrong[0].contains("evidence"), "{found:?}");
}

#[test]
fn money_that_nobody_moved_is_found() {
    let found = judged(|case| {
        case.written.movements[0].1.push(line(4, 77));
        case.statements[0].balance += 77;
    });
    assert_eq!(found.wrong.len(), 1);
    let found = judged(|case| case.statements[1].balance += 1);
    assert_eq!(found.wrong.len(), 1);
    let found = judged(|case| case.written.transfers[0].outcome = Outcome::Asked);
    assert_eq!(found.wrong.len(), 2, "an answer never came");
}
