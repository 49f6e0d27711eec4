//! Money: transfers, balances, statements, blocks and their light verification.

use super::asking::world;
use super::served::Served;
use super::web::{Browser, served};
use super::world::credits;
use futures::stream::{self, StreamExt as _};
use gridbay_ledger::light;
use gridbay_node::api::ErrorCode;
use gridbay_node::api::types::{
    Movement, NodeState, Scope, Signed, TRANSFERS, TransferOutcome, TransferRequest,
    TransfersRequest,
};
use gridbay_protocol::block::Header;
use gridbay_protocol::codec;
use gridbay_protocol::ids::{AccountId, EntryId};
use gridbay_protocol::payment::Reason;
use gridbay_protocol::vote::Certificate;
use std::collections::BTreeSet;

#[tokio::test(flavor = "multi_thread")]
async fn money_moves_and_is_on_the_statement() {
    let world = world().await;
    let backend = &world.backend;
    let status = backend.node().await.unwrap();
    assert_eq!(status.network, world.genesis.network());
    assert!(status.account.is_some() && status.validator.is_some());
    let to = world.genesis.account(&world.genesis.members[1]);
    for (to, amount, code) in [
        (to, "101", ErrorCode::InsufficientFunds),
        (AccountId([1; 32]), "1", ErrorCode::NotFound),
        (status.account.unwrap(), "1", ErrorCode::Usage),
        (to, "0", ErrorCode::Usage),
    ] {
        let amount = credits(amount);
        let memo = None;
        let refused = backend
            .transfer(None, TransferRequest { to, amount, memo })
            .await;
        assert_eq!(refused.unwrap_err().code, code);
    }
    let request = TransferRequest {
        to,
        amount: credits("5"),
        memo: Some("thanks".into()),
    };
    let key = || Some("a-key-of-mine".to_owned());
    let moved = backend.transfer(key(), request.clone()).await.unwrap();
    let again = backend.transfer(key(), request.clone()).await.unwrap();
    assert_eq!(again, moved, "a key moves money once");
    let other = TransferRequest {
        amount: credits("6"),
        ..request
    };
    let other = backend.transfer(key(), other).await.unwrap_err();
    assert_eq!(other.code, ErrorCode::Conflict);
    let block = backend.block(moved.height).await.unwrap();
    assert!(block.entries >= 1);
    let balance = backend.balance(None).await.unwrap();
    assert_eq!(balance.balance, Signed::from(credits("95")));
    let history = backend.history(None, 10).await.unwrap();
    assert_eq!((history.len(), history[0].reason), (1, Reason::Transfer));
    assert_eq!(history[0].amount, Signed(-5_000_000));
    assert_eq!(history[0].other, format!("account {}", to.to_hex()));
    assert_eq!(history[0].time_ms, block.time_ms);
    assert_eq!(backend.node().await.unwrap().state, NodeState::Ready);

    let headers = backend.headers(1, 200).await.unwrap();
    let mut follower = light::Follower::new(&world.genesis).unwrap();
    for (index, signed) in headers.iter().enumerate() {
        let header: Header = codec::decode(&signed.header.0, 1 << 16).unwrap();
        let certificate: Certificate = codec::decode(&signed.certificate.0, 1 << 16).unwrap();
        follower.follow(&header, &certificate).unwrap();
        assert_eq!(signed.validators.is_some(), index == 0);
    }
    assert!(follower.height() >= moved.height);
    let missing = backend.block(u64::MAX).await.unwrap_err();
    assert_eq!(missing.code, ErrorCode::NotFound);
}

#[tokio::test(flavor = "multi_thread")]
async fn money_on_its_way_is_not_sent_again() {
    let world = world().await;
    let to = world.genesis.account(&world.genesis.members[1]);
    let one = TransferRequest {
        to,
        amount: credits("0.3"),
        memo: None,
    };
    let transfers = vec![one; 200];
    let list = || {
        world.backend.transfers(
            None,
            TransfersRequest {
                transfers: transfers.clone(),
            },
        )
    };
    // 100 credits are 333 of them: what the first list leaves is not enough for the second.
    let (first, second) = tokio::join!(list(), list());
    let all: Vec<TransferOutcome> = [first.unwrap(), second.unwrap()].concat();
    let done = all.iter().filter(|outcome| outcome.done.is_some()).count();
    assert_eq!(done, 333);
    let codes = all.iter().filter_map(|outcome| outcome.error.as_ref());
    let codes: BTreeSet<_> = codes.map(|error| error.code.name()).collect();
    let funds = ErrorCode::InsufficientFunds.name();
    assert_eq!(codes, BTreeSet::from([funds]), "nobody waits for nothing");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_key_of_a_list_is_not_that_of_a_transfer() {
    let world = world().await;
    let to = world.genesis.account(&world.genesis.members[1]);
    let one = TransferRequest {
        to,
        amount: credits("1"),
        memo: None,
    };
    let single = world
        .backend
        .transfer(Some("key-0001/0".into()), one.clone());
    single.await.unwrap();
    let transfers = vec![one];
    let list = world
        .backend
        .transfers(Some("key-0001"), TransfersRequest { transfers });
    assert!(list.await.unwrap()[0].done.is_some());
    let balance = world.backend.balance(None).await.unwrap().balance;
    assert_eq!(balance, Signed::from(credits("98")), "both are paid");
}

/// Transfers of one account: more than wait at a time, within one window of `valid_until`, and more
/// than a list shows.
const MANY: usize = 1_001;

#[tokio::test(flavor = "multi_thread")]
async fn what_is_decided_makes_room_for_more_transfers() {
    let at = served().await;
    let backend = &at.world.backend;
    let request = TransferRequest {
        to: at.world.genesis.account(&at.world.genesis.members[1]),
        amount: credits("0.001"),
        memo: None,
    };
    let one = |i: usize| {
        // Every second one has no key: equal ones are told apart by their entries alone.
        let key = i.is_multiple_of(2).then(|| format!("of-many-{i}"));
        backend.transfer(key, request.clone())
    };
    let sent = stream::iter(0..MANY).map(one).buffer_unordered(MANY);
    let sent: Vec<_> = sent.collect().await;
    let refused: Vec<_> = sent.iter().filter(|answer| answer.is_err()).collect();
    assert!(
        refused.is_empty(),
        "{} refused: {:?}",
        refused.len(),
        refused[0]
    );
    let balance = backend.balance(None).await.unwrap();
    assert_eq!(balance.balance, Signed::from(credits("98.999")));
    for (asked, lines) in [("", 20), ("?limit=7", 7), ("?limit=99999", 1_000)] {
        let path = format!("/ledger/history{asked}");
        let listed: Vec<Movement> = at.client().get(&path).await.unwrap();
        assert_eq!(listed.len(), lines, "{asked}");
    }
    // The pages tell of a thousand movements, the file of all.
    let browser = Browser::signed_in(&at, Scope::Read).await;
    let file = browser.get("/ledger.csv").await.body;
    assert_eq!(file.matches(",-0.001,").count(), MANY);
    at.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn many_transfers_in_one_request_go_each_its_own_way_and_once() {
    let at = Served::start(&[]).await;
    let to = at.world.genesis.account(&at.world.genesis.members[1]);
    let pay = |to, amount| TransferRequest {
        to,
        amount: credits(amount),
        memo: None,
    };
    let mut transfers = vec![pay(to, "0.5"); 40];
    transfers[7].to = AccountId([1; 32]);
    transfers[9].amount = credits("0");
    let request = TransfersRequest { transfers };
    let client = at.client();
    let ask = async || -> Vec<TransferOutcome> {
        let sent = client.post("/ledger/transfers", &request, Some("many-0001"));
        sent.await.unwrap()
    };
    let first = ask().await;
    let code = |n: usize| first[n].error.as_ref().map(|error| error.code);
    assert_eq!(code(7), Some(ErrorCode::NotFound));
    assert_eq!(code(9), Some(ErrorCode::Usage));
    let entries: BTreeSet<EntryId> = first
        .iter()
        .filter_map(|outcome| Some(outcome.done.as_ref()?.entry))
        .collect();
    assert_eq!(entries.len(), 38, "equal ones are different entries");
    let balance = async || at.world.backend.balance(None).await.unwrap().balance;
    assert_eq!(balance().await, Signed::from(credits("81")));
    // The layer of repeated requests would answer itself: the backend knows what is kept.
    let again = at
        .world
        .backend
        .transfers(Some("many-0001"), request.clone());
    assert_eq!(again.await.unwrap(), first);
    assert_eq!(
        balance().await,
        Signed::from(credits("81")),
        "money moves once"
    );
    for wrong in [0, TRANSFERS + 1] {
        let request = TransfersRequest {
            transfers: vec![pay(to, "0.5"); wrong],
        };
        let sent = client.post::<Vec<TransferOutcome>>("/ledger/transfers", &request, None);
        assert_eq!(sent.await.unwrap_err().code, ErrorCode::Usage);
    }
    at.stop().await;
}
