//! Tokens.

use super::types::{NewToken, TokenRecord, TokenRequest};
use crate::api::ApiError;
use crate::api::document::Routes;
use crate::api::document::parts::Made;
use crate::api::extract::{Body, Lines, Place, Reply};
use crate::backend::Node;
use axum::Json;
use axum::extract::State;

/// Addresses of this noun.
pub(crate) fn routes() -> Routes<Node> {
    Routes::of("tokens")
        .get("/tokens", "Lists the tokens, without what they are", list)
        .post("/tokens", "Makes a token, which is shown this once", make)
        .delete("/tokens/{name}", "Revokes a token", revoke)
}

async fn list(State(node): State<Node>) -> Lines<TokenRecord> {
    Lines(node.tokens())
}

async fn make(
    State(node): State<Node>,
    Body(request): Body<TokenRequest>,
) -> Result<Made<NewToken>, ApiError> {
    node.make_token(request).map(Made)
}

async fn revoke(State(node): State<Node>, Place(name): Place<String>) -> Reply<TokenRecord> {
    node.revoke_token(&name).map(Json)
}
