//! The document of the API, OpenAPI 3.1, made from what is served.
//!
//! 1. [`Routes`] takes a handler at its address and asks the handler's own types what it reads and
//!    answers ([`parts`]). So nothing is served that the document lacks, nor told that is not
//!    served.
//! 2. [`whole`] adds what all addresses share: failures by status ([`failures`]), keys of
//!    idempotency, the token.
//! 3. [`mend`] puts right what the derived schemas cannot say.

mod failures;
mod mend;
pub(crate) mod parts;
mod whole;

use axum::Router;
use axum::handler::Handler;
use axum::routing::{MethodRouter, delete, get, post, put};
use parts::Describe;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

/// Addresses of the API with what the document tells of them.
pub(crate) struct Routes<S> {
    tag: &'static str,
    router: Router<S>,
    told: Vec<Told>,
}

/// One operation, as its handler's types tell it.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    tag: &'static str,
    about: &'static str,
    parameters: Vec<Value>,
    body: Option<Value>,
    answers: Map<String, Value>,
    schemas: Vec<(String, Value)>,
}

impl<S: Clone + Send + Sync + 'static> Routes<S> {
    /// No address yet; all that come belong to the noun `tag`.
    pub(crate) fn of(tag: &'static str) -> Routes<S> {
        Routes {
            tag,
            router: Router::new(),
            told: Vec::new(),
        }
    }
    /// `GET`, in words that begin with a verb.
    pub(crate) fn get<H: Handler<T, S> + Describe<M>, T: 'static, M>(
        self,
        path: &'static str,
        about: &'static str,
        handler: H,
    ) -> Routes<S> {
        self.at::<H, M>("get", path, about, get(handler))
    }
    /// `POST`.
    pub(crate) fn post<H: Handler<T, S> + Describe<M>, T: 'static, M>(
        self,
        path: &'static str,
        about: &'static str,
        handler: H,
    ) -> Routes<S> {
        self.at::<H, M>("post", path, about, post(handler))
    }
    /// `PUT`.
    pub(crate) fn put<H: Handler<T, S> + Describe<M>, T: 'static, M>(
        self,
        path: &'static str,
        about: &'static str,
        handler: H,
    ) -> Routes<S> {
        self.at::<H, M>("put", path, about, put(handler))
    }
    /// `DELETE`.
    pub(crate) fn delete<H: Handler<T, S> + Describe<M>, T: 'static, M>(
        self,
        path: &'static str,
        about: &'static str,
        handler: H,
    ) -> Routes<S> {
        self.at::<H, M>("delete", path, about, delete(handler))
    }
    fn at<H: Describe<M>, M>(
        mut self,
        method: &'static str,
        path: &'static str,
        about: &'static str,
        served: MethodRouter<S>,
    ) -> Routes<S> {
        let mut told = Told {
            method,
            path,
            tag: self.tag,
            about,
            parameters: parts::places(path),
            body: None,
            answers: Map::new(),
            schemas: Vec::new(),
        };
        H::describe(&mut told);
        self.told.push(told);
        self.router = self.router.route(path, served);
        self
    }
    /// These and those of another noun.
    pub(crate) fn merge(mut self, other: Routes<S>) -> Routes<S> {
        self.told.extend(other.told);
        self.router = self.router.merge(other.router);
        self
    }
    /// The same behind a layer.
    pub(crate) fn behind(mut self, layer: impl FnOnce(Router<S>) -> Router<S>) -> Routes<S> {
        self.router = layer(self.router);
        self
    }
    /// All operations.
    #[cfg(test)]
    pub(crate) fn told(&self) -> &[Told] {
        &self.told
    }
    /// The document of all.
    pub(crate) fn document(&self) -> Value {
        whole::whole(&self.told)
    }
    /// The addresses, to be served.
    pub(crate) fn into_router(self) -> Router<S> {
        self.router
    }
}

impl Told {
    /// A reference to the schema of a type, which the document has from now on.
    fn schema<T: ToSchema>(&mut self) -> Value {
        let mut found = vec![(T::name().into_owned(), T::schema())];
        T::schemas(&mut found);
        let as_json = |(name, schema)| Some((name, serde_json::to_value(schema).ok()?));
        self.schemas.extend(found.into_iter().filter_map(as_json));
        json!({"$ref": format!("#/components/schemas/{}", T::name())})
    }
    /// An answer without a failure.
    fn answer(&mut self, status: u16, about: &str, content: Option<(&str, Value)>) {
        let mut answer = json!({"description": about});
        if let Some((kind, schema)) = content {
            answer["content"] = json!({kind: {"schema": schema}});
        }
        self.answers.insert(status.to_string(), answer);
    }
}
