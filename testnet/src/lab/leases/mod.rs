//! Every kind of network meets every other in a lease's network, on the level of its data plane.
//!
//! 1. Two public hosts are relays and mirrors: there a node learns from where its datagrams come.
//! 2. The two nodes of a [`Pair`] are told each other's ways: the own address, the one that a
//!    mirror sees, and both relays.
//! 3. Measured: the time from opening the lease to the first echo, the way that is in use once it
//!    had time to become a better one, and the echoes that are lost then.
//! 4. Two nodes behind symmetric NATs stay on a relay for a while, without losing an echo. Then
//!    that relay is killed, and then one of the two gets another address ([`held`]).

mod held;
mod host;
mod node;
mod report;
mod words;

pub(crate) use node::{WORD, main};
pub(crate) use report::Report;

use super::matrix::{self, Pair, Path as Reached};
use super::{Kind as Network, Lab};
use crate::say::Progress;
use anyhow::{Context as _, bail};
use gridbay_vnet::mirror::{Outside, outside};
use gridbay_vnet::path::{Kind, Ticket};
use host::Host;
use serde::Serialize;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::time::{Duration, Instant};
use words::{Answer, Card, Pings, Wish};

/// Of the two ends, at both relays.
const TICKETS: [Ticket; 2] = [[0xa1; 16], [0xb2; 16]];
/// Seconds of echoes whose loss is counted.
const ECHOES: u64 = 2;

/// A pair and how it went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Met {
    /// Hosts.
    pub(crate) left: String,
    /// See above.
    pub(crate) right: String,
    /// Ways in use at the end: of the left and of the right one.
    pub(crate) ways: [Option<String>; 2],
    /// Whether a way without a relay is possible.
    pub(crate) direct: bool,
    /// Milliseconds from opening the lease to the first echo.
    pub(crate) first_ms: Option<u64>,
    /// Milliseconds to a way without a relay, at both ends.
    pub(crate) direct_ms: Option<u64>,
    /// Echoes at the end.
    pub(crate) pings: Pings,
}

impl Met {
    /// Whether it went as well as it can.
    pub(crate) fn passed(&self) -> bool {
        let relayed = |way: &Option<String>| way.as_deref().is_none_or(|way| way == "relay");
        let well = !self.direct || !self.ways.iter().any(relayed);
        well && self.first_ms.is_some() && self.pings.lost == 0
    }
}

/// What pairs need of the lab.
struct Stage<'a> {
    lab: &'a Lab,
    program: &'a Path,
    relays: Vec<Option<Host>>,
    places: Vec<SocketAddr>,
}

/// Lets pairs meet one after the other, then holds a relayed one for so many seconds.
pub(crate) fn run(
    lab: &Lab,
    program: &Path,
    pairs: &[Pair],
    settle: Duration,
    hold: u64,
    progress: &Progress,
) -> anyhow::Result<Report> {
    // Without UDP there is no way at all.
    let speaks = |pair: &&Pair| [pair.waiting.1, pair.dialing.1].iter().all(has_udp);
    let mut met = Vec::new();
    for pair in pairs.iter().filter(speaks) {
        let outcome = Stage::new(lab, program)?.meet(pair, settle)?;
        let ways = outcome.ways.clone().map(|way| way.unwrap_or("none".into()));
        progress.tell(&format!(
            "{} and {}: {} {}, first echo {:?} ms, lost {}",
            outcome.left, outcome.right, ways[0], ways[1], outcome.first_ms, outcome.pings.lost
        ));
        met.push(outcome);
    }
    let symmetric =
        |pair: &&Pair| pair.waiting.1 == Network::Symmetric && pair.dialing.1 == Network::Symmetric;
    let held = match pairs.iter().find(symmetric).filter(|_| hold > 0) {
        Some(pair) => Some(held::run(Stage::new(lab, program)?, pair, hold, progress)?),
        None => None,
    };
    Ok(Report { met, held })
}

fn has_udp(kind: &Network) -> bool {
    kind.intent().udp.is_some()
}

impl<'a> Stage<'a> {
    /// Relays and mirrors on the first two public hosts.
    fn new(lab: &'a Lab, program: &'a Path) -> anyhow::Result<Stage<'a>> {
        let hosts = lab.topology().hosts();
        let open = hosts.filter(|(_, network, _)| network.kind == Network::Open);
        let open: Vec<_> = open.map(|(host, ..)| host.to_owned()).take(2).collect();
        let mut stage = Stage {
            lab,
            program,
            relays: Vec::new(),
            places: Vec::new(),
        };
        for host in &open {
            let mut relay = Host::start(lab, host, program, 9)?;
            relay.ask(&Wish::Admit(TICKETS))?;
            stage.relays.push(Some(relay));
            stage.places.push(stage.own(host)?);
        }
        Ok(stage)
    }

    /// Where a host's node is, as the host knows it.
    fn own(&self, host: &str) -> anyhow::Result<SocketAddr> {
        let all = self.lab.addresses(host)?;
        let v4 = all.into_iter().find(IpAddr::is_ipv4);
        Ok(SocketAddr::new(v4.context("an address")?, node::PORT))
    }

    /// A node, and what the other one is told of it.
    fn node(&self, rank: u32, host: &str) -> anyhow::Result<(Host, Vec<Card>)> {
        let mut node = Host::start(self.lab, host, self.program, rank)?;
        let cards = self.cards(&mut node, rank, host)?;
        Ok((node, cards))
    }

    /// The ways to a node. Through a relay the other one sends with its own ticket.
    fn cards(&self, node: &mut Host, rank: u32, host: &str) -> anyhow::Result<Vec<Card>> {
        let Answer::Seen(seen) = node.ask(&Wish::Mirrors(self.places.clone()))? else {
            bail!("not an answer to the question");
        };
        let own = self.own(host)?;
        let mut cards = match outside(&seen, true) {
            Outside::Same(at) if at == own => vec![Card::new(Kind::Direct, own)],
            // One that varies is not reached, but who writes there lets in what comes from it.
            Outside::Same(_) | Outside::Varies => {
                let seen = seen.first().map(|(_, at)| Card::new(Kind::Punched, *at));
                [Some(Card::new(Kind::Lan, own)), seen]
                    .into_iter()
                    .flatten()
                    .collect()
            }
            Outside::Unknown => vec![Card::new(Kind::Lan, own)],
        };
        let ticket = TICKETS[1 - rank as usize];
        cards.extend(self.places.iter().map(|at| Card::relay(*at, ticket)));
        Ok(cards)
    }

    /// Starts both nodes and opens the lease at both; returns them with the time to the first echo.
    fn open(&self, pair: &Pair) -> anyhow::Result<([Host; 2], Option<u64>)> {
        let (mut left, left_cards) = self.node(0, &pair.waiting.0)?;
        let (mut right, right_cards) = self.node(1, &pair.dialing.0)?;
        left.say(&Wish::Open(right_cards))?;
        right.say(&Wish::Open(left_cards))?;
        let first = |node: &mut Host| match node.hear()? {
            Answer::First(ms) => Ok(ms),
            _ => bail!("not an answer to the question"),
        };
        let both = first(&mut left)?.zip(first(&mut right)?);
        Ok(([left, right], both.map(|(left, right)| left.max(right))))
    }

    fn meet(&self, pair: &Pair, settle: Duration) -> anyhow::Result<Met> {
        let (mut nodes, first_ms) = self.open(pair)?;
        let (began, mut direct_ms) = (Instant::now(), None);
        let mut ways = [None, None];
        while direct_ms.is_none() && began.elapsed() < settle {
            for (way, node) in ways.iter_mut().zip(&mut nodes) {
                *way = way_of(node)?.map(|(kind, _)| kind);
            }
            let direct = |way: &Option<String>| way.as_deref().is_some_and(|way| way != "relay");
            if ways.iter().all(direct) {
                let since = began.elapsed().as_millis() as u64;
                direct_ms = first_ms.map(|first| first + since);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let Answer::Pings(pings) = nodes[0].ask(&Wish::Pings(ECHOES))? else {
            bail!("not an answer to the question");
        };
        Ok(Met {
            left: pair.waiting.0.clone(),
            right: pair.dialing.0.clone(),
            ways,
            direct: matrix::expected(pair) == Reached::Direct,
            first_ms,
            direct_ms,
            pings,
        })
    }
}

fn way_of(node: &mut Host) -> anyhow::Result<Option<(String, SocketAddr)>> {
    match node.ask(&Wish::Way)? {
        Answer::Way(way) => Ok(way),
        _ => bail!("not an answer to the question"),
    }
}
