//! What the laboratory says to a node of a lease inside a host, and what that answers: one line of
//! JSON each.

use gridbay_vnet::path::{Candidate, Kind, Ticket};
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;

/// A wish. Each is answered by one [`Answer`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Wish {
    /// Ask these who they see, now and every 20 s.
    Mirrors(Vec<SocketAddr>),
    /// Send on between these two tickets.
    Admit([Ticket; 2]),
    /// Open the lease with the other rank, and wait for its first echo.
    Open(Vec<Card>),
    /// The other rank's ways are these now.
    Ways(Vec<Card>),
    /// This host's address has changed.
    Moved,
    /// Echoes, one each 100 ms, for so many seconds.
    Pings(u64),
    /// How the other rank is reached.
    Way,
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Answer {
    Done,
    /// Who sees this node where.
    Seen(Vec<(SocketAddr, SocketAddr)>),
    /// Milliseconds until the first echo; none within the time.
    First(Option<u64>),
    Pings(Pings),
    /// Its kind and where it leads.
    Way(Option<(String, SocketAddr)>),
    Failed(String),
}

/// How echoes fared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Pings {
    pub(crate) sent: u64,
    pub(crate) lost: u64,
    /// Longest time without one that came back.
    pub(crate) gap_ms: u64,
}

/// A way, as one tells it to the other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Card {
    pub(super) kind: String,
    pub(super) at: SocketAddr,
    pub(super) ticket: Option<Ticket>,
}

impl Card {
    pub(super) fn new(kind: Kind, at: SocketAddr) -> Card {
        Card {
            kind: kind.text().to_owned(),
            at,
            ticket: None,
        }
    }

    pub(super) fn relay(at: SocketAddr, ticket: Ticket) -> Card {
        Card {
            ticket: Some(ticket),
            ..Card::new(Kind::Relay, at)
        }
    }

    pub(super) fn candidate(&self) -> Candidate {
        let kinds = [Kind::Lan, Kind::Direct, Kind::Punched];
        let kind = kinds.into_iter().find(|kind| kind.text() == self.kind);
        match self.ticket {
            Some(ticket) => Candidate::relay(self.at, ticket),
            None => Candidate::at(kind.unwrap_or(Kind::Punched), self.at),
        }
    }
}
