//! Nodes: those that are connected, and those that sell.

use super::super::look::{Mark, Row, Sheet};
use super::{millis, short};
use crate::api::types::{FoundNode, FoundOffer, Path, PeerLine};
use crate::cli::text::or_dash;
use gridbay_protocol::keys::PublicKey;
use std::collections::{BTreeMap, BTreeSet};

/// A row for each peer, and for each seller that is known without being connected.
pub(in crate::top) fn nodes(peers: &[PeerLine], found: &[FoundNode]) -> Sheet {
    let sellers: BTreeMap<PublicKey, &FoundNode> = found.iter().map(|f| (f.node, f)).collect();
    let connected: BTreeSet<PublicKey> = peers.iter().filter_map(|peer| peer.node).collect();
    let seller = |peer: &PeerLine| peer.node.and_then(|node| sellers.get(&node).copied());
    let near = peers.iter().map(|peer| near(peer, seller(peer)));
    let far = found.iter().filter(|f| !connected.contains(&f.node));
    Sheet {
        name: "Nodes",
        headings: &[
            "NODE", "NAME", "PATH", ">RTT", ">SCORE", "SELLS", ">FREE", ">FROM/H",
        ],
        none: "no peer is connected, and no seller is known",
        rows: near.chain(far.map(self::far)).collect(),
    }
}

fn near(peer: &PeerLine, seller: Option<&FoundNode>) -> Row {
    let key = peer.node.map(|node| node.to_hex());
    let start = vec![
        short(key.as_deref().unwrap_or(&peer.peer)),
        or_dash(peer.name.as_deref()),
        peer.path.name().to_owned(),
        or_dash(peer.rtt_us.map(millis)),
        peer.score.to_string(),
    ];
    let mark = match (peer.score < 0, peer.path) {
        (true, _) => Mark::Bad,
        (false, Path::Relayed) => Mark::Waiting,
        (false, _) => Mark::Good,
    };
    let row = Row::new(&peer.peer, start.into_iter().chain(sells(seller)));
    let row = row
        .marked(mark)
        .with("key", or_dash(key))
        .with("peer", &peer.peer)
        .with("address", &peer.address);
    let row = match &peer.via {
        Some(relay) => row.with("relay", relay),
        None => row,
    };
    offers(row, seller)
}

fn far(seller: &FoundNode) -> Row {
    let key = seller.node.to_hex();
    let start = vec![
        short(&key),
        "-".to_owned(),
        "not connected".to_owned(),
        or_dash(seller.rtt_us.map(millis)),
        "-".to_owned(),
    ];
    let row = Row::new(&key, start.into_iter().chain(sells(Some(seller)))).with("key", &key);
    offers(row, Some(seller))
}

/// Classes, free units, and the lowest price of a seller.
fn sells(seller: Option<&FoundNode>) -> [String; 3] {
    let offers: &[FoundOffer] = seller.map_or(&[], |seller| &seller.offers);
    if offers.is_empty() {
        return ["-", "-", "-"].map(str::to_owned);
    }
    let classes: BTreeSet<&str> = offers.iter().map(|offer| offer.class.as_str()).collect();
    let classes: Vec<&str> = classes.into_iter().collect();
    let free: u64 = offers.iter().map(|offer| u64::from(offer.free)).sum();
    [
        classes.join(" "),
        free.to_string(),
        or_dash(offers.iter().map(|offer| offer.price).min()),
    ]
}

fn offers(row: Row, seller: Option<&FoundNode>) -> Row {
    let Some(seller) = seller else {
        return row;
    };
    let row = seller.offers.iter().fold(row, |row, offer| {
        let FoundOffer {
            class, free, price, ..
        } = offer;
        let text = format!("{free} free x {class} from {price}, by {}", offer.mechanism);
        row.with("offer", text)
    });
    let said = seller.attributes.iter();
    said.fold(row, |row, (name, value)| {
        row.with("says", format!("{name} = {value}"))
    })
}
