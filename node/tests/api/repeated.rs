//! Transfers that come again under their key: after their time, and as another list.

use super::asking::world;
use super::world::{Settings, World, credits, secret, world_with};
use gridbay_node::api::ErrorCode;
use gridbay_node::api::types::{Signed, TransferOutcome, TransferRequest, TransfersRequest};
use gridbay_node::store::transfers::{Transfer, TransferKey};
use gridbay_protocol::entry::{Entry, EntryBody, SignedEntry};
use gridbay_protocol::genesis::Genesis;
use gridbay_protocol::hash::{Domain, hash};
use gridbay_protocol::ids::{AccountId, Hash32};
use tempfile::tempdir;

const KEY: &str = "lapsed-0001";

fn pay(to: AccountId, amount: &str) -> TransferRequest {
    TransferRequest {
        to,
        amount: credits(amount),
        memo: None,
    }
}

/// Asks the node itself: the layer of repeated requests would answer, as long as it knows the key.
async fn pay_all(
    world: &World,
    key: &str,
    transfers: &[TransferRequest],
) -> Result<Vec<TransferOutcome>, ErrorCode> {
    let transfers = transfers.to_vec();
    let request = TransfersRequest { transfers };
    let outcomes = world.backend.transfers(Some(key), request).await;
    outcomes.map_err(|error| error.code)
}

/// A payment of 5 that no block took in its time, under a key.
fn lapsed(genesis: &Genesis) -> Transfer {
    let (to, key) = (genesis.account(&genesis.members[1]), TransferKey::of(KEY));
    let entry = Entry {
        network: genesis.network(),
        account: genesis.account(&genesis.members[0]),
        key: secret(1).public(),
        valid_until: 1,
        body: EntryBody::Transfer {
            to,
            amount: credits("5"),
            memo: Hash32(hash(Domain::Content, &[&key.0.0, b""])),
        },
    };
    Transfer {
        key,
        repeats: true,
        entry: SignedEntry::new(entry, &secret(1)),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transfer_whose_time_passed_without_a_block_is_done_anew_under_its_key() {
    let kept = Settings {
        kept: |genesis| vec![lapsed(genesis)],
        ..Settings::default()
    };
    let world = world_with(tempdir().unwrap(), kept).await;
    let to = world.genesis.account(&world.genesis.members[1]);
    let request = pay(to, "5");
    let height = async || (*world.body.height().borrow() > 1).then_some(());
    world.until(height).await;
    let asked = || Some(KEY.to_owned());
    let other = world.backend.transfer(asked(), pay(to, "6")).await;
    assert_eq!(other.unwrap_err().code, ErrorCode::Conflict);
    let one = world.backend.transfer(asked(), request.clone());
    let two = world.backend.transfer(asked(), request.clone());
    let (one, two) = tokio::join!(one, two);
    let (one, two) = (one.unwrap(), two.unwrap());
    assert_eq!(one, two, "done once, however many ask");
    assert_ne!(one.entry, lapsed(&world.genesis).entry.id());
    let balance = world.backend.balance(None).await.unwrap().balance;
    assert_eq!(balance, Signed::from(credits("95")));
}

#[tokio::test(flavor = "multi_thread")]
async fn another_list_under_a_known_key_pays_nothing() {
    let world = world().await;
    let to = world.genesis.account(&world.genesis.members[1]);
    let ask = async |list: &[TransferRequest]| pay_all(&world, "list-0001", list).await;
    let list = [pay(to, "1"), pay(to, "2")];
    let first = ask(&list).await.unwrap();
    assert!(first.iter().all(|outcome| outcome.done.is_some()));
    let noted = TransferRequest {
        memo: Some("x".into()),
        ..pay(to, "2")
    };
    for other in [
        vec![pay(to, "1"), pay(to, "2"), pay(to, "3")],
        vec![pay(to, "1")],
        vec![pay(to, "1"), pay(to, "3")],
        vec![pay(to, "1"), noted],
        vec![pay(to, "2"), pay(to, "1")],
        vec![pay(to, "0"), pay(to, "2")],
    ] {
        let refused = ask(&other).await;
        assert_eq!(refused, Err(ErrorCode::Conflict), "{other:?}");
    }
    assert_eq!(ask(&list).await, Ok(first), "the same one is known");
    let balance = world.backend.balance(None).await.unwrap().balance;
    assert_eq!(balance, Signed::from(credits("97")));
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_lists_that_come_at_once_under_one_key_one_is_refused_as_a_whole() {
    let world = world().await;
    let to = world.genesis.account(&world.genesis.members[1]);
    let ask = async |list: &[TransferRequest]| pay_all(&world, "both-0001", list).await;
    let (one, other) = ([pay(to, "1")], [pay(to, "2"), pay(to, "3")]);
    let (first, second, same) = tokio::join!(ask(&one), ask(&other), ask(&one));
    assert_eq!(second, Err(ErrorCode::Conflict));
    assert_eq!(first.unwrap(), same.unwrap(), "the same list waits with it");
    let balance = world.backend.balance(None).await.unwrap().balance;
    assert_eq!(balance, Signed::from(credits("99")));
}
