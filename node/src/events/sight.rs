//! The events that a reader may see: all of them, or those of the jobs of a user's projects.

use super::buffer::Happened;
use crate::api::scope::Role;
use crate::project::Actor;
use crate::store::projects::ProjectBook;
use serde::Deserialize;
use tokio::sync::watch;

/// A reader's sight.
pub(super) struct Sight {
    actor: Actor,
    book: ProjectBook,
    turns: watch::Receiver<u64>,
}

/// The part of an event's data that tells whose it is.
#[derive(Deserialize)]
struct Owned {
    project: Option<String>,
}

impl Sight {
    /// The sight of the one who asks.
    pub(super) fn new(actor: Actor, book: ProjectBook) -> Sight {
        let turns = book.turns();
        Sight { actor, book, turns }
    }
    /// Whether an event is shown.
    pub(super) fn sees(&self, happened: &Happened) -> bool {
        match &self.actor {
            Actor::Node => true,
            Actor::User(_) if ["job", "order"].contains(&happened.kind) => {
                let owned = serde_json::from_str::<Owned>(&happened.data);
                let project = owned.ok().and_then(|owned| owned.project);
                self.actor.may(&self.book, project.as_deref(), Role::Reader)
            }
            Actor::User(_) => false,
        }
    }
    /// Whether the reader has been removed.
    pub(super) fn is_over(&self) -> bool {
        self.actor
            .user()
            .is_some_and(|name| !self.book.has_user(name))
    }
    /// Is ready once the reader is removed.
    pub(super) async fn ended(&mut self) {
        while !self.is_over() {
            if self.turns.changed().await.is_err() {
                // The book is gone with the node, of whose end others tell.
                std::future::pending::<()>().await;
            }
        }
    }
}
