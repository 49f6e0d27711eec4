//! The bearer of a token.

use super::scope::Scope;

/// The program whose token a request showed. Requests over the unix socket have none.
#[derive(Clone, Debug)]
pub(crate) struct Bearer {
    /// Name of the token; `None` for the one of the token file.
    pub(crate) name: Option<String>,
    /// What it may do.
    pub(crate) scope: Scope,
}
