//! Blocks as fast as this machine decides them: the clock that paces them is a virtual one, and
//! the clock that dates them is the machine's, so that nobody waits for either afterwards.

use anyhow::{Context as _, bail};
use gridbay_host::{Host, HostEffect, HostInput, Now};
use gridbay_protocol::stage::Authentic;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Times that the host is woken for one batch: more than any batch's blocks need.
const WAKES: usize = 2_000;

/// A host and its virtual time.
pub(super) struct Pace {
    host: Host,
    ms: u64,
    wake: u64,
}

impl Pace {
    pub(super) fn start(host: Host) -> anyhow::Result<Pace> {
        let mut pace = Pace {
            host,
            ms: 1,
            wake: 1,
        };
        pace.step(HostInput::Start)?;
        Ok(pace)
    }
    pub(super) fn height(&self) -> u64 {
        self.host.state().height()
    }
    fn step(&mut self, input: HostInput) -> anyhow::Result<()> {
        let now = Now {
            mono_ms: self.ms,
            wall_ms: wall_ms()?,
        };
        let effects = self.host.step(now, input)?;
        let refused = effects.iter().find_map(|effect| match effect {
            HostEffect::EntryRefused { refusal, .. } => Some(refusal),
            _ => None,
        });
        if let Some(refusal) = refused {
            bail!("an entry of the past is refused: {refusal}");
        }
        let wake = effects.iter().rev().find_map(|effect| match effect {
            HostEffect::WakeAt(at) => Some(*at),
            _ => None,
        });
        self.wake = wake.context("the host rests for ever")?;
        Ok(())
    }
    fn tick(&mut self) -> anyhow::Result<()> {
        self.ms = self.wake.max(self.ms + 1);
        self.step(HostInput::Tick)
    }
    /// Has the entries decided, in as many blocks as they take.
    pub(super) fn decide(&mut self, entries: Vec<Arc<Authentic>>) -> anyhow::Result<()> {
        for entry in entries {
            self.step(HostInput::Submit(vec![entry]))?;
        }
        for _ in 0..WAKES {
            if self.host.mempool_len() == 0 {
                return Ok(());
            }
            self.tick()?;
        }
        bail!("{} entries are not taken", self.host.mempool_len())
    }
    /// Goes on until the next block is the first of a round.
    pub(super) fn round_begins(&mut self) -> anyhow::Result<()> {
        for _ in 0..WAKES {
            let calendar = self.host.state().calendar();
            if calendar.closes_round(self.height()) {
                return Ok(());
            }
            self.tick()?;
        }
        bail!("no round ends")
    }
    /// Waits until the clock has passed the last block; the bids that stand.
    pub(super) fn end(self) -> anyhow::Result<usize> {
        let ahead = self.host.state().time_ms().saturating_sub(wall_ms()?);
        thread::sleep(Duration::from_millis(ahead));
        let orders = self.host.state().orders();
        Ok(orders.filter(|(_, order)| order.bid().is_some()).count())
    }
}

fn wall_ms() -> anyhow::Result<u64> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
    Ok(u64::try_from(now.as_millis())?)
}
