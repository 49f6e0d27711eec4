//! Peers as people read them.

use crate::api::types::{FoundRecord, Ourselves, PeerLine, PeerList};
use crate::cli::text::{self, or_dash};
use crate::overlay::{Nat, Reach, Router};
use crate::ui::{self, Table};
use gridbay_protocol::keys::PublicKey;

/// Digits of a key that tell peers apart.
const SHORT: usize = 12;

/// The node, then the peers.
pub(super) fn list(list: &PeerList) -> String {
    let text = ui::prose(text::fields(&ourselves(&list.me)) + "\n");
    text + &Table::of(
        &list.peers,
        &[
            ("PEER", &|p| short(p.node.as_ref(), &p.peer)),
            ("NAME", &|p| or_dash(p.name.as_deref())),
            ("PATH", &path),
            ("ADDRESS", &|p| p.address.clone()),
            (">RTT", &|p| or_dash(p.rtt_us.map(millis))),
            ("->SCORE", &|p| p.score.to_string()),
            ("->CONN", &|p| p.connections.to_string()),
            ("MARKS", &marks),
        ],
    )
}

fn ourselves(me: &Ourselves) -> Vec<(&'static str, String)> {
    let all = |list: &[String]| {
        if list.is_empty() {
            "none".to_owned()
        } else {
            list.join(" ")
        }
    };
    let peers = me.direct + me.relayed;
    let direct = match peers {
        0 => "no peers".to_owned(),
        _ => format!(
            "{} of {peers} peers ({} %)",
            me.direct,
            u64::from(me.direct) * 100 / u64::from(peers)
        ),
    };
    let mut lines = vec![
        ("node", format!("{} {}", me.node, me.peer)),
        ("reach", reach(me.reach).to_owned()),
        ("nat", nat(me.nat).to_owned()),
        ("router", router(me.router).to_owned()),
        ("external", all(&me.external)),
        ("relays", all(&me.relays)),
        ("direct", direct),
    ];
    if me.places_given > 0 || me.circuits > 0 {
        let (places, circuits) = (me.places_given, me.circuits);
        lines.push((
            "relaying",
            format!("places for {places} nodes, {circuits} circuits"),
        ));
    }
    for (name, list) in [
        ("refuted", &me.refuted),
        ("blocked", &me.blocked),
        ("trusted", &me.trusted),
    ] {
        if !list.is_empty() {
            lines.push((name, list.join(" ")));
        }
    }
    lines
}

/// How this node is reached, in words.
pub(crate) fn reach(reach: Reach) -> &'static str {
    match reach {
        Reach::Local => "local: this machine only",
        Reach::Unknown => "unknown: not found out yet",
        Reach::Public => "public: others can dial this node",
        Reach::Private => "private: through relays, or after a punch",
    }
}

/// The NAT in between, in words.
pub(crate) fn nat(nat: Nat) -> &'static str {
    match nat {
        Nat::Unknown => "unknown",
        Nat::None => "none",
        Nat::Cone => "cone: direct paths can be punched",
        Nat::Symmetric => "symmetric: no direct path to another one of the kind",
    }
}

/// The router's service, in words.
pub(crate) fn router(router: Router) -> &'static str {
    match router {
        Router::Off => "not asked",
        Router::Asked => "asked for ports, no answer yet",
        Router::None => "none that answers UPnP",
        Router::Inner => "behind another NAT itself",
        Router::Forwards => "forwards ports",
        Router::Stopped => "no longer forwards ports",
    }
}

/// A peer and the way to it, in a line.
pub(super) fn way(peer: &PeerLine) -> String {
    let rtt = peer.rtt_us.map(|us| format!(", {}", millis(us)));
    let who = short(peer.node.as_ref(), &peer.peer);
    let name = peer.name.as_ref().map(|name| format!(" ({name})"));
    format!(
        "{who}{} {}, {}{}",
        name.unwrap_or_default(),
        path(peer),
        peer.address,
        rtt.unwrap_or_default()
    )
}

/// A record of the DHT.
pub(super) fn record(found: &FoundRecord) -> String {
    let connected = if found.connected { "yes" } else { "no" };
    let mut lines = vec![
        ("peer", found.peer.clone()),
        ("node", found.node.to_hex()),
        ("name", or_dash(found.name.as_deref())),
        ("connected", connected.to_owned()),
        (
            "signed",
            format!(
                "{} UTC ({} ago)",
                text::time(found.signed_ms),
                text::span(found.age_ms)
            ),
        ),
        ("expires", text::moment(found.expires_ms)),
    ];
    let addresses = found.addresses.iter().cloned();
    lines.extend(addresses.map(|address| ("address", address)));
    text::fields(&lines)
}

fn path(peer: &PeerLine) -> String {
    match &peer.via {
        Some(relay) => format!("via {}", tail(relay)),
        None => peer.path.name().to_owned(),
    }
}

/// The short name of a peer: the beginning of its key, which every command takes.
fn short(node: Option<&PublicKey>, peer: &str) -> String {
    match node {
        Some(node) => node.to_hex()[..SHORT].to_owned(),
        None => tail(peer).to_owned(),
    }
}

/// The end of a peer id: all begin alike.
pub(super) fn tail(peer: &str) -> &str {
    let cut = peer.len().saturating_sub(SHORT);
    peer.get(cut..).unwrap_or(peer)
}

/// Milliseconds with one decimal.
pub(super) fn millis(us: u64) -> String {
    format!("{}.{} ms", us / 1_000, us % 1_000 / 100)
}

fn marks(peer: &PeerLine) -> String {
    let all = [
        (peer.kept, "kept"),
        (peer.mesh, "mesh"),
        (peer.relays, "relays"),
        (peer.trusted, "trusted"),
    ];
    let set = all.into_iter().filter(|(set, _)| *set);
    let set: Vec<&str> = set.map(|(_, name)| name).collect();
    set.join(",")
}
