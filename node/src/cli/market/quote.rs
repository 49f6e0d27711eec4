//! `market quote`: the prospects of a wish under each mechanism.

use super::super::context::Context;
use super::super::error::{CliError, During as _};
use super::super::fit::{Fit, bid};
use super::super::text::{or_dash, seconds};
use crate::api::types::{Prospect, Wish};
use crate::config::parse;
use crate::ui::Table;
use clap::Args;
use gridbay_protocol::units::Credits;
use std::time::Duration;

const NO_QUOTE: &str = "no quote";

/// Compare what all mechanisms would ask for a wish now, and how likely each fills it
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct QuoteArgs {
    /// Nodes
    #[arg(long, short = 'n', default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    nodes: u32,
    /// For how long
    #[arg(long, short = 't', default_value = "1h", value_parser = parse::duration)]
    time: Duration,
    /// By when it must be done
    #[arg(long, value_name = "TIME", value_parser = parse::duration)]
    within: Option<Duration>,
    /// Most credits for everything
    #[arg(long, value_name = "CREDITS", value_parser = parse::credits)]
    budget: Option<Credits>,
    #[command(flatten)]
    fit: Fit,
}

impl QuoteArgs {
    pub(in crate::cli) fn run(self, at: &Context) -> Result<(), CliError> {
        let within = self.within.map(|time| seconds(time, NO_QUOTE));
        let (within_seconds, seconds) = (within.transpose()?, seconds(self.time, NO_QUOTE)?);
        at.wait(async {
            let client = at.client()?;
            let bid = bid(self.nodes, false, seconds);
            let (bid, _) = self.fit.quoted(&client, bid, NO_QUOTE).await?;
            let wish = Wish {
                class: bid.class,
                nodes: self.nodes,
                seconds,
                within_seconds,
                budget: self.budget,
            };
            let prospects = client.post("/prospects", &wish, None).await;
            let prospects: Vec<Prospect> = prospects.during(NO_QUOTE)?;
            at.show(&prospects, |prospects| table(prospects))
        })
    }
}

fn table(prospects: &[Prospect]) -> String {
    Table::of(
        prospects,
        &[
            ("MECHANISM", &|p| p.mechanism.clone()),
            (">LIKELY", &|p| or_dash(p.likely)),
            (">AT MOST", &|p| or_dash(p.most)),
            (">FILLED", &|p| {
                or_dash(p.odds.map(|odds| format!("{odds} %")))
            }),
            ("RUN WITH", &|p| p.options.clone()),
            ("NOTE", &|p| p.note.clone()),
        ],
    )
}
