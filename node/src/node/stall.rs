//! Whether no blocks come, and whose validators do not answer.
//!
//! 1. A block is late [`LATE_MS`] after the network's pace: that of work if entries wait, else that
//!    of rest. An entry may wait that is not due, so no block is late before a heartbeat has
//!    passed. A node that lacks blocks which its peers have is behind instead.
//! 2. The other validators are then asked for a sign of life, all at once; the answers count for
//!    [`KEPT`], so that whoever looks again does not ask again.

use super::types::{SilentValidator, Stall};
use crate::backend::{NodeBackend, wall_ms};
use crate::body::ask::peer_of;
use crate::federation::quorum;
use gridbay_core::Core;
use gridbay_protocol::keys::PublicKey;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use tokio::sync::Mutex;

/// Milliseconds beyond the pace of the network after which a block is late.
const LATE_MS: u64 = 10_000;
/// Milliseconds that a block of the heartbeat takes at the most.
const MAKING_MS: u64 = 2_000;
/// Time for a validator's sign of life; one that is not connected is dialled in it.
const ANSWER: Duration = Duration::from_secs(4);
/// How long the answers count.
const KEPT: Duration = Duration::from_secs(10);
/// Validators named in words at the most.
const NAMED: usize = 5;

/// The validators that did not answer when they were last asked, and when that was.
#[derive(Debug, Default)]
pub(crate) struct Silence(Mutex<Option<(Instant, BTreeSet<PublicKey>)>>);

/// A validator of the ledger.
#[derive(Clone, Debug)]
struct Seat {
    name: Option<String>,
    node: PublicKey,
    power: u64,
}

impl NodeBackend {
    /// Set while no blocks come.
    pub(crate) async fn stall(&self) -> Option<Stall> {
        let now = wall_ms();
        // A node that has just started has not been told of newer blocks yet.
        if now.saturating_sub(self.started_ms) < LATE_MS {
            return None;
        }
        let (ms, seats) = self.query(move |core| look(core, now)).await.ok()??;
        let silent = self.silent(&seats).await;
        Some(stall(ms, &seats, &silent))
    }

    async fn silent(&self, seats: &[Seat]) -> BTreeSet<PublicKey> {
        let mut kept = self.silence.0.lock().await;
        if let Some((_, silent)) = kept.as_ref().filter(|(at, _)| at.elapsed() < KEPT) {
            return silent.clone();
        }
        let others = seats.iter().map(|seat| seat.node);
        let asked = others
            .filter(|node| *node != self.parts.node)
            .map(async |node| {
                let peer = peer_of(&node)?;
                let answered = self.parts.overlay.ping(peer, ANSWER).await;
                answered.is_err().then_some(node)
            });
        let silent = futures::future::join_all(asked).await;
        let silent: BTreeSet<PublicKey> = silent.into_iter().flatten().collect();
        *kept = Some((Instant::now(), silent.clone()));
        silent
    }
}

/// Milliseconds since the last block, if the next one is late, and the validators.
fn look(core: &Core, now_ms: u64) -> Option<(u64, Vec<Seat>)> {
    let (state, host) = (core.state(), core.host());
    let policy = state.policy();
    let pace_ms = match host.mempool_len() {
        0 => policy.heartbeat_ms,
        _ => policy.block_interval_ms,
    };
    let least_ms = policy.heartbeat_ms.saturating_add(MAKING_MS);
    let bound_ms = pace_ms.saturating_add(LATE_MS).max(least_ms);
    let ms = late(now_ms, state.time_ms(), bound_ms).filter(|_| !host.is_behind())?;
    let seat = |validator: &gridbay_protocol::validator::Validator| Seat {
        name: state.member_name(&validator.account).map(str::to_owned),
        node: validator.node,
        power: validator.power,
    };
    Some((ms, state.validators().members().iter().map(seat).collect()))
}

/// The age of the last block, if that is more than it may be.
fn late(now_ms: u64, block_ms: u64, bound_ms: u64) -> Option<u64> {
    let age = now_ms.saturating_sub(block_ms);
    (age >= bound_ms).then_some(age)
}

fn stall(ms: u64, seats: &[Seat], silent: &BTreeSet<PublicKey>) -> Stall {
    let power = |all: &mut dyn Iterator<Item = &Seat>| {
        all.map(|seat| seat.power).fold(0, u64::saturating_add)
    };
    let all = power(&mut seats.iter());
    let quiet = seats.iter().filter(|seat| silent.contains(&seat.node));
    Stall {
        ms,
        answering: power(&mut seats.iter().filter(|seat| !silent.contains(&seat.node))),
        quorum: quorum(all),
        power: all,
        silent: quiet
            .map(|seat| SilentValidator {
                name: seat.name.clone(),
                node: seat.node,
            })
            .collect(),
    }
}

impl Stall {
    /// In words.
    pub fn in_words(&self) -> String {
        let name = |one: &SilentValidator| {
            let key = one.node.to_hex().chars().take(8).collect();
            one.name.clone().unwrap_or(key)
        };
        let mut names: Vec<String> = self.silent.iter().take(NAMED).map(name).collect();
        let more = self.silent.len().saturating_sub(NAMED);
        if more > 0 {
            names.push(format!("{more} more"));
        }
        let who = match names.as_slice() {
            [] => "all validators answer".to_owned(),
            [one] => format!("validator {one} does not answer"),
            all => format!("validators {} do not answer", all.join(", ")),
        };
        format!(
            "no block for {} s: {who} ({} of {} needed, {} answer)",
            self.ms / 1_000,
            self.quorum,
            self.power,
            self.answering
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::keys::SecretKey;

    fn seats(count: u8) -> Vec<Seat> {
        let seat = |n| Seat {
            name: (n > 0).then(|| format!("house{n}")),
            node: SecretKey::from_seed(&[n; 32]).public(),
            power: 1,
        };
        (0..count).map(seat).collect()
    }

    #[test]
    fn a_block_is_late_at_its_bound() {
        assert_eq!(late(20_999, 1_000, 20_000), None);
        assert_eq!(late(21_000, 1_000, 20_000), Some(20_000));
        assert_eq!(late(0, 5_000, 250), None, "a block ahead of the clock");
    }

    #[test]
    fn those_who_do_not_answer_are_named_and_the_rest_is_counted() {
        let seats = seats(9);
        let of = |all: &[u8]| {
            let silent = all.iter().map(|n| seats[usize::from(*n)].node).collect();
            stall(42_900, &seats, &silent)
        };
        let two = of(&[2, 3]);
        assert_eq!((two.answering, two.quorum, two.power), (7, 7, 9));
        let mut said = two.in_words();
        assert!(said.starts_with("no block for 42 s: validators "), "{said}");
        assert!(said.contains("house2") && said.contains("house3"));
        assert!(
            said.ends_with(" do not answer (7 of 9 needed, 7 answer)"),
            "{said}"
        );
        said = of(&[1]).in_words();
        assert!(
            said.contains("validator house1 does not answer (7 of 9"),
            "{said}"
        );
        said = of(&[0]).in_words();
        let key = &seats[0].node.to_hex()[..8];
        assert!(said.contains(&format!("validator {key} does")), "{said}");
        said = of(&[1, 2, 3, 4, 5, 6, 7]).in_words();
        assert!(
            said.contains(", 2 more do not answer (7 of 9 needed, 2 "),
            "{said}"
        );
        said = of(&[]).in_words();
        assert!(said.contains("42 s: all validators answer"), "{said}");
    }
}
