//! Every kind of network meets every other: one host waits, another dials, a relay in public helps.
//!
//! 1. [`pairs`] picks the hosts: each ordered pair of kinds, behind different routers, and two
//!    neighbours behind one router that supports hairpins.
//! 2. [`Meeting`] lets two hosts meet and says how it went; [`programs`] does so with two programs.
//! 3. [`expected`] gives the best path that the kinds' intents allow. A pair passes if it did as
//!    well.
//!
//! Theory: each end writes to where the other was seen. That opens its own filter; it gets through
//! if the other end's mapping is the one that was seen. So two predictable mappings always meet. A
//! mapping per destination is met only by an end that lets in the right address from any port. No
//! UDP, no punching.

mod judge;
pub mod programs;

pub use judge::{Judge, Side};

use super::nat::{Filtering, Mapping};
use super::{Kind, Lab, Topology};
use crate::say::Progress;
use gridbay_node::ui::Table;
use std::fmt;

/// How two hosts reach each other; the better, the greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Path {
    /// Not at all.
    None,
    /// Through a relay.
    Relayed,
    /// By themselves.
    Direct,
}

/// How a meeting went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The path at the end.
    pub path: Path,
    /// Milliseconds until both ends had any path, since the dialer began.
    pub connected_ms: Option<u64>,
    /// Milliseconds until both ends had a direct one.
    pub direct_ms: Option<u64>,
}

/// Lets two hosts of a lab meet.
pub trait Meeting {
    /// `waiting` is there first, `dialing` looks for it.
    fn meet(&self, lab: &Lab, waiting: &str, dialing: &str) -> anyhow::Result<Outcome>;
}

/// Two hosts that are to meet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Who waits, and the kind of its network.
    pub waiting: (String, Kind),
    /// Who dials.
    pub dialing: (String, Kind),
    /// Whether both are behind the same router.
    pub neighbours: bool,
}

/// A pair and how it went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Met {
    /// The pair.
    pub pair: Pair,
    /// How it went.
    pub outcome: Outcome,
}

/// All pairs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// In the order in which they met.
    pub met: Vec<Met>,
}

/// The best path that two kinds can have.
pub fn expected(pair: &Pair) -> Path {
    if pair.neighbours {
        return Path::Direct;
    }
    let (Some(a), Some(b)) = (pair.waiting.1.intent().udp, pair.dialing.1.intent().udp) else {
        return Path::Relayed;
    };
    let predictable = |m: Mapping| matches!(m, Mapping::Own | Mapping::Independent);
    let meets = match (predictable(a.mapping), predictable(b.mapping)) {
        (true, true) => true,
        (true, false) => a.filtering != Filtering::PerPort,
        (false, true) => b.filtering != Filtering::PerPort,
        (false, false) => false,
    };
    if meets { Path::Direct } else { Path::Relayed }
}

/// Every ordered pair of kinds that the topology has two networks of, or two spare open hosts.
pub fn pairs(topology: &Topology) -> Vec<Pair> {
    let hosts = |kind: Kind| -> Vec<&str> {
        let networks = topology.networks.iter().filter(|n| n.kind == kind);
        let hosts = networks.flat_map(|network| match kind {
            Kind::Open => network.hosts.as_slice(),
            _ => &network.hosts[..1],
        });
        // The first two open hosts are for relays.
        let used = if kind == Kind::Open { 2 } else { 0 };
        hosts.skip(used).map(String::as_str).collect()
    };
    let mut pairs = Vec::new();
    for a in Kind::ALL {
        for b in Kind::ALL {
            if let (Some(waiting), Some(dialing)) = (hosts(a).first(), hosts(b).get(1)) {
                pairs.push(Pair {
                    waiting: ((*waiting).to_owned(), a),
                    dialing: ((*dialing).to_owned(), b),
                    neighbours: false,
                });
            }
        }
    }
    let hairpins = topology.networks.iter().filter(|n| n.kind == Kind::Hairpin);
    for network in hairpins {
        if let [first, second, ..] = network.hosts.as_slice() {
            pairs.push(Pair {
                waiting: (first.clone(), network.kind),
                dialing: (second.clone(), network.kind),
                neighbours: true,
            });
        }
    }
    pairs
}

/// Lets pairs meet, one after the other.
pub fn run(
    lab: &Lab,
    pairs: &[Pair],
    meeting: &dyn Meeting,
    progress: &Progress,
) -> anyhow::Result<Report> {
    let mut report = Report::default();
    for pair in pairs {
        let outcome = meeting.meet(lab, &pair.waiting.0, &pair.dialing.0)?;
        let met = Met {
            pair: pair.clone(),
            outcome,
        };
        progress.tell(&met.to_string());
        report.met.push(met);
    }
    Ok(report)
}

impl Met {
    /// Whether it went as well as it can.
    pub fn passed(&self) -> bool {
        self.outcome.path >= expected(&self.pair)
    }
}

impl fmt::Display for Met {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ((waiting, _), (dialing, _)) = (&self.pair.waiting, &self.pair.dialing);
        write!(f, "{dialing} to {waiting}: {}", self.outcome.path)?;
        if !self.passed() {
            write!(f, ", {} expected", expected(&self.pair))?;
        }
        Ok(())
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Path::None => "none",
            Path::Relayed => "relayed",
            Path::Direct => "direct",
        })
    }
}

impl Report {
    /// Whether there was something, and all of it went as well as it can.
    pub fn ok(&self) -> bool {
        !self.met.is_empty() && self.met.iter().all(Met::passed)
    }
    /// A row for each pair, then the verdict.
    pub fn lines(&self) -> String {
        let mut table = Table::new(&[
            "WAITING",
            "DIALING",
            "PATH",
            "EXPECTED",
            ">ANY PATH MS",
            ">DIRECT MS",
        ]);
        let ms = |ms: Option<u64>| ms.map_or("-".to_owned(), |ms| ms.to_string());
        for met in &self.met {
            table.row([
                met.pair.waiting.0.clone(),
                met.pair.dialing.0.clone(),
                met.outcome.path.to_string(),
                expected(&met.pair).to_string(),
                ms(met.outcome.connected_ms),
                ms(met.outcome.direct_ms),
            ]);
        }
        let passed = self.met.iter().filter(|met| met.passed()).count();
        let failed = self.met.len() - passed;
        format!("{}{passed} passed, {failed} failed", table.render())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(a: Kind, b: Kind) -> Pair {
        Pair {
            waiting: ("a".into(), a),
            dialing: ("b".into(), b),
            neighbours: false,
        }
    }

    #[test]
    fn theory_is_that_of_the_textbook() {
        use Kind::{
            Cone, Double, Firewall, Fullcone, Hairpin, Open, Restricted, Symmetric, Tcp443,
        };
        for (a, b, path) in [
            (Cone, Cone, Path::Direct),
            (Cone, Double, Path::Direct),
            (Firewall, Hairpin, Path::Direct),
            (Open, Symmetric, Path::Direct),
            (Fullcone, Symmetric, Path::Direct),
            (Restricted, Symmetric, Path::Direct),
            (Cone, Symmetric, Path::Relayed),
            (Firewall, Symmetric, Path::Relayed),
            (Symmetric, Symmetric, Path::Relayed),
            (Open, Tcp443, Path::Relayed),
            (Tcp443, Tcp443, Path::Relayed),
        ] {
            assert_eq!(expected(&pair(a, b)), path, "{a} {b}");
            assert_eq!(expected(&pair(b, a)), path, "{b} {a}");
        }
    }

    #[test]
    fn every_kind_meets_every_kind_behind_another_router() {
        let topology = Topology::pairs();
        let pairs = pairs(&topology);
        assert_eq!(pairs.len(), Kind::ALL.len() * Kind::ALL.len() + 2);
        for pair in &pairs {
            let network = |host: &str| topology.host(host).unwrap().0.name.clone();
            let (a, b) = (network(&pair.waiting.0), network(&pair.dialing.0));
            let open = pair.waiting.1 == Kind::Open;
            assert!(pair.neighbours == (a == b) || open, "{pair:?}");
            assert!(pair.waiting.0 != pair.dialing.0);
            assert!(!["pub1", "pub2"].contains(&pair.waiting.0.as_str()));
        }
    }

    #[test]
    fn better_than_expected_passes_and_worse_fails() {
        let met = |path, a, b| Met {
            pair: pair(a, b),
            outcome: Outcome {
                path,
                connected_ms: Some(5),
                direct_ms: None,
            },
        };
        let report = |met: Vec<Met>| Report { met };
        let good = report(vec![met(Path::Direct, Kind::Symmetric, Kind::Symmetric)]);
        assert!(good.ok());
        let bad = report(vec![
            met(Path::Relayed, Kind::Cone, Kind::Cone),
            met(Path::None, Kind::Tcp443, Kind::Cone),
        ]);
        assert!(!bad.ok() && bad.lines().ends_with("0 passed, 2 failed"));
        assert!(!Report::default().ok());
    }
}
