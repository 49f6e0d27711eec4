//! Auctions: a stranger's checks of their proofs.

use super::asking::{request, want, world};
use super::world::{World, credits};
use gridbay_node::api::types::{
    AuctionKind, AuctionRecord, AuctionSummary, How, JobId, JobRequest, JobState, PostedHow, Want,
};
use gridbay_node::cli::verify_auction;
use gridbay_protocol::codec;
use gridbay_protocol::offer::Primary;

/// A stranger's checks of the proof of an auction.
pub(crate) async fn check_proof(world: &World, won: &AuctionSummary) {
    let AuctionRecord::Clearing(clearing) = proved(world, won).await else {
        panic!("a clearing")
    };
    assert_eq!(clearing.height, won.height);
}

/// The record of an auction whose proof convinces a stranger.
async fn proved(world: &World, auction: &AuctionSummary) -> AuctionRecord {
    let proof = world.backend.auction(auction.id.clone()).await.unwrap();
    let set = world.genesis.validators().unwrap();
    assert_eq!(proof.validators.0, codec::encode(&set));
    verify_auction(&proof, &world.genesis, &set).unwrap();
    proof.record
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hire_is_listed_and_strangers_can_check_it() {
    let world = world().await;
    world.offer_under(Primary::Posted).await;
    let id = JobId::from_bytes([3; 8]);
    let hire = JobRequest {
        want: Want {
            max_price: None,
            seconds: 20,
            how: How::Posted(PostedHow {}),
            ..want(3)
        },
        ..request(3)
    };
    world.backend.submit(id.clone(), hire).await.unwrap();
    world.job_in(&id, JobState::Won).await;
    let auctions = world.backend.auctions(Some("small".into()), 10).await;
    let auctions = auctions.unwrap();
    let hired = auctions.iter().find(|a| a.kind == AuctionKind::Posted);
    let hired = hired.unwrap();
    assert_eq!((hired.units, hired.sold), (4, 3));
    assert_eq!((hired.bids, hired.winners), (1, 1));
    // A credit an hour, as posted, though a slot is only paid 55 of 55.6 micro-credits.
    assert_eq!(hired.price, Some(credits("1")));
    let AuctionRecord::Posted(record) = proved(&world, hired).await else {
        panic!("hires")
    };
    let job = world.backend.job(id).await.unwrap();
    assert_eq!(Some(record.served[0].order), job.order);
    assert!(world.backend.prices().await.unwrap()[0].last.is_none());
}
