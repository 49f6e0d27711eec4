//! The processes of a measurement: this program with a hidden first word.
//!
//! | words | what it is |
//! |---|---|
//! | `plane END OWN OTHER` | our data plane with a device in its own namespace, as root |
//! | `node HOST END SOCKET…` | our data plane on the loopback, for ranks that bring their devices |
//! | `rank SOCKET NUMBER …` | a rank in a user namespace; goes on as one of the next two |
//! | `sink` | takes flows and datagrams, and counts them |
//! | `source TO SECONDS` | makes them, and reports |
//! | `flow TO CONGESTION SECONDS` | makes a flow alone, and reports |
//! | `user OWN OTHER sink`, `user OWN OTHER flow SECONDS` | our data plane without a device, and one of these two |

mod common;
mod plane;
mod sink;
mod source;

use crate::say;
use anyhow::{Context as _, bail};
pub(super) use common::{Report, inner};
use std::ffi::OsString;
use std::process::ExitCode;

/// The hidden first word.
pub(crate) const WORD: &str = "__network";
/// Runs a part until it is ended, or has reported.
pub(crate) fn run(words: impl Iterator<Item = OsString>) -> ExitCode {
    let words: Vec<String> = words.map(|w| w.to_string_lossy().into_owned()).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match go(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say::note(&format!("{words:?}: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn go(words: &[&str]) -> anyhow::Result<()> {
    match words {
        ["plane", end, own, other] => plane::root(end.parse()?, own.parse()?, other.parse()?),
        ["node", host, end, sockets @ ..] => plane::node(host.parse()?, end.parse()?, sockets),
        ["rank", socket, number, rest @ ..] => {
            let _held = plane::rank(socket, number.parse()?).context("no device")?;
            go(rest)
        }
        ["sink"] => sink::run(),
        ["source", to, seconds] => source::run(to.parse()?, seconds.parse()?),
        ["flow", to, congestion, seconds] => {
            source::flow(to.parse()?, congestion, seconds.parse()?)
        }
        ["user", own, other, "sink"] => {
            let (_engine, user) = plane::user(1, own.parse()?, other.parse()?)?;
            sink::user(&user)
        }
        ["user", own, other, "flow", seconds] => {
            let (_engine, user) = plane::user(0, own.parse()?, other.parse()?)?;
            source::user(&user, inner(1), seconds.parse()?)
        }
        _ => bail!("this word is for the laboratory's own use"),
    }
}
