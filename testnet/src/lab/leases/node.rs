//! A node of a lease inside a host: our data plane with a device, or as a relay without a lease.
//!
//! Its word is the rank; it does what lines on its standard input say ([`Wish`]), until that ends.
//! The rank's address answers echoes over UDP.

use super::words::{Answer, Card, Pings, Wish};
use crate::say;
use anyhow::{Context as _, bail};
use gridbay_protocol::ids::{LeaseId, NetworkId};
use gridbay_vnet::address::{INTERFACE, Plan};
use gridbay_vnet::engine::{Attachment, Engine, EngineConfig, LeaseNet, Member};
use gridbay_vnet::keys::Secret;
use gridbay_vnet::relay::{Allowance, Grant, Purse};
use gridbay_vnet::tun;
use std::collections::BTreeSet;
use std::io::BufRead as _;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The word that makes the laboratory's program such a node.
pub(crate) const WORD: &str = "__lease";
/// Of its datagrams.
pub(super) const PORT: u16 = 45_100;
const NETWORK: NetworkId = NetworkId([3; 32]);
const LEASE: LeaseId = LeaseId([4; 32]);
const PURSE: Purse = [1; 32];
/// Of echoes.
const ECHO: u16 = 45_200;
/// Between echoes, and how late one may come back.
const STEP: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(2));
/// Between echoes before the first one that comes back, and until that is given up.
const FIRST: (Duration, Duration) = (Duration::from_millis(10), Duration::from_secs(20));
/// Between questions for the own address, and until the first answers are given up.
const MIRROR: (Duration, Duration) = (Duration::from_secs(20), Duration::from_secs(2));

struct Node {
    rank: u32,
    engine: Arc<Engine>,
    mirrors: Arc<Mutex<Vec<SocketAddr>>>,
    attached: Option<Attachment>,
}

/// Does what it is told until its input ends.
pub(crate) fn main(words: &[String]) -> anyhow::Result<()> {
    let rank = words.first().context("a rank")?.parse()?;
    let bind = SocketAddr::from((Ipv4Addr::UNSPECIFIED, PORT));
    let engine = Arc::new(Engine::bind(&EngineConfig::new(bind))?);
    let mirrors = Arc::new(Mutex::new(Vec::new()));
    let (asks, asked) = (engine.clone(), mirrors.clone());
    thread::spawn(move || {
        loop {
            ask(&asks, &asked);
            thread::sleep(MIRROR.0);
        }
    });
    let mut node = Node {
        rank,
        engine,
        mirrors,
        attached: None,
    };
    for line in std::io::stdin().lock().lines() {
        let answer = match serde_json::from_str(&line?)
            .map_err(anyhow::Error::from)
            .and_then(|wish| node.wish(wish))
        {
            Ok(answer) => answer,
            Err(error) => Answer::Failed(format!("{error:#}")),
        };
        say::line(&serde_json::to_string(&answer)?);
    }
    Ok(())
}

fn ask(engine: &Engine, mirrors: &Mutex<Vec<SocketAddr>>) {
    let mirrors = mirrors.lock().unwrap_or_else(PoisonError::into_inner);
    for mirror in mirrors.iter() {
        engine.mirror(*mirror).ok();
    }
}

/// Known to everybody; what is measured does not depend on it.
fn key(rank: u32) -> Secret {
    Secret::new([rank as u8 + 1; 32])
}

impl Node {
    fn wish(&mut self, wish: Wish) -> anyhow::Result<Answer> {
        match wish {
            Wish::Mirrors(places) => Ok(Answer::Seen(self.seen(places))),
            Wish::Admit(tickets) => {
                let allowance = Allowance {
                    period: 0,
                    bytes_max: u64::MAX,
                };
                self.engine.relay_allow(PURSE, allowance);
                let purse = PURSE;
                let admitted = self.engine.relay_admit(Grant { tickets, purse });
                anyhow::ensure!(admitted, "a ticket is taken");
                Ok(Answer::Done)
            }
            Wish::Open(cards) => self.open(&cards).map(Answer::First),
            Wish::Ways(cards) => {
                self.engine.set_members(&LEASE, &[self.other(&cards)])?;
                Ok(Answer::Done)
            }
            Wish::Moved => {
                self.engine.moved();
                ask(&self.engine, &self.mirrors);
                Ok(Answer::Done)
            }
            Wish::Pings(seconds) => self.pings(Duration::from_secs(seconds)).map(Answer::Pings),
            Wish::Way => {
                let status = self.engine.status(&LEASE)?;
                let way = status.pairs.first().and_then(|pair| pair.path);
                let told = way.map(|way| (way.kind.text().to_owned(), way.via.at));
                Ok(Answer::Way(told))
            }
        }
    }

    fn seen(&self, places: Vec<SocketAddr>) -> Vec<(SocketAddr, SocketAddr)> {
        let (count, began) = (places.len(), Instant::now());
        *self.mirrors.lock().unwrap_or_else(PoisonError::into_inner) = places;
        loop {
            let seen = self.engine.seen();
            if seen.len() >= count || began.elapsed() > MIRROR.1 {
                return seen;
            }
            ask(&self.engine, &self.mirrors);
            thread::sleep(FIRST.0 * 10);
        }
    }

    fn other(&self, cards: &[Card]) -> Member {
        let rank = 1 - self.rank;
        Member {
            public: key(rank).public(),
            ranks: vec![rank],
            candidates: cards.iter().map(Card::candidate).collect(),
        }
    }

    fn open(&mut self, cards: &[Card]) -> anyhow::Result<Option<u64>> {
        let began = Instant::now();
        let plan = Plan::new(&NETWORK, &LEASE);
        let device = tun::open(INTERFACE).context("a device")?;
        let interface = tun::Interface::of(INTERFACE, &plan, self.rank).context("no such rank")?;
        tun::configure(&interface)?;
        self.engine.open(&LeaseNet {
            lease: LEASE,
            network: NETWORK,
            own: vec![self.rank],
            secret: key(self.rank),
            psk: Secret::new([9; 32]),
            members: vec![self.other(cards)],
        })?;
        self.attached = Some(self.engine.attach(&LEASE, self.rank, device)?);
        let own = plan.rank(self.rank).context("no such rank")?.v4;
        let answers = UdpSocket::bind((own, ECHO))?;
        thread::spawn(move || {
            let mut buffer = [0; 64];
            while let Ok((bytes, source)) = answers.recv_from(&mut buffer) {
                answers.send_to(&buffer[..bytes], source).ok();
            }
        });
        let socket = self.echoes()?;
        socket.set_read_timeout(Some(FIRST.0))?;
        while began.elapsed() < FIRST.1 {
            socket.send(&0_u64.to_be_bytes()).ok();
            if socket.recv(&mut [0; 8]).is_ok() {
                return Ok(Some(began.elapsed().as_millis() as u64));
            }
        }
        Ok(None)
    }

    /// A socket to the other rank's echoes.
    fn echoes(&self) -> anyhow::Result<UdpSocket> {
        let plan = Plan::new(&NETWORK, &LEASE);
        let to = plan.rank(1 - self.rank).context("no such rank")?;
        let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
        socket.connect((to.v4, ECHO))?;
        Ok(socket)
    }

    fn pings(&self, length: Duration) -> anyhow::Result<Pings> {
        if self.attached.is_none() {
            bail!("there is no lease");
        }
        let socket = self.echoes()?;
        socket.set_read_timeout(Some(STEP.0 / 20))?;
        let (began, mut pings) = (Instant::now(), Pings::default());
        let (mut open, mut heard) = (BTreeSet::new(), began);
        while began.elapsed() < length + STEP.1 {
            let due = STEP.0 * pings.sent as u32;
            if began.elapsed() < length && began.elapsed() >= due {
                pings.sent += 1;
                open.insert(pings.sent);
                socket.send(&pings.sent.to_be_bytes()).ok();
            }
            let mut number = [0; 8];
            if socket.recv(&mut number).is_ok() && open.remove(&u64::from_be_bytes(number)) {
                let gap = heard.elapsed().as_millis() as u64;
                pings.gap_ms = pings.gap_ms.max(gap);
                heard = Instant::now();
            }
            if open.is_empty() && began.elapsed() >= length {
                break;
            }
        }
        pings.lost = open.len() as u64;
        if pings.lost == pings.sent {
            pings.gap_ms = length.as_millis() as u64;
        }
        Ok(pings)
    }
}
