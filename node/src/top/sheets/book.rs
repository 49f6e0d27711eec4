//! The book: what is offered, what this node bids, and how many others wait.

use super::super::look::{Mark, Row, Sheet};
use super::short;
use crate::api::types::{ClassPrice, Offer, StandingBid};

/// Rows of all three kinds, class by class as the prices name them.
pub(in crate::top) fn book(
    classes: &[ClassPrice],
    offers: &[Offer],
    bids: &[StandingBid],
) -> Sheet {
    let mut rows = Vec::new();
    for class in classes {
        let name = &class.class;
        rows.extend(offers.iter().filter(|o| o.class == *name).map(offer));
        rows.extend(bids.iter().filter(|bid| bid.class == *name).map(self::bid));
        rows.extend(waiting(class));
    }
    Sheet {
        name: "Book",
        headings: &[
            "SIDE", "CLASS", ">UNITS", ">FREE", ">PRICE/H", "STATE", "WHOSE",
        ],
        none: "nothing is offered, and nobody bids",
        rows,
    }
}

fn offer(offer: &Offer) -> Row {
    let state = match offer {
        Offer {
            held_back: true, ..
        } => "held back",
        Offer {
            withdrawn: true, ..
        } => "withdrawn",
        Offer { on_sale: false, .. } => "from the next round on",
        _ => "for sale",
    };
    let mark = match state {
        "for sale" => Mark::Good,
        _ => Mark::Waiting,
    };
    let account = offer.account.to_hex();
    let whose = if offer.own {
        "own".to_owned()
    } else {
        short(&account)
    };
    let cells = [
        "sell".to_owned(),
        offer.class.clone(),
        offer.units.to_string(),
        offer.units.saturating_sub(offer.leased).to_string(),
        offer.reserve.to_string(),
        state.to_owned(),
        whose,
    ];
    let row = Row::new(offer.offer.to_hex(), cells)
        .marked(mark)
        .with("offer", offer.offer.to_hex())
        .with("account", account)
        .with("label", offer.label)
        .with("mechanism", offer.mechanism.name());
    let row = match offer.buy {
        Some(buy) => row.with("buy now", format!("{buy} per node-hour")),
        None => row,
    };
    match offer.notice_seconds {
        Some(seconds) => row.with("taken back", format!("with a notice of {seconds} s")),
        None => row.with("taken back", "never"),
    }
}

fn bid(bid: &StandingBid) -> Row {
    let cells = [
        "bid".to_owned(),
        bid.class.clone(),
        bid.nodes.to_string(),
        "-".to_owned(),
        bid.max_price.to_string(),
        bid.state.name().to_owned(),
        format!("own: {}", bid.name),
    ];
    let row = Row::new(bid.id.as_str(), cells)
        .marked(Mark::Waiting)
        .with("job", &bid.id)
        .with(
            "budget",
            format!("{}, of which {} are paid", bid.budget, bid.paid),
        );
    match bid.amended {
        Some(price) => row.with("amended to", format!("{price} per node-hour")),
        None => row,
    }
}

/// Orders of a class that stand, of whomever; none if there are none.
fn waiting(class: &ClassPrice) -> Option<Row> {
    let cells = [
        "wait".to_owned(),
        class.class.clone(),
        "-".to_owned(),
        "-".to_owned(),
        "-".to_owned(),
        format!("{} orders stand", class.waiting),
        "all".to_owned(),
    ];
    let row = Row::new(format!("wait {}", class.class), cells);
    (class.waiting > 0).then(|| row.marked(Mark::Waiting))
}
