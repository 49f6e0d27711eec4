//! All addresses of the API: those of each noun, side by side.

use crate::api::document::Routes;
use crate::api::document::parts::Prepared;
use crate::api::idempotency::{self, Keys};
use crate::api::intake::HEALTH;
use crate::api::{ApiError, ErrorCode, allowed};
use crate::backend::{Node, NodeBackend};
use crate::metrics::routes::count;
use crate::{
    alert, auction, audit, bank, bid, content, contract, doctor, events, federation, held, invite,
    job, lease, ledger, market, metrics, node, offer, order, owner, peer, plan, pool, project,
    reservation, token, web,
};
use axum::routing::get;
use axum::{Router, middleware};
use std::sync::{Arc, LazyLock};

/// All addresses, answered by `node`.
pub fn router(node: Arc<NodeBackend>) -> Router {
    let meters = Arc::clone(&node.parts.meters);
    let book = node.parts.audit.clone();
    let recorded = middleware::from_fn_with_state(book, audit::layer::record);
    // Outside the record: a request that its token does not reach is no line, or whoever may only
    // read could push all lines out of the log.
    let allowed = middleware::from_fn(allowed);
    let known = middleware::from_fn_with_state(Arc::clone(&node), project::gate::check);
    let v1 = v1().into_router().layer(recorded).route_layer(allowed);
    Router::new()
        .nest("/api/v1", v1.layer(known))
        .merge(metrics::routes::routes())
        .route(HEALTH, get(health))
        .fallback(unknown)
        .method_not_allowed_fallback(wrong_method)
        .layer(middleware::from_fn_with_state(meters, count))
        .with_state(node)
}

/// The document of all addresses below `/api/v1`: OpenAPI 3.1, as JSON.
pub(crate) fn document() -> &'static str {
    static DOCUMENT: LazyLock<String> = LazyLock::new(|| v1().document().to_string());
    &DOCUMENT
}

/// The addresses below `/api/v1`.
pub(crate) fn v1() -> Routes<Node> {
    Routes::of("api")
        .get("/openapi.json", "Shows this document", shown)
        .merge(node::routes::routes())
        .merge(invite::routes::routes())
        .merge(alert::routes::routes())
        .merge(doctor::routes::routes())
        .merge(events::routes::routes())
        .merge(peer::routes::routes())
        .merge(federation::routes::routes())
        .merge(offer::routes::routes())
        .merge(plan::routes::routes())
        .merge(contract::routes::routes())
        .merge(order::routes::routes())
        .merge(bid::routes::routes())
        .merge(market::routes::routes())
        .merge(reservation::routes::routes())
        .merge(pool::routes::routes())
        .merge(auction::routes::routes())
        .merge(job::routes::routes())
        .merge(lease::routes::routes())
        .merge(held::routes::routes())
        .merge(owner::routes::routes())
        .merge(ledger::routes::routes())
        .merge(bank::routes::routes())
        .merge(web::routes::routes())
        .merge(token::routes::routes())
        .merge(project::routes::routes())
        .behind(|routes| {
            let once = middleware::from_fn_with_state(Keys::default(), idempotency::once);
            routes.route_layer(once)
        })
        .merge(content::routes::routes())
}

async fn shown() -> Prepared {
    Prepared(document())
}

/// The process answers.
async fn health() -> &'static str {
    "ok\n"
}

async fn unknown() -> ApiError {
    ApiError::new(
        ErrorCode::NotFound,
        "no such address",
        "addresses begin with /api/v1",
    )
}

async fn wrong_method() -> ApiError {
    ApiError::new(
        ErrorCode::WrongMethod,
        "this address does not take this method",
        "the header Allow names those that it takes",
    )
}
