//! The log of actions: who changed what on this node, when, and what came of it.
//!
//! 1. Every request that may change something is a line ([`line`]): those of the API, by whichever
//!    door, forms of the web pages, and orders of the node's owner from afar. It is on disk before
//!    the answer leaves.
//! 2. Each line holds the hash of the one before it, so that a line that is changed, missing or put
//!    in between is seen (`chain`). The file `head` names the last one, for lines missing at the
//!    end.
//! 3. Files are bounded in size and number; the oldest go (`files`). One thread writes them
//!    (`book`).
//!
//! Of a request the line has its address and few named fields of its body, such as an amount; never
//! a program, its environment, a note, a token or a key.

mod book;
mod chain;
mod detail;
mod files;
pub(crate) mod layer;
mod line;
mod pending;

pub use book::Book;
pub(crate) use chain::Break;
pub(crate) use files::{Action, read_log};
pub(crate) use layer::{Told, comes_in_parts};
pub use line::{Line, Outcome, Who};
pub(crate) use pending::Pending;
