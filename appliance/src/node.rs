//! What the `gridbay` program and systemd say, as far as the agent needs it.
//!
//! 1. Each answer is JSON of the command line with `-o json`; fields that are not listed here are
//!    passed over, so a newer node is understood.
//! 2. A failure is one line of JSON on standard error. If there is none, all of it is told.
//! 3. Texts are kept as they come, and cleaned where they are shown.

use crate::config::Credits;
use crate::text::clean;
use serde::{Deserialize, Deserializer};

/// Longest reason that is kept of a failure.
const REASON_CHARS: usize = 400;

/// `node status`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
#[expect(missing_docs, reason = "the fields are those of the command")]
pub struct NodeStatus {
    pub state: String,
    pub name: String,
    pub version: String,
    pub network: String,
    pub network_name: Option<String>,
    pub node: String,
    pub account: Option<String>,
    pub joining: Option<String>,
    pub listen: Vec<String>,
    pub peers: u32,
    pub height: u64,
    pub balance: String,
    pub units_offered: u32,
    pub units_leased: u32,
    pub jobs_hosted: u32,
    pub troubles: Vec<Trouble>,
}

/// A trouble of the node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Trouble {
    /// What it is.
    pub what: String,
    /// What to do.
    pub hint: String,
}

/// One line of `offer list`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[expect(missing_docs, reason = "the fields are those of the command")]
pub struct Offer {
    pub label: u32,
    #[serde(default)]
    pub account: String,
    pub own: bool,
    pub class: String,
    pub units: u32,
    #[serde(deserialize_with = "credits")]
    pub reserve: Option<Credits>,
    #[serde(default, deserialize_with = "credits")]
    pub buy: Option<Credits>,
    #[serde(default)]
    pub withdrawn: bool,
    #[serde(default)]
    pub held_back: bool,
}

/// One line of `market prices`: a class and what it costs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
#[expect(missing_docs, reason = "the fields are those of the command")]
pub struct Class {
    #[serde(rename = "class")]
    pub name: String,
    pub vcpu: u32,
    pub memory_mib: u64,
    pub disk_mib: u64,
    pub gpu: u32,
    #[serde(deserialize_with = "credits")]
    pub last: Option<Credits>,
}

/// An amount in quotes, or none; one that cannot be read counts as none.
fn credits<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Credits>, D::Error> {
    let text: Option<String> = Option::deserialize(from)?;
    Ok(text.and_then(|text| Credits::new(&text).ok()))
}

/// Why an action did not happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Exit code; `None` if the program did not end by itself.
    pub exit: Option<i32>,
    /// Reason.
    pub why: String,
    /// Advice; may be empty.
    pub next: String,
}

impl Failure {
    /// A failure of the agent's own.
    pub fn own(why: impl Into<String>, next: impl Into<String>) -> Failure {
        Failure {
            exit: None,
            why: why.into(),
            next: next.into(),
        }
    }
    /// What a program left on standard error: the last line that is an error of the command line,
    /// else all of it.
    pub fn of(exit: Option<i32>, stderr: &str) -> Failure {
        #[derive(Deserialize)]
        struct Line {
            why: String,
            #[serde(default)]
            next: String,
        }
        let told = stderr
            .lines()
            .rev()
            .find_map(|line| serde_json::from_str::<Line>(line).ok());
        let (why, next) = match told {
            Some(line) => (line.why, line.next),
            None if stderr.trim().is_empty() => ("it said nothing".to_owned(), String::new()),
            None => (stderr.trim().to_owned(), String::new()),
        };
        Failure {
            exit,
            why: clean(&why, REASON_CHARS),
            next: clean(&next, REASON_CHARS),
        }
    }
}

/// The node's unit, by `systemctl show`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unit {
    /// `active`, `inactive`, `failed`, `activating`, ...
    pub active: String,
    /// `running`, `auto-restart`, ...
    pub sub: String,
    /// `success`, `exit-code`, ...
    pub result: String,
    /// Restarts by systemd since it was started by hand.
    pub restarts: u32,
}

impl Unit {
    /// The properties as `systemctl show -p ...` prints them, one `Key=value` a line.
    pub fn parse(text: &str) -> Unit {
        let value = |key: &str| {
            let line = text
                .lines()
                .find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
            clean(line.unwrap_or_default(), 40)
        };
        Unit {
            active: value("ActiveState"),
            sub: value("SubState"),
            result: value("Result"),
            restarts: value("NRestarts").parse().unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_and_strange_fields_passed_over() {
        let status: NodeStatus = serde_json::from_str(
            r#"{"state":"joining","peers":3,"joining":"used","new":[1],"troubles":[{"what":"w"}]}"#,
        )
        .unwrap();
        assert_eq!((status.state.as_str(), status.peers), ("joining", 3));
        assert_eq!(status.troubles[0].what, "w");
        let offers: Vec<Offer> = serde_json::from_str(
            r#"[{"label":1,"own":true,"class":"small","units":2,"reserve":"2.5","buy":null}]"#,
        )
        .unwrap();
        assert_eq!(offers[0].reserve, Some(Credits(2_500_000)));
        let classes: Vec<Class> =
            serde_json::from_str(r#"[{"class":"small","vcpu":1,"last":"x"}]"#).unwrap();
        assert_eq!((classes[0].vcpu, classes[0].last), (1, None));
    }

    #[test]
    fn failures_are_found_among_other_lines() {
        let json =
            "warning: x\n{\"exit\":9,\"what\":\"w\",\"why\":\"no\\u001b\",\"next\":\"do\"}\n";
        let failure = Failure::of(Some(9), json);
        assert_eq!((failure.why.as_str(), failure.next.as_str()), ("no?", "do"));
        assert_eq!(Failure::of(None, "a\nb\n\n").why, "a b");
        assert_eq!(Failure::of(None, "").why, "it said nothing");
        assert!(Failure::of(None, &"x".repeat(9_999)).why.len() <= REASON_CHARS);
    }

    #[test]
    fn a_unit_is_read_from_its_properties() {
        let unit =
            Unit::parse("ActiveState=failed\nSubState=failed\nResult=exit-code\nNRestarts=5\n");
        assert_eq!((unit.active.as_str(), unit.restarts), ("failed", 5));
        assert_eq!(Unit::parse("garbage"), Unit::default());
    }
}
