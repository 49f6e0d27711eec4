//! The gate before the API for users of projects.
//!
//! 1. An address that has no role in the table ([`scope`]) is closed to users.
//! 2. A project that a user is no member of, and its jobs, are not there for that user.
//! 3. A role that does not reach an address is refused, and the answer names the one it would need.
//! 4. Users do not share keys of idempotency: each one's are made into keys of its own.
//!
//! Everybody else passes. The handlers learn of the [`Actor`] who asks.

use super::Actor;
use crate::api::auth::{Admitted, User};
use crate::api::scope::{self, Role};
use crate::api::{ApiError, ErrorCode, idempotency};
use crate::audit::Who;
use crate::backend::failure::not_found;
use crate::backend::{Node, NodeBackend};
use axum::extract::{MatchedPath, Request, State};
use axum::http::HeaderValue;
use axum::middleware::Next;
use axum::response::Response;
use gridbay_core::key::OrderKey;

/// The middleware.
pub(crate) async fn check(
    State(node): State<Node>,
    mut request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    let user = request.extensions().get::<User>();
    let actor = user.map_or(Actor::Node, |User(name)| Actor::User(name.clone()));
    if let Actor::User(name) = &actor {
        let asked = Asked::of(&request);
        allowed(&node, &actor, &asked).await?;
        own_key(name, &mut request)?;
        let who = Who::User { user: name.clone() };
        request.extensions_mut().insert(who);
        request.extensions_mut().insert(Admitted);
    }
    request.extensions_mut().insert(actor);
    Ok(next.run(request).await)
}

/// The parts of a request that decide.
struct Asked {
    /// The method, in small letters.
    method: String,
    /// The address as the table has it, below `/api/v1`.
    route: String,
    /// The piece of the address behind the noun.
    named: String,
}

impl Asked {
    fn of(request: &Request) -> Asked {
        let matched = request.extensions().get::<MatchedPath>();
        let route = matched.and_then(|path| path.as_str().strip_prefix("/api/v1"));
        let place = request.uri().path();
        let place = place.strip_prefix("/api/v1").unwrap_or(place);
        Asked {
            method: request.method().as_str().to_ascii_lowercase(),
            route: route.unwrap_or("").to_owned(),
            named: place.split('/').nth(2).unwrap_or("").to_owned(),
        }
    }
}

/// Steps 1 to 3.
async fn allowed(node: &NodeBackend, actor: &Actor, asked: &Asked) -> Result<(), ApiError> {
    let (route, named) = (asked.route.as_str(), asked.named.as_str());
    let Some(needed) = scope::role(&asked.method, route) else {
        let why = "this address is not for users of projects";
        let hint = "ask who runs the node for a token: gridbay token create";
        return Err(ApiError::new(ErrorCode::Refused, why, hint));
    };
    let book = &node.parts.projects;
    let project = match route.split('/').nth(1) {
        Some("jobs") if route.contains('{') => project_of(node, named).await?,
        Some("projects") if route.contains('{') => Some(named.to_owned()),
        // The body names the project, which the handler looks at, or there is none.
        _ => {
            let roles = actor
                .user()
                .map(|user| book.roles(user))
                .unwrap_or_default();
            let best = roles.values().max().copied();
            return reaches(best, needed);
        }
    };
    if !actor.may(book, project.as_deref(), Role::Reader) {
        return Err(not_found(
            format!("nothing of yours is called {named}"),
            "users name jobs by their whole id of 16 digits",
        ));
    }
    let user = actor.user().unwrap_or("");
    reaches(
        project.and_then(|project| book.role(&project, user)),
        needed,
    )
}

fn reaches(role: Option<Role>, needed: Role) -> Result<(), ApiError> {
    if role.is_some_and(|role| role >= needed) {
        return Ok(());
    }
    let has = role.map_or("no role", Role::name);
    let why = format!("this wants the role {}, and you have {has}", needed.name());
    let hint = "ask a manager of the project: gridbay project member add";
    let details = serde_json::json!({"role": role.map(Role::name), "needed": needed.name()});
    Err(ApiError::new(ErrorCode::Refused, why, hint).with_details(details))
}

/// The project of a job that is named by its whole id: a name or a beginning could mean another's.
async fn project_of(node: &NodeBackend, id: &str) -> Result<Option<String>, ApiError> {
    let Ok(key) = id.parse::<OrderKey>() else {
        return Ok(None);
    };
    node.query(move |core| {
        let mark = core.buyer().order(&key)?.project()?;
        Some(mark.project.clone())
    })
    .await
}

/// Step 4.
fn own_key(user: &str, request: &mut Request) -> Result<(), ApiError> {
    let Some(key) = request.headers().get(idempotency::HEADER) else {
        return Ok(());
    };
    let length = key.len();
    if !idempotency::LENGTH.contains(&length) {
        // It is refused behind this.
        return Ok(());
    }
    let mut hasher = blake3::Hasher::new_derive_key("gridbay/user-idempotency/1");
    hasher.update(user.as_bytes());
    hasher.update(&[0]);
    hasher.update(key.as_bytes());
    let own = HeaderValue::from_str(&hasher.finalize().to_hex());
    let own =
        own.map_err(|error| ApiError::new(ErrorCode::Internal, error.to_string(), "try again"))?;
    request.headers_mut().insert(idempotency::HEADER, own);
    Ok(())
}
