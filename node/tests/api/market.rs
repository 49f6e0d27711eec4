//! The market: the mechanisms' answers to a wish.

use super::bid::check_advice;
use super::world::credits;
use gridbay_node::api::types::Wish;
use gridbay_node::backend::NodeBackend;

/// The mechanisms' answers to a wish for the two units that are left.
pub(crate) async fn check_prospects(backend: &NodeBackend) {
    let wish = Wish {
        class: None,
        nodes: 2,
        seconds: 4,
        within_seconds: None,
        budget: None,
    };
    let prospects = backend.prospects(wish.clone()).await.unwrap();
    let of = |name: &str| prospects.iter().find(|p| p.mechanism == name).unwrap();
    let (bid, buy) = (of("ausubel"), of("buy"));
    // Each clearing so far had two units left over at the reserve.
    assert_eq!(bid.odds, Some(100), "{bid:?}");
    assert!(bid.options.starts_with("-n 2 --max-price "), "{bid:?}");
    assert!(bid.likely.unwrap() <= bid.most.unwrap(), "{bid:?}");
    assert_eq!(buy.odds, Some(100), "two are free: {buy:?}");
    assert!(buy.likely > bid.likely, "{prospects:?}");
    let ahead = of("reservation");
    assert_eq!(ahead.odds, Some(0), "none is sold so: {ahead:?}");
    let shared = of("share");
    assert_eq!(shared.odds, Some(0), "no pool: {shared:?}");
    check_advice(backend).await;
    let batch = of("contract");
    assert!(batch.likely.unwrap() > buy.likely.unwrap(), "{batch:?}");
    assert_eq!(
        batch.odds, None,
        "no provider says what it goes by: {batch:?}"
    );
    assert!(batch.options.contains("--jobs 2"), "{batch:?}");
    let poor = Wish {
        budget: Some(credits("0.000001")),
        ..wish
    };
    let prospects = backend.prospects(poor).await.unwrap();
    assert!(prospects.iter().all(|p| p.odds == Some(0)), "{prospects:?}");
}
