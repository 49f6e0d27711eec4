//! The results of a world as figures: for people a table, for programs JSON.

use super::Settings;
use super::measure::{Counts, LINK_BYTES, Looked, Spread};
use super::world::World;
use serde::Serialize;
use std::fmt::Write as _;

/// Of a hundred lookups so many must find what they look for.
pub const LEAST_SUCCESS: f64 = 99.0;

/// The figures of one world.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figures {
    /// Nodes that were up at a time.
    pub nodes: usize,
    /// Seed of the world.
    pub seed: u64,
    /// Measured minutes.
    pub minutes: f64,
    /// Lookups measured.
    pub lookups: usize,
    /// Of a hundred, those that found the newest record.
    pub success: f64,
    /// Lookups that found an older record only, and that ended for their time was over.
    pub stale: usize,
    /// The same, late.
    pub late: usize,
    /// Requests, one after the other, up to the peer that had the record.
    pub hops: Spread,
    /// Peers asked, whether reached or not.
    pub messages: Spread,
    /// Until the first record was there, ms.
    pub first_ms: Spread,
    /// Until the lookup ended, ms.
    pub end_ms: Spread,
    /// Connections of a node, minute by minute.
    pub connections: Spread,
    /// Peers in a routing table, at the end.
    pub table: Spread,
    /// Of a thousand peers in all tables, those that are down.
    pub table_down: f64,
    /// Records that a node keeps, at the end.
    pub records: Spread,
    /// Messages of the DHT that a node sends in a second, answers counted.
    pub messages_per_second: f64,
    /// Bytes of them and of handshakes that a node sends and receives in a second, for nodes up at
    /// the end.
    pub bytes_per_second: Spread,
    /// The cost of its connections when idle, bytes a second.
    pub idle_bytes_per_second: f64,
    /// All that was counted.
    pub counts: Counts,
}

impl Figures {
    /// Runs a world and measures it.
    pub fn of(settings: &Settings) -> Figures {
        let mut world = World::new(settings);
        world.run();
        Figures::measured(settings, &world)
    }

    fn measured(settings: &Settings, world: &World) -> Figures {
        let looked = world.looked();
        let seconds = settings.measured.as_secs_f64();
        let number = |is: fn(&Looked) -> bool| looked.iter().filter(|l| is(l)).count();
        let found = || looked.iter().filter(|l| l.found);
        let counts = *world.counts();
        let connections = Spread::of(world.samples().iter().copied());
        let sent = 2 * counts.requests + counts.puts;
        Figures {
            nodes: settings.nodes,
            seed: settings.seed,
            minutes: seconds / 60.0,
            lookups: looked.len(),
            success: 100.0 * number(|l| l.found) as f64 / looked.len().max(1) as f64,
            stale: number(|l| l.stale),
            late: number(|l| l.late),
            hops: Spread::of(found().map(|l| u64::from(l.hops))),
            messages: Spread::of(looked.iter().map(|l| u64::from(l.requests))),
            first_ms: Spread::of(found().map(|l| l.first_ms)),
            end_ms: Spread::of(looked.iter().map(|l| l.end_ms)),
            connections,
            table: Spread::of(world.tables()),
            table_down: world.stale_peers(),
            records: Spread::of(world.stored()),
            messages_per_second: sent as f64 / settings.nodes as f64 / seconds,
            bytes_per_second: Spread::of(world.bytes().map(|b| (b as f64 / seconds) as u64)),
            idle_bytes_per_second: connections.mean * LINK_BYTES as f64,
            counts,
        }
    }

    /// Whether enough lookups found what they looked for.
    pub fn is_well(&self) -> bool {
        self.lookups > 0 && self.success >= LEAST_SUCCESS
    }
}

/// A row of the table: its name, and its figure of a world.
type Row = (&'static str, fn(&Figures) -> f64, usize);

const ROWS: &[Row] = &[
    ("lookups", |f| f.lookups as f64, 0),
    ("found the newest record, %", |f| f.success, 2),
    ("found an older one", |f| f.stale as f64, 0),
    ("late", |f| f.late as f64, 0),
    ("hops, mean", |f| f.hops.mean, 2),
    ("hops, p50", |f| f.hops.p50, 0),
    ("hops, p95", |f| f.hops.p95, 0),
    ("requests a lookup, mean", |f| f.messages.mean, 1),
    ("requests a lookup, p95", |f| f.messages.p95, 0),
    ("first record, p50 ms", |f| f.first_ms.p50, 0),
    ("first record, p95 ms", |f| f.first_ms.p95, 0),
    ("end, p50 ms", |f| f.end_ms.p50, 0),
    ("end, p95 ms", |f| f.end_ms.p95, 0),
    ("connections, mean", |f| f.connections.mean, 1),
    ("connections, p95", |f| f.connections.p95, 0),
    ("connections, most", |f| f.connections.max, 0),
    ("peers in a table, mean", |f| f.table.mean, 1),
    ("of these down, per mille", |f| f.table_down, 1),
    ("records kept, mean", |f| f.records.mean, 1),
    ("messages a second, node", |f| f.messages_per_second, 2),
    (
        "kB a second, node, mean",
        |f| f.bytes_per_second.mean / 1e3,
        2,
    ),
    (
        "kB a second, busiest node",
        |f| f.bytes_per_second.max / 1e3,
        1,
    ),
    (
        "kB a second, idle links",
        |f| f.idle_bytes_per_second / 1e3,
        1,
    ),
    (
        "dials of the dead, node hour",
        |f| per_hour(f, f.counts.dead_dials),
        1,
    ),
    (
        "refused as full, node hour",
        |f| per_hour(f, f.counts.refused),
        1,
    ),
    (
        "given up as full, node hour",
        |f| per_hour(f, f.counts.own_full),
        1,
    ),
    (
        "closed for room, node hour",
        |f| per_hour(f, f.counts.closed_for_room),
        1,
    ),
    ("puts that reached nobody", |f| f.counts.not_put as f64, 0),
];

fn per_hour(figures: &Figures, count: u64) -> f64 {
    count as f64 / figures.nodes as f64 / figures.minutes.max(1e-9) * 60.0
}

/// A table of worlds of growing size, with the growth of each figure per ten times the nodes, from
/// the first to the last.
pub fn table(all: &[Figures]) -> String {
    let mut text = format!("{:<30}", "nodes");
    for figures in all {
        let _infallible = write!(text, "{:>11}", figures.nodes);
    }
    text.push_str(if all.len() > 1 { "   per x10\n" } else { "\n" });
    for (name, figure, digits) in ROWS {
        let _infallible = write!(text, "{name:<30}");
        for figures in all {
            let _infallible = write!(text, "{:>11.digits$}", figure(figures));
        }
        if let Some(growth) = growth(all, figure) {
            let _infallible = write!(text, "{growth:>+10.digits$}", digits = digits.max(&1));
        }
        text.push('\n');
    }
    text
}

/// The gain of a figure with each ten times the nodes; none for a single world.
fn growth(all: &[Figures], figure: &fn(&Figures) -> f64) -> Option<f64> {
    let (first, last) = (all.first()?, all.last()?);
    let tens = (last.nodes as f64 / first.nodes as f64).log10();
    (tens > 0.0).then(|| (figure(last) - figure(first)) / tens)
}
