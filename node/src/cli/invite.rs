//! `invite`: a token with which somebody else can join: as text, as a file, as a disk image for an
//! appliance, as a QR code.

mod qr;

use super::context::{Context, Format};
use super::error::{CliError, During as _};
use super::exit::Exit;
use super::image;
use crate::api::types::{Invite, InviteRequest};
use crate::config::parse;
use crate::keys::write_secret;
use crate::ui;
use clap::Args;
use gridbay_protocol::units::Credits;
use std::path::PathBuf;
use std::time::Duration;

/// Invite somebody: prints a secret token that opens one account
#[derive(Clone, Debug, Args)]
pub(super) struct InviteArgs {
    /// Credits that move from this node's account to the new one
    #[arg(long, value_name = "CREDITS", default_value = "0", value_parser = parse::credits)]
    pub(super) endowment: Credits,
    /// How long the token can be used
    #[arg(long, value_name = "TIME", default_value = "24h", value_parser = parse::duration)]
    pub(super) valid: Duration,
    /// Write the token to a new file of mode 0600 instead of printing it
    #[arg(long, value_name = "FILE", alias = "out")]
    pub(super) file: Option<PathBuf>,
    /// Write a floppy image with the token, for an appliance, to a new file of mode 0600 instead of
    /// printing it
    #[arg(long, value_name = "FILE")]
    pub(super) image: Option<PathBuf>,
    /// Show the token as a QR code, too
    #[arg(long)]
    pub(super) qr: bool,
}

const WHAT: &str = "there is no invitation";

impl InviteArgs {
    pub(super) fn run(self, at: &Context) -> Result<(), CliError> {
        let request = InviteRequest {
            endowment: self.endowment,
            valid_seconds: self.valid.as_secs(),
        };
        let invite: Invite = at.wait(async {
            let client = at.client()?;
            client
                .post("/invitations", &request, None)
                .await
                .during(WHAT)
        })?;
        if let Some(path) = &self.file {
            write_secret(path, format!("{}\n", invite.token)).during(WHAT)?;
            ui::note(&format!("wrote {}", path.display()));
        }
        if let Some(path) = &self.image {
            write_secret(path, disk(&invite.token)?).during(WHAT)?;
            ui::note(&format!("wrote {}", path.display()));
        }
        if at.format == Format::Table {
            ui::note(&format!(
                "good until height {}; whoever holds it can open one account with {} credits",
                invite.valid_until, invite.endowment
            ));
        }
        if self.qr && at.format == Format::Table {
            ui::out(drawn(&invite.token)?.as_bytes())?;
        }
        if self.file.is_some() || self.image.is_some() {
            return Ok(());
        }
        at.show(&invite, |invite| format!("{}\n", invite.token))
    }
}

/// The disk of an appliance.
fn disk(token: &str) -> Result<Vec<u8>, CliError> {
    let file = format!("invitation = \"{token}\"\n");
    image::write(file.as_bytes()).ok_or_else(|| too_long("a disk image", "--file"))
}

fn drawn(token: &str) -> Result<String, CliError> {
    qr::code(token).ok_or_else(|| too_long("a QR code", "--file"))
}

fn too_long(what: &str, other: &str) -> CliError {
    let why = format!("the invitation is too long for {what}: it names many nodes");
    CliError::new(Exit::FAILED, WHAT, why, format!("use {other} instead"))
}
