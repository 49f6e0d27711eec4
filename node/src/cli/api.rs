//! `api`: the node's interface for programs.

use super::context::Context;
use super::error::CliError;
use crate::ui;
use clap::Subcommand;

/// Words of the API.
#[derive(Clone, Debug, Subcommand)]
pub(super) enum ApiCommand {
    /// Print the document of the API: OpenAPI 3.1, as JSON
    Openapi,
}

impl ApiCommand {
    pub(super) fn run(self, _: &Context) -> Result<(), CliError> {
        match self {
            ApiCommand::Openapi => Ok(ui::out(
                format!("{}\n", crate::routes::document()).as_bytes(),
            )?),
        }
    }
}
