//! `appliance set`: what a node sells, when and at what price.

use super::order::{Who, odd, order};
use super::status::told;
use crate::api::types::{Order, Outcome, Setting, SettingKey};
use crate::cli::context::Context;
use crate::cli::error::CliError;
use clap::Args;
use clap::builder::PossibleValuesParser;
use clap::builder::TypedValueParser as _;

/// The value that takes a setting back.
const DEFAULT: &str = "default";

/// Tell an appliance what to sell, when and at what price
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct SetArgs {
    #[command(flatten)]
    who: Who,
    /// What to set: prices are credits per node-hour, hours are in UTC
    #[arg(value_parser = PossibleValuesParser::new(SettingKey::ALL.map(SettingKey::name))
        .map(|name| key(&name)))]
    key: SettingKey,
    /// As in 3.5, 2, 512MiB, 22:00-06:00 or off; `default` goes by its configuration disk again
    value: String,
}

/// The setting with a name that the parser knows.
fn key(name: &str) -> SettingKey {
    let mut all = SettingKey::ALL.into_iter();
    all.find(|key| key.name() == name)
        .unwrap_or(SettingKey::Price)
}

impl SetArgs {
    pub(super) fn run(self, at: &Context) -> Result<(), CliError> {
        let what = "nothing was set";
        let setting = Setting {
            key: self.key,
            value: Some(self.value).filter(|value| value != DEFAULT),
        };
        match order(at, self.who, Order::Set(setting), what)? {
            Outcome::Set(desired) => at.tell(&*desired, |desired| {
                let told = told(desired);
                match told.is_empty() {
                    true => "it goes by its configuration disk\n".to_owned(),
                    false => format!("told: {told}\n"),
                }
            }),
            _ => Err(odd(what)),
        }
    }
}
