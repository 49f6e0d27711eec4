//! Balances, transfers, statements, blocks.

use super::{Reply, Shared, lines};
use crate::api::extract::{Body, Params, Place, parse};
use crate::api::types::{
    Balance, BankReport, BlockInfo, CloseRequest, ClosedAccount, Movement, SignedHeader,
    TransferRequest, Transferred,
};
use crate::api::{ApiError, Backend, idempotency};
use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use gridbay_protocol::effect::Effect;
use gridbay_protocol::ids::AccountId;
use serde::Deserialize;

/// Headers in one answer at the most.
const HEADERS: usize = 256;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Whose {
    account: Option<String>,
    limit: Option<usize>,
}

impl Whose {
    fn account(&self) -> Result<Option<AccountId>, ApiError> {
        let text = self.account.as_deref();
        text.map(|text| parse(text, "account id")).transpose()
    }
}

pub(super) async fn balance<B: Backend>(
    State(at): State<Shared<B>>,
    Params(whose): Params<Whose>,
) -> Reply<Balance> {
    at.backend.balance(whose.account()?).await.map(Json)
}

pub(super) async fn transfer<B: Backend>(
    State(at): State<Shared<B>>,
    headers: HeaderMap,
    Body(request): Body<TransferRequest>,
) -> Reply<Transferred> {
    // The layer around this one has checked its form.
    let key = headers.get(idempotency::HEADER);
    let key = key.and_then(|key| key.to_str().ok()).map(str::to_owned);
    at.backend.transfer(key, request).await.map(Json)
}

pub(super) async fn close<B: Backend>(
    State(at): State<Shared<B>>,
    Body(request): Body<CloseRequest>,
) -> Reply<ClosedAccount> {
    at.backend.close_account(request).await.map(Json)
}

pub(super) async fn history<B: Backend>(
    State(at): State<Shared<B>>,
    Params(whose): Params<Whose>,
) -> Reply<Vec<Movement>> {
    let limit = lines(whose.limit);
    at.backend.history(whose.account()?, limit).await.map(Json)
}

pub(super) async fn bank<B: Backend>(State(at): State<Shared<B>>) -> Reply<BankReport> {
    at.backend.bank().await.map(Json)
}

pub(super) async fn head<B: Backend>(State(at): State<Shared<B>>) -> Reply<BlockInfo> {
    at.backend.head().await.map(Json)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Range {
    from: u64,
    limit: Option<usize>,
}

pub(super) async fn headers<B: Backend>(
    State(at): State<Shared<B>>,
    Params(range): Params<Range>,
) -> Reply<Vec<SignedHeader>> {
    let limit = range.limit.unwrap_or(HEADERS).min(HEADERS);
    at.backend.headers(range.from, limit).await.map(Json)
}

pub(super) async fn block<B: Backend>(
    State(at): State<Shared<B>>,
    Place(height): Place<String>,
) -> Reply<BlockInfo> {
    let height = parse(&height, "height")?;
    at.backend.block(height).await.map(Json)
}

pub(super) async fn effects<B: Backend>(
    State(at): State<Shared<B>>,
    Place(height): Place<String>,
) -> Reply<Vec<Effect>> {
    let height = parse(&height, "height")?;
    at.backend.effects(height).await.map(Json)
}
