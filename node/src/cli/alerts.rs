//! `alerts test|list`: what the node tells its owner by itself.

use super::context::Context;
use super::error::{CliError, During as _};
use super::exit::Exit;
use super::text;
use crate::api::types::{AlertList, AlertTried};
use crate::ui::{Table, clean};
use clap::Subcommand;

/// Alerts that the node sends its owner by itself.
#[derive(Clone, Debug, Subcommand)]
pub(super) enum AlertsCommand {
    /// List what was told and is not over, and how each way fares
    List {
        /// The oldest of them, so many at the most
        #[arg(long, value_name = "COUNT")]
        limit: Option<u32>,
    },
    /// Send a test by each way of the settings `alerts`
    Test,
}

impl AlertsCommand {
    pub(super) fn run(self, at: &Context) -> Result<Exit, CliError> {
        at.wait(async {
            let client = at.client()?;
            match self {
                AlertsCommand::List { limit } => {
                    let most = limit.map_or_else(String::new, |most| format!("?limit={most}"));
                    let all = client.get(&format!("/alerts{most}")).await;
                    let all: AlertList = all.during("no list of alerts")?;
                    at.tell(&all, page)?;
                    Ok(Exit::OK)
                }
                AlertsCommand::Test => {
                    let tried = client.post("/alerts/test", &(), None).await;
                    let tried: Vec<AlertTried> = tried.during("nothing was tried")?;
                    at.tell(&tried, |tried| outcome(tried))?;
                    match tried.iter().all(|way| way.failure.is_none()) {
                        true => Ok(Exit::OK),
                        false => Ok(Exit::FAILED),
                    }
                }
            }
        })
    }
}

fn page(all: &AlertList) -> String {
    if all.ways.is_empty() {
        return "alerts have no way out of this node: set alerts.webhook, alerts.command or \
                alerts.file\n"
            .to_owned();
    }
    let open = Table::of(
        &all.open,
        &[
            ("SINCE", &|alert| text::ago(alert.since_ms)),
            ("KIND", &|alert| alert.kind.name().to_owned()),
            ("WHAT", &|alert| alert.what.clone()),
        ],
    );
    let ways = Table::of(
        &all.ways,
        &[
            ("WAY", &|line| line.way.name().to_owned()),
            (">WAITING", &|line| line.waiting.to_string()),
            (">TOLD", &|line| line.told.to_string()),
            (">LOST", &|line| line.lost.to_string()),
            ("LAST FAILURE", &|line| text::or_dash(line.failure.clone())),
        ],
    );
    match all.open.is_empty() {
        true => format!("nothing is open\n\n{ways}"),
        false => format!("{open}\n{ways}"),
    }
}

fn outcome(tried: &[AlertTried]) -> String {
    let line = |tried: &AlertTried| {
        let way = tried.way.name();
        match &tried.failure {
            None => format!("{way}: the test arrived\n"),
            Some(why) => format!("{way}: the test did not arrive: {}\n", clean(why)),
        }
    };
    tried.iter().map(line).collect()
}
