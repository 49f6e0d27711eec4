//! The network between the nodes: the paths between them, and the fate of each message.

use super::streams::Streams;
use crate::fault::Cut;
use crate::plan::Weather;
use crate::rng::Rng;
use std::collections::BTreeSet;

/// The network.
#[derive(Debug)]
pub(crate) struct Net {
    pub(crate) weather: Weather,
    pub(crate) cut: Option<Cut>,
    pub(super) streams: Streams,
    nodes: usize,
    rng: Rng,
    /// Pairs of nodes, the lower first, that know that they are connected.
    pub(crate) links: BTreeSet<(usize, usize)>,
}

impl Net {
    pub(crate) fn new(nodes: usize, weather: Weather, seed: u64) -> Net {
        Net {
            weather,
            cut: None,
            streams: Streams::default(),
            nodes,
            rng: Rng::new(seed, "net"),
            links: BTreeSet::new(),
        }
    }
    /// Whether words of `from` can reach `to`.
    pub(crate) fn carries(&self, from: usize, to: usize) -> bool {
        let cut = self.cut.as_ref();
        !cut.is_some_and(|cut| cut.stops(from, to, self.nodes))
    }
    /// The delays after which copies of one message arrive; empty if it is lost.
    pub(crate) fn fate(&mut self, from: usize, to: usize) -> [Option<u64>; 2] {
        if !self.carries(from, to) || self.rng.chance(self.weather.loss_ppm) {
            return [None, None];
        }
        let once = Some(self.delay());
        let twice = self.rng.chance(self.weather.twice_ppm);
        [once, twice.then(|| self.delay())]
    }
    fn delay(&mut self) -> u64 {
        self.rng.range(self.weather.least_ms, self.weather.most_ms)
    }
}
