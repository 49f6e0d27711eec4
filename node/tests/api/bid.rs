//! Bids: suggestions, the bids that stand, and new prices for them.

use super::asking::{request, want, world};
use super::world::{World, credits};
use gridbay_node::api::ErrorCode;
use gridbay_node::api::types::{
    AmendRequest, BidWish, How, JobId, JobRequest, JobState, StandingBid, Want,
};
use gridbay_node::backend::NodeBackend;
use gridbay_protocol::units::Credits;

/// Suggested bids for the two units that are left, and for more than there are.
pub(crate) async fn check_advice(backend: &NodeBackend) {
    let wish = |nodes| BidWish {
        class: None,
        nodes,
        divisible: false,
        seconds: 4,
        chance: 90,
    };
    let said = backend.suggest(wish(2)).await.unwrap();
    assert_eq!((said.won, said.price.is_some()), (Some(100), true));
    assert!(said.price >= said.reserve && said.clearings > 0, "{said:?}");
    assert!(said.prices.iter().any(|row| row.won == 100), "{said:?}");
    let many = backend.suggest(wish(9)).await.unwrap();
    assert_eq!((many.price, many.most, many.reserve), (None, None, None));
    let odd = BidWish {
        chance: 0,
        ..wish(2)
    };
    let refused = backend.suggest(odd).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::Usage);
}

/// A bid for so many nodes at 10 credits a node-hour.
async fn bid(world: &World, n: u8, nodes: u32) -> JobId {
    let id = JobId::from_bytes([n; 8]);
    world
        .backend
        .submit(id.clone(), request(nodes))
        .await
        .unwrap();
    id
}

fn at(price: &str) -> AmendRequest {
    AmendRequest {
        max_price: credits(price),
        budget: None,
    }
}

async fn listed(world: &World, id: &JobId) -> Option<StandingBid> {
    let bids = world.backend.bids().await.unwrap();
    bids.into_iter().find(|bid| bid.id == *id)
}

#[tokio::test(flavor = "multi_thread")]
async fn bids_are_listed_until_they_are_over() {
    let world = world().await;
    let backend = &world.backend;
    assert_eq!(backend.bids().await.unwrap(), []);
    world.offer().await;
    let wins = bid(&world, 1, 2).await;
    world.job_in(&wins, JobState::Won).await;
    let buy = JobRequest {
        want: Want {
            how: How::BUY,
            max_price: None,
            ..want(1)
        },
        ..request(1)
    };
    backend
        .submit(JobId::from_bytes([2; 8]), buy)
        .await
        .unwrap();
    let waits = bid(&world, 3, 9).await;
    world.job_in(&waits, JobState::Bidding).await;

    let bids = backend.bids().await.unwrap();
    let shown: Vec<(&JobId, u32)> = bids.iter().map(|b| (&b.id, b.nodes)).collect();
    assert_eq!(shown, [(&waits, 9), (&wins, 2)], "newest first, and no buy");
    for bid in &bids {
        assert_eq!((bid.class.as_str(), bid.name.as_str()), ("small", "true"));
        assert_eq!((bid.max_price, bid.amended), (credits("10"), None));
        assert!(!bid.divisible && bid.paid <= bid.budget, "{bid:?}");
    }
    assert_eq!(bids[0].paid, Credits::ZERO);
    backend.cancel(waits.clone()).await.unwrap();
    world.job_in(&waits, JobState::Cancelled).await;
    assert_eq!(listed(&world, &waits).await, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_amended_bid_says_so_until_the_ledger_has_it() {
    let world = world().await;
    let backend = &world.backend;
    world.offer().await;
    let id = bid(&world, 1, 9).await;
    let asked = AmendRequest {
        budget: Some(credits("90")),
        ..at("12")
    };
    let said = backend.amend(id.clone(), asked).await.unwrap();
    assert_eq!(said.id, id);
    assert_eq!(
        (said.max_price, said.amended),
        (credits("10"), Some(credits("12")))
    );
    world
        .until(|| async {
            let bid = listed(&world, &id).await.unwrap();
            assert!(
                bid.amended.is_some() || bid.max_price == credits("12"),
                "{bid:?}"
            );
            bid.amended.is_none().then_some(())
        })
        .await;
    let bid = listed(&world, &id).await.unwrap();
    assert_eq!((bid.max_price, bid.budget), (credits("12"), credits("90")));

    // A bid that runs takes another price as well, by the beginning of its id; the budget stays.
    let runs = self::bid(&world, 0xab, 2).await;
    world.job_in(&runs, JobState::Won).await;
    let budget = listed(&world, &runs).await.unwrap().budget;
    let short = JobId::try_from("abababab".to_owned()).unwrap();
    let said = backend.amend(short, at("11")).await.unwrap();
    assert_eq!((said.id, said.amended), (runs.clone(), Some(credits("11"))));
    world
        .until(|| async {
            let bid = listed(&world, &runs).await.unwrap();
            (bid.max_price == credits("11")).then_some(())
        })
        .await;
    assert_eq!(listed(&world, &runs).await.unwrap().budget, budget);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_amended_is_refused() {
    let world = world().await;
    let backend = &world.backend;
    let refused = |id: &JobId, request| {
        let id = id.clone();
        async move { backend.amend(id, request).await.unwrap_err().code }
    };
    let nobody = JobId::from_bytes([9; 8]);
    assert_eq!(refused(&nobody, at("12")).await, ErrorCode::NotFound);
    let id = bid(&world, 1, 2).await;
    let dear = AmendRequest {
        max_price: Credits::MAX,
        budget: None,
    };
    assert_eq!(refused(&id, dear).await, ErrorCode::Usage);
    assert_eq!(listed(&world, &id).await.unwrap().amended, None);
    backend.cancel(id.clone()).await.unwrap();
    assert_eq!(refused(&id, at("12")).await, ErrorCode::NotFound, "it ends");
    world.job_in(&id, JobState::Cancelled).await;
    assert_eq!(
        refused(&id, at("12")).await,
        ErrorCode::NotFound,
        "it ended"
    );
}
