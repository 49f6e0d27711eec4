//! Web pages of the node: what the commands show and do, for a browser on this machine.
//!
//! 1. The API's TCP listener serves them beside `/api/v1`, if it has an address. Pages are made
//!    here, whole, and work without script; [`events`] tells those that are open what changed.
//! 2. `gridbay web` asks [`routes`] for a link; [`login`] turns it into a session ([`session`]), of
//!    which every request shows the cookie ([`gate`]) and every form a token ([`form`]).
//! 3. A page asks [`NodeBackend`] as the API's handlers do, and computes nothing of its own. What
//!    is costly and changes with the ledger alone is made once a height, for all who look. The
//!    frame around a page is [`shell`], its pieces are [`parts`]; both escape all text.
//!
//! Style and script lie in `assets/`. A page has a file or a folder, whose `show` answers requests
//! and whose `fragments` tell what changes.

mod assets;
mod auctions;
pub mod chart;
mod clock;
mod command;
mod contracts;
mod events;
mod failure;
mod federation;
mod figures;
mod form;
mod gantt;
mod gate;
mod jobs;
mod leases;
mod ledger;
mod login;
mod market;
mod network;
mod overview;
mod parts;
mod pools;
mod projects;
mod reservations;
mod rings;
pub(crate) mod routes;
#[cfg(test)]
pub(crate) mod samples;
mod seller;
pub(crate) mod session;
mod shell;
mod sought;
mod spark;
mod submit;
pub(crate) mod types;

use crate::api::intake::{EVENTS, FORM};
use crate::api::{ApiError, ErrorCode};
use crate::audit;
use crate::backend::NodeBackend;
use axum::extract::DefaultBodyLimit;
use axum::routing::{get, post};
use axum::{Extension, Router, middleware};
use failure::Failure;
use std::net::SocketAddr;
use std::sync::Arc;

/// The pages of `node`, served at `address`.
pub fn pages(node: Arc<NodeBackend>, address: SocketAddr) -> Router {
    node.web.serve_at(address);
    let session = middleware::from_fn_with_state(Arc::clone(&node), gate::session);
    let record = middleware::from_fn_with_state(node.parts.audit.clone(), audit::layer::record);
    Router::new()
        .route("/", get(overview::show))
        .route(EVENTS, get(events::events))
        .route("/market", get(market::show))
        .route(
            FORM,
            get(submit::show)
                .post(submit::send)
                // It bounds its text and its file by itself.
                .layer(DefaultBodyLimit::disable()),
        )
        .route("/jobs", get(jobs::show))
        .route("/jobs/{id}", get(jobs::detail::show))
        .route(
            "/jobs/{id}/cancel",
            get(jobs::cancel::ask).post(jobs::cancel::cancel),
        )
        .route("/leases", get(leases::show))
        .route("/leases/{id}", get(leases::detail::show))
        .route(
            "/clusters/{id}/end",
            get(leases::detail::ask).post(leases::detail::end),
        )
        .route("/contracts", get(contracts::show))
        .route("/pools", get(pools::show))
        .route("/reservations", get(reservations::show))
        .route("/reservations/ask", post(reservations::book::ask))
        .route("/reservations/book", post(reservations::book::book))
        .route("/auctions", get(auctions::show))
        .route("/auctions/{id}", get(auctions::detail::show))
        .route("/federation", get(federation::show))
        .route("/network", get(network::show))
        .route("/seller", get(seller::show))
        .route("/seller/set", post(seller::set::set))
        .route(
            "/seller/offers/{label}/withdraw",
            get(seller::withdraw::ask).post(seller::withdraw::withdraw),
        )
        .route(
            "/seller/drain",
            get(seller::drain::ask).post(seller::drain::drain),
        )
        .route("/seller/resume", post(seller::drain::resume))
        .merge(projects::routes())
        .route("/ledger", get(ledger::show))
        .route("/ledger.csv", get(ledger::csv::download))
        .route("/ledger/proof/{file}", get(ledger::proof::download))
        .route("/ledger/ask", post(ledger::transfer::ask))
        .route("/ledger/transfer", post(ledger::transfer::transfer))
        .route(login::LEAVE, post(login::leave))
        .layer(record)
        .fallback(unknown)
        .layer(session)
        .route("/gridbay.css", get(assets::style))
        .route("/gridbay.js", get(assets::script))
        .route(login::ENTER, get(login::enter))
        .layer(Extension(events::Streams::default()))
        .layer(Extension(Arc::<market::Seen>::default()))
        .layer(Extension(Arc::<seller::Earned>::default()))
        .layer(middleware::from_fn(gate::headers))
        .with_state(node)
}

async fn unknown() -> Failure {
    let why = "there is no such page";
    ApiError::new(ErrorCode::NotFound, why, "go to the overview: /").into()
}
