//! `offer set --dry-run`: the offer as it would be set, and whether it can sell.

use crate::api::client::Client;
use crate::api::types::{ClassPrice, OfferRequest};
use crate::cli::context::Context;
use crate::cli::dry::Would;
use crate::cli::error::{CliError, During as _};
use crate::cli::exit::Exit;

const WHAT: &str = "nothing is known of the market";

/// Looks at the class of an offer, and tells what would come of it.
pub(super) async fn tell(
    at: &Context,
    client: &Client,
    request: OfferRequest,
) -> Result<Exit, CliError> {
    let classes: Vec<ClassPrice> = client.get("/prices").await.during(WHAT)?;
    let class = classes.iter().find(|class| class.class == request.class);
    let (works, why, next) = outlook(&request, class);
    let what = format!(
        "an offer of {} x {} from {} per node-hour",
        request.units, request.class, request.reserve
    );
    let would = Would {
        sends: request,
        costs: None,
        holds: None,
        works,
        why,
        next: next.to_owned(),
    };
    would.tell(at, &what)
}

fn outlook(request: &OfferRequest, class: Option<&ClassPrice>) -> (bool, String, &'static str) {
    let (name, reserve) = (&request.class, request.reserve);
    let Some(class) = class else {
        let why = format!("this network has no class {name}");
        return (false, why, "see the classes: gridbay market prices");
    };
    let waiting = match class.waiting {
        0 => "no order stands".to_owned(),
        1 => "1 order stands".to_owned(),
        n => format!("{n} orders stand"),
    };
    match class.last {
        Some(last) if reserve > last => {
            let why = format!("the last clearing paid {last} per node-hour, less than {reserve}");
            (
                false,
                why,
                "lower --reserve, or wait for buyers who pay more",
            )
        }
        Some(last) => {
            let why = format!("the last clearing paid {last} per node-hour; {waiting}");
            (true, why, "")
        }
        None => {
            let why = format!("nothing was sold in this class yet; {waiting}");
            (true, why, "")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::offer::Primary;
    use serde_json::json;

    #[test]
    fn an_offer_above_the_last_price_does_not_sell_now() {
        let request = |reserve: &str| OfferRequest {
            label: None,
            class: "small".to_owned(),
            units: 2,
            reserve: reserve.parse().unwrap(),
            buy: None,
            notice_seconds: None,
            mechanism: Primary::Ausubel,
        };
        let class = |last: Option<&str>| -> ClassPrice {
            let class = json!({
                "class": "small", "id": "0a".repeat(32), "vcpu": 1, "memory_mib": 1, "disk_mib": 1,
                "gpu": 0, "units_offered": 0, "units_leased": 0, "reserve": null, "buy": null,
                "last": last, "last_height": null, "waiting": 1,
            });
            serde_json::from_value(class).unwrap()
        };
        let told = |reserve: &str, last| outlook(&request(reserve), Some(&class(last)));
        let (works, why, _) = told("0.5", Some("1"));
        assert!(
            works && why.contains("paid 1 per node-hour; 1 order stands"),
            "{why}"
        );
        let (works, why, next) = told("2", Some("1"));
        assert!(!works && why.contains("less than 2") && next.contains("--reserve"));
        assert!(told("2", None).0);
        assert!(!outlook(&request("2"), None).0);
    }
}
