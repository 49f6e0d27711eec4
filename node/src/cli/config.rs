//! `config show`.

use super::context::Context;
use super::error::{CliError, During as _};
use crate::config::{Config, Shown};
use crate::ui::Table;
use clap::Subcommand;

/// The settings of this node.
#[derive(Clone, Debug, Subcommand)]
pub(super) enum ConfigCommand {
    /// Show every setting, its value and where it comes from
    Show,
}

impl ConfigCommand {
    pub(super) fn run(self, at: &Context) -> Result<(), CliError> {
        let ConfigCommand::Show = self;
        let shown = Config::show(&at.home, &at.sources).during("the settings cannot be used")?;
        at.show(&shown, |shown| table(shown))
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
