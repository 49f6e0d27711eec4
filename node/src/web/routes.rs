//! The address of the API that makes links to the web pages.

use super::session::{LINK_TIME, SESSION_TIME};
use super::types::{LinkRequest, WebLink};
use crate::api::document::Routes;
use crate::api::extract::{Body, Reply};
use crate::api::{ApiError, ErrorCode};
use crate::backend::Node;
use crate::backend::failure::internal;
use crate::keys::random;
use axum::Json;
use axum::extract::State;
use std::time::Instant;

/// Addresses of this noun.
pub(crate) fn routes() -> Routes<Node> {
    Routes::of("web").post(
        "/web/links",
        "Makes a link that opens the web pages once",
        link,
    )
}

async fn link(State(node): State<Node>, Body(asked): Body<LinkRequest>) -> Reply<WebLink> {
    let address = node.web.address().ok_or_else(|| {
        let why = "this node serves no web pages: it has no address for them";
        let hint = "write api.listen = \"127.0.0.1:7480\" into gridbay.toml, start the node again";
        ApiError::new(ErrorCode::Refused, why, hint)
    })?;
    let random = random().map_err(|error| internal("no fresh randomness", error))?;
    let (secret, host) = node.web.link(asked.scope, random, Instant::now());
    let port = address.port();
    Ok(Json(WebLink {
        url: format!("http://{host}:{port}/login?link={secret}"),
        scope: asked.scope,
        link_seconds: LINK_TIME.as_secs(),
        session_seconds: SESSION_TIME.as_secs(),
    }))
}
