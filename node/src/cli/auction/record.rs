//! `gridbay auction show`: one record as a table, one function a kind.

use crate::api::types::{AuctionProof, AuctionRecord};
use crate::cli::text::{self, or_dash};
use crate::ui::Table;
use gridbay_protocol::record::ausubel::ClearingRecord;
use gridbay_protocol::record::buy::BuyRecord;
use gridbay_protocol::record::posted::PostedRecord;
use gridbay_protocol::record::reservation::ReservationRecord;
use gridbay_protocol::record::share::Sharing;
use gridbay_protocol::units::Price;

pub(super) fn table(proof: &AuctionProof) -> String {
    let class = &proof.class;
    match &proof.record {
        AuctionRecord::Clearing(record) => clearing(record, class),
        AuctionRecord::Buy(record) => buy(record, class),
        AuctionRecord::Sharing(record) => sharing(record, class),
        AuctionRecord::Reservation(record) => reservation(record, class),
        AuctionRecord::Posted(record) => posted(record, class),
    }
}

fn clearing(record: &ClearingRecord, class: &str) -> String {
    let mut bids = Table::new(&["ORDER", ">UNITS", ">MIN", ">VALUE/SLOT", ">WON", ">PAYS"]);
    for bid in &record.bids {
        let award = record.awards.iter().find(|a| a.order == bid.order);
        let top = bid.steps.first().map_or(Price(0), |s| s.price);
        bids.row([
            bid.order.to_string(),
            bid.steps
                .iter()
                .map(|s| u64::from(s.units))
                .sum::<u64>()
                .to_string(),
            bid.min.to_string(),
            or_dash(top.times(1)),
            award.map_or(0, |a| a.units).to_string(),
            or_dash(award.map(|a| a.pay)),
        ]);
    }
    let mut offers = Table::new(&["OFFER", ">UNITS", ">RESERVE/SLOT", ">SOLD", ">EARNS"]);
    for offer in &record.offers {
        let sold = record.sold.iter().find(|s| s.offer == offer.offer);
        offers.row([
            offer.offer.to_string(),
            offer.units.to_string(),
            or_dash(offer.reserve.times(1)),
            sold.map_or(0, |s| s.units).to_string(),
            or_dash(sold.map(|s| s.earns)),
        ]);
    }
    let (height, slot) = (record.height, record.slot);
    format!(
        "class {} height {height} slot {slot} heights sold {} rule {} switch cost {}\n\n{}\n{}",
        class,
        record.heights,
        record.policy.rule.name(),
        or_dash(record.policy.switch_cost.times(1)),
        bids.render(),
        offers.render()
    )
}

fn buy(record: &BuyRecord, class: &str) -> String {
    let fields = text::fields(&[
        ("order", record.order.to_hex()),
        ("class", class.to_owned()),
        ("height", record.height.to_string()),
        ("units", record.units().to_string()),
        ("price per slot", record.price.to_string()),
        ("full slots", record.slots.to_string()),
        ("buys evicted", record.evicted().count().to_string()),
    ]);
    let mut parts = Table::new(&[
        "CLASS",
        ">UNITS",
        ">PRICE/SLOT",
        ">DISPLACED",
        ">THEIR VALUE",
    ]);
    // The names come in the order of the parts, and hold no spaces.
    for (name, part) in class.split(" + ").zip(&record.parts) {
        parts.row([
            name.to_owned(),
            part.units().to_string(),
            part.price.to_string(),
            part.displaced.len().to_string(),
            part.displaced_value.to_string(),
        ]);
    }
    format!("{fields}\n{}", parts.render())
}

fn sharing(record: &Sharing, class: &str) -> String {
    let mut claims = Table::new(&["ORDER", ">RATE/SLOT", ">TASKS", ">NODES", ">PAYS"]);
    for claim in &record.claims {
        let award = record.awards.iter().find(|a| a.order == claim.order);
        claims.row([
            claim.order.to_string(),
            claim.rate.to_string(),
            claim.tasks.to_string(),
            award.map_or(0, |a| a.portion.units).to_string(),
            or_dash(award.map(|a| a.pay)),
        ]);
    }
    let (height, slot) = (record.height, record.slot);
    format!(
        "class {} height {height} slot {slot} pool {} of {} nodes\n\n{}",
        class,
        record.offer,
        record.units,
        claims.render()
    )
}

fn reservation(record: &ReservationRecord, class: &str) -> String {
    let mut bids = Table::new(&[
        "ORDER", ">NODES", ">SLOTS", ">FROM", ">UNTIL", ">BID", ">STARTS", ">PAYS",
    ]);
    for bid in &record.bids {
        let won = record.booked.iter().find(|b| b.order == bid.order);
        let nodes: u64 = bid.groups.iter().map(|g| u64::from(g.units)).sum();
        bids.row([
            bid.order.to_string(),
            nodes.to_string(),
            bid.slots.to_string(),
            bid.earliest.to_string(),
            bid.latest.to_string(),
            bid.value.to_string(),
            or_dash(won.map(|b| b.start)),
            or_dash(won.map(|b| b.pay)),
        ]);
    }
    let (height, slot) = (record.height, record.slot);
    let units: u64 = record.units.iter().map(|s| u64::from(s.units)).sum();
    let found = match record.beaten {
        None => String::new(),
        Some(worth) => format!(", by a hint: the rule finds {worth}"),
    };
    format!(
        "class {class} height {height} slots from {slot} nodes {units} least {} a node-slot{found}\n\n{}",
        or_dash(record.posted.times(1)),
        bids.render()
    )
}

fn posted(record: &PostedRecord, class: &str) -> String {
    let mut hires = Table::new(&["ORDER", ">UNITS", ">LIMIT/SLOT", ">GOT", ">PAYS/SLOT"]);
    for bid in &record.bids {
        let hired = record.served.iter().find(|h| h.order == bid.order);
        hires.row([
            bid.order.to_string(),
            bid.units.to_string(),
            or_dash(bid.limit.times(1)),
            hired.map_or(0, |_| bid.units).to_string(),
            or_dash(hired.map(|h| h.price)),
        ]);
    }
    let mut offers = Table::new(&["OFFER", ">UNITS", ">PRICE/SLOT", ">SOLD"]);
    let taken = || record.served.iter().flat_map(|hired| &hired.taken);
    for offer in &record.offers {
        let sold = taken().filter(|t| t.offer == offer.offer);
        offers.row([
            offer.offer.to_string(),
            offer.units.to_string(),
            or_dash(offer.reserve.times(1)),
            sold.map(|t| u64::from(t.units)).sum::<u64>().to_string(),
        ]);
    }
    let beyond = match record.left_out {
        0 => String::new(),
        units => format!("\n{units} more units were for hire, beyond what the orders could take\n"),
    };
    format!(
        "class {class} height {}, in the order in which they came\n\n{}\n{}{}",
        record.height,
        hires.render(),
        offers.render(),
        beyond
    )
}
