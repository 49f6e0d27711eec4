//! Prices: supply and demand by class, and how the price went.

use super::super::look::{Mark, Row, Sheet};
use super::super::spark::spark;
use crate::api::types::{AuctionSummary, ClassPrice};
use crate::cli::text::or_dash;

/// Clearings in a line.
const CLEARINGS: usize = 24;

/// A row for each class; `auctions` are the last ones of all classes, newest first.
pub fn prices(classes: &[ClassPrice], auctions: &[AuctionSummary]) -> Sheet {
    Sheet {
        name: "Prices",
        headings: &[
            "CLASS", ">LAST/H", "TREND", ">FROM/H", ">BUY/H", ">FREE", ">LEASED", ">WAITING",
        ],
        none: "this network has no classes",
        rows: classes.iter().map(|class| row(class, auctions)).collect(),
    }
}

fn row(class: &ClassPrice, auctions: &[AuctionSummary]) -> Row {
    let own = auctions.iter().filter(|line| line.class == class.class);
    let sold = own
        .clone()
        .filter_map(|line| line.price.map(|price| (line, price)));
    let last: Vec<_> = sold.take(CLEARINGS).collect();
    let trend: Vec<u64> = last.iter().rev().map(|(_, price)| price.micros()).collect();
    let free = class.units_offered.saturating_sub(class.units_leased);
    let cells = [
        class.class.clone(),
        or_dash(class.last),
        spark(&trend),
        or_dash(class.reserve),
        or_dash(class.buy),
        free.to_string(),
        class.units_leased.to_string(),
        class.waiting.to_string(),
    ];
    let mark = match (class.units_offered, class.waiting) {
        (0, _) => Mark::Bad,
        (_, 0) => Mark::Good,
        _ => Mark::Waiting,
    };
    let row = Row::new(&class.class, cells)
        .marked(mark)
        .with("unit", unit(class))
        .with(
            "cleared",
            or_dash(class.last_height.map(|h| format!("at height {h}"))),
        );
    last.iter().fold(row, |row, (line, price)| {
        let text = format!(
            "{price} at height {}: {} of {} units to {} of {} bids ({})",
            line.height,
            line.sold,
            line.units,
            line.winners,
            line.bids,
            line.kind.name()
        );
        row.with("sold", text)
    })
}

fn unit(class: &ClassPrice) -> String {
    let (vcpu, gpu) = (class.vcpu, class.gpu);
    let (memory, disk) = (class.memory_mib, class.disk_mib);
    format!("{vcpu} vCPU, {gpu} GPU, {memory} MiB of memory, {disk} MiB of disk")
}
