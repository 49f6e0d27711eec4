//! Looks as tables, and the spans that follow from them.

use super::*;
use crate::trace::facts::AttemptFact;
use crate::trace::runs::RunNews;
use gridbay_core::agent::{Phase, RunId};
use gridbay_protocol::job::JobExit;
use gridbay_protocol::payment::Reason;
use opentelemetry::trace::Status;
use std::time::{Duration, UNIX_EPOCH};

const ORDER: OrderId = OrderId([0xab; 32]);
const LEASE: LeaseId = LeaseId([0xcd; 32]);

/// Height `h` has the ledger time `1000 h`.
fn look(height: u64, orders: Vec<OrderFact>, steps: Vec<Step>) -> Look {
    Look {
        height,
        now_ms: height * 1_000 + 500,
        orders,
        steps,
        times: (1..=height).map(|h| (h, h * 1_000)).collect(),
        ..Look::default()
    }
}

fn fact() -> OrderFact {
    OrderFact {
        key: OrderKey(7),
        id: ORDER,
        job: "0000000000000007".to_owned(),
        class: "small".to_owned(),
        mechanism: "ausubel",
        nodes: 1,
        budget: "10".parse().unwrap(),
        paid: "0.5".parse().unwrap(),
        state: JobState::Bidding,
        reason: None,
        settled: false,
        accepted_ms: 1_500,
        committed: 0,
        opened: 0,
        won: 0,
        lease: None,
        leases_lost: 0,
        attempts: BTreeMap::new(),
    }
}

fn step(place: (u64, u32), what: What) -> Step {
    Step {
        place,
        order: ORDER,
        what,
    }
}

fn attempt(started_ms: u64, ended_ms: u64, end: Option<&str>) -> AttemptFact {
    AttemptFact {
        lease: Some(LEASE),
        started_ms,
        ended_ms,
        end: end.map(str::to_owned),
        code: end.map(|_| 0),
    }
}

fn paid(reason: Reason, earned: bool) -> What {
    What::Paid {
        amount: "0.25".parse().unwrap(),
        reason,
        earned,
    }
}

fn leased(slot: u64, begins: bool) -> What {
    What::Leased {
        lease: LEASE,
        slot,
        units: 2,
        begins,
    }
}

/// Name, parent, milliseconds from and to.
fn lines(spans: &[SpanData]) -> Vec<(&str, SpanId, u64, u64)> {
    let ms = |at: std::time::SystemTime| at.duration_since(UNIX_EPOCH).unwrap().as_millis() as u64;
    let line = |span: &SpanData| {
        assert_eq!(span.span_context.trace_id(), ids::trace(&ORDER));
        let (from, to) = (ms(span.start_time), ms(span.end_time));
        (span.parent_span_id, from, to)
    };
    let named = spans.iter().map(|span| (span.name.as_ref(), line(span)));
    named
        .map(|(name, (parent, from, to))| (name, parent, from, to))
        .collect()
}

fn value(span: &SpanData, name: &str) -> String {
    let found = span.attributes.iter().find(|kv| kv.key.as_str() == name);
    found
        .unwrap_or_else(|| panic!("no {name} in {span:?}"))
        .value
        .to_string()
}

/// The end of lease and order in the block 7, with a payment.
fn last_steps() -> Vec<Step> {
    let end = |word: &str| Some(word.to_owned());
    let over = What::LeaseOver {
        lease: LEASE,
        end: end("exit"),
    };
    vec![
        step((7, 0), over),
        step((7, 1), What::Over { end: end("served") }),
        step((7, 2), paid(Reason::Earning, false)),
    ]
}

#[test]
fn an_order_is_told_stage_by_stage_each_once() {
    let mut story = Story::new(100, Told::default());
    let (root, lease) = (ids::root(&ORDER), ids::lease(&LEASE));
    let mut order = fact();
    assert!(story.tell(look(1, vec![order.clone()], vec![])).is_empty());
    order.committed = 2;
    let spans = story.tell(look(2, vec![order.clone()], vec![]));
    assert_eq!(lines(&spans), [("commit", root, 1_500, 2_000)]);
    assert!(story.tell(look(3, vec![order.clone()], vec![])).is_empty());

    (order.opened, order.won, order.lease) = (4, 5, Some(LEASE));
    let cleared = What::Cleared {
        auction: "ef".to_owned(),
        kind: "boundary",
    };
    let steps = vec![
        step((5, 1), cleared),
        step((5, 2), paid(Reason::Charge, false)),
        step((5, 3), leased(9, true)),
    ];
    let spans = story.tell(look(5, vec![order.clone()], steps));
    let all = [
        ("open", root, 2_000, 4_000),
        ("clearing", root, 4_000, 5_000),
        ("payment", lease, 5_000, 5_000),
    ];
    assert_eq!(lines(&spans), all);
    assert_eq!(value(&spans[1], "gridbay.clearing"), "ef");
    assert_eq!(value(&spans[2], "gridbay.credits"), "0.25");
    assert_eq!(value(&spans[2], "gridbay.slot"), "9");
    assert_eq!(value(&spans[2], "gridbay.reason"), "charge");

    order.attempts.insert((0, 0), attempt(5_700, 0, None));
    let spans = story.tell(look(
        6,
        vec![order.clone()],
        vec![step((6, 0), leased(10, false))],
    ));
    assert_eq!(lines(&spans), [("start", lease, 5_000, 5_700)]);
    order
        .attempts
        .insert((0, 0), attempt(5_700, 6_900, Some("done")));
    order.state = JobState::Done;
    let spans = story.tell(look(7, vec![order.clone()], last_steps()));
    let all = [
        ("job", lease, 5_700, 6_900),
        ("lease", root, 5_000, 7_000),
        ("order", SpanId::INVALID, 1_500, 7_000),
        ("payment", lease, 7_000, 7_000),
    ];
    assert_eq!(lines(&spans), all);
    assert_eq!(value(&spans[1], "gridbay.slots"), "2");
    assert_eq!(value(&spans[2], "gridbay.state"), "done");
    assert!(
        spans.iter().all(|span| span.status == Status::Unset),
        "nothing failed"
    );
    // Its last slot is paid later, when nothing else is known of it.
    order.settled = true;
    let late = vec![step((9, 0), paid(Reason::Refund, false))];
    let spans = story.tell(look(9, vec![order], late));
    assert_eq!(lines(&spans), [("payment", lease, 9_000, 9_000)]);
    assert!(story.followed().is_empty());
}

#[test]
fn a_node_that_starts_again_goes_on_where_it_was() {
    let told = Told {
        height: 5,
        now_ms: 5_500,
        place: (5, 3),
    };
    let mut story = Story::new(100, told);
    let mut order = fact();
    (order.committed, order.opened, order.won, order.lease) = (2, 4, 5, Some(LEASE));
    // The first attempt was told; the second came while the node was away.
    order
        .attempts
        .insert((0, 0), attempt(5_100, 5_400, Some("unit_lost")));
    order.attempts.insert((0, 1), attempt(5_900, 0, None));
    let (root, lease) = (ids::root(&ORDER), ids::lease(&LEASE));
    let spans = story.tell(look(8, vec![order.clone()], vec![]));
    assert_eq!(lines(&spans), [("start", lease, 5_400, 5_900)]);
    let end = Some("exit".to_owned());
    let over = vec![step((9, 0), What::LeaseOver { lease: LEASE, end })];
    let spans = story.tell(look(9, vec![order], over));
    assert_eq!(
        lines(&spans),
        [("lease", root, 5_000, 9_000)],
        "since it began"
    );
    assert_eq!(story.told().place, (9, 0));
}

#[test]
fn an_order_that_fails_says_so_and_one_that_was_over_is_not_told() {
    let mut story = Story::new(100, Told::default());
    let mut order = fact();
    story.tell(look(1, vec![order.clone()], vec![]));
    (order.state, order.reason) = (JobState::Failed, Some("refused".to_owned()));
    order.settled = true;
    let spans = story.tell(look(2, vec![order.clone()], vec![]));
    assert_eq!(lines(&spans), [("order", SpanId::INVALID, 1_500, 2_500)]);
    assert_eq!(spans[0].status, Status::error("refused"));
    assert!(story.tell(look(3, vec![order.clone()], vec![])).is_empty());
    let mut later = Story::new(100, Told::default());
    assert!(later.tell(look(3, vec![order], vec![])).is_empty());
}

#[test]
fn an_attempt_that_another_one_replaces_is_told_under_its_own_order() {
    let mut story = Story::new(100, Told::default());
    let mut order = fact();
    order.committed = 2;
    story.tell(look(2, vec![order.clone()], vec![]));
    let second = OrderFact {
        id: OrderId([0xac; 32]),
        committed: 0,
        ..order
    };
    let over = What::Over {
        end: Some("not_opened".to_owned()),
    };
    let spans = story.tell(look(6, vec![second], vec![step((6, 0), over)]));
    assert_eq!(lines(&spans), [("order", SpanId::INVALID, 1_500, 6_000)]);
    assert_eq!(value(&spans[0], "gridbay.end"), "not_opened");
    assert_eq!(story.followed().len(), 1, "the second goes on");
}

#[test]
fn a_seller_adds_its_part_to_the_same_trace() {
    let mut story = Story::new(100, Told::default());
    let run = RunId {
        lease: LEASE,
        task: 0,
        attempt: 1,
    };
    let news = |at_ms, phase| RunNews { run, at_ms, phase };
    let ended = Phase::Ended {
        exit: JobExit::Code(3),
        started_ms: 2_400,
        ended_ms: 3_100,
        cpu_ms: 650,
        rss_kib: 2_048,
    };
    let mut first = look(2, vec![], vec![]);
    first.served.insert(LEASE, ORDER);
    first.runs = vec![news(2_100, None)];
    assert!(story.tell(first).is_empty());
    // The lease is over by now.
    let mut second = look(4, vec![], vec![step((4, 0), paid(Reason::Earning, true))]);
    second.runs = vec![
        news(2_450, Some(Phase::Running { started_ms: 2_400 })),
        news(3_120, Some(ended)),
    ];
    let spans = story.tell(second);
    let lease = ids::lease(&LEASE);
    let job = ids::stage(&ORDER, "job", (0, 1));
    let all = [
        ("earning", lease, 4_000, 4_000),
        ("stage", lease, 2_100, 2_400),
        ("run", job, 2_400, 3_100),
    ];
    assert_eq!(lines(&spans), all);
    assert_eq!(value(&spans[2], "gridbay.cpu_ms"), "650");
    assert_eq!(spans[2].status, Status::error("code"));
    assert!(spans.iter().all(|span| span.parent_span_is_remote));
    // A stranger's run is none of an order that is known.
    let mut third = look(5, vec![], vec![]);
    let lease = LeaseId([1; 32]);
    third.runs = vec![RunNews {
        run: RunId { lease, ..run },
        at_ms: 1,
        phase: Some(ended),
    }];
    assert!(story.tell(third).is_empty());
}

#[test]
fn orders_that_are_not_sampled_are_not_told() {
    let percent = (1..=100)
        .find(|percent| ids::is_sampled(&ORDER, *percent))
        .unwrap();
    for (percent, told) in [(percent - 1, 0), (percent, 1)] {
        let mut story = Story::new(percent, Told::default());
        let mut order = fact();
        order.committed = 2;
        assert_eq!(story.tell(look(2, vec![order], vec![])).len(), told);
    }
}

#[test]
fn what_is_remembered_is_forgotten_again() {
    let mut story = Story::new(100, Told::default());
    let mut order = fact();
    (order.committed, order.won, order.lease) = (2, 3, Some(LEASE));
    let steps = vec![step((3, 0), leased(1, true))];
    story.tell(look(3, vec![order.clone()], steps));
    let over = vec![step((4, 0), What::Over { end: None })];
    story.tell(look(4, vec![order.clone()], over));
    assert_eq!((story.leases.len(), story.orders.len()), (1, 1));
    order.settled = true;
    story.tell(look(5, vec![order], vec![]));
    assert_eq!((story.leases.len(), story.orders.len()), (1, 0));
    story.tell(Look {
        height: 4 + LINGER,
        now_ms: 1 + Duration::from_secs(9_999).as_millis() as u64,
        ..Look::default()
    });
    assert_eq!((story.leases.len(), story.former.len()), (0, 0));
}
