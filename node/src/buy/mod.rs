//! Ways of buying, one room each: requests by the API and the command line, the terms and cost of
//! an order, how likely it is filled, and explanations of it later.
//!
//! [`How`] is a user's request, `Terms` of the core an order's content. This file alone knows all
//! variants of both; everything else asks `way::Way` and `way::Shown`.

mod ausubel;
#[allow(
    clippy::module_inception,
    reason = "each file has the name of its mechanism"
)]
mod buy;
mod contract;
mod deadline;
pub(crate) mod fit;
pub(crate) mod flags;
mod given;
mod posted;
mod reservation;
mod share;
pub(crate) mod way;
mod wish;

pub use ausubel::{BidHow, JobWorth};
pub(crate) use ausubel::{highest, lost};
pub use buy::BuyHow;
pub use contract::ContractHow;
pub use deadline::{DeadlineHow, DeadlineQuote};
pub use posted::PostedHow;
pub use reservation::{Ahead, NodeGroup, Start};
pub use share::{Claim, ResourceShare, ShareNow, ShareOutlook};
pub(crate) use share::{now as share_now, share as share_in_words};
pub use way::Also;

use crate::api::types::{Prospect, Wish};
use crate::api::{ApiError, ErrorCode};
use crate::cli::CliError;
use crate::market::desk::{Answer, Desk};
use clap::{ArgMatches, Args, FromArgMatches};
use gridbay_core::buy::{NewOrder, Terms};
use gridbay_ledger::State;
use gridbay_protocol::units::Credits;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use way::{Shown, Way};

/// The mechanism that an order uses, with what it alone asks for:
/// `{"mechanism": "ausubel", "divisible": false}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "mechanism", rename_all = "snake_case")]
pub enum How {
    /// A sealed bid in the auction of its class.
    Ausubel(BidHow),
    /// Buy-it-now: at once, dearer, not preempted.
    Buy(BuyHow),
    /// A bag of tasks by a deadline, on as many nodes as one seller's plan gives it from slot to
    /// slot.
    Deadline(DeadlineHow),
    /// A contract with a provider: as many jobs as nodes are asked for, each on one node.
    Contract(ContractHow),
    /// All nodes together, ahead of time, for all of it; a winner pays its bid.
    Reservation(Ahead),
    /// A claim on a pool: a share of it for a budget per hour.
    Share(Claim),
    /// Hired at the price that sellers post: first come, first served.
    Posted(PostedHow),
}

impl How {
    /// A bid for all nodes or none.
    pub const BID: How = How::Ausubel(BidHow { divisible: false });

    /// Buy-it-now, or not at all.
    pub const BUY: How = How::Buy(BuyHow::AT_ONCE);

    pub(crate) fn way(&self) -> &dyn Way {
        match self {
            How::Ausubel(how) => how,
            How::Buy(how) => how,
            How::Deadline(how) => how,
            How::Contract(how) => how,
            How::Reservation(how) => how,
            How::Share(how) => how,
            How::Posted(how) => how,
        }
    }
    /// Name of the mechanism, as in JSON.
    pub fn name(&self) -> &'static str {
        self.way().name()
    }
    /// Nodes of other classes than the first.
    pub fn also(&self) -> &[Also] {
        self.way().also()
    }
    /// Whether fewer nodes than asked for are of use too.
    pub fn is_divisible(&self) -> bool {
        self.way().is_divisible()
    }
}

/// The way of this name, if it can be asked for with nothing but whether fewer nodes are of use.
pub(crate) fn plain(name: &str, divisible: bool) -> Option<How> {
    match name {
        ausubel::NAME => Some(How::Ausubel(BidHow { divisible })),
        buy::NAME => Some(How::BUY),
        posted::NAME => Some(How::Posted(PostedHow {})),
        _ => None,
    }
}

/// An order's terms, by what their way says of them.
pub(crate) fn shown(terms: &Terms) -> &dyn Shown {
    match terms {
        Terms::Sealed(terms) => terms,
        Terms::Reserve(terms) => terms,
        Terms::Buy(terms) => terms,
        Terms::Share(terms) => terms,
        Terms::Deadline(terms) => terms,
        Terms::Contract(terms) => terms,
        Terms::Posted(terms) => terms,
    }
}

/// Price limit per node-hour and budget of an order, and how it gets its nodes.
pub(crate) fn in_words(order: &NewOrder, state: &State) -> (Credits, Credits, How) {
    fn with<T: Shown>(
        terms: &T,
        (order, state): (&NewOrder, &State),
        how: fn(T::How) -> How,
    ) -> (Credits, Credits, How) {
        let (price, budget, said) = terms.shown(order, state);
        (price, budget, how(said))
    }
    let at = (order, state);
    match &order.terms {
        Terms::Sealed(terms) => with(terms, at, How::Ausubel),
        Terms::Reserve(terms) => with(terms, at, How::Reservation),
        Terms::Buy(terms) => with(terms, at, How::Buy),
        Terms::Share(terms) => with(terms, at, How::Share),
        Terms::Deadline(terms) => with(terms, at, How::Deadline),
        Terms::Contract(terms) => with(terms, at, How::Contract),
        Terms::Posted(terms) => with(terms, at, How::Posted),
    }
}

/// The prospect of a wish under a way. Nothing is promised: the figures are those of the ledger at
/// this moment, and of the last clearings.
type Outlook = fn(&Desk<'_>, &Wish) -> Answer<Prospect>;

/// All ways, in the order in which they are told.
const OUTLOOKS: &[(&str, Outlook)] = &[
    (ausubel::NAME, ausubel::outlook),
    (buy::NAME, buy::outlook),
    (reservation::NAME, reservation::outlook),
    (deadline::NAME, deadline::outlook),
    (share::NAME, share::outlook),
    (contract::NAME, contract::outlook),
    (posted::NAME, posted::outlook),
];

/// The prospects of a wish under each way.
///
/// # Errors
/// The flaw of the wish itself. A way that cannot serve it says why in its prospect.
pub(crate) fn prospects(at: &Desk<'_>, wish: &Wish) -> Answer<Vec<Prospect>> {
    let said = OUTLOOKS
        .iter()
        .map(|(name, outlook)| match outlook(at, wish) {
            Err(ApiError {
                code: ErrorCode::NoMatch | ErrorCode::Refused,
                message,
                hint,
                ..
            }) => Ok(Prospect {
                mechanism: (*name).to_owned(),
                likely: None,
                most: None,
                odds: Some(0),
                note: format!("{message}; {hint}"),
                options: String::new(),
            }),
            other => other.map(|said| Prospect {
                options: whole(said.options, wish),
                ..said
            }),
        });
    said.collect()
}

/// The options of a way, and those of any way that its own do not tell: time and class.
fn whole(mut options: String, wish: &Wish) -> String {
    if !options.contains("--time ") {
        options += &format!(" --time {}s", wish.seconds);
    }
    if let Some(class) = &wish.class {
        options += &format!(" --class {class}");
    }
    options
}

/// The options of `gridbay run` for the way that they name.
#[derive(Clone, Debug)]
pub(crate) struct Flags(All);

/// The options for all ways.
#[derive(Clone, Debug, Args)]
struct All {
    #[command(flatten)]
    buy: buy::BuyFlags,
    #[command(flatten)]
    posted: posted::PostedFlags,
    #[command(flatten)]
    deadline: deadline::DeadlineFlags,
    #[command(flatten)]
    reserve: reservation::ReserveFlags,
    #[command(flatten)]
    share: share::ShareFlags,
    #[command(flatten)]
    bid: ausubel::BidFlags,
    #[command(flatten)]
    contract: contract::ContractFlags,
}

/// Adds the options of a way.
type Options = fn(clap::Command) -> clap::Command;

/// The option that names a way, and all its options.
const WAYS: &[(&str, Options)] = &[
    ("buy", buy::BuyFlags::augment_args),
    ("posted", posted::PostedFlags::augment_args),
    ("hard", deadline::DeadlineFlags::augment_args),
    ("reserve", reservation::ReserveFlags::augment_args),
    ("share", share::ShareFlags::augment_args),
    ("worth", ausubel::BidFlags::augment_args),
    ("provider", contract::ContractFlags::augment_args),
];

/// The rest of a command line that ways need.
pub(crate) struct Line<'a> {
    /// Hard limit on the running time.
    pub(crate) seconds: u32,
    /// Whether fewer nodes are of use too.
    pub(crate) divisible: bool,
    /// The program.
    pub(crate) program: &'a str,
}

impl FromArgMatches for Flags {
    fn from_arg_matches(line: &ArgMatches) -> Result<Flags, clap::Error> {
        given::check(line)?;
        All::from_arg_matches(line).map(Flags)
    }
    fn update_from_arg_matches(&mut self, line: &ArgMatches) -> Result<(), clap::Error> {
        given::check(line)?;
        self.0.update_from_arg_matches(line)
    }
}

impl Args for Flags {
    fn augment_args(command: clap::Command) -> clap::Command {
        All::augment_args(command)
    }
    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        All::augment_args_for_update(command)
    }
}

impl Flags {
    /// The way that they name; a bid without one.
    pub(crate) fn how(&self, line: &Line<'_>) -> How {
        let named = [
            self.0.share.how(line.program).map(How::Share),
            self.0.deadline.how().map(How::Deadline),
            self.0.contract.how(line.seconds).map(How::Contract),
            self.0.reserve.how().map(How::Reservation),
            self.0.buy.how().map(How::Buy),
            self.0.posted.how().map(How::Posted),
        ];
        let divisible = line.divisible;
        let bid = How::Ausubel(BidHow { divisible });
        named.into_iter().flatten().next().unwrap_or(bid)
    }
    /// Nodes, if they say how many.
    pub(crate) fn nodes(&self) -> Result<Option<u32>, CliError> {
        Ok(self.0.contract.jobs.or(self.0.reserve.nodes()?))
    }
    /// The worth of the job, if it bids by that.
    pub(crate) fn worth(&self) -> Result<Option<JobWorth>, CliError> {
        self.0.bid.worth()
    }
}

#[cfg(test)]
mod tests;
