//! `config show|example`.

use super::context::Context;
use super::error::{CliError, During as _};
use crate::config::{self, Config, Shown};
use crate::ui::{self, Table};
use clap::Subcommand;

/// The settings of this node.
#[derive(Clone, Debug, Subcommand)]
pub(super) enum ConfigCommand {
    /// Show every setting, its value and where it comes from
    Show,
    /// Print a settings file with every default and its purpose, all in comments
    Example,
}

impl ConfigCommand {
    pub(super) fn run(self, at: &Context) -> Result<(), CliError> {
        match self {
            ConfigCommand::Show => {
                let shown = Config::show(&at.home, &at.sources);
                let shown = shown.during("the settings cannot be used")?;
                at.show(&shown, |shown| table(shown))
            }
            ConfigCommand::Example => Ok(ui::out(config::example(&at.home).as_bytes())?),
        }
    }
}

fn table(shown: &[Shown]) -> String {
    Table::of(
        shown,
        &[
            ("SETTING", &|l| l.key.clone()),
            ("ORIGIN", &|l| l.origin.to_string()),
            ("VALUE", &|l| l.value.clone()),
        ],
    )
}
