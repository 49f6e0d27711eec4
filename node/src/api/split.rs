//! The TCP listener's two kinds of addresses: those of the API, for programs that show the token,
//! and those of the web pages, for browsers that have a session.

use super::auth::{self, Gate};
use super::intake::HEALTH;
use axum::Router;
use axum::extract::{Request, State};
use axum::middleware;
use axum::response::Response;
use hyper::service::Service as _;
use hyper_util::service::TowerToHyperService;
use std::convert::Infallible;

/// The API behind its token, the pages beside it, both behind the check of the host.
pub(super) fn guarded(api: Router, pages: Option<Router>, gate: Gate) -> Router {
    let token = middleware::from_fn_with_state(gate.clone(), auth::check_token);
    let api = api.layer(token);
    let routes = match pages {
        None => api,
        Some(pages) => Router::new()
            .fallback(choose)
            .with_state(Both { api, pages }),
    };
    routes.layer(middleware::from_fn_with_state(gate, auth::check_host))
}

#[derive(Clone)]
struct Both {
    api: Router,
    pages: Router,
}

async fn choose(State(both): State<Both>, request: Request) -> Result<Response, Infallible> {
    let chosen = match is_of_api(request.uri().path()) {
        true => both.api,
        false => both.pages,
    };
    TowerToHyperService::new(chosen).call(request).await
}

fn is_of_api(path: &str) -> bool {
    path == "/api" || path.starts_with("/api/") || path == "/metrics" || path == HEALTH
}
