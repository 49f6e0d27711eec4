//! Real overlays against their model.
//!
//! 1. [`NODES`] overlays of the node are started in this process, on TCP and loopback, and meet by
//!    four of them (`real`). When each has the peers that it wants and its record is in the DHT,
//!    [`LOOKUPS`] records are looked up between nodes drawn by the seed.
//! 2. The same is modelled: as many nodes, one machine, nobody leaves, the mean of [`WORLDS`]
//!    worlds.
//! 3. Compared are the share of records found, the peers asked for each, and the place of the first
//!    that had it: only here (no hop), among the peers with which the lookup began (one), or
//!    farther away. A figure that differs by more than [`Row::tolerance`] fails the check.

mod real;

use gridbay_sim::overlay::Settings;
use gridbay_sim::overlay::world::World;
use std::io::Write;
use std::time::Instant;

/// Overlays.
const NODES: usize = 100;
/// Lookups.
const LOOKUPS: usize = 400;
/// Worlds of the model.
const WORLDS: u64 = 5;

/// The figures compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Seen {
    /// Found, per cent.
    pub(crate) found: f64,
    /// Peers asked for a record, mean.
    pub(crate) requests: f64,
    /// Of a hundred found, those at hand: no hop.
    pub(crate) here: f64,
    /// The same, at a peer with which the lookup began: one hop.
    pub(crate) near: f64,
    /// Peers in connection with a node, mean.
    pub(crate) peers: f64,
}

/// A line of the comparison.
struct Row {
    name: &'static str,
    of: fn(&Seen) -> f64,
    /// How far the model may be off, in the figure's own unit.
    tolerance: f64,
}

const ROWS: &[Row] = &[
    Row {
        name: "found, %",
        of: |s| s.found,
        tolerance: 1.0,
    },
    Row {
        name: "requests a lookup",
        of: |s| s.requests,
        tolerance: 8.0,
    },
    Row {
        name: "found at no hop, %",
        of: |s| s.here,
        tolerance: 10.0,
    },
    Row {
        name: "found at one hop, %",
        of: |s| s.near,
        tolerance: 10.0,
    },
    Row {
        name: "hops, mean (far ones as 2)",
        of: |s| (2.0 * (100.0 - s.here) - s.near) / 100.0,
        tolerance: 0.15,
    },
    Row {
        name: "peers of a node",
        of: |s| s.peers,
        tolerance: 20.0,
    },
];

/// Compares, tells, and says whether the model is close enough.
pub(crate) fn check(seed: u64, out: &mut dyn Write) -> anyhow::Result<bool> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let began = Instant::now();
    let real = runtime.block_on(real::measure(NODES, LOOKUPS, seed))?;
    runtime.shutdown_background();
    let seconds = began.elapsed().as_secs_f64();
    writeln!(
        out,
        "\n{NODES} real overlays, {LOOKUPS} lookups: {seconds:.1} s"
    )?;
    let worlds: Vec<Seen> = (seed..seed + WORLDS).map(modelled).collect();
    writeln!(
        out,
        "{:<30}{:>9}{:>9}{:>11}",
        "", "real", "model", "tolerance"
    )?;
    let mut well = true;
    for row in ROWS {
        let real = (row.of)(&real);
        let model = worlds.iter().map(row.of).sum::<f64>() / worlds.len() as f64;
        let close = (real - model).abs() <= row.tolerance;
        let verdict = if close { "" } else { "  TOO FAR" };
        let (name, tolerance) = (row.name, row.tolerance);
        writeln!(
            out,
            "{name:<30}{real:>9.2}{model:>9.2}{tolerance:>11.2}{verdict}"
        )?;
        well &= close;
    }
    Ok(well)
}

/// Step 2.
fn modelled(seed: u64) -> Seen {
    let settings = Settings {
        lookups: LOOKUPS,
        ..Settings::local(NODES, seed)
    };
    let mut world = World::new(&settings);
    world.run();
    let looked = world.looked();
    let found = looked.iter().filter(|l| l.found);
    let share = |hops: u32| {
        let at = found.clone().filter(|l| l.hops == hops).count();
        100.0 * at as f64 / found.clone().count().max(1) as f64
    };
    let all = looked.len().max(1) as f64;
    let samples = world.samples();
    Seen {
        found: 100.0 * found.clone().count() as f64 / all,
        requests: looked.iter().map(|l| f64::from(l.requests)).sum::<f64>() / all,
        here: share(0),
        near: share(1),
        peers: samples.iter().sum::<u64>() as f64 / samples.len().max(1) as f64,
    }
}
