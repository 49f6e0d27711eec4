//! The market: the mechanisms' answers to a wish.

use super::asking::{request, want};
use super::bid::check_advice;
use super::world::{Settings, World, credits, world_with};
use gridbay_node::api::types::{BidWish, JobId, JobRequest, OfferRequest, Want, Wish};
use gridbay_node::backend::NodeBackend;
use gridbay_protocol::offer::Primary;
use tempfile::tempdir;

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

/// A market whose first class has more units, and asks more for them.
async fn two_classes() -> World {
    let settings = Settings {
        classes: vec!["dear".into(), "fair".into()],
        ..Settings::default()
    };
    let world = world_with(tempdir().unwrap(), settings).await;
    for (class, units, price) in [("dear", 4, "5"), ("fair", 2, "3")] {
        let request = OfferRequest {
            label: None,
            class: class.into(),
            units,
            reserve: credits(price),
            buy: None,
            notice_seconds: None,
            mechanism: Primary::Ausubel,
        };
        world.backend.set_offer(request).await.unwrap();
    }
    world
        .until(|| async {
            let offers = world.backend.offers().await.unwrap();
            (offers.iter().filter(|o| o.on_sale).count() == 2).then_some(())
        })
        .await;
    world
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_class_the_cheapest_that_fits_is_bought_and_told() {
    let world = two_classes().await;
    let backend = &world.backend;
    let quoted = |nodes, class: Option<&str>| {
        let want = Want {
            class: class.map(str::to_owned),
            ..want(nodes)
        };
        async move {
            let quote = backend.quote(want).await.unwrap();
            (quote.class, quote.among)
        }
    };
    assert_eq!(quoted(2, None).await, ("fair".into(), Some(2)));
    assert_eq!(quoted(3, None).await, ("dear".into(), Some(1)), "too few");
    assert_eq!(quoted(2, Some("dear")).await, ("dear".into(), None));

    let advice = backend.suggest(BidWish {
        class: None,
        nodes: 1,
        divisible: false,
        seconds: 60,
        chance: 90,
    });
    assert_eq!(advice.await.unwrap().class, "fair");
    let wish = |class: Option<&str>| Wish {
        class: class.map(str::to_owned),
        nodes: 1,
        seconds: 60,
        within_seconds: None,
        budget: None,
    };
    let prospects = backend.prospects(wish(None)).await.unwrap();
    let of = |class| backend.prospects(wish(Some(class)));
    assert_eq!(prospects[0].most, of("fair").await.unwrap()[0].most);
    assert_ne!(prospects[0].most, of("dear").await.unwrap()[0].most);

    let job: JobRequest = request(2);
    assert_eq!(job.want.class, None);
    let id = JobId::from_bytes([1; 8]);
    let record = backend.submit(id.clone(), job.clone()).await.unwrap();
    assert_eq!(record.class, "fair");
    let again = backend.submit(id, job).await.unwrap();
    assert_eq!(
        again.order, record.order,
        "the same request, whatever was chosen"
    );
}
