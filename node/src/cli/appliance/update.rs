//! `appliance update`: a signed update, from a file here to an appliance.

use super::order::{Who, odd};
use crate::api::client::Client;
use crate::api::types::{Handover, HandoverState, Instruction, Order, Outcome, Staged};
use crate::cli::context::Context;
use crate::cli::error::{CliError, During as _};
use crate::cli::exit::Exit;
use crate::cli::progress::Progress;
use crate::cli::run::pieces;
use crate::owner::limits::{MAGIC, UPDATE_BYTES};
use crate::ui;
use clap::Args;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tokio::fs::File;
use tokio::io::{AsyncReadExt as _, AsyncSeekExt as _};

const WHAT: &str = "the update was not handed over";
/// Between two questions how far it has come.
const LOOK: Duration = Duration::from_secs(2);
/// How long the appliance may be silent meanwhile.
const PATIENCE: Duration = Duration::from_secs(120);
const AGAIN: &str = "run this again: it goes on where it stopped";

/// Hand a signed update to an appliance, which checks it, drains and reboots to try it
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct UpdateArgs {
    #[command(flatten)]
    who: Who,
    /// The gridbay-update that appliance/build --update wrote
    file: PathBuf,
}

impl UpdateArgs {
    pub(super) fn run(self, at: &Context) -> Result<(), CliError> {
        let name = self.who.name().to_owned();
        let handed = at.wait(async {
            let (file, bytes) = open(&self.file).await?;
            let client = at.client()?;
            let staging = Progress::new("staging the update", bytes);
            let staged = client
                .upload("/content/update", bytes, pieces(file, staging))
                .await;
            let Staged { content, bytes } = staged.during(WHAT)?;
            let asked = Order::Update { content, bytes };
            let mut last = ask(&client, &name, asked).await?;
            let mut told = 0;
            let mut heard = Instant::now();
            while last.state == HandoverState::Coming {
                progress(&last, &mut told);
                tokio::time::sleep(LOOK).await;
                match ask(&client, &name, Order::Status).await {
                    Ok(next) => (last, heard) = (next, Instant::now()),
                    Err(error) if error.exit != Exit::UNREACHABLE => return Err(error),
                    Err(_) if heard.elapsed() < PATIENCE => {}
                    Err(error) => {
                        return Err(CliError::new(error.exit, WHAT, error.why, AGAIN));
                    }
                }
            }
            match last.state {
                HandoverState::Failed => Err(CliError::new(Exit::FAILED, WHAT, last.why, AGAIN)),
                _ => Ok(last),
            }
        })?;
        at.tell(&handed, |_| {
            format!(
                "{name} has it whole; it checks the signature, drains and reboots to try it\n\
                 try: gridbay appliance status {name}\n"
            )
        })
    }
}

/// The file and its bytes, if it may be an update.
async fn open(path: &Path) -> Result<(File, u64), CliError> {
    let failed = |error: io::Error| {
        let why = format!("{}: {error}", path.display());
        CliError::new(Exit::NOT_FOUND, WHAT, why, "check the name of the file")
    };
    let wrong = |why: &str| {
        let why = format!("{}: {why}", path.display());
        let next = "take the gridbay-update that appliance/build --update wrote";
        CliError::new(Exit::USAGE, WHAT, why, next)
    };
    let mut file = File::open(path).await.map_err(failed)?;
    let about = file.metadata().await.map_err(failed)?;
    if !about.is_file() {
        return Err(wrong("it is no file"));
    }
    if about.len() > UPDATE_BYTES {
        return Err(wrong(&format!("it has more than {UPDATE_BYTES} bytes")));
    }
    let mut first = Vec::new();
    let mut head = (&mut file).take(MAGIC.len() as u64);
    head.read_to_end(&mut first).await.map_err(failed)?;
    if first != MAGIC {
        return Err(wrong("it is no update of an appliance"));
    }
    file.rewind().await.map_err(failed)?;
    Ok((file, about.len()))
}

/// Gives an order that is answered with a status; how far the update has come by it.
async fn ask(client: &Client, who: &str, order: Order) -> Result<Handover, CliError> {
    let instruction = Instruction {
        who: who.to_owned(),
        order,
    };
    let answer = client.post("/appliances/order", &instruction, None).await;
    let Outcome::Status(status) = answer.during(WHAT)? else {
        return Err(odd(WHAT));
    };
    status.update.ok_or_else(|| {
        let why = "the node there has started anew meanwhile";
        CliError::new(Exit::FAILED, WHAT, why, AGAIN)
    })
}

/// One line for each tenth.
fn progress(update: &Handover, told: &mut u64) {
    let tenth = update.held * 10 / update.bytes.max(1);
    if tenth > *told {
        *told = tenth;
        ui::note(&of(update));
    }
}

/// How much of it is there, as in `12 of 100 MiB`.
pub(super) fn of(update: &Handover) -> String {
    let mib = |bytes: u64| bytes >> 20;
    format!("{} of {} MiB", mib(update.held), mib(update.bytes))
}
