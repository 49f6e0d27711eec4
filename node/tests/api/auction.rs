//! Auctions: a stranger's checks of their proofs.

use super::world::World;
use gridbay_node::api::types::{AuctionRecord, AuctionSummary};
use gridbay_node::cli::verify_auction;
use gridbay_protocol::codec;

/// A stranger's checks of the proof of an auction.
pub(crate) async fn check_proof(world: &World, won: &AuctionSummary) {
    let proof = world.backend.auction(won.id.clone()).await.unwrap();
    let set = world.genesis.validators().unwrap();
    assert_eq!(proof.validators.0, codec::encode(&set));
    verify_auction(&proof, &world.genesis, &set).unwrap();
    let AuctionRecord::Clearing(clearing) = proof.record else {
        panic!("a clearing")
    };
    assert_eq!(clearing.height, won.height);
}
