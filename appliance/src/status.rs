//! The status: what the agent tells everybody on the machine, without any secret.
//!
//! 1. It is one JSON file in the run folder, replaced whole at each change.
//! 2. Every text in it is cleaned when it is made and again when it is read, since whoever shows it
//!    should not have to trust who wrote it.

use crate::orders::Orders;
use crate::seen::Seen;
use crate::shell::files::{read_bounded, write_public};
use crate::state::{Fault, State};
use crate::text::clean;
use crate::update::trial;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::Path;

/// Name of the file, in the run folder.
pub const NAME: &str = "status.json";
/// Largest one read.
pub const BYTES: u64 = 256 * 1024;
/// Longest reason and hint.
const SENTENCE: usize = 600;
/// Longest name, key or address.
const WORD: usize = 128;
/// Most notes and addresses.
const MANY: usize = 8;
/// Most lines of the log.
pub const LOG_LINES: usize = 64;
/// Longest line of the log.
const LOG_LINE: usize = 512;

/// The status.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Status {
    /// `waiting`, `joining`, `ready`, `draining` or `error`.
    pub state: String,
    /// Why.
    pub reason: String,
    /// What the owner can do; may be empty.
    pub hint: String,
    /// What else is to be known.
    pub notes: Vec<Note>,
    /// The node's name.
    pub name: String,
    /// The image's version.
    pub version: String,
    /// The letter of the system that runs; empty if it was not started by the boot loader.
    pub slot: String,
    /// The version of an update that was not decided yet; empty without one.
    pub trial: String,
    /// The node's transport key in hex; empty before it runs.
    pub node: String,
    /// Its account in hex; empty before it is open.
    pub account: String,
    /// The network's name.
    pub network: String,
    /// Last height.
    pub height: u64,
    /// Peers connected.
    pub peers: u32,
    /// Addresses of the machine.
    pub addresses: Vec<String>,
    /// Addresses that the node listens on.
    pub listen: Vec<String>,
    /// Units offered.
    pub units_offered: u32,
    /// Units leased.
    pub units_leased: u32,
    /// Free balance.
    pub balance: String,
    /// Jobs of others that run here.
    pub jobs_hosted: u32,
    /// The change of what the owner told from afar that it goes by.
    pub orders: u64,
    /// The last lines of the agent's log with their times, oldest first.
    pub log: Vec<String>,
}

/// A note.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Note {
    /// What it is.
    pub reason: String,
    /// What to do; may be empty.
    pub hint: String,
}

impl From<&Fault> for Note {
    fn from(fault: &Fault) -> Note {
        Note {
            reason: fault.reason.clone(),
            hint: fault.hint.clone(),
        }
    }
}

impl Status {
    /// The status of a state, with the figures that were seen and what else is to be told.
    pub fn new(state: &State, seen: &Seen, notes: &[Fault], version: &str) -> Status {
        let node = seen.node.clone().unwrap_or_default();
        let orders = seen.folder.orders.as_deref();
        let orders = orders.and_then(|file| Orders::parse(file).ok());
        let version = match version {
            "" => env!("CARGO_PKG_VERSION"),
            version => version,
        };
        let (boot, update) = (seen.boot.as_ref(), seen.update.as_ref());
        let left = trial::note(boot, update, version);
        Status {
            state: state.name().to_owned(),
            reason: state.reason().to_owned(),
            hint: state.hint().to_owned(),
            notes: (left.iter().chain(notes).chain(state.notes()))
                .map(Note::from)
                .collect(),
            name: node.name,
            version: version.to_owned(),
            slot: boot.map_or("", |boot| boot.running.name()).to_owned(),
            trial: trial::pending(boot, update),
            node: node.node,
            account: node.account.unwrap_or_default(),
            network: node.network_name.unwrap_or(node.network),
            height: node.height,
            peers: node.peers,
            addresses: seen.network.addresses.clone(),
            listen: node.listen,
            units_offered: node.units_offered,
            units_leased: node.units_leased,
            balance: node.balance,
            jobs_hosted: node.jobs_hosted,
            orders: orders.map_or(0, |orders| orders.count),
            log: Vec::new(),
        }
        .clean()
    }
    /// Reads one.
    pub fn read(file: &Path) -> io::Result<Status> {
        let bytes = read_bounded(file, BYTES)?;
        let status: Status = serde_json::from_slice(&bytes).map_err(io::Error::other)?;
        Ok(status.clean())
    }
    /// Writes it for everybody to read.
    pub fn write(&self, file: &Path) -> io::Result<()> {
        let text = serde_json::to_vec_pretty(self).map_err(io::Error::other)?;
        write_public(file, &text)
    }
    /// State and reason in one line, with hint and notes.
    pub fn line(&self) -> String {
        let mut line = format!("{} {}", self.state, self.reason);
        let notes = self
            .notes
            .iter()
            .flat_map(|note| [&note.reason, &note.hint]);
        let told = [&self.hint].into_iter().chain(notes);
        for more in told.filter(|text| !text.is_empty()) {
            line.push_str("; ");
            line.push_str(more);
        }
        line
    }
    fn clean(mut self) -> Status {
        for word in [
            &mut self.state,
            &mut self.name,
            &mut self.version,
            &mut self.slot,
            &mut self.trial,
            &mut self.node,
            &mut self.account,
            &mut self.network,
            &mut self.balance,
        ] {
            *word = clean(word, WORD);
        }
        for list in [&mut self.addresses, &mut self.listen] {
            list.truncate(MANY);
            for word in list {
                *word = clean(word, WORD);
            }
        }
        let surplus = self.log.len().saturating_sub(LOG_LINES);
        self.log.drain(..surplus);
        for line in &mut self.log {
            *line = clean(line, LOG_LINE);
        }
        self.reason = clean(&self.reason, SENTENCE);
        self.hint = clean(&self.hint, SENTENCE);
        self.notes.truncate(MANY);
        for note in &mut self.notes {
            note.reason = clean(&note.reason, SENTENCE);
            note.hint = clean(&note.hint, SENTENCE);
        }
        self
    }
    /// The status for people.
    pub fn text(&self) -> String {
        let mut text = format!("{} {}\n", self.state, self.reason);
        if !self.hint.is_empty() {
            text.push_str(&format!("    try: {}\n", self.hint));
        }
        for note in &self.notes {
            text.push_str(&format!("    note: {}\n", note.reason));
            if !note.hint.is_empty() {
                text.push_str(&format!("    try: {}\n", note.hint));
            }
        }
        for (name, value) in self.fields() {
            text.push_str(&format!("{name:<10}{value}\n"));
        }
        text
    }
    /// Names and values of what is known, for people.
    pub fn fields(&self) -> Vec<(&'static str, String)> {
        let mut fields = vec![("version", self.version.clone())];
        let mut add = |name, value: String| {
            if !value.is_empty() {
                fields.push((name, value));
            }
        };
        add("system", self.slot.clone());
        add("on trial", self.trial.clone());
        add("name", self.name.clone());
        add("address", self.addresses.join(" "));
        if self.node.is_empty() {
            return fields;
        }
        add("network", self.network.clone());
        add("height", self.height.to_string());
        add("peers", self.peers.to_string());
        add(
            "units",
            format!(
                "{} offered, {} leased",
                self.units_offered, self.units_leased
            ),
        );
        add("jobs", self.jobs_hosted.to_string());
        add("balance", self.balance.clone());
        add("account", self.account.clone());
        add("node", self.node.clone());
        fields
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    #[test]
    fn a_status_is_read_as_it_was_written_and_cleaned() {
        let dir = TempDir::new().unwrap();
        let file = dir.path().join(NAME);
        let fault = Fault::new("bad\x1b[2J gridbay1secret", "do\nthat");
        let seen = Seen::default();
        let status = Status::new(&State::Error { fault }, &seen, &[], "");
        assert_eq!(status.line(), "error bad?[2J gridbay1...; do that");
        status.write(&file).unwrap();
        assert_eq!(Status::read(&file).unwrap(), status);
        std::fs::write(
            &file,
            "{\"state\":\"a\\u001b\",\"addresses\":[\"\\u0007\"]}",
        )
        .unwrap();
        let read = Status::read(&file).unwrap();
        assert_eq!(
            (read.state.as_str(), read.addresses[0].as_str()),
            ("a?", "?")
        );
        std::fs::write(&file, "{").unwrap();
        assert!(Status::read(&file).is_err());
    }
}
