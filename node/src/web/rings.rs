//! Peers on rings around this node, by their round trips: a map of what is near on the network.
//!
//! The distance from the middle is the logarithm of the round trip, so that the next room and
//! another continent fit on one picture. The direction says nothing: it follows from the peer's id,
//! so that a peer stays where it is while others come and go.

use super::figures::{count, short};
use crate::api::types::{Path, PeerLine};
use maud::{Markup, html};
use std::f64::consts::TAU;

/// Half of the picture's side.
const MIDDLE: f64 = 200.0;
/// Distance of the first ring from the middle, and of each from the one within it.
const RING: f64 = 45.0;
/// Round trips of the rings, in milliseconds: each is ten times the one within it.
const RINGS: [u64; 4] = [1, 10, 100, 1_000];
/// Peers drawn, and those with their name beside them, at the most: the nearest ones.
const PEERS: usize = 100;
const NAMED: usize = 8;

/// The picture, of peers that come the nearest first.
pub(super) fn rings(peers: &[PeerLine]) -> Markup {
    let relayed = peers.iter().filter(|peer| peer.path == Path::Relayed);
    let relayed = relayed.count();
    let says = format!(
        "{} peers by their round trips, {} of them through relays; the table has the figures.",
        count(peers.len() as u64),
        count(relayed as u64)
    );
    let drawn = || peers.iter().take(PEERS).enumerate();
    html! {
        div.rings {
            svg viewBox="0 0 400 400" role="img" aria-label=(says) {
                @for (n, ms) in RINGS.iter().enumerate() {
                    @let radius = RING * (n as f64 + 1.0);
                    circle.ring cx="200" cy="200" r=(tenths(radius)) {}
                    text.x x="200" y=(tenths(MIDDLE - radius)) dy="-3" { (count(*ms)) " ms" }
                }
                @for (_, peer) in drawn() { (way(peer)) }
                @for (n, peer) in drawn() { (point(peer, n < NAMED)) }
                circle.here cx="200" cy="200" r="6" {}
            }
        }
        ul.legend {
            li { svg aria-hidden="true" { line.c1 x2="20" y1="6" y2="6" {} } "Direct" }
            li {
                svg aria-hidden="true" { line.c2.dash x2="20" y1="6" y2="6" {} }
                "Through a relay"
            }
            li { "Outside: no round trip is known yet" }
        }
    }
}

/// The line to a peer: broken where a relay is in between.
fn way(peer: &PeerLine) -> Markup {
    let (x, y) = place(peer);
    html! { line class=(class(peer)) x1="200" y1="200" x2=(tenths(x)) y2=(tenths(y)) {} }
}

fn point(peer: &PeerLine, named: bool) -> Markup {
    let (x, y) = place(peer);
    let name = peer.name.as_deref().unwrap_or(&peer.peer);
    let ms = peer.rtt_us.map_or("no round trip known".to_owned(), |us| {
        format!("{}.{} ms", count(us / 1_000), us % 1_000 / 100)
    });
    // Words lie to the side on which there is room.
    let (side, dx) = if x > MIDDLE { ("end", "-8") } else { ("", "8") };
    html! {
        circle class=(class(peer)) cx=(tenths(x)) cy=(tenths(y)) r="4" {
            title { (short(name, 40)) ": " (ms) ", " (peer.path.name()) }
        }
        @if named && peer.name.is_some() {
            text class={ "say " (side) } x=(tenths(x)) y=(tenths(y)) dx=(dx) dy="4" {
                (short(name, 14))
            }
        }
    }
}

fn class(peer: &PeerLine) -> &'static str {
    match peer.path {
        Path::Relayed => "c2 dash",
        Path::Quic | Path::Tcp => "c1",
    }
}

/// Where a peer is drawn.
fn place(peer: &PeerLine) -> (f64, f64) {
    let hash = blake3::hash(peer.peer.as_bytes());
    let [a, b, ..] = hash.as_bytes();
    let turn = f64::from(u16::from_be_bytes([*a, *b])) / 65_536.0 * TAU;
    let radius = radius(peer.rtt_us);
    (MIDDLE + radius * turn.cos(), MIDDLE + radius * turn.sin())
}

/// The distance of a round trip, between the node itself and the edge of the picture.
fn radius(us: Option<u64>) -> f64 {
    let most = RING * (RINGS.len() as f64);
    match us {
        None => most + 10.0,
        // On the first ring for a millisecond, on the next for ten.
        Some(us) => {
            let ms = us.max(1) as f64 / 1_000.0;
            (RING * (1.0 + ms.log10())).clamp(RING / 3.0, most)
        }
    }
}

/// A place as an attribute has it.
fn tenths(place: f64) -> String {
    format!("{place:.1}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::samples::HOSTILE;
    use serde_json::json;

    fn peer(id: &str, path: &str, rtt_us: Option<u64>) -> PeerLine {
        serde_json::from_value(json!({
            "peer": id, "node": null, "name": HOSTILE, "path": path, "via": null,
            "address": "", "rtt_us": rtt_us, "score": 0, "connections": 1, "kept": false,
            "mesh": false, "relays": false, "trusted": false,
        }))
        .unwrap()
    }

    #[test]
    fn a_round_trip_ten_times_as_long_is_one_ring_further() {
        let at = |us| tenths(radius(us));
        assert_eq!(at(Some(1_000)), tenths(RING));
        assert_eq!(at(Some(10_000)), tenths(2.0 * RING));
        assert_eq!(at(Some(100_000)), tenths(3.0 * RING));
        for edge in [Some(0), Some(1), Some(u64::MAX), None] {
            let radius = radius(edge);
            assert!(radius > 6.0 && radius < MIDDLE, "{edge:?}: {radius}");
        }
    }

    #[test]
    fn a_peer_stays_in_its_direction_and_within_the_picture() {
        let (near, far) = (
            peer("a", "quic", Some(1_000)),
            peer("a", "quic", Some(100_000)),
        );
        let ((x, y), (u, v)) = (place(&near), place(&far));
        let cross = (x - MIDDLE) * (v - MIDDLE) - (y - MIDDLE) * (u - MIDDLE);
        assert!(cross.abs() < 1e-6, "{cross}");
        for n in 0..200 {
            let (x, y) = place(&peer(&n.to_string(), "tcp", None));
            assert!((0.0..2.0 * MIDDLE).contains(&x) && (0.0..2.0 * MIDDLE).contains(&y));
        }
    }

    #[test]
    fn relays_show_by_the_stroke_and_names_stay_text() {
        let mut all = vec![peer("r", "relayed", Some(12_300))];
        all.extend((0..300).map(|n| peer(&n.to_string(), "quic", Some(1_000 * n))));
        let picture = rings(&all).into_string();
        assert!(
            !picture.contains("<script") && picture.contains("&lt;script"),
            "{picture}"
        );
        assert!(picture.contains("301 peers") && picture.contains("1 of them through relays"));
        assert_eq!(picture.matches("<title>").count(), PEERS);
        assert_eq!(picture.matches("<line class=\"c2 dash\" x1").count(), 1);
        assert_eq!(picture.matches("class=\"say").count(), NAMED);
        assert!(picture.contains("12.3 ms, relayed"), "{picture}");
        assert!(rings(&[]).into_string().contains("0 peers"));
    }
}
