//! `invite`: a token with which somebody else can join: as text, as a file, as a disk image for an
//! appliance, as a QR code.

mod qr;

use super::context::Context;
use super::error::{CliError, During as _};
use super::exit::Exit;
use super::image;
use super::text;
use crate::api::types::{ClusterKey, Invite, InviteRequest};
use crate::config::parse;
use crate::keys::write_secret;
use crate::overlay::ip;
use crate::ui;
use clap::Args;
use gridbay_protocol::invitation::Invitation;
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
    /// Write a disk image with the token, for an appliance, to a new file of mode 0600 instead of
    /// printing it
    #[arg(long, value_name = "FILE")]
    pub(super) image: Option<PathBuf>,
    /// Name this node on that image as the owner: it controls the appliance by gridbay appliance
    #[arg(long, requires = "image")]
    pub(super) owner: bool,
    /// Show the token as a QR code, too
    #[arg(long)]
    pub(super) qr: bool,
}

const WHAT: &str = "there is no invitation";
const NOT_WRITTEN: &str = "the invitation was not written";

impl InviteArgs {
    pub(super) fn run(self, at: &Context) -> Result<(), CliError> {
        let request = InviteRequest {
            endowment: self.endowment,
            valid_seconds: self.valid.as_secs(),
        };
        let (invite, owner): (Invite, Option<ClusterKey>) = at.wait(async {
            let client = at.client()?;
            let owner = match self.owner {
                true => Some(client.get("/clusters/key").await.during(WHAT)?),
                false => None,
            };
            let invite = client.post("/invitations", &request, None).await;
            Ok((invite.during(WHAT)?, owner))
        })?;
        if let Some(path) = &self.file {
            write_secret(path, format!("{}\n", invite.token)).during(NOT_WRITTEN)?;
            ui::note(&format!("wrote {}", path.display()));
        }
        if let Some(path) = &self.image {
            write_secret(path, disk(&invite.token, owner.as_ref())?).during(NOT_WRITTEN)?;
            ui::note(&format!("wrote {}", path.display()));
        }
        if at.format.is_text() {
            ui::note(&format!(
                "good for {} at least, until height {}; whoever holds it can open one account with \
                 {} credits",
                text::span(request.valid_seconds.saturating_mul(1_000)),
                invite.valid_until,
                invite.endowment
            ));
            if stays_here(&invite.token) {
                ui::note(
                    "it names addresses of this machine alone: whoever joins from another one \
                     finds nobody there; see the settings listen and external",
                );
            }
        }
        if self.qr && at.format.is_text() {
            ui::out(drawn(&invite.token)?.as_bytes())?;
        }
        if self.file.is_some() || self.image.is_some() {
            return Ok(());
        }
        at.show(&invite, |invite| format!("{}\n", invite.token))
    }
}

/// Whether no other machine could reach a node that an invitation names.
fn stays_here(token: &str) -> bool {
    let nodes = Invitation::from_text(token).map(|invitation| invitation.bootstrap);
    let addresses = nodes.unwrap_or_default().into_iter();
    let mut addresses = addresses.flat_map(|node| node.addresses);
    addresses.all(|address| {
        let host = address.parse().ok().and_then(|address| ip(&address));
        host.is_some_and(|host| host.is_loopback())
    })
}

/// The disk of an appliance.
fn disk(token: &str, owner: Option<&ClusterKey>) -> Result<Vec<u8>, CliError> {
    let mut file = format!("invitation = \"{token}\"\n");
    if let Some(owner) = owner {
        file += &format!("owner = \"{}\"\n", owner.key.to_hex());
    }
    image::write(file.as_bytes()).ok_or_else(|| too_long("a disk image", "--file"))
}

fn drawn(token: &str) -> Result<String, CliError> {
    qr::code(token).ok_or_else(|| too_long("a QR code", "--file"))
}

fn too_long(what: &str, other: &str) -> CliError {
    let why = format!("the invitation is too long for {what}: it names many nodes");
    CliError::new(Exit::FAILED, WHAT, why, format!("use {other} instead"))
}
