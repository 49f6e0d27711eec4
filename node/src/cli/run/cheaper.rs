//! Another class in which a bid that waits would win, as things stand.

use crate::api::client::Client;
use crate::api::types::{ClassPrice, How, JobRecord, JobState, Quote, Want};
use crate::buy::fit::going;
use gridbay_protocol::units::Credits;

/// Looks at the job between two questions to the market.
const EVERY: u32 = 5;
/// Classes asked about at the most, those with the lowest price first.
const CLASSES: usize = 8;

/// Another class.
#[derive(Clone, Debug)]
pub(super) struct Another {
    class: String,
    price: Credits,
}

impl Another {
    /// Of a name, at a price per node-hour.
    pub(super) fn new(class: impl Into<String>, price: Credits) -> Another {
        Another {
            class: class.into(),
            price,
        }
    }
    /// The option that takes it, with its price.
    pub(super) fn whole(&self) -> String {
        format!("{} ({} an hour)", self.short(), self.price)
    }
    /// The option alone.
    pub(super) fn short(&self) -> String {
        format!("--class {}", self.class)
    }
}

/// The last answer, which serves for a while.
#[derive(Debug, Default)]
pub(super) struct Cheaper {
    looks: u32,
    told: Option<Another>,
}

impl Cheaper {
    /// The cheapest one, if the job bids and there is one.
    pub(super) async fn look(&mut self, client: &Client, job: &JobRecord) -> Option<Another> {
        let bids = matches!(job.how, How::Ausubel(_)) && job.worth.is_none();
        let competes = matches!(job.state, JobState::Bidding | JobState::Requeued);
        if !bids || !competes {
            return None;
        }
        if self.looks.is_multiple_of(EVERY) {
            self.told = ask(client, job).await;
        }
        self.looks = self.looks.wrapping_add(1);
        self.told.clone()
    }
}

async fn ask(client: &Client, job: &JobRecord) -> Option<Another> {
    let mut classes: Vec<ClassPrice> = client.get("/prices").await.ok()?;
    classes.retain(|class| class.class != job.class && class.units_offered > 0);
    classes.sort_by_key(|class| class.reserve.unwrap_or(Credits::MAX));
    classes.truncate(CLASSES);
    let mut best: Option<(Credits, String)> = None;
    for class in classes {
        let want = Want {
            class: Some(class.class.clone()),
            nodes: job.nodes,
            max_price: Some(job.max_price),
            seconds: job.seconds,
            budget: Some(job.budget),
            how: job.how.clone(),
        };
        let Ok(quote) = client.post::<Quote>("/quote", &want, None).await else {
            continue;
        };
        let price = would_win(job, &quote);
        if let Some(price) = price.filter(|price| best.as_ref().is_none_or(|b| *price < b.0)) {
            best = Some((price, class.class));
        }
    }
    let (price, class) = best?;
    Some(Another::new(class, price))
}

/// The price of a node-hour for the job there, if there is room and it bids as much. Money that its
/// order has locked serves another one as well.
fn would_win(job: &JobRecord, quote: &Quote) -> Option<Credits> {
    let least = if job.how.is_divisible() { 1 } else { job.nodes };
    let money = quote.spendable.checked_add(job.locked)?;
    let fits = quote.units_free >= least && quote.most <= money;
    let serves = fits && job.how.way().hopeless(quote).is_none();
    let price = going(quote);
    (serves && price <= job.max_price).then_some(price)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn job() -> JobRecord {
        let job = json!({
            "id": "0123456789abcdef", "order": null, "name": "a", "argv": ["a"], "class": "large",
            "nodes": 2, "how": {"mechanism": "ausubel", "divisible": false}, "max_price": "5",
            "seconds": 1800, "budget": "6", "state": "bidding", "reason": "outbid",
            "accepted_ms": 0, "committed_height": null, "opened_height": null, "won_height": null,
            "lease": null, "sellers": [], "running_ms": null, "ended_ms": null, "exits": [],
            "files": [], "paid": "0", "locked": "1", "price": null, "preemptions": 0,
            "worth": null, "left_seconds": null,
        });
        serde_json::from_value(job).unwrap()
    }

    fn quote(asked: &str, likely: Option<&str>, free: u32, spendable: &str) -> Quote {
        let quote = json!({
            "class": "small", "nodes": 2, "seconds": 1800, "slots": 900, "max_price": "5",
            "most": "6", "likely": likely, "posted": null, "needed_now": "1",
            "spendable": spendable, "funded": true, "units_offered": 4, "units_free": free,
            "asked": asked, "too_low": false, "deadline": null,
        });
        serde_json::from_value(quote).unwrap()
    }

    #[test]
    fn a_class_wins_that_has_room_and_costs_no_more_than_is_bid() {
        let price = |quote: &Quote| would_win(&job(), quote).map(|price| price.to_string());
        assert_eq!(price(&quote("4", None, 2, "9")).as_deref(), Some("4"));
        // Two nodes for half an hour: 5 credits are 5 per node-hour.
        assert_eq!(price(&quote("4", Some("5"), 2, "9")).as_deref(), Some("5"));
        assert_eq!(
            price(&quote("4", Some("5.5"), 2, "9")),
            None,
            "others bid more there"
        );
        assert_eq!(price(&quote("4", None, 1, "9")), None, "too few are free");
        assert_eq!(
            price(&quote("4", None, 2, "5")).as_deref(),
            Some("4"),
            "1 is locked"
        );
        assert_eq!(
            price(&quote("4", None, 2, "4.5")),
            None,
            "it cannot be paid"
        );
        let low = Quote {
            too_low: true,
            ..quote("4", None, 2, "9")
        };
        assert_eq!(price(&low), None);
    }
}
