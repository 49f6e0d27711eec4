//! Performing what a step asked for.
//!
//! Actions run in order. The first that fails ends the row, since those after it rest on it; but
//! for `Join`: a node that has joined runs on, whatever a disk holds. None of them touches the
//! folder of keys; only the node's program makes keys, when it joins, and only the start of the
//! system erases them, after a reset.

use super::care;
use super::command::Command;
use super::files::{write_private, write_public};
use super::gridbay;
use super::places::Places;
use super::update::{self, offers};
use crate::action::{Action, Kind, Outcome};
use crate::config::{Files, Token};
use crate::node::Failure;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;
use std::time::Duration;

/// Longest time for networkd to read its files.
const RELOAD: Duration = Duration::from_secs(10);

/// Performs actions, and tells what became of them.
pub fn perform(places: &Places, actions: Vec<Action>) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    for action in actions {
        let kind = action.kind();
        let result = one(places, action);
        let failed = result.is_err();
        outcomes.push(Outcome { kind, result });
        if failed && kind != Kind::Join {
            break;
        }
    }
    outcomes
}

fn one(places: &Places, action: Action) -> Result<(), Failure> {
    match action {
        Action::Network(file) => network(places, &file),
        Action::Join(token) => gridbay::join(places, &token),
        Action::Renew(token) => renew(places, &token).map_err(disk),
        Action::WriteSettings(text) => settings(places, &text).map_err(disk),
        Action::StartNode => gridbay::systemctl(places, "start"),
        Action::RestartNode => gridbay::systemctl(places, "restart"),
        Action::SetOffer(offer) => gridbay::set_offer(places, &offer),
        Action::Withdraw(label) => gridbay::withdraw(places, label),
        Action::Keep(files) => keep(places, &files).map_err(disk),
        Action::SetBoot(env, stage) => update::settle(places, env, stage),
        Action::TakeUpdate(origin, id) => offers::take(places, &origin, &id),
        Action::DropUpdate => offers::forget(places).map_err(disk),
        // A machine without a node is drained.
        Action::Drain => care::begin_drain(places).map(drop).map_err(disk),
        Action::Reset => care::reset(places).map_err(disk),
        Action::Reboot => update::reboot(places),
    }
}

fn disk(error: io::Error) -> Failure {
    Failure::own(error.to_string(), "see to the data disk; it is tried again")
}

fn network(places: &Places, file: &[u8]) -> Result<(), Failure> {
    fs::create_dir_all(&places.networks).map_err(disk)?;
    write_public(&places.network_file(), file).map_err(disk)?;
    let reload = Command::new("networkctl").arg("reload");
    reload.output(RELOAD).map(drop)
}

fn renew(places: &Places, token: &Token) -> io::Result<()> {
    let text = format!("{}\n", token.secret());
    let path = places.node().join("invitation");
    write_private(&path, text.as_bytes(), places.account()?)
}

fn settings(places: &Places, text: &str) -> io::Result<()> {
    let path = places.node().join("gridbay.toml");
    write_private(&path, text.as_bytes(), places.account()?)
}

fn keep(places: &Places, files: &Files) -> io::Result<()> {
    let folder = places.kept();
    private_folder(&places.state())?;
    private_folder(&folder)?;
    for (name, file) in [
        ("network.network", &files.network),
        ("invite.toml", &files.invite),
    ] {
        if let Some(bytes) = file {
            write_private(&folder.join(name), bytes, None)?;
        }
    }
    Ok(())
}

fn private_folder(path: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_foreign_invitation_keeps_no_node_from_starting() {
        let places = Places {
            gridbay: vec!["false".to_owned()],
            systemctl: "true".to_owned(),
            user: None,
            ..Places::system()
        };
        let token = Token::new("gridbay1a").unwrap();
        let outcomes = perform(&places, vec![Action::Join(token), Action::StartNode]);
        let ended: Vec<_> = outcomes
            .iter()
            .map(|o| (o.kind, o.result.is_ok()))
            .collect();
        assert_eq!(ended, [(Kind::Join, false), (Kind::Node, true)]);
        let row = vec![Action::Withdraw(1), Action::StartNode];
        assert_eq!(perform(&places, row).len(), 1, "others end the row");
    }

    #[test]
    fn a_reset_leaves_the_mark_for_the_next_boot_and_reboots() {
        let dir = tempfile::TempDir::new().unwrap();
        let places = Places {
            data: dir.path().to_owned(),
            systemctl: "true".to_owned(),
            ..Places::system()
        };
        fs::create_dir(places.state()).unwrap();
        let outcomes = perform(&places, vec![Action::Reset, Action::Reboot]);
        assert!(outcomes.iter().all(|outcome| outcome.result.is_ok()));
        assert!(crate::data::reset::is_asked(&places.state()));
    }
}
