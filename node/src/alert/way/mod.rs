//! The ways by which alerts leave the node.

mod command;
mod file;
mod webhook;

use super::message::{self, Sender};
use super::outbox::Outcome;
use super::types::{Alert, AlertWay};
use crate::config::AlertsConfig;
use std::path::Path;

/// Sends an alert by a way that is configured.
pub(super) async fn send(
    (config, folder): (&AlertsConfig, &Path),
    way: AlertWay,
    from: &Sender,
    alert: &Alert,
) -> Outcome {
    let json = match message::json(from, alert) {
        Ok(json) => json,
        Err(error) => return Outcome::Refused(error.to_string()),
    };
    match way {
        AlertWay::Webhook => match &config.webhook {
            Some(hook) => webhook::post(hook, config.authorities.as_deref(), json).await,
            None => off(),
        },
        AlertWay::Command => match config.command.as_slice() {
            [program, args @ ..] => command::run((program, args), folder, &json).await,
            [] => off(),
        },
        AlertWay::File => match &config.file {
            Some(path) => file::append(path, message::mail(from, alert)).await,
            None => off(),
        },
    }
}

fn off() -> Outcome {
    Outcome::Refused("it is off".to_owned())
}
