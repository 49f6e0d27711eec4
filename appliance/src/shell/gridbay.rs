//! The node's program: asked as the node's user, answered in JSON.

use super::command::Command;
use super::places::Places;
use crate::action::NewOffer;
use crate::config::Token;
use crate::node::{Failure, Unit};
use serde::de::DeserializeOwned;
use std::time::Duration;

/// The node's unit.
pub const UNIT: &str = "gridbay.service";
/// Longest wait for an answer.
const ANSWER: Duration = Duration::from_secs(5);
/// Longest wait for something to be done.
const DONE: Duration = Duration::from_secs(30);

fn command(places: &Places, words: &[&str]) -> Command {
    let (program, first) = match places.gridbay.split_first() {
        Some((program, first)) => (program.as_str(), first),
        None => ("gridbay", &[][..]),
    };
    places
        .as_node(program)
        .args(first.iter().map(String::as_str))
        .arg("--data")
        .path(&places.node())
        .args(words.iter().copied())
        .args(["-o", "json"])
}

/// An answer of the node, if it gives one that can be read.
pub fn ask<T: DeserializeOwned>(places: &Places, words: &[&str]) -> Option<T> {
    let output = command(places, words).output(ANSWER).ok()?;
    serde_json::from_slice(&output).ok()
}

/// Has an invitation judged, and taken if the folder has none. The secret goes by standard input:
/// the words of a command can be seen by every user.
pub fn join(places: &Places, token: &Token) -> Result<(), Failure> {
    let input = format!("{}\n", token.secret());
    let command = command(places, &["join", "--file", "-"]).input(input.as_bytes());
    command.output(DONE).map(drop)
}

/// Sets an offer.
pub fn set_offer(places: &Places, offer: &NewOffer) -> Result<(), Failure> {
    let units = offer.units.to_string();
    let price = offer.price.to_string();
    let class = format!("--class={}", offer.class);
    let mut words = vec!["offer", "set", &class, "--units", &units];
    words.extend(["--reserve", &price]);
    let buy = offer.buy.map(|buy| buy.to_string());
    if let Some(buy) = &buy {
        words.extend(["--buy", buy]);
    }
    command(places, &words).output(DONE).map(drop)
}

/// Withdraws an offer.
pub fn withdraw(places: &Places, label: u32) -> Result<(), Failure> {
    let label = label.to_string();
    command(places, &["offer", "withdraw", &label])
        .output(DONE)
        .map(drop)
}

/// Has the node take no new leases.
pub fn drain(places: &Places) -> Result<(), Failure> {
    command(places, &["node", "drain"]).output(DONE).map(drop)
}

/// The node's unit.
pub fn unit(places: &Places) -> Unit {
    let show = Command::new(&places.systemctl)
        .args(["show", UNIT, "-p", "ActiveState,SubState,Result,NRestarts"])
        .output(ANSWER);
    Unit::parse(&String::from_utf8_lossy(&show.unwrap_or_default()))
}

/// Starts or restarts the unit without waiting for it. A unit that failed too often is forgiven
/// first: the agent waits longer each time.
pub fn systemctl(places: &Places, verb: &str) -> Result<(), Failure> {
    let run = |words: &[&str]| {
        let command = Command::new(&places.systemctl).args(words.iter().copied());
        command.output(ANSWER)
    };
    // One that has not failed needs no forgiveness, which is no failure.
    drop(run(&["reset-failed", UNIT]));
    run(&[verb, "--no-block", UNIT]).map(drop)
}
