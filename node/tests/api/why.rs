//! Five hundred orders of every outcome that a buyer can meet, more than what is offered can serve:
//! every one that is not filled is explained, and so is every one that is refused at once.

use super::asking::{request, want};
use super::world::{Settings, World, credits, world_with};
use gridbay_node::api::types::{
    BidHow, BuyHow, How, JobId, JobReason, JobRecord, JobRequest, JobState, OfferRequest,
    PostedHow, Want, Why,
};
use gridbay_protocol::offer::Primary;
use gridbay_protocol::units::Credits;
use std::collections::BTreeMap;
use tempfile::tempdir;

const ORDERS: usize = 500;
/// An account may have 16 live orders of each.
const CLASSES: usize = 20;
/// Classes of which something is offered: the first ones.
const OFFERED: usize = 8;

fn class(n: usize) -> String {
    format!("class{n}")
}

/// The wish of an order; kinds alternate within a class.
fn wish(n: usize) -> Want {
    let bid = |price: &str, nodes| Want {
        max_price: Some(credits(price)),
        ..want(nodes)
    };
    let bought = |how| Want {
        how,
        max_price: None,
        ..want(1)
    };
    let chosen = match n / CLASSES % 8 {
        0 => bid("10", 2),
        1 => bid("0.5", 1),
        2 => bid("10", 5),
        3 => bid("9", 4),
        4 => bought(How::Buy(BuyHow {
            wait_seconds: 1,
            surcharge: Credits::ZERO,
            also: vec![],
        })),
        5 => bought(How::Posted(PostedHow {})),
        6 => Want {
            how: How::Ausubel(BidHow { divisible: true }),
            ..bid("2", 4)
        },
        _ => Want {
            budget: Some(credits("0.001")),
            ..bid("10", 1)
        },
    };
    Want {
        class: Some(class(n % CLASSES)),
        seconds: 60,
        ..chosen
    }
}

async fn world() -> World {
    let settings = Settings {
        classes: (0..CLASSES).map(class).collect(),
        ..Settings::default()
    };
    let world = world_with(tempdir().unwrap(), settings).await;
    for n in 0..OFFERED {
        let request = OfferRequest {
            label: None,
            class: class(n),
            units: 4,
            reserve: credits("1"),
            buy: Some(credits("2")),
            notice_seconds: None,
            mechanism: Primary::Ausubel,
        };
        world.backend.set_offer(request).await.unwrap();
    }
    world
        .until(|| async {
            let offers = world.backend.offers().await.unwrap();
            (offers.iter().filter(|o| o.on_sale).count() == OFFERED).then_some(())
        })
        .await;
    world
}

/// Nothing is wrong with orders that have what they asked for.
fn is_filled(state: JobState) -> bool {
    use JobState::{Done, Ending, Running, Staging, Won};
    matches!(state, Won | Staging | Running | Ending | Done)
}

/// A sentence of its own, and figures or a change behind it.
fn check(record: &JobRecord, why: &Why) {
    let told = format!("{:?} {:?} {why:?}", record.state, record.reason);
    assert!(
        why.summary.ends_with('.') && why.summary.len() > 20,
        "{told}"
    );
    assert!(
        !why.summary.starts_with("It is "),
        "the state, no reason: {told}"
    );
    assert!(!why.summary.contains("_reason"), "{told}");
    let open = why.checks.iter().any(|check| !check.met);
    assert!(open || !why.remedies.is_empty(), "nothing to go by: {told}");
    if why.state.is_final() {
        assert!(why.reason.is_some(), "an end without a reason: {told}");
        assert!(!why.remedies.is_empty(), "an end without a way on: {told}");
    }
    // What the sentence names as lacking is not met.
    let lacks = |condition: &str| {
        let mut rows = why.checks.iter();
        rows.any(|check| check.condition.starts_with(condition) && !check.met)
    };
    if why.reason == Some(JobReason::NoUnits) {
        assert!(lacks("units of class "), "{told}");
    }
    if why.summary.starts_with("Sellers ask") {
        assert!(lacks("price per node-hour"), "{told}");
    }
    if let Some(word) = &why.refusal {
        assert!(why.summary.contains(word.as_str()), "{told}");
    }
}

async fn explained(world: &World, ids: &[JobId]) -> BTreeMap<String, usize> {
    let mut seen = BTreeMap::new();
    for id in ids {
        let record = world.backend.job(id.clone()).await.unwrap();
        let why = world.backend.why(id.clone()).await.unwrap();
        if is_filled(why.state) {
            *seen.entry("filled".to_owned()).or_default() += 1;
            continue;
        }
        check(&record, &why);
        let reason = why.reason.map_or("none", JobReason::name);
        *seen
            .entry(format!("{} {reason}", why.state.name()))
            .or_default() += 1;
    }
    seen
}

#[tokio::test(flavor = "multi_thread")]
async fn every_unfilled_order_of_five_hundred_is_explained() {
    let world = world().await;
    let (mut ids, mut refused) = (Vec::new(), 0);
    for n in 0..ORDERS {
        let id = JobId::from_bytes((n as u64 + 1).to_be_bytes());
        let ask = JobRequest {
            want: wish(n),
            ..request(1)
        };
        match world.backend.submit(id.clone(), ask).await {
            Ok(_) => ids.push(id),
            Err(error) => {
                assert!(
                    error.message.len() > 10 && error.hint.len() > 5,
                    "{error:?}"
                );
                refused += 1;
            }
        }
        if n % 100 == 0 {
            explained(&world, &ids).await;
        }
    }
    assert_eq!(ids.len() + refused, ORDERS);
    let at_once = explained(&world, &ids).await;
    // Until nothing is on its way any more, and the buys have waited for long enough.
    let settled = world
        .until(|| async {
            let seen = explained(&world, &ids).await;
            let moves = ["queued none", "bidding none", "bidding sealed"];
            (!moves.iter().any(|m| seen.contains_key(*m))).then_some(seen)
        })
        .await;
    println!("{refused} refused at once; then {at_once:?}; at last {settled:?}");
    for cause in ["bidding outbid", "bidding no_units", "filled"] {
        assert!(settled.contains_key(cause), "{cause}: {settled:?}");
    }
    assert!(settled.len() > 4, "{settled:?}");
}
