//! Sellers by a query over adverts.

use crate::asking::world;
use crate::world::{TRANSPORT, credits};
use gridbay_node::api::ErrorCode;
use gridbay_node::api::types::FindRequest;
use gridbay_protocol::keys::SecretKey;

#[tokio::test(flavor = "multi_thread")]
async fn sellers_are_found_or_it_is_told_why_not() {
    let world = world().await;
    world.offer().await;
    let find = |query: &str| {
        world.backend.find(FindRequest {
            query: query.to_owned(),
            limit: None,
            explain: false,
        })
    };
    // The advert follows the offer with the next block.
    let report = world
        .until(|| async {
            let report = find("cpu >= 1 && price <= 1 && buy == 2 && firm")
                .await
                .unwrap();
            (!report.nodes.is_empty()).then_some(report)
        })
        .await;
    let node = &report.nodes[0];
    assert_eq!(node.node, SecretKey::from_seed(&TRANSPORT).public());
    assert_eq!((node.rtt_us, node.rtt_measured), (Some(0), false), "here");
    let offer = &node.offers[0];
    assert_eq!((offer.class.as_str(), offer.free), ("small", 4));
    assert_eq!((offer.price, offer.buy), (credits("1"), Some(credits("2"))));
    assert!(report.steps.is_empty() && report.asked == 0);

    let report = find("cpu >= 1 && mem >= 8GiB").await.unwrap();
    assert_eq!((report.known, report.fitting), (1, 0));
    let steps = report.steps.iter();
    let rows: Vec<_> = steps
        .map(|s| (s.condition.as_str(), s.left, s.alone, s.nearest.as_deref()))
        .collect();
    assert_eq!(
        rows,
        [
            ("cpu >= 1", 1, 0, None),
            ("mem >= 8GiB", 0, 1, Some("512MiB"))
        ]
    );

    let error = find("mem >= 8").await.unwrap_err();
    assert_eq!(error.code, ErrorCode::Usage);
    assert_eq!(error.details["column"], 8);
    assert_eq!(error.hint, "write 8GiB");
}
