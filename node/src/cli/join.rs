//! `join`: makes this folder a node of a network.
//!
//! An invitation or a genesis comes from a file or from standard input; an invitation also as a
//! word of the command.
//! 1. By invitation: its signatures are checked, keys are made here, the invitation is stored. The
//!    running node opens the account with it and fetches the genesis, whose hash it names.
//! 2. By genesis file: only for a founding member, whose keys `found member` made in this folder.
//!
//! A forged invitation and one of another network than the folder's are refused here. Whether one
//! has expired or was used only the ledger knows: once the node is at the head, `node status` and
//! `doctor` tell.
//!
//! A folder belongs to one network; joining the same one again changes nothing.

use super::context::{Context, decode_genesis, read_genesis};
use super::error::{CliError, During as _, chain};
use super::exit::Exit;
use super::image::{self, ImageError};
use super::text;
use crate::keys::{KeyFileError, KeyFolder, KeyName, private_folder, read_secret, write_secret};
use crate::ui;
use clap::Args;
use gridbay_protocol::genesis::Genesis;
use gridbay_protocol::ids::NetworkId;
use gridbay_protocol::invitation::{Invitation, InvitationError};
use gridbay_protocol::keys::PublicKey;
use gridbay_protocol::limits;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{IsTerminal as _, Read as _, Write as _};
use std::path::{Path, PathBuf};

/// Join a network by an invitation, or with its genesis file as a founding member
#[derive(Clone, Debug, Args)]
pub(super) struct JoinArgs {
    /// A file or disk image that holds an invitation, or a genesis file; - reads standard input
    #[arg(
        long,
        value_name = "PATH",
        required_unless_present = "with",
        conflicts_with = "with"
    )]
    pub(super) file: Option<PathBuf>,
    /// The same as --file, or an invitation's text. An invitation is a secret: as a word of a
    /// command it is seen by every user of this machine while the command runs, and stays in the
    /// shell's history
    #[arg(value_name = "FILE|INVITATION")]
    pub(super) with: Option<String>,
}

/// What `join` reports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Joined {
    network: NetworkId,
    by: Way,
    /// Whether the folder was of this network before.
    already: bool,
    data: PathBuf,
    account_key: PublicKey,
    node: PublicKey,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Way {
    Invitation,
    Genesis,
}

const WHAT: &str = "the network was not joined";
/// Said when an invitation was a word of the command.
const ALREADY: &str =
    "this folder belongs to this network already: nothing was changed, and no invitation was used";
const SEEN: &str = "an invitation in a command can be seen by others and stays in the shell's history: next time give it with --file";
/// What somebody does who did not found the network.
const INVITED: &str = "ask a member for an invitation, which gridbay invite prints on the member's node, and join with that";
/// Stands for standard input.
const STDIN: &str = "-";
/// How invitations begin.
const PREFIX: &str = "gridbay1";

impl JoinArgs {
    pub(super) fn run(self, at: &Context) -> Result<(), CliError> {
        private_folder(at.home.path()).during(WHAT)?;
        let text = self.with.as_deref().filter(|_| self.file.is_none());
        let joined = match text.and_then(|text| token(text.as_bytes())) {
            Some(token) => {
                let joined = by_invitation(at, &token)?;
                ui::note(SEEN);
                joined
            }
            None => by_file(
                at,
                &self
                    .file
                    .or(self.with.map(PathBuf::from))
                    .unwrap_or_default(),
            )?,
        };
        if joined.already {
            ui::note(ALREADY);
        }
        at.tell(&joined, |joined| {
            let network = joined.network.to_hex();
            text::fields(&[
                ("network", network),
                ("account key", joined.account_key.to_hex()),
                ("node", joined.node.to_hex()),
                (
                    "next",
                    format!("gridbay --data {} node up", joined.data.display()),
                ),
            ])
        })
    }
}

/// The contents of a file: an invitation, a disk image with one, or a genesis.
fn by_file(at: &Context, path: &Path) -> Result<Joined, CliError> {
    let bytes = read(path)?;
    let file = if image::looks_like_one(&bytes) {
        image::read(&bytes).map_err(|error| bad_image(path, error))?
    } else {
        bytes
    };
    match token(&file) {
        Some(token) => by_invitation(at, &token),
        None if path == Path::new(STDIN) && Genesis::decode(&file).is_err() => {
            Err(bad_input(&file))
        }
        None => by_genesis(at, path, &file),
    }
}

/// The token that a text is, or that a settings file of an appliance holds as `invitation`.
/// Capitals come from QR codes.
fn token(bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok()?.trim();
    let begins = |text: &str| {
        let start = text.get(..PREFIX.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(PREFIX))
    };
    let in_file = || {
        let table: toml::Table = text.parse().ok()?;
        Some(table.get("invitation")?.as_str()?.trim().to_owned())
    };
    let token = if begins(text) {
        Some(text.to_owned())
    } else {
        in_file().filter(|token| begins(token))
    };
    token.map(|token| token.to_ascii_lowercase())
}

/// Standard input held nothing of use here.
fn bad_input(bytes: &[u8]) -> CliError {
    let why = match bytes.trim_ascii().is_empty() {
        true => "standard input is empty",
        false => "standard input holds neither an invitation nor a genesis",
    };
    let next = "run `gridbay invite` and look at what it prints";
    CliError::new(Exit::REFUSED, WHAT, why, next)
}

fn bad_image(path: &Path, error: ImageError) -> CliError {
    let why = format!("{}: {error}", path.display());
    let next = "mount it and give the file in it, or ask the inviter for the token itself";
    CliError::new(Exit::REFUSED, WHAT, why, next)
}

/// A file, or what comes on standard input.
fn read(path: &Path) -> Result<Vec<u8>, CliError> {
    let failed = |error: std::io::Error| {
        // A secret in the wrong place is not shown to make it worse.
        let name = path
            .to_str()
            .filter(|name| token(name.as_bytes()).is_none());
        let why = format!("{}: {error}", name.unwrap_or("the file"));
        CliError::new(
            Exit::NOT_FOUND,
            WHAT,
            why,
            "name a file or disk image that holds an invitation, or a genesis file; - reads standard input",
        )
    };
    let most = limits::GENESIS_BYTES.max(image::IMAGE_BYTES) as u64 + 1;
    let mut bytes = Vec::new();
    if path == Path::new(STDIN) {
        let stdin = std::io::stdin();
        if stdin.is_terminal() {
            ui::note("paste the invitation; a line of its own with Ctrl-D ends it");
        }
        stdin
            .lock()
            .take(most)
            .read_to_end(&mut bytes)
            .map_err(failed)?;
    } else {
        let file = File::open(path).map_err(failed)?;
        file.take(most).read_to_end(&mut bytes).map_err(failed)?;
    }
    Ok(bytes)
}

fn by_invitation(at: &Context, text: &str) -> Result<Joined, CliError> {
    let invitation = Invitation::from_text(text).map_err(|error| {
        let next = match error {
            InvitationError::Forged => {
                "do not use it: somebody changed it, or made it up; ask a member you know"
            }
            _ => "ask the inviter for a new one and copy it whole",
        };
        CliError::new(Exit::REFUSED, WHAT, chain(&error), next)
    })?;
    let known = network_of(at)?;
    refuse_other(at, known, invitation.network)?;
    let folder = KeyFolder::open(&at.home.keys()).during(WHAT)?;
    folder.create_missing(&KeyName::NODE).during(WHAT)?;
    if known.is_none() {
        let text = format!("{}\n", invitation.to_text());
        write_secret(&at.home.invitation(), &text).during(WHAT)?;
    }
    joined(at, (invitation.network, known), Way::Invitation, &folder)
}

fn by_genesis(at: &Context, path: &Path, file: &[u8]) -> Result<Joined, CliError> {
    let genesis = decode_genesis(file, path)?;
    let network = genesis.network();
    let known = network_of(at)?;
    refuse_other(at, known, network)?;
    let folder = KeyFolder::open(&at.home.keys()).during(WHAT)?;
    let keys = match folder.load() {
        Err(KeyFileError::Missing(_)) => {
            let folder = at.home.path().display();
            let why = format!("a genesis is for founding members, and {folder} has no keys of one");
            return Err(CliError::new(Exit::NOT_FOUND, WHAT, why, INVITED));
        }
        keys => keys.during(WHAT)?,
    };
    let key = keys.account.public();
    let is_member = |genesis: &Genesis| {
        let mut keys = genesis.members.iter().flat_map(|m| &m.keys);
        keys.any(|k| k.key == key)
    };
    if !is_member(&genesis) {
        let why = format!("the key {key} of this folder is no founding member's");
        return Err(CliError::new(Exit::REFUSED, WHAT, why, INVITED));
    }
    if known.is_none() {
        write_whole(&at.home.genesis(), &genesis.encode()).map_err(|error| {
            let why = format!("{}: {error}", at.home.genesis().display());
            CliError::new(Exit::FAILED, WHAT, why, "see to the disk, try again")
        })?;
    }
    joined(at, (network, known), Way::Genesis, &folder)
}

fn joined(
    at: &Context,
    (network, known): (NetworkId, Option<NetworkId>),
    by: Way,
    folder: &KeyFolder,
) -> Result<Joined, CliError> {
    let keys = folder.load().during(WHAT)?;
    Ok(Joined {
        network,
        by,
        already: known.is_some(),
        data: at.home.path().to_owned(),
        account_key: keys.account.public(),
        node: keys.node(),
    })
}

/// The network that this folder belongs to, if any.
fn network_of(at: &Context) -> Result<Option<NetworkId>, CliError> {
    if at.home.genesis().exists() {
        return Ok(Some(read_genesis(&at.home.genesis())?.network()));
    }
    if !at.home.invitation().exists() {
        return Ok(None);
    }
    let text = read_secret(&at.home.invitation()).during(WHAT)?;
    match Invitation::from_text(&text) {
        Ok(invitation) => Ok(Some(invitation.network)),
        Err(error) => {
            let why = format!("{}: {}", at.home.invitation().display(), chain(&error));
            Err(CliError::new(
                Exit::REFUSED,
                WHAT,
                why,
                "remove that file, join again",
            ))
        }
    }
}

fn refuse_other(
    at: &Context,
    known: Option<NetworkId>,
    network: NetworkId,
) -> Result<(), CliError> {
    match known {
        Some(other) if other != network => {
            let folder = at.home.path().display();
            let why = format!("{folder} belongs to network {other}, this is {network}");
            Err(CliError::new(
                Exit::REFUSED,
                WHAT,
                why,
                "name another folder with --data",
            ))
        }
        _ => Ok(()),
    }
}

/// Writes a file so that it is there whole or not at all.
fn write_whole(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let beside = path.with_extension("new");
    let mut file = File::create(&beside)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&beside, path)?;
    File::open(path.parent().unwrap_or(Path::new(".")))?.sync_all()
}

#[cfg(test)]
mod tests {
    #[test]
    fn useless_input_is_told_apart_and_blames_no_genesis() {
        for (bytes, why) in [
            (&b""[..], "standard input is empty"),
            (b" \n", "standard input is empty"),
            (
                b"error: no",
                "standard input holds neither an invitation nor a genesis",
            ),
        ] {
            let error = super::bad_input(bytes);
            assert_eq!(error.why, why);
            assert!(error.next.contains("gridbay invite"));
        }
    }

    #[test]
    fn a_token_is_found_as_text_in_capitals_and_in_a_file() {
        let token = |text: &str| super::token(text.as_bytes());
        let found = Some("gridbay1abc".to_owned());
        for text in [
            "gridbay1abc",
            "  gridbay1abc\n",
            "GRIDBAY1ABC",
            "invitation = \"gridbay1abc\"\n",
            "name = \"x\"\ninvitation = \" GridBay1abc \"\n",
        ] {
            assert_eq!(token(text), found, "{text}");
        }
        for text in ["", "gridbay", "invitation = 7", "invitation = \"x\"", "[a]"] {
            assert_eq!(token(text), None, "{text}");
        }
        assert_eq!(super::token(&[0xff, 0xfe]), None);
    }
}
