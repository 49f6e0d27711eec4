//! Two peers go on speaking though the address of one of them changes.
//!
//! 1. Two relays are started on the lab's first open hosts, then the peer that answers, then the
//!    one that asks: every [`ASK`](super::program::ASK) a question, whether there is a path or not.
//! 2. Once they speak, and have the path that their kinds allow or have had `settle` to get it, an
//!    address changes: that of a host itself, as of a notebook that is carried on, or the outer one
//!    of its gateway, as after a provider's night. The host learns nothing of the latter.
//! 3. It is measured when they speak again (`judge`), `BAR` at the most. Then the next address
//!    changes. A pair makes all [`moves`] with the same two processes, so that the leftovers of one
//!    move meet the next; one that does not speak again begins anew.

mod judge;
mod report;

pub use judge::Answers;
pub use report::{Moved, Report};

use super::matrix::programs::{EVENTS, Peer, Programs, Told};
use super::matrix::{Judge, Pair, Path, Side, expected};
use super::peer::{Event, Role};
use super::{Kind, Lab, Topology};
use crate::say::Progress;
use anyhow::Context as _;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};

/// Longest time until they speak again.
pub const BAR: Duration = Duration::from_secs(10);
/// Relays; a node that cannot be dialled has a place at two.
const RELAYS: usize = 2;

/// What changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// The host's own address.
    Host,
    /// The outer address of the gateway before it.
    Gateway,
}

/// A change of an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// The side whose address changes.
    pub who: Side,
    /// Which address.
    pub what: What,
    /// The machine that gets another one.
    pub machine: String,
}

/// All changes of addresses that two hosts can see: each of its own, and of a gateway that
/// translates for it.
pub fn moves(topology: &Topology, pair: &Pair) -> Vec<Move> {
    let mut moves = Vec::new();
    for (who, (host, kind)) in [
        (Side::Dialing, &pair.dialing),
        (Side::Waiting, &pair.waiting),
    ] {
        moves.push(Move {
            who,
            what: What::Host,
            machine: host.clone(),
        });
        let network = topology.host(host).filter(|_| kind.translates());
        moves.extend(network.map(|(network, _)| Move {
            who,
            what: What::Gateway,
            machine: network.name.clone(),
        }));
    }
    moves
}

/// Makes every move of every pair, one after the other.
///
/// # Errors
/// The lab is gone, or a program does not start.
pub fn run(
    lab: &Lab,
    pairs: &[Pair],
    programs: &Programs,
    progress: &Progress,
) -> anyhow::Result<Report> {
    let mut report = Report::default();
    for pair in pairs {
        let mut talk = None;
        for change in moves(lab.topology(), pair) {
            let current = match talk.take() {
                Some(talk) => talk,
                None => Talk::begin(lab, pair, programs)?,
            };
            let (moved, current) = current.through(lab, pair, change, programs)?;
            progress.tell(&moved.to_string());
            talk = current.filter(|_| moved.again_ms.is_some());
            report.moved.push(moved);
        }
    }
    Ok(report)
}

/// Two peers that speak, and what they told so far.
struct Talk {
    _running: Vec<Peer>,
    told: Receiver<Told>,
    judge: Judge,
    answers: Answers,
    began: Instant,
}

impl Talk {
    /// Step 1.
    fn begin(lab: &Lab, pair: &Pair, programs: &Programs) -> anyhow::Result<Talk> {
        let (sender, told) = sync_channel(EVENTS);
        let (mut running, mut relay) = (Vec::new(), Vec::new());
        for place in 0..RELAYS {
            let (peer, addresses) = programs.relay(lab, place, &sender, &told)?;
            running.push(peer);
            relay.extend(addresses);
        }
        let mut early = Vec::new();
        let mut start = |host: &str, role: &Role, side| {
            running.push(programs.start(lab, host, role, Some(side), &sender)?);
            let ready = programs.ready(&told, Some(side), &mut early);
            let (id, _) = ready.with_context(|| format!("{host} is not ready"))?;
            anyhow::Ok(id)
        };
        let role = Role::Wait {
            relay: relay.clone(),
        };
        let peer = start(&pair.waiting.0, &role, Side::Waiting)?;
        let role = Role::Ask {
            relay,
            peer: peer.clone(),
        };
        let own = start(&pair.dialing.0, &role, Side::Dialing)?;
        let mut talk = Talk {
            _running: running,
            told,
            judge: Judge::new(peer, own),
            answers: Answers::default(),
            began: Instant::now(),
        };
        for (side, event) in early {
            talk.hear(side, &event);
        }
        Ok(talk)
    }
    /// Steps 2 and 3 for one change. Returns itself unless they had never met.
    fn through(
        mut self,
        lab: &Lab,
        pair: &Pair,
        change: Move,
        programs: &Programs,
    ) -> anyhow::Result<(Moved, Option<Talk>)> {
        let mut moved = Moved {
            pair: pair.clone(),
            change,
            before: Path::None,
            after: Path::None,
            again_ms: None,
        };
        if self.speak(self.now(), programs.patience).is_none() {
            return Ok((moved, None));
        }
        self.settle(expected(pair), programs.settle);
        moved.before = self.judge.path();
        let before = self.now();
        lab.readdress(&moved.change.machine)?;
        let again = self.speak(self.now(), programs.patience);
        moved.again_ms = again.map(|again| again - before);
        self.settle(expected(pair), programs.settle);
        moved.after = self.judge.path();
        Ok((moved, Some(self)))
    }
    /// Listens until they speak, with a change at `change_ms`; returns since when.
    fn speak(&mut self, change_ms: u64, patience: Duration) -> Option<u64> {
        let until = Instant::now() + patience;
        while self.answers.again(change_ms).is_none() && self.listen(until) {}
        self.answers.again(change_ms)
    }
    /// Listens until they have a path, for some time.
    fn settle(&mut self, path: Path, patience: Duration) {
        let until = Instant::now() + patience;
        while self.judge.path() < path && self.listen(until) {}
    }
    /// Handles one event. Returns whether there is time for another.
    fn listen(&mut self, until: Instant) -> bool {
        let left = until.saturating_duration_since(Instant::now());
        match self.told.recv_timeout(left) {
            Ok((Some(side), event)) => self.hear(side, &event),
            Ok((None, _)) => {}
            Err(_) => return false,
        }
        Instant::now() < until
    }
    fn hear(&mut self, side: Side, event: &Event) {
        let now = self.now();
        match event {
            Event::Answered { n, took_ms, .. } => self.answers.hear(*n, *took_ms, now),
            event => self.judge.hear(side, event, now),
        }
    }
    /// Milliseconds since both were started.
    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

/// The kinds whose pairs are enough to see everything: reached by anybody, after a punch, and
/// through relays alone.
pub fn telling_kinds() -> Vec<Kind> {
    vec![Kind::Open, Kind::Cone, Kind::Symmetric]
}

#[cfg(test)]
mod tests {
    use super::super::matrix::pairs;
    use super::*;

    #[test]
    fn hosts_move_and_so_do_gateways_that_translate() {
        let topology = Topology::pairs();
        let of = |a: Kind, b: Kind| {
            let pairs = pairs(&topology);
            let pair = pairs
                .into_iter()
                .find(|p| p.waiting.1 == a && p.dialing.1 == b);
            let moves = moves(&topology, &pair.unwrap());
            moves.into_iter().map(|m| m.machine).collect::<Vec<_>>()
        };
        assert_eq!(of(Kind::Open, Kind::Open), ["open-b", "open-a"]);
        assert_eq!(
            of(Kind::Firewall, Kind::Double),
            ["double-b1", "double-b", "fire-a1"]
        );
    }
}
