//! Parts of requests and kinds of answers: handlers are made of them, and each tells its own share
//! of the document.

use super::Told;
use crate::api::ApiError;
use crate::api::extract::{Body, Lines, Params, Place};
use crate::api::page::{NEXT, Page, with_next};
use axum::body::{Body as Upload, Bytes};
use axum::extract::{Request, State};
use axum::http::header::RETRY_AFTER;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::{IntoParams, ToSchema};

/// A part of a request that a handler reads.
pub(crate) trait Part {
    /// Adds itself; parts of which a client knows nothing add nothing.
    fn part(_: &mut Told) {}
}

/// A kind of answer.
pub(crate) trait Answers {
    /// Adds itself.
    fn answers(told: &mut Told);
}

/// A handler, by its types.
pub(crate) trait Describe<M> {
    /// Adds all parts and answers.
    fn describe(told: &mut Told);
}

macro_rules! described {
    ($($part:ident)*) => {
        impl<F, Ended, R, $($part),*> Describe<(R, $($part,)*)> for F
        where
            F: Fn($($part),*) -> Ended,
            Ended: Future<Output = R>,
            R: Answers,
            $($part: Part,)*
        {
            fn describe(told: &mut Told) {
                $($part::part(told);)*
                R::answers(told);
            }
        }
    };
}

described!();
described!(A);
described!(A B);
described!(A B C);
described!(A B C D);
described!(A B C D E);
described!(A B C D E G);

impl<S> Part for State<S> {}
impl<T> Part for Extension<T> {}
impl<T> Part for Option<Extension<T>> {}
impl Part for HeaderMap {}
impl Part for Request {}
/// [`places`] tells them.
impl<T> Part for Place<T> {}

impl<T: ToSchema> Part for Body<T> {
    fn part(told: &mut Told) {
        let schema = told.schema::<T>();
        let content = json!({"application/json": {"schema": schema}});
        told.body = Some(json!({"required": true, "content": content}));
    }
}

impl<T: IntoParams> Part for Params<T> {
    fn part(told: &mut Told) {
        let own = T::into_params(|| Some(utoipa::openapi::path::ParameterIn::Query));
        let own = own.into_iter().filter_map(|p| serde_json::to_value(p).ok());
        told.parameters.extend(own);
    }
}

impl Part for Upload {
    fn part(told: &mut Told) {
        let content = json!({OCTETS: {"schema": binary()}});
        // A file may be empty.
        told.body = Some(json!({"required": false, "content": content}));
    }
}

impl<A: Answers> Answers for Result<A, ApiError> {
    fn answers(told: &mut Told) {
        A::answers(told);
    }
}

const JSON: &str = "application/json";
const OCTETS: &str = "application/octet-stream";

fn binary() -> Value {
    json!({"type": "string", "format": "binary"})
}

impl<T: ToSchema> Answers for Json<T> {
    fn answers(told: &mut Told) {
        let schema = told.schema::<T>();
        told.answer(200, "It is so, or it is done.", Some((JSON, schema)));
    }
}

impl<T: ToSchema> Answers for Lines<T> {
    fn answers(told: &mut Told) {
        let items = told.schema::<T>();
        let list = json!({"type": "array", "items": items});
        told.answer(200, "The lines.", Some((JSON, list)));
    }
}

impl<T: ToSchema> Answers for Page<T> {
    fn answers(told: &mut Told) {
        Lines::<T>::answers(told);
        may_go_on(told);
    }
}

/// A thing with a list in it that can grow, and the place of the list's last line unless nothing
/// follows it.
pub(crate) struct Parted<T>(pub(crate) T, pub(crate) Option<String>);

impl<T: Serialize> IntoResponse for Parted<T> {
    fn into_response(self) -> Response {
        with_next(self.1, Json(self.0))
    }
}

impl<T: ToSchema> Answers for Parted<T> {
    fn answers(told: &mut Told) {
        Json::<T>::answers(told);
        may_go_on(told);
    }
}

/// What became of each of many in a request, and the seconds until those that are refused for the
/// moment have a chance again.
pub(crate) struct Each<T>(pub(crate) Vec<T>, pub(crate) Option<u64>);

impl<T: Serialize> IntoResponse for Each<T> {
    fn into_response(self) -> Response {
        let again = self.1.map(|seconds| [(RETRY_AFTER, seconds.to_string())]);
        (again, Json(self.0)).into_response()
    }
}

impl<T: ToSchema> Answers for Each<T> {
    fn answers(told: &mut Told) {
        Lines::<T>::answers(told);
        let about = "Seconds until those that are refused for the moment have a chance again.";
        if let Some(answer) = told.answers.get_mut("200") {
            let header = json!({"description": about, "schema": {"type": "integer"}});
            answer["headers"] = json!({"Retry-After": header});
        }
    }
}

/// Adds the header that leads to the next lines.
fn may_go_on(told: &mut Told) {
    let about = "The place of the last line, for the parameter after; absent if nothing follows.";
    let header = json!({"description": about, "schema": {"type": "string"}});
    if let Some(answer) = told.answers.get_mut("200") {
        answer["headers"] = json!({NEXT: header});
    }
}

/// A thing that was made.
pub(crate) struct Made<T>(pub(crate) T);

impl<T: Serialize> IntoResponse for Made<T> {
    fn into_response(self) -> Response {
        (StatusCode::CREATED, Json(self.0)).into_response()
    }
}

impl<T: ToSchema> Answers for Made<T> {
    fn answers(told: &mut Told) {
        let schema = told.schema::<T>();
        told.answer(201, "It is made.", Some((JSON, schema)));
    }
}

/// A wish that is heard; what follows has no answer.
pub(crate) struct Heard;

impl IntoResponse for Heard {
    fn into_response(self) -> Response {
        StatusCode::ACCEPTED.into_response()
    }
}

impl Answers for Heard {
    fn answers(told: &mut Told) {
        told.answer(202, "It is heard, and will be done.", None);
    }
}

/// `null`: it is done, and there is nothing to tell.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub(crate) struct Null;

/// Raw bytes, with headers about them.
pub(crate) struct Octets(pub(crate) Response);

impl IntoResponse for Octets {
    fn into_response(self) -> Response {
        self.0
    }
}

impl Answers for Octets {
    fn answers(told: &mut Told) {
        told.answer(200, "The bytes.", Some((OCTETS, binary())));
    }
}

/// A connection that becomes one of another protocol.
pub(crate) struct Switched(pub(crate) Response);

impl IntoResponse for Switched {
    fn into_response(self) -> Response {
        self.0
    }
}

impl Answers for Switched {
    fn answers(told: &mut Told) {
        let about = "The connection is one of the protocol that the header Upgrade named.";
        told.answer(101, about, None);
    }
}

/// A stream of events that is open for as long as its reader wants.
pub(crate) struct Telling(pub(crate) Response);

impl IntoResponse for Telling {
    fn into_response(self) -> Response {
        self.0
    }
}

impl Answers for Telling {
    fn answers(told: &mut Told) {
        let events = json!({"type": "string"});
        told.answer(200, "The events.", Some(("text/event-stream", events)));
    }
}

/// JSON that is made once.
pub(crate) struct Prepared(pub(crate) &'static str);

impl IntoResponse for Prepared {
    fn into_response(self) -> Response {
        let kind = [(axum::http::header::CONTENT_TYPE, JSON)];
        (kind, Bytes::from_static(self.0.as_bytes())).into_response()
    }
}

impl Answers for Prepared {
    fn answers(told: &mut Told) {
        told.answer(
            200,
            "The document.",
            Some((JSON, json!({"type": "object"}))),
        );
    }
}

/// The named pieces of an address, as parameters.
pub(super) fn places(path: &str) -> Vec<Value> {
    let named = path.split('/').filter_map(|piece| {
        let name = piece.strip_prefix('{')?.strip_suffix('}')?;
        Some(name.trim_start_matches('*'))
    });
    named.map(place).collect()
}

fn place(name: &str) -> Value {
    let number = |most: u64| json!({"type": "integer", "minimum": 0, "maximum": most});
    let (about, schema) = match name {
        "name" | "user" => ("Its name.", json!({"type": "string", "minLength": 1})),
        "height" => ("Height of a block.", number(u64::MAX)),
        "rank" => ("Rank, from 0 on.", number(u32::MAX.into())),
        "label" => ("Number of an own offer.", number(u32::MAX.into())),
        "path" => (
            "Path of the file as in the job's outputs, each piece escaped.",
            json!({"type": "string", "minLength": 1, "maxLength": 4_096}),
        ),
        _ => (
            "Id, or how it begins.",
            json!({"type": "string", "minLength": 1}),
        ),
    };
    json!({"name": name, "in": "path", "required": true, "description": about, "schema": schema})
}
