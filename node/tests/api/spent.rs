//! An account that has put as much into the ledger as it may.

use super::bounds::ask;
use super::served::Served;
use super::world::{Settings, credits};
use axum::Router;
use gridbay_node::api::ErrorCode;
use gridbay_node::api::types::{Balance, TransferOutcome, TransferRequest, TransfersRequest};
use gridbay_protocol::entry_budget::{EntryBudget, EntryBudgets};
use gridbay_protocol::limits::EPOCH_HEIGHTS;

/// Entries of an account in an epoch: the fewest that founders may choose.
const FEW: u32 = 64;
/// Bytes that some 250 transfers fill.
const BYTES: u64 = 65_536;

/// A node whose account has a budget.
async fn with_budget(budget: EntryBudget) -> Served {
    let (member, user) = (budget, budget);
    let settings = Settings {
        entries: EntryBudgets { member, user },
        ..Settings::default()
    };
    Served::with(&[], settings, Router::new()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn transfers_beyond_the_bytes_of_the_budget_are_refused_with_a_time_as_well() {
    let at = with_budget(EntryBudget {
        entries: 100 * FEW,
        bytes: BYTES,
    })
    .await;
    let to = at.world.genesis.account(&at.world.genesis.members[1]);
    let amount = credits("0.001");
    let one = TransferRequest {
        to,
        amount,
        memo: None,
    };
    let request = TransfersRequest {
        transfers: vec![one; 400],
    };
    let client = at.client();
    let sent = client.post("/ledger/transfers", &request, Some("bytes-0001"));
    let outcomes: Vec<TransferOutcome> = sent.await.unwrap();
    let spent: Balance = client.get("/ledger/balance").await.unwrap();
    let refused = outcomes.iter().filter_map(|outcome| outcome.error.as_ref());
    assert!(refused.clone().count() > 0 && spent.entries.spent < 100 * FEW);
    for error in refused {
        assert_eq!(error.code, ErrorCode::TooMany, "{error}");
        assert_eq!(error.details["done"], false);
    }
    at.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn transfers_beyond_the_budget_are_refused_before_they_are_signed_and_told_when_to_come() {
    let at = with_budget(EntryBudget {
        entries: FEW,
        bytes: 1 << 20,
    })
    .await;
    let to = at.world.genesis.account(&at.world.genesis.members[1]);
    let one = TransferRequest {
        to,
        amount: credits("0.001"),
        memo: None,
    };
    let request = TransfersRequest {
        transfers: vec![one.clone(); 2 * FEW as usize],
    };
    let client = at.client();
    let pay = async |key| -> Vec<TransferOutcome> {
        let sent = client.post("/ledger/transfers", &request, Some(key));
        sent.await.unwrap()
    };
    let outcomes = pay("beyond-0001").await;
    let spent: Balance = client.get("/ledger/balance").await.unwrap();
    // The node's own entries, such as a beacon's, count as well.
    let done = outcomes.iter().filter(|outcome| outcome.done.is_some());
    assert!(
        done.count() > FEW as usize / 2 && spent.entries.spent == FEW,
        "{spent:?}"
    );
    // A block takes as long as they did lately: between the least time and the heartbeat.
    let whole = at.world.genesis.policy.heartbeat_ms * EPOCH_HEIGHTS / 1_000;
    for error in outcomes.iter().filter_map(|outcome| outcome.error.as_ref()) {
        assert_eq!(error.code, ErrorCode::TooMany, "{error}");
        assert_eq!(error.details["done"], false);
        assert!((1..=whole).contains(&error.retry_after()), "{error:?}");
    }
    let body = serde_json::to_string(&one).unwrap();
    let more = format!(
        "Idempotency-Key: beyond-0002\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    for _ in 0..2 {
        let (head, error) = ask(&at, false, "POST /api/v1/ledger/transfer", &more).await;
        assert!(head.starts_with("http/1.1 429"), "{head}");
        let told = format!("retry-after: {}\r\n", error["details"]["retry_after_s"]);
        assert!(head.contains(&told), "{head} {error}");
        assert!(!head.contains("replayed"), "it is tried anew: {head}");
    }
    // A list is answered whatever became of each, and says the same.
    let body = serde_json::to_string(&request).unwrap();
    let more = format!(
        "Idempotency-Key: beyond-0003\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let (head, all) = ask(&at, false, "POST /api/v1/ledger/transfers", &more).await;
    let all = all.as_array().unwrap();
    let each = all
        .iter()
        .map(|one| &one["error"]["details"]["retry_after_s"]);
    let told = each.filter_map(serde_json::Value::as_u64).max().unwrap();
    assert!(head.starts_with("http/1.1 200"), "{head}");
    assert!(
        head.contains(&format!("retry-after: {told}\r\n")),
        "{head} {told}"
    );
    at.stop().await;
}
