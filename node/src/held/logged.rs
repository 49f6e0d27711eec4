//! The lines that orders to ranks leave in the log of actions.
//!
//! The connection of the API is no action yet: what it brings is. An order that runs or ends
//! something, or brings files, is a line with its kind alone; one that looks, takes files away or
//! goes on with what was begun is none.

use super::way::line;
use crate::audit::{Action, Book, Outcome, Pending, Who};
use crate::rank::order::{Answer as Said, Command};
use crate::rank::wire::LINE;
use std::collections::BTreeMap;
use std::io;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};

/// The address of such connections, as lines have it.
const WHAT: &str = "POST /clusters/{id}/ranks/{rank}";

/// Who speaks to which rank, and where that is written down.
pub(super) struct Log {
    pub(super) book: Book,
    pub(super) who: Who,
    /// Address of the rank.
    pub(super) place: String,
}

impl Log {
    /// The line about an order; none if it changes nothing.
    pub(super) fn begin(self, order: &Command) -> Option<Pending> {
        let kind = kind(order)?;
        let action = Action {
            who: self.who,
            what: WHAT.to_owned(),
            place: Some(self.place),
            detail: BTreeMap::from([("command".to_owned(), kind.to_owned())]),
            outcome: Outcome::Failed,
            status: None,
        };
        Some(Pending::new(self.book, action))
    }
}

fn kind(order: &Command) -> Option<&'static str> {
    match order {
        Command::Start(_) => Some("start"),
        Command::Put(_) | Command::Plain { .. } => Some("put"),
        Command::Stop { .. } => Some("stop"),
        Command::Admit { .. } => Some("admit"),
        Command::Dismiss { .. } => Some("dismiss"),
        Command::Resume { .. } | Command::Get(_) | Command::List => None,
    }
}

/// Passes a rank's answer on, which says what came of the order.
pub(super) async fn answered(
    from: &mut (impl AsyncRead + Unpin),
    to: &mut (impl AsyncWrite + Unpin),
    pending: Pending,
) -> io::Result<()> {
    let mut said = line(from, LINE).await?;
    let outcome = match serde_json::from_slice(&said) {
        Ok(Said::Refused(_)) => Outcome::Refused,
        Ok(_) => Outcome::Done,
        Err(_) => Outcome::Failed,
    };
    pending.ends(|action| action.outcome = outcome).await;
    said.push(b'\n');
    to.write_all(&said).await
}
