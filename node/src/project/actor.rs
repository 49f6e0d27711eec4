//! The one that asks, as far as projects go.

use crate::api::scope::Role;
use crate::store::projects::ProjectBook;

/// The one that asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Actor {
    /// A caller of the whole node: over its socket, by a token with a scope, by the pages.
    Node,
    /// A user, who sees and does what the roles in projects allow.
    User(String),
}

impl Actor {
    /// The user's name.
    pub(crate) fn user(&self) -> Option<&str> {
        match self {
            Actor::Node => None,
            Actor::User(name) => Some(name),
        }
    }
    /// Whether the one may do in a project what needs a role.
    pub(crate) fn may(&self, book: &ProjectBook, project: Option<&str>, needed: Role) -> bool {
        match (self, project) {
            (Actor::Node, _) => true,
            (Actor::User(_), None) => false,
            (Actor::User(name), Some(project)) => {
                book.role(project, name).is_some_and(|role| role >= needed)
            }
        }
    }
}
