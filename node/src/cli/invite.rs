//! `invite`: a token with which somebody else can join.

use super::context::{Context, Format};
use super::error::{CliError, During as _};
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
    #[arg(long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
}

impl InviteArgs {
    pub(super) fn run(self, at: &Context) -> Result<(), CliError> {
        let what = "there is no invitation";
        let request = InviteRequest {
            endowment: self.endowment,
            valid_seconds: self.valid.as_secs(),
        };
        let invite: Invite = at.wait(async {
            let client = at.client()?;
            client
                .post("/invitations", &request, None)
                .await
                .during(what)
        })?;
        if let Some(path) = &self.out {
            write_secret(path, &format!("{}\n", invite.token)).during(what)?;
            ui::note(&format!("wrote {}", path.display()));
            return Ok(());
        }
        if at.format == Format::Table {
            ui::note(&format!(
                "good until height {}; whoever holds it can open one account with {} credits",
                invite.valid_until, invite.endowment
            ));
        }
        at.show(&invite, |invite| format!("{}\n", invite.token))
    }
}
