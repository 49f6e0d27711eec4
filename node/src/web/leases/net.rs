//! The private network of a lease: how its members reach one another.

use super::clusters::more;
use crate::api::types::{LeaseNet, NetMember, NetPair};
use crate::api::{Answer, ErrorCode};
use crate::cli::{network_stands, rank_word};
use crate::web::failure::block;
use crate::web::figures::{NONE, bytes, count, money, short};
use crate::web::parts::{self, Tone, column, empty, pill};
use maud::{Markup, html};

/// Pairs, relays and reasons shown at the most.
const PAIRS: usize = 100;
const RELAYS: usize = 16;
const REASONS: usize = 16;

/// The network, or why there is none.
pub(super) fn shown(net: &Answer<LeaseNet>) -> Markup {
    match net {
        Ok(net) => html! { (pairs(net)) (about(net)) },
        Err(error) if error.code == ErrorCode::NotFound => {
            let text = "The job did not ask for one, or this node is no part of it. A job with \
                        --network has one, and every cluster:";
            let command = "gridbay cluster new --nodes 2 --time 10m";
            empty("No network", text, Some(("cli-none", command)))
        }
        Err(error) => html! { div.panel-body { (block(error)) } },
    }
}

fn pairs(net: &LeaseNet) -> Markup {
    let members = net.members.iter();
    let all: Vec<(&NetMember, &NetPair)> = members
        .flat_map(|member| member.pairs.iter().map(move |pair| (member, pair)))
        .collect();
    if all.is_empty() {
        let text = "Members tell of their ways every ten seconds, once they have begun. The node \
                    that bought the lease knows all of them, one that serves it its own.";
        return empty("No way is known yet", text, None);
    }
    let rows = html! {
        @for (member, pair) in all.iter().take(PAIRS) { (row(member, pair)) }
    };
    let columns = [
        column("From", ""),
        column("To", ""),
        column("Path", ""),
        column("RTT, ms", "num"),
        column("Mbit/s", "num"),
        column("Sent", "num opt"),
        column("Received", "num opt"),
        column("Loss, %", "num opt2"),
        column("MTU", "num opt2"),
        column("Handshake, s", "num opt2"),
    ];
    html! {
        (parts::table("Ways between members", &columns, rows))
        (more(all.len(), PAIRS, "ways"))
    }
}

fn row(member: &NetMember, pair: &NetPair) -> Markup {
    let from = member.ranks.first();
    let from = from.map_or(NONE.to_owned(), |rank| rank_word(*rank));
    html! {
        tr {
            th scope="row" { (from) }
            td { (rank_word(pair.rank)) }
            td {
                (path(pair.path.as_deref()))
                @if let Some(relay) = &pair.relay { span.sub { span.id { (relay) } } }
            }
            td.num { (figure(pair.round_trip_ms, 2)) }
            td.num { (figure(pair.sent_mbit, 1)) }
            td.num.opt { (bytes(pair.sent)) }
            td.num.opt { (bytes(pair.received)) }
            td.num.opt2 { (figure(pair.loss_percent, 1)) }
            td.num.opt2 { (pair.mtu.map_or(NONE.to_owned(), count)) }
            td.num.opt2 { (pair.handshake_seconds.map_or(NONE.to_owned(), count)) }
        }
    }
}

/// A way; datagrams that go straight are better than those by others.
fn path(path: Option<&str>) -> Markup {
    match path {
        None => pill(Tone::Warn, "none yet"),
        Some(word @ ("lan" | "direct" | "punched")) => pill(Tone::Ok, word),
        Some(word) => pill(Tone::Live, &short(word, 16)),
    }
}

fn figure(value: Option<f64>, decimals: usize) -> String {
    value.map_or(NONE.to_owned(), |value| format!("{value:.decimals$}"))
}

/// When it was complete, who relays, and what was refused.
fn about(net: &LeaseNet) -> Markup {
    if net.setup.is_none() && net.relays.is_empty() && net.refused.is_empty() {
        return html! {};
    }
    html! {
        div.panel-body {
            dl.kv.left {
                @if let Some(setup) = &net.setup {
                    dt { "Complete" } dd { (network_stands(setup)) }
                }
                @for relay in net.relays.iter().take(RELAYS) {
                    dt { "Relay " span.id { (relay.node) } }
                    dd {
                        (if relay.carries { "carries" } else { "does not carry" })
                        " for " (count(relay.pairs)) " pairs, " (bytes(relay.bytes)) " so far"
                        @if let Some(paid) = relay.paid {
                            ", " (money(paid)) " credits for this slot"
                        } @else { ", for nothing" }
                    }
                }
                @for (reason, times) in net.refused.iter().take(REASONS) {
                    dt { "Refused here" } dd { (count(*times)) " × " (short(reason, 80)) }
                }
            }
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::api::ApiError;
    use crate::web::command::tests::exist;
    use crate::web::samples::HOSTILE;
    use serde_json::json;

    /// A network of two members with so many pairs each.
    pub(in crate::web) fn net(pairs: u32) -> LeaseNet {
        let key = gridbay_protocol::keys::SecretKey::from_seed(&[7; 32]).public();
        let paths = [Some("direct"), Some("relay"), Some(HOSTILE), None];
        let pair = |n: u32| {
            json!({
                "rank": n, "relay": (n == 1).then(|| key.to_hex()),
                "path": paths[n as usize % 4],
                "round_trip_ms": 1.234, "sent_mbit": 93.75, "sent": 2_048, "received": 1_024,
                "loss_percent": 0.5, "mtu": 1_420, "handshake_seconds": 9,
            })
        };
        let member = json!({
            "node": key.to_hex(), "ranks": [0],
            "pairs": (0..pairs).map(pair).collect::<Vec<_>>(),
        });
        let relay = json!({
            "node": key.to_hex(), "carries": true, "job": null, "paid": null, "pairs": 1,
            "bytes": 9_000,
        });
        serde_json::from_value(json!({
            "lease": "ab".repeat(32), "members": [member, member],
            "setup": {"members": 2, "ms": 530}, "relays": vec![relay; 20],
            "refused": {HOSTILE: 3},
        }))
        .unwrap()
    }

    #[test]
    fn ways_are_text_and_have_an_end() {
        let page = shown(&Ok(net(60))).into_string();
        assert!(!page.contains("<script>alert") && page.contains("&lt;script&gt;alert"));
        for told in [
            "20 more ways",
            "rank0",
            "1.23",
            "93.8",
            "none yet",
            "0.53 s",
        ] {
            assert!(page.contains(told), "{told}");
        }
        assert_eq!(page.matches("carries for").count(), RELAYS);
    }

    #[test]
    fn no_network_and_no_way_say_why() {
        let none = ApiError::new(ErrorCode::NotFound, "none", "");
        let page = shown(&Err(none)).into_string();
        assert!(page.contains("did not ask for one"), "{page}");
        assert_eq!(exist(&page), 1);
        let late = ApiError::new(ErrorCode::Busy, "late <i>", "wait");
        assert!(shown(&Err(late)).into_string().contains("Late &lt;i&gt;"));
        assert!(
            shown(&Ok(net(0)))
                .into_string()
                .contains("every ten seconds")
        );
    }
}
