//! Where nodes are, and how long a packet takes between them.
//!
//! 1. A site has a place on a square whose edges meet; four nodes share one on average. A way
//!    between sites takes 10 to 150 ms, with the distance; within a site 1 ms.
//! 2. On one machine every way takes 1 ms.

use super::Millis;
use crate::rng::Rng;

/// Nodes of a site, on average.
const PER_SITE: usize = 4;
/// Edge of the square.
const EDGE: u64 = 1 << 16;
/// The shortest way between sites, ms.
const NEAREST: u64 = 10;
/// The most that distance adds to it, ms.
const DISTANCE: u64 = 140;

/// A site, by its place in the list of all.
pub type Site = u32;

/// The sites of a world.
#[derive(Clone, Debug)]
pub struct Places {
    sites: Vec<(u64, u64)>,
    local: bool,
}

impl Places {
    /// Sites for so many nodes.
    pub fn draw(nodes: usize, local: bool, rng: &mut Rng) -> Places {
        let sites = (0..nodes.div_ceil(PER_SITE)).map(|_| (rng.below(EDGE), rng.below(EDGE)));
        Places {
            sites: sites.collect(),
            local,
        }
    }

    /// A site by chance.
    pub fn site(&self, rng: &mut Rng) -> Site {
        rng.index(self.sites.len()) as Site
    }

    /// Whether two are at the same site. On one machine nobody minds.
    pub fn same(&self, a: Site, b: Site) -> bool {
        !self.local && a == b
    }

    /// How long a packet takes one way, ms.
    pub fn way(&self, a: Site, b: Site) -> Millis {
        if self.local || a == b {
            return 1;
        }
        let ((ax, ay), (bx, by)) = (self.sites[a as usize], self.sites[b as usize]);
        let along = |a: u64, b: u64| a.abs_diff(b).min(EDGE - a.abs_diff(b));
        let (x, y) = (along(ax, bx), along(ay, by));
        // No two places are farther apart than half an edge in both directions.
        let half = EDGE / 2;
        NEAREST + DISTANCE * (x * x + y * y).isqrt() / (2 * half * half).isqrt()
    }

    /// There and back, ms.
    pub fn round_trip(&self, a: Site, b: Site) -> Millis {
        2 * self.way(a, b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_are_symmetric_and_within_bounds() {
        let mut rng = Rng::new(1, "places");
        let places = Places::draw(400, false, &mut rng);
        let mut all = Vec::new();
        for a in 0..100 {
            for b in 0..100 {
                assert_eq!(places.way(a, b), places.way(b, a));
                if a != b {
                    all.push(places.way(a, b));
                }
            }
        }
        let (least, most) = (all.iter().min().unwrap(), all.iter().max().unwrap());
        assert!(*least >= 10 && *least < 20, "{least}");
        assert!(*most <= 150 && *most > 130, "{most}");
        let local = Places::draw(400, true, &mut rng);
        assert_eq!((local.way(1, 2), local.same(1, 1)), (1, false));
    }
}
