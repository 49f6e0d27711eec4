//! One line of the log.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The one that acts, as far as the node can tell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum Who {
    /// A process that opened the API's socket: its user, and its number if the system tells it.
    Socket {
        /// Number of the user.
        uid: u32,
        /// Number of the process.
        pid: Option<i32>,
    },
    /// A program on this machine that showed a token of the API.
    Token {
        /// The token's name; none for the one in `api.token`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// What it may do; none in lines of before this was told.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        scope: Option<String>,
    },
    /// A user of projects.
    User {
        /// The user's name.
        user: String,
    },
    /// A session of the web pages.
    Session {
        /// The beginning of the hash of its cookie, which tells sessions apart.
        session: String,
        /// What it may do.
        scope: String,
    },
    /// The owner of the node, from another node.
    Owner {
        /// Transport key of that node.
        node: String,
    },
    /// The node itself.
    Node,
}

/// The outcome of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Done.
    Done,
    /// Refused.
    Refused,
    /// It failed, and may have been done in part.
    Failed,
}

/// An action.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// Counts the lines of this node, from 1 on.
    pub seq: u64,
    /// By this node's clock, milliseconds since 1970.
    pub time_ms: u64,
    /// The one that acted.
    pub who: Who,
    /// The action, as in `POST /jobs/{id}/cancel`.
    pub what: String,
    /// Where that stands in a place of its own, the whole address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// Named fields of the request.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub detail: BTreeMap<String, String>,
    /// Its outcome.
    pub outcome: Outcome,
    /// The status of the answer, if it was a request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Hash of the line before it, in hex; empty for the first.
    pub prev: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_before_tokens_were_told_apart_are_read() {
        let old: Who = serde_json::from_str("{\"by\":\"token\"}").unwrap();
        let (name, scope) = (None, None);
        assert_eq!(old, Who::Token { name, scope });
    }
}
