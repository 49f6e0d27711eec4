//! Balances, transfers, statements, blocks.

use super::types::{
    Balance, BlockInfo, CloseRequest, ClosedAccount, Movement, SignedHeader, TransferRequest,
    Transferred,
};
use crate::api::extract::{Body, Params, Place, Reply, lines, parse};
use crate::api::{ApiError, idempotency};
use crate::backend::Node;
use axum::Json;
use axum::Router;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::routing::{get, post};
use gridbay_protocol::effect::Effect;
use gridbay_protocol::ids::AccountId;
use serde::Deserialize;

/// Addresses of this noun.
pub(crate) fn routes() -> Router<Node> {
    Router::new()
        .route("/ledger/balance", get(balance))
        .route("/ledger/transfer", post(transfer))
        .route("/ledger/close", post(close))
        .route("/ledger/history", get(history))
        .route("/ledger/head", get(head))
        .route("/ledger/headers", get(headers))
        .route("/ledger/blocks/{height}", get(block))
        .route("/ledger/blocks/{height}/effects", get(effects))
}

/// Headers in one answer at the most.
const HEADERS: usize = 256;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Whose {
    account: Option<String>,
    limit: Option<usize>,
}

impl Whose {
    fn account(&self) -> Result<Option<AccountId>, ApiError> {
        let text = self.account.as_deref();
        text.map(|text| parse(text, "account id")).transpose()
    }
}

async fn balance(State(node): State<Node>, Params(whose): Params<Whose>) -> Reply<Balance> {
    node.balance(whose.account()?).await.map(Json)
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

async fn close(
    State(node): State<Node>,
    Body(request): Body<CloseRequest>,
) -> Reply<ClosedAccount> {
    node.close_account(request).await.map(Json)
}

async fn history(State(node): State<Node>, Params(whose): Params<Whose>) -> Reply<Vec<Movement>> {
    let limit = lines(whose.limit);
    node.history(whose.account()?, limit).await.map(Json)
}

async fn head(State(node): State<Node>) -> Reply<BlockInfo> {
    node.head().await.map(Json)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Range {
    from: u64,
    limit: Option<usize>,
}

async fn headers(
    State(node): State<Node>,
    Params(range): Params<Range>,
) -> Reply<Vec<SignedHeader>> {
    let limit = range.limit.unwrap_or(HEADERS).min(HEADERS);
    node.headers(range.from, limit).await.map(Json)
}

async fn block(State(node): State<Node>, Place(height): Place<String>) -> Reply<BlockInfo> {
    let height = parse(&height, "height")?;
    node.block(height).await.map(Json)
}

async fn effects(State(node): State<Node>, Place(height): Place<String>) -> Reply<Vec<Effect>> {
    let height = parse(&height, "height")?;
    node.effects(height).await.map(Json)
}
