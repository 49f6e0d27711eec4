//! `run --dry-run`: the order as it would be sent, its cost, and whether it can win.

use super::buying::Buying;
use crate::api::client::Client;
use crate::api::types::{Quote, Want};
use crate::cli::context::Context;
use crate::cli::dry::Would;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::text;
use serde::Serialize;

/// The order with its job, without the contents of its files.
#[derive(Debug, Serialize)]
pub(super) struct Order {
    pub(super) want: Want,
    /// Whose program runs, in a sentence.
    pub(super) program: String,
    pub(super) argv: Vec<String>,
    pub(super) inputs: Vec<String>,
    pub(super) outputs: Vec<String>,
}

/// Asks what an order would cost, and tells it.
pub(super) async fn tell(
    at: &Context,
    client: &Client,
    buying: &Buying,
    order: Order,
) -> Result<Exit, CliError> {
    let (want, quote, refused) = buying.looked(client, order.want).await?;
    let what = what(&quote, order.inputs.len()) + "; " + &order.program;
    would(Order { want, ..order }, &quote, refused).tell(at, &what)
}

/// An order that is not sent, with what its quote says of it.
pub(in crate::cli) fn would<T>(sends: T, quote: &Quote, refused: Option<CliError>) -> Would<T> {
    let (works, why, next) = match refused {
        Some(error) => (false, error.why, error.next),
        None => (true, fine(quote), String::new()),
    };
    Would {
        sends,
        costs: Some(quote.most),
        holds: Some(quote.needed_now),
        works,
        why,
        next,
    }
}

/// The same where there is no network yet.
pub(super) fn tell_alone(at: &Context, order: Order) -> Result<Exit, CliError> {
    let folder = at.home.path().display();
    let what = format!("the job to a private market of its own; {}", order.program);
    let would = Would {
        sends: order,
        costs: None,
        holds: None,
        works: true,
        why: format!("{folder} belongs to no network, so this machine alone runs the job"),
        next: "for others' nodes join their network: gridbay join".to_owned(),
    };
    would.tell(at, &what)
}

/// An order in words; it brings so many files.
pub(in crate::cli) fn what(quote: &Quote, files: usize) -> String {
    let (nodes, class) = (text::nodes(quote.nodes), &quote.class);
    let time = text::span(u64::from(quote.seconds) * 1_000);
    let files = match files {
        0 => String::new(),
        1 => ", with 1 file".to_owned(),
        n => format!(", with {n} files"),
    };
    let price = quote.max_price;
    format!("an order for {nodes} of {class} for {time} at up to {price} per node-hour{files}")
}

fn fine(quote: &Quote) -> String {
    let free = quote.units_free;
    let asked = match quote.asked {
        Some(asked) => format!("sellers ask {asked} per node-hour and its limit is no less"),
        None => "no seller asks more than its limit".to_owned(),
    };
    let likely = match quote.likely {
        Some(likely) => format!("; it is likely to cost {likely}"),
        None => String::new(),
    };
    format!("{asked}, {free} units are free{likely}")
}
