//! How this node is reached, and the peers that it is connected with.

use super::failure::Shown;
use super::figures::{NONE, count, short};
use super::parts::{Fragment, Panel, cli, column, empty, live, row_of_stats, stat, table};
use super::rings::rings;
use super::session::Who;
use super::shell::{Frame, Page};
use crate::api::Answer;
use crate::api::types::{Ourselves, PeerLine, PeerList};
use crate::backend::{Node, NodeBackend};
use crate::cli::{nat_word, reach_word, router_word};
use axum::Extension;
use axum::extract::State;
use axum::response::Html;
use maud::{Markup, html};

/// Peers, and addresses of a kind, shown at the most.
const PEERS: usize = 100;
const ADDRESSES: usize = 8;

/// What the page shows.
pub(super) struct Network(PeerList);

/// The handler.
pub(super) async fn show(State(node): State<Node>, Extension(who): Extension<Who>) -> Shown {
    let (frame, page) = (Frame::of(&node).await?, Network::of(&node).await?);
    Ok(Html(page.render(&frame, &who).into_string()))
}

impl Network {
    /// As things stand; the nearest peers first.
    pub(super) async fn of(node: &NodeBackend) -> Answer<Network> {
        let mut list = node.peers().await?;
        list.peers
            .sort_by_key(|peer| peer.rtt_us.unwrap_or(u64::MAX));
        Ok(Network(list))
    }

    /// The places that change.
    pub(super) fn fragments(&self) -> Vec<Fragment> {
        vec![
            ("stats", stats(&self.0)),
            ("map", rings(&self.0.peers)),
            ("me", ourselves(&self.0.me)),
            ("peers", peers(&self.0.peers)),
        ]
    }

    fn render(&self, frame: &Frame, who: &Who) -> Markup {
        let me = Panel {
            id: "us",
            title: "How this node is reached",
            body: html! {
                div.panel-body id="me" data-live="replace" { (ourselves(&self.0.me)) }
            },
            foot: Some(cli("cli-doctor", "gridbay doctor")),
            ..Panel::default()
        };
        let map = Panel {
            id: "near",
            title: "Map",
            meta: Some(html! {
                "This node in the middle, peers by their round trip; directions say nothing."
            }),
            body: html! { div.panel-body { (live("map", &rings(&self.0.peers))) } },
            ..Panel::default()
        };
        let peers = Panel {
            id: "them",
            title: "Peers",
            meta: Some(html! {
                "Connected now, the nearest first. Via is the relay in between."
            }),
            body: html! {
                div id="peers" data-live="replace" { (peers(&self.0.peers)) }
            },
            ..Panel::default()
        };
        let page = Page {
            here: "Network",
            title: "Network",
            lede: "How others reach this node, and on which ways it reaches them.",
            actions: html! {},
            command: "gridbay peer list",
            events: "/events?page=network",
            body: html! {
                (row_of_stats(stats(&self.0)))
                div.cols.two { (map) (me) }
                (peers)
            },
        };
        page.render(frame, who)
    }
}

fn stats(list: &PeerList) -> Markup {
    let me = &list.me;
    let known: Vec<u64> = list.peers.iter().filter_map(|peer| peer.rtt_us).collect();
    let middle = known.get(known.len() / 2).copied();
    let nearest = known.first().copied();
    let nearest = nearest.map_or(String::new(), |us| format!("nearest {}", ms(Some(us))));
    html! {
        (stat("Reach", me.reach.name(), "", after(reach_word(me.reach))))
        (stat("NAT", me.nat.name(), "", after(nat_word(me.nat))))
        (stat("Direct", &count(me.direct), if me.direct == 1 { "peer" } else { "peers" },
            &format!("{} through relays", count(me.relayed))))
        (stat("Round trip", &ms(middle), "ms, median", &nearest))
        (stat("Relayed here", &count(me.circuits), "circuits",
            &format!("places for {} nodes", count(me.places_given))))
    }
}

/// What stands behind the word itself.
fn after(word: &str) -> &str {
    word.split_once(": ").map_or("", |(_, more)| more)
}

fn ourselves(me: &Ourselves) -> Markup {
    let lists = [
        ("Reached at", &me.external),
        ("Declared, but not reached", &me.refuted),
        ("Relays", &me.relays),
        ("Blocked", &me.blocked),
        ("Trusted", &me.trusted),
    ];
    html! {
        dl.kv.left {
            dt { "Peer id" } dd { code { (short(&me.peer, 80)) } }
            dt { "Transport key" } dd { code { (me.node.to_hex()) } }
            dt { "Router" } dd { (router_word(me.router)) }
            @for (name, list) in lists {
                @if !list.is_empty() {
                    dt { (name) }
                    dd {
                        @for address in list.iter().take(ADDRESSES) {
                            code { (short(address, 120)) } br;
                        }
                        @if list.len() > ADDRESSES {
                            (count((list.len() - ADDRESSES) as u64)) " more"
                        }
                    }
                }
            }
        }
    }
}

fn peers(peers: &[PeerLine]) -> Markup {
    if peers.is_empty() {
        let text = "This command looks for what keeps it from others:";
        return empty("No peers", text, Some(("cli-none", "gridbay doctor")));
    }
    let rows = html! {
        @for peer in peers.iter().take(PEERS) { (row(peer)) }
    };
    let columns = [
        column("Peer", ""),
        column("Path", ""),
        column("Via", "opt2"),
        column("Address", "opt2"),
        column("RTT, ms", "num"),
        column("Score", "num opt"),
        column("Marks", "opt"),
    ];
    let more = peers.len().saturating_sub(PEERS);
    html! {
        (table("Connected peers", &columns, rows))
        @if more > 0 { div.panel-body { p.muted { (count(more as u64)) " more peers." } } }
    }
}

fn row(peer: &PeerLine) -> Markup {
    let key = peer
        .node
        .as_ref()
        .map_or_else(|| peer.peer.clone(), |node| node.to_hex());
    let name = peer.name.as_ref().map(|name| short(name, 40));
    // The peer's own id stands in the first column.
    let address = peer.address.split("/p2p/").next().unwrap_or_default();
    let marks = [
        (peer.kept, "kept"),
        (peer.mesh, "mesh"),
        (peer.relays, "relays"),
        (peer.trusted, "trusted"),
    ];
    html! {
        tr {
            th scope="row" {
                @if let Some(name) = name { (name) }
                span.sub { span.id { (key.chars().take(16).collect::<String>()) } }
            }
            td { (peer.path.name()) }
            td.opt2 { span.id { (peer.via.as_ref().map_or(NONE.to_owned(), |via| tail(via))) } }
            td.wrap.opt2 { code { (short(address, 120)) } }
            td.num { (ms(peer.rtt_us)) }
            td.num.opt { (peer.score) }
            td.opt {
                @for (_, word) in marks.iter().filter(|(set, _)| *set) { span.tag { (word) } " " }
            }
        }
    }
}

/// The end of a peer id, by which they differ.
fn tail(peer: &str) -> String {
    let all: Vec<char> = peer.chars().collect();
    short(
        &all[all.len().saturating_sub(12)..]
            .iter()
            .collect::<String>(),
        12,
    )
}

/// A round trip in milliseconds.
fn ms(us: Option<u64>) -> String {
    us.map_or(NONE.to_owned(), |us| {
        format!("{}.{}", count(us / 1_000), us % 1_000 / 100)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::scope::Scope;
    use crate::web::command::tests::exist;
    use crate::web::samples::{self, HOSTILE};
    use serde_json::json;

    fn network(peers: usize) -> Network {
        let key = gridbay_protocol::keys::SecretKey::from_seed(&[7; 32])
            .public()
            .to_hex();
        let peer = json!({
            "peer": HOSTILE, "node": null, "name": HOSTILE, "path": "relayed", "via": HOSTILE,
            "address": HOSTILE, "rtt_us": 12_300, "score": -3, "connections": 1, "kept": true,
            "mesh": true, "relays": false, "trusted": false,
        });
        let all = || vec![HOSTILE; 20];
        let list = serde_json::from_value(json!({
            "me": {
                "peer": HOSTILE, "node": key, "reach": "private", "nat": "cone",
                "external": all(), "refuted": all(), "relays": all(), "router": "off",
                "places_given": 1, "circuits": 2, "direct": 3, "relayed": 1, "blocked": [],
                "trusted": [],
            },
            "peers": vec![peer; peers],
        }));
        Network(list.unwrap())
    }

    #[test]
    fn a_page_of_hostile_words_has_no_markup_of_them_and_an_end() {
        let network = network(500);
        let page = network
            .render(&samples::frame(), &samples::who(Scope::Read))
            .into_string();
        for (id, _) in network.fragments() {
            let place = format!("id=\"{id}\" data-live=\"replace\"");
            assert_eq!(page.matches(&place).count(), 1, "{id}");
        }
        assert!(!page.contains("<script>alert") && page.contains("&lt;script&gt;alert"));
        assert!(
            page.contains("400 more peers") && page.contains("12 more"),
            "no end"
        );
        assert_eq!(exist(&page), 2);
    }

    #[test]
    fn no_peers_say_what_to_do() {
        let page = html! { (peers(&[])) (stats(&network(0).0)) }.into_string();
        assert!(
            page.contains("gridbay doctor") && page.contains("–"),
            "{page}"
        );
    }
}
