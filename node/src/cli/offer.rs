//! `offer set|list|show|plan|withdraw`.

mod dry;
mod plan;
mod pool;
mod show;

use super::context::Context;
use super::error::{CliError, During as _};
use super::exit::Exit;
use super::listing::Listing;
use super::text::or_dash;
use crate::api::types::{Offer, OfferRequest};
use crate::config::parse;
use crate::ui::Table;
use clap::{Args, Subcommand, ValueEnum};
use gridbay_protocol::offer::{DeadlineTerms, Primary};
use gridbay_protocol::units::Credits;

/// What this node sells, and what others do.
#[derive(Clone, Debug, Subcommand)]
pub(super) enum OfferCommand {
    /// Offer units of this node, or change what it offers
    Set(SetArgs),
    /// List all offers
    List(Listing),
    Show(show::ShowArgs),
    /// Show which jobs by deadlines offers have taken, and when they do them
    Plan,
    /// Withdraw an offer; leases that run end at the next slot boundary
    Withdraw {
        /// Its label, see `offer list`
        label: u32,
    },
}

/// Arguments of `offer set`.
#[derive(Clone, Debug, Args)]
pub(super) struct SetArgs {
    /// Name of the class
    #[arg(long)]
    pub(super) class: String,
    /// Units
    #[arg(long, short = 'n', value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) units: u32,
    /// Least price, credits per node-hour
    #[arg(long, value_name = "CREDITS", value_parser = parse::credits)]
    pub(super) reserve: Credits,
    /// Buy-it-now price, credits per node-hour; without it the units are only auctioned
    #[arg(long, value_name = "CREDITS", value_parser = parse::credits)]
    pub(super) buy: Option<Credits>,
    /// Seconds of notice before units are taken back [default: never taken back]
    #[arg(long, value_name = "SECONDS")]
    pub(super) notice: Option<u32>,
    /// How its units are sold first, also when an offer is changed; what is left is auctioned,
    /// except under posted
    #[arg(long, value_enum, default_value_t = Sold::Ausubel)]
    mechanism: Sold,
    /// Under deadline: least gain for which a job is taken, as a part of its price [default: 0.8]
    #[arg(long, value_name = "PART", value_parser = parse::part)]
    min_gain: Option<u32>,
    /// Under deadline: what is staked on each job, as a part of its price [default: 0.25]
    #[arg(long, value_name = "PART", value_parser = parse::part)]
    bond: Option<u32>,
    /// Label of the offer, a number; without it the offer of this class
    #[arg(long)]
    pub(super) label: Option<u32>,
    /// Say what would be set and whether it can sell, and set nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    pool: pool::PoolArgs,
}

impl OfferCommand {
    pub(super) fn run(self, at: &Context) -> Result<Exit, CliError> {
        at.wait(async {
            let client = at.client()?;
            let offer: Offer = match self {
                OfferCommand::Set(args) if args.dry_run => {
                    return dry::tell(at, &client, args.request()).await;
                }
                OfferCommand::Set(args) => {
                    let offer = client.put("/offers", &args.request()).await;
                    offer.during("the offer was not set")?
                }
                OfferCommand::Withdraw { label } => {
                    let offer = client.delete(&format!("/offers/{label}")).await;
                    offer.during("the offer was not withdrawn")?
                }
                OfferCommand::List(listing) => {
                    let from = ("/offers", "no list of offers");
                    listing.of(at, &client, from, table).await?;
                    return Ok(Exit::OK);
                }
                OfferCommand::Show(args) => {
                    args.run(at, &client).await?;
                    return Ok(Exit::OK);
                }
                OfferCommand::Plan => {
                    plan::plans(at).await?;
                    return Ok(Exit::OK);
                }
            };
            at.show(&offer, |offer| table(std::slice::from_ref(offer)))?;
            Ok(Exit::OK)
        })
    }
}

/// A mechanism as a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Sold {
    /// Auctioned, and bought at once
    Ausubel,
    /// To jobs by deadlines, planned by this node
    Deadline,
    /// Whole sets of nodes ahead of time
    Reservation,
    /// Shares of a pool, see --cap and --alpha
    Share,
    /// At the reserve, first come, first served, and in no other way
    Posted,
}

impl SetArgs {
    fn request(self) -> OfferRequest {
        let mechanism = match self.mechanism {
            Sold::Ausubel => Primary::Ausubel,
            Sold::Deadline => Primary::Deadline(DeadlineTerms {
                min_gain_ppm: self.min_gain.unwrap_or(800_000),
                bond_ppm: self.bond.unwrap_or(250_000),
            }),
            Sold::Reservation => Primary::Reservation,
            Sold::Share => Primary::Share(self.pool.terms()),
            Sold::Posted => Primary::Posted,
        };
        OfferRequest {
            label: self.label,
            class: self.class,
            units: self.units,
            reserve: self.reserve,
            buy: self.buy,
            notice_seconds: self.notice,
            mechanism,
        }
    }
}

fn table(offers: &[Offer]) -> String {
    Table::of(
        offers,
        &[
            ("OFFER", &|o| o.offer.to_string()),
            ("SELLER", &|o| match (o.own, &o.name) {
                (true, _) => "this node".to_owned(),
                (false, Some(name)) => name.clone(),
                (false, None) => o.account.to_string(),
            }),
            ("->LABEL", &|o| o.label.to_string()),
            ("CLASS", &|o| o.class.clone()),
            (">UNITS", &|o| o.units.to_string()),
            ("->LEASED", &|o| o.leased.to_string()),
            (">RESERVE/H", &|o| o.reserve.to_string()),
            (">BUY/H", &|o| or_dash(o.buy)),
            ("-SOLD BY", &|o| o.mechanism.name().to_owned()),
            ("STATE", &|o| state(o).to_owned()),
        ],
    )
}

fn state(offer: &Offer) -> &'static str {
    match (offer.withdrawn, offer.on_sale) {
        _ if offer.held_back => "held back",
        (true, _) => "withdrawn",
        (false, true) => "open",
        (false, false) => "opens next round",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::ids::{AccountId, OfferId};

    #[test]
    fn the_list_tells_what_is_for_sale() {
        let offer = |on_sale, withdrawn| Offer {
            offer: OfferId([3; 32]),
            label: 7,
            account: AccountId([4; 32]),
            name: Some("alpha".to_owned()),
            own: true,
            class: "small".to_owned(),
            units: 2,
            leased: 0,
            reserve: Credits::ZERO,
            buy: None,
            notice_seconds: None,
            mechanism: Primary::Ausubel,
            on_sale,
            withdrawn,
            held_back: false,
        };
        for (on_sale, withdrawn, state) in [
            (false, false, "opens next round"),
            (true, false, "open"),
            (true, true, "withdrawn"),
            (false, true, "withdrawn"),
        ] {
            let shown = table(&[offer(on_sale, withdrawn)]);
            assert!(shown.trim_end().ends_with(state), "{shown}");
        }
        let ours = table(&[offer(true, false)]);
        assert!(
            ours.lines()
                .nth(1)
                .unwrap()
                .starts_with("03030303  this node"),
            "{ours}"
        );
        let other = Offer {
            own: false,
            ..offer(true, false)
        };
        assert!(table(std::slice::from_ref(&other)).contains("  alpha "));
        let invited = Offer {
            name: None,
            ..other
        };
        assert!(table(&[invited]).contains("  04040404 "));
        let held = Offer {
            held_back: true,
            ..offer(true, true)
        };
        assert!(table(&[held]).trim_end().ends_with("held back"));
    }
}
