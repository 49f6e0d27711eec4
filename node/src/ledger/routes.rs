//! Balances, transfers, statements, blocks.

use super::statement::types::Statement;
use super::types::{
    Balance, BlockInfo, CloseRequest, ClosedAccount, Movement, PaymentProof, SignedHeader,
    TransferOutcome, TransferRequest, Transferred, TransfersRequest,
};
use crate::api::document::Routes;
use crate::api::document::parts::Each;
use crate::api::extract::{Body, FEW, Lines, Listed, Params, Place, Reply, Whole, parse};
use crate::api::page::Asked;
use crate::api::{ApiError, idempotency};
use crate::backend::Node;
use crate::store::transfers::KEPT_FOR;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::{Extension, Json};
use gridbay_protocol::effect::Effect;
use gridbay_protocol::ids::AccountId;
use serde::Deserialize;
use utoipa::IntoParams;

/// Addresses of this noun.
pub(crate) fn routes() -> Routes<Node> {
    Routes::of("ledger")
        .get(
            "/ledger/balance",
            "Shows the balance of an account",
            balance,
        )
        .post(
            "/ledger/transfer",
            "Moves money to another account",
            transfer,
        )
        .post(
            "/ledger/transfers",
            "Moves money to other accounts, many transfers at once",
            transfers,
        )
        .post("/ledger/close", "Closes the account of this node", close)
        .get(
            "/ledger/history",
            "Lists movements of money, newest first",
            history,
        )
        .get(
            "/ledger/statement",
            "Sums up a period of an account, by job and by day",
            statement,
        )
        .get(
            "/ledger/proof",
            "Proves the payments of an account in a block",
            proof,
        )
        .get("/ledger/head", "Shows the last block", head)
        .get(
            "/ledger/headers",
            "Lists signed headers, ascending",
            headers,
        )
        .get("/ledger/blocks/{height}", "Shows a block", block)
        .get(
            "/ledger/blocks/{height}/effects",
            "Lists the effects of a block",
            effects,
        )
}

/// Headers in one answer at the most.
const HEADERS: usize = 256;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Whose {
    /// Name of a member, or id of an account or how it begins; that of this node without it.
    account: Option<String>,
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Moves {
    /// Name of a member, or id of an account or how it begins; that of this node without it.
    account: Option<String>,
    /// Lines at the most; 20 without it, and never more than 1,000.
    limit: Option<u32>,
    /// The header `gridbay-next` of the answer behind which these lines begin.
    #[param(min_length = 1, max_length = 528)]
    after: Option<String>,
}

async fn meant(node: &Node, account: Option<String>) -> Result<Option<AccountId>, ApiError> {
    match account {
        Some(text) => node.account_meant(text).await.map(Some),
        None => Ok(None),
    }
}

async fn balance(State(node): State<Node>, Params(whose): Params<Whose>) -> Reply<Balance> {
    let account = meant(&node, whose.account).await?;
    node.balance(account).await.map(Json)
}

async fn transfer(
    State(node): State<Node>,
    headers: HeaderMap,
    Body(request): Body<TransferRequest>,
) -> Reply<Transferred> {
    // The layer around this one has checked its form.
    let key = headers.get(idempotency::HEADER);
    let key = key.and_then(|key| key.to_str().ok()).map(str::to_owned);
    node.transfer(key, request).await.map(Json)
}

async fn transfers(
    State(node): State<Node>,
    headers: HeaderMap,
    passing: Option<Extension<idempotency::Passing>>,
    Body(request): Body<TransfersRequest>,
) -> Result<Each<TransferOutcome>, ApiError> {
    let key = headers.get(idempotency::HEADER);
    let key = key.and_then(|key| key.to_str().ok());
    let outcomes = node.transfers(key, request).await?;
    let errors = outcomes.iter().filter_map(|outcome| outcome.error.as_ref());
    let passes = |error: &&ApiError| idempotency::passes(error.code.status());
    let passing_faults: Vec<&ApiError> = errors.filter(passes).collect();
    if !passing_faults.is_empty()
        && let Some(Extension(passing)) = passing
    {
        passing.tell();
    }
    let again = passing_faults.into_iter().filter_map(ApiError::again).max();
    // Transfers that are done must still be known when the list comes again.
    let some_done = outcomes.iter().any(|outcome| outcome.done.is_some());
    let again = again.map(|seconds| match some_done {
        true => seconds.min(KEPT_FOR.as_secs() / 3),
        false => seconds,
    });
    Ok(Each(outcomes, again))
}

async fn close(
    State(node): State<Node>,
    Body(request): Body<CloseRequest>,
) -> Reply<ClosedAccount> {
    node.close_account(request).await.map(Json)
}

async fn history(State(node): State<Node>, Params(whose): Params<Moves>) -> Listed<Movement> {
    let account = meant(&node, whose.account).await?;
    let named = account.map_or_else(String::new, |account| account.to_hex());
    let limit = whose.limit.unwrap_or(FEW);
    let asked = Asked::of(&["history", &named], Some(limit), whose.after.as_deref())?;
    node.movements(account, &asked).await
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
struct Period {
    /// The account: its id or a founding member's name; this node's without.
    account: Option<String>,
    /// Milliseconds since 1970 at which the period begins.
    from_ms: Option<u64>,
    /// Milliseconds since 1970 before which it ends.
    to_ms: Option<u64>,
    /// The project of this node whose orders alone count.
    project: Option<String>,
}

async fn statement(State(node): State<Node>, Params(asked): Params<Period>) -> Reply<Statement> {
    let account = meant(&node, asked.account).await?;
    let times = (asked.from_ms, asked.to_ms);
    let statement = node.statement_of(account, times, asked.project);
    statement.await.map(Json)
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Where {
    /// Height of the block.
    height: u64,
    /// Name of a member, or id of an account or how it begins; that of this node without it.
    account: Option<String>,
    /// Payments of the account in this block that are left out, from the first one on: 256 are
    /// proved at a time.
    after: Option<u64>,
}

async fn proof(State(node): State<Node>, Params(asked): Params<Where>) -> Reply<PaymentProof> {
    let account = meant(&node, asked.account).await?;
    let after = asked.after.unwrap_or(0);
    let proof = node.payment_proof(account, asked.height, after);
    proof.await.map(Json)
}

async fn head(State(node): State<Node>) -> Reply<BlockInfo> {
    node.head().await.map(Json)
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Range {
    /// Height of the first one.
    from: u64,
    /// How many at the most; 256 without it, and never more.
    limit: Option<u32>,
}

async fn headers(State(node): State<Node>, Params(range): Params<Range>) -> Whole<SignedHeader> {
    let limit = range.limit.map_or(HEADERS, |n| HEADERS.min(n as usize));
    node.headers(range.from, limit).await.map(Lines)
}

async fn block(State(node): State<Node>, Place(height): Place<String>) -> Reply<BlockInfo> {
    let height = parse(&height, "height")?;
    node.block(height).await.map(Json)
}

async fn effects(State(node): State<Node>, Place(height): Place<String>) -> Whole<Effect> {
    let height = parse(&height, "height")?;
    node.effects(height).await.map(Lines)
}
