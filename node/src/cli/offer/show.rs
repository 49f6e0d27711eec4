//! `offer show`: one offer, with all that the list leaves out.

use super::state;
use crate::api::client::Client;
use crate::api::types::Offer;
use crate::cli::context::Context;
use crate::cli::error::{CliError, During as _};
use crate::cli::exit::Exit;
use crate::cli::text::{fields, or_dash};
use clap::Args;

const WHAT: &str = "no such offer";

/// Show everything about an offer
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct ShowArgs {
    /// Its id or how that begins; of this node's own the label too
    offer: String,
}

impl ShowArgs {
    pub(in crate::cli) async fn run(self, at: &Context, client: &Client) -> Result<(), CliError> {
        let all: Vec<Offer> = client.get("/offers").await.during(WHAT)?;
        at.tell(&meant(all, &self.offer)?, text)
    }
}

/// The offer that a word means. A label is a number, and so may be how an id begins: an own offer
/// of that label comes first.
fn meant(all: Vec<Offer>, word: &str) -> Result<Offer, CliError> {
    let label = |offer: &&Offer| offer.own && offer.label.to_string() == word;
    if let Some(own) = all.iter().find(label) {
        return Ok(own.clone());
    }
    let begins = |offer: &Offer| !word.is_empty() && offer.offer.to_hex().starts_with(word);
    let mut found = all.into_iter().filter(begins);
    match (found.next(), found.next()) {
        (Some(only), None) => Ok(only),
        (Some(_), Some(_)) => {
            let why = format!("several offers begin with {word}");
            Err(CliError::new(
                Exit::USAGE,
                WHAT,
                why,
                "name more digits of its id",
            ))
        }
        (None, _) => {
            let why = format!("no offer begins with {word}, and none of this node has that label");
            Err(CliError::new(
                Exit::NOT_FOUND,
                WHAT,
                why,
                "see gridbay offer list",
            ))
        }
    }
}

fn text(offer: &Offer) -> String {
    let seller = match &offer.name {
        Some(name) => format!("{name} {}", offer.account.to_hex()),
        None => offer.account.to_hex(),
    };
    let notice = match offer.notice_seconds {
        Some(seconds) => format!("{seconds} s before units are taken back"),
        None => "units are never taken back".to_owned(),
    };
    fields(&[
        ("offer", offer.offer.to_hex()),
        ("label", offer.label.to_string()),
        ("seller", seller),
        ("own", if offer.own { "yes" } else { "no" }.to_owned()),
        ("class", offer.class.clone()),
        ("units", format!("{}, {} leased", offer.units, offer.leased)),
        ("reserve", format!("{} per node-hour", offer.reserve)),
        ("buy", or_dash(offer.buy)),
        ("notice", notice),
        ("sold by", offer.mechanism.name().to_owned()),
        ("state", state(offer).to_owned()),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn offer(digits: &str, label: u32, own: bool) -> Offer {
        serde_json::from_value(json!({
            "offer": digits.repeat(32), "label": label, "account": "11".repeat(32), "own": own,
            "name": "alpha", "class": "small", "units": 4, "leased": 1, "reserve": "1.5",
            "buy": null, "notice_seconds": 30, "mechanism": "ausubel", "on_sale": true,
            "withdrawn": false, "held_back": false,
        }))
        .unwrap()
    }

    #[test]
    fn an_offer_is_named_by_its_id_or_the_own_label() {
        let all = || {
            vec![
                offer("2a", 2, false),
                offer("2b", 0, true),
                offer("3c", 1, false),
            ]
        };
        let found = |word: &str| meant(all(), word).map(|offer| offer.offer.to_hex());
        assert_eq!(found("2a").unwrap(), "2a".repeat(32));
        assert_eq!(found("0").unwrap(), "2b".repeat(32), "the own label");
        assert_eq!(found("3").unwrap(), "3c".repeat(32));
        assert_eq!(
            found("2").unwrap_err().exit,
            Exit::USAGE,
            "a label of another seller"
        );
        for none in ["", "4", "1"] {
            assert_eq!(found(none).unwrap_err().exit, Exit::NOT_FOUND, "{none}");
        }
        let shown = text(&offer("2a", 2, false));
        assert!(
            shown.contains("30 s before units are taken back"),
            "{shown}"
        );
        assert!(shown.contains("state    open"), "{shown}");
    }
}
