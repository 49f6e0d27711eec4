//! The interface between [`super::matrix`] and a peer: the orders to the programs that meet across
//! a lab, and their reports.
//!
//! A peer prints one JSON object a line:
//!
//! | event | when |
//! |---|---|
//! | `{"event":"ready","peer":ID,"addrs":[..]}` | it listens; ID is its own, addrs are what others may dial |
//! | `{"event":"connected","peer":ID,"relayed":false,"ms":N}` | a path to ID stands, N ms after the peer began; again whenever a better one does |
//! | `{"event":"lost","peer":ID}` | the last path to ID is gone |
//! | `{"event":"answered","peer":ID,"n":N,"took_ms":T}` | question N to ID has just been answered, T ms after it was asked |
//!
//! Lines that are no such object are passed over: a program may print other things as well.

use anyhow::{Context as _, bail};
use serde::{Deserialize, Serialize};

/// A line of a peer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum Event {
    /// It listens.
    Ready {
        /// Its own id.
        peer: String,
        /// The addresses that others may dial.
        addrs: Vec<String>,
    },
    /// A path stands.
    Connected {
        /// To whom.
        peer: String,
        /// Whether it leads through a relay.
        relayed: bool,
        /// Since the peer began.
        ms: u64,
    },
    /// No path stands any more.
    Lost {
        /// To whom.
        peer: String,
    },
    /// A question was answered.
    Answered {
        /// By whom.
        peer: String,
        /// Its number; they are asked in this order.
        n: u64,
        /// How long that took.
        took_ms: u64,
    },
}

impl Event {
    /// Reads a line; `None` if it is no event.
    pub fn read(line: &str) -> Option<Event> {
        serde_json::from_str(line.trim()).ok()
    }
}

/// The task of a peer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Role {
    /// Listens in public, and relays for others.
    Relay,
    /// Goes through a relay, and waits for somebody.
    Wait {
        /// Addresses of the relay.
        relay: Vec<String>,
    },
    /// Goes through a relay to somebody.
    Dial {
        /// Addresses of the relay.
        relay: Vec<String>,
        /// Whom.
        peer: String,
    },
    /// Goes through relays, and asks somebody one question after the other, whether there is a path
    /// or not.
    Ask {
        /// Addresses of the relays.
        relay: Vec<String>,
        /// Whom.
        peer: String,
    },
}

impl Role {
    /// Reads those words.
    ///
    /// # Errors
    /// Words that are no role.
    pub fn read(words: &[String]) -> anyhow::Result<Role> {
        let (first, mut rest) = words.split_first().context("a peer needs a role")?;
        let (mut relay, mut peer) = (Vec::new(), None);
        while let [option, value, more @ ..] = rest {
            match option.as_str() {
                "--relay" => relay.push(value.clone()),
                "--peer" => peer = Some(value.clone()),
                _ => bail!("`{option}` is no word of a peer's role"),
            }
            rest = more;
        }
        match (first.as_str(), peer, rest) {
            ("relay", None, []) => Ok(Role::Relay),
            ("wait", None, []) => Ok(Role::Wait { relay }),
            ("dial", Some(peer), []) => Ok(Role::Dial { relay, peer }),
            ("ask", Some(peer), []) => Ok(Role::Ask { relay, peer }),
            _ => bail!("`{}` is no role of a peer", words.join(" ")),
        }
    }
    /// The words after the program's own.
    pub fn words(&self) -> Vec<String> {
        let (word, relay, peer) = match self {
            Role::Relay => ("relay", &[][..], None),
            Role::Wait { relay } => ("wait", relay.as_slice(), None),
            Role::Dial { relay, peer } => ("dial", relay.as_slice(), Some(peer)),
            Role::Ask { relay, peer } => ("ask", relay.as_slice(), Some(peer)),
        };
        let mut words = vec![word.to_owned()];
        words.extend(relay.iter().flat_map(|a| ["--relay".to_owned(), a.clone()]));
        words.extend(
            peer.iter()
                .flat_map(|p| ["--peer".to_owned(), (*p).clone()]),
        );
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_the_page_says() {
        let ready = Event::Ready {
            peer: "a".into(),
            addrs: vec!["/ip4/45.1.1.2/tcp/1".into()],
        };
        let connected = Event::Connected {
            peer: "b".into(),
            relayed: true,
            ms: 12,
        };
        let lost = Event::Lost { peer: "b".into() };
        let answered = Event::Answered {
            peer: "b".into(),
            n: 3,
            took_ms: 7,
        };
        for (line, event) in [
            (
                r#"{"event":"answered","peer":"b","n":3,"took_ms":7}"#,
                Some(answered),
            ),
            (
                r#"{"event":"ready","peer":"a","addrs":["/ip4/45.1.1.2/tcp/1"]}"#,
                Some(ready),
            ),
            (
                r#"{"event":"connected","peer":"b","relayed":true,"ms":12}"#,
                Some(connected),
            ),
            (r#"{"event":"lost","peer":"b"}"#, Some(lost)),
            (r#"{"event":"else","peer":"b"}"#, None),
            (r#"{"event":"lost"}"#, None),
            ("listening", None),
        ] {
            assert_eq!(Event::read(line), event, "{line}");
        }
    }

    #[test]
    fn roles_are_told_in_words() {
        let dial = Role::Dial {
            relay: vec!["x".into(), "y".into()],
            peer: "b".into(),
        };
        assert_eq!(
            dial.words(),
            ["dial", "--relay", "x", "--relay", "y", "--peer", "b"]
        );
        assert_eq!(Role::Relay.words(), ["relay"]);
        let wait = Role::Wait { relay: vec![] };
        let ask = Role::Ask {
            relay: vec![],
            peer: "b".into(),
        };
        for role in [dial, wait, ask, Role::Relay] {
            assert_eq!(Role::read(&role.words()).unwrap(), role);
        }
        for words in [
            "",
            "relay --peer b",
            "dial --relay x",
            "ask --relay x",
            "wait --relay",
            "else",
        ] {
            let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
            assert!(Role::read(&words).is_err(), "{words:?}");
        }
    }
}
