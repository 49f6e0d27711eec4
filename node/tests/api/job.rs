//! Jobs: one that wins an auction, from its quote to its end, and ones that cannot be served.

use super::asking::{request, want, world};
use super::auction::check_proof;
use super::market::check_prospects;
use super::world::{World, credits};
use gridbay_node::api::ErrorCode;
use gridbay_node::api::types::{
    AuctionKind, How, InviteRequest, JobId, JobReason, JobRequest, JobState, Want,
};
use gridbay_protocol::invitation::Invitation;
use gridbay_protocol::units::Credits;

#[tokio::test(flavor = "multi_thread")]
async fn an_order_wins_an_auction_that_strangers_can_check() {
    let world = world().await;
    let backend = &world.backend;
    world.offer().await;
    let quote = backend.quote(want(2)).await.unwrap();
    assert_eq!((quote.units_offered, quote.units_free), (4, 4));
    assert!(quote.funded && quote.likely.is_none());
    let id = JobId::from_bytes([0xab; 8]);
    let record = backend.submit(id.clone(), request(2)).await.unwrap();
    assert_eq!(
        (record.name.as_str(), record.max_price),
        ("true", credits("10"))
    );
    let again = backend.submit(id.clone(), request(2)).await.unwrap();
    assert_eq!(again.accepted_ms, record.accepted_ms, "the same job");
    world.job_in(&id, JobState::Won).await;

    let auctions = backend.auctions(Some("small".into()), 10).await.unwrap();
    let won = auctions.iter().rev().find(|a| a.winners == 1).unwrap();
    assert_eq!((won.units, won.bids, won.sold), (4, 1, 2));
    assert_ne!(won.kind, AuctionKind::Buy);
    check_proof(&world, won).await;

    let prices = backend.prices().await.unwrap();
    // Nobody competes, so the price is the reserve but for what prorating rounds up.
    let (last, reserve) = (prices[0].last.unwrap(), credits("1"));
    assert!(
        last >= credits("0.9") && last <= credits("1.4"),
        "{last} near {reserve}"
    );
    assert_eq!(
        (prices[0].units_leased, prices[0].buy),
        (2, Some(credits("2")))
    );
    check_prospects(backend).await;

    let why = backend.why(id.clone()).await.unwrap();
    assert!(
        why.checks
            .iter()
            .all(|c| c.met || c.condition == "ranks at work"),
        "{why:?}"
    );

    let record = backend.job(id.clone()).await.unwrap();
    assert!(record.lease.is_some() && record.paid > Credits::ZERO);
    assert!(
        record.price.unwrap() <= record.max_price,
        "never above the bid"
    );
    assert!(record.committed_height < record.opened_height && record.won_height.is_some());
    assert_eq!(record.sellers[0].ranks, [0, 1]);
    assert_eq!(record.sellers[0].name.as_deref(), Some("alpha"));
    until_locked(&world, &id, true).await;
    let cancelled = backend.cancel(id.clone()).await.unwrap();
    assert_eq!(cancelled.reason, Some(JobReason::Cancelled));
    world.job_in(&id, JobState::Cancelled).await;
    until_locked(&world, &id, false).await;
    assert!(backend.jobs(false).await.unwrap().is_empty());
    assert_eq!(backend.jobs(true).await.unwrap().len(), 1);
    let short = JobId::try_from("abababab".to_owned()).unwrap();
    assert_eq!(backend.job(short).await.unwrap().id, id, "by its beginning");
}

/// Waits until money is locked for a job, or none any more.
async fn until_locked(world: &World, id: &JobId, locked: bool) {
    world
        .until(|| async {
            let record = world.backend.job(id.clone()).await.unwrap();
            assert!(record.locked <= record.budget, "{}", record.locked);
            ((record.locked > Credits::ZERO) == locked).then_some(())
        })
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn orders_that_cannot_be_served_are_explained() {
    let world = world().await;
    let backend = &world.backend;
    let code = |want| async move { backend.quote(want).await.unwrap_err().code };
    assert_eq!(
        code(Want {
            class: Some("huge".into()),
            ..want(1)
        })
        .await,
        ErrorCode::NotFound
    );
    let buy = Want {
        how: How::BUY,
        max_price: None,
        ..want(1)
    };
    assert_eq!(code(buy).await, ErrorCode::NoMatch, "nothing is offered");
    let dear = Want {
        max_price: Some(credits("9000000")),
        ..want(4_000)
    };
    let dear = JobRequest {
        want: dear,
        ..request(1)
    };
    let refused = backend
        .submit(JobId::from_bytes([1; 8]), dear)
        .await
        .unwrap_err();
    assert_eq!(refused.code, ErrorCode::InsufficientFunds);
    let id = JobId::from_bytes([2; 8]);
    backend.submit(id.clone(), request(3)).await.unwrap();
    world
        .until(|| async {
            let why = backend.why(id.clone()).await.unwrap();
            (why.reason == Some(JobReason::NoUnits)).then_some(why)
        })
        .await;
    let invite = InviteRequest {
        endowment: credits("7"),
        valid_seconds: 3_600,
    };
    let invite = backend.invite(invite).await.unwrap();
    let invitation = Invitation::from_text(&invite.token).unwrap();
    assert_eq!(invitation.network, world.genesis.network());
    assert_eq!(invitation.grant.grant.endowment, credits("7"));
    assert_eq!(invitation.bootstrap.len(), 1, "this node");
    let metrics = backend.metrics().await;
    assert!(
        metrics.contains("gridbay_market_orders_open 1\n"),
        "{metrics}"
    );
    assert!(metrics.contains("gridbay_up 1\n"));
    backend.stop();
    assert!(*world.stop.borrow());
    world.body.stop();
}
