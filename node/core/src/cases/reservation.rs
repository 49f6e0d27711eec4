//! Cases of the repeated combinatorial auction: one window (`clear`), or one per slot (`rounds`).
//!
//! Input: `T` slots for sale, starts at the first `S` of them, `nodes`, `k` attempts, what is busy,
//! and bids with windows `s` to `t`, length `d` and quantities of classes. Result of a window: the
//! attempt that won, its total, and winners by id as `[id, start, nodes per class, channel, pay]`;
//! of `rounds` one such result per round.

use super::form::{CaseError, Money, read};
use gridbay_protocol::mechanism::Mechanism;
use gridbay_protocol::mechanism::reservation::{
    Award, Bid, Channels, Error, Input, Orders, Outcome, Policy, Reservation, Want, clear, rounds,
};
use serde::Deserialize;
use serde_json::{Value, json};

/// Name of the mechanism.
pub(super) const NAME: &str = <Reservation<u64, u64> as Mechanism>::NAME;

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
enum Market {
    Clear {
        #[serde(rename = "T")]
        slots: u32,
        #[serde(rename = "S")]
        starts: u32,
        nodes: Vec<u64>,
        k: u32,
        busy: Vec<(u64, u32)>,
        busy_f: Vec<(u32, u32)>,
        bids: Vec<Asked>,
    },
    Rounds {
        rounds: u32,
        #[serde(rename = "T")]
        slots: u32,
        #[serde(rename = "S")]
        starts: u32,
        nodes: Vec<u64>,
        k: u32,
        bids: Vec<Asked>,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    id: u64,
    time: u64,
    value: Money,
    s: i64,
    t: i64,
    d: i64,
    classes: Vec<(i64, Vec<u64>)>,
    freq: Option<(u32, u32)>,
}

impl From<Asked> for Bid<u64, u64> {
    fn from(bid: Asked) -> Self {
        let want = |(quantity, nodes)| Want {
            quantity: count(quantity),
            nodes,
        };
        Bid {
            id: bid.id,
            time: bid.time,
            value: bid.value.0,
            earliest: bid.s,
            latest: bid.t,
            slots: count(bid.d),
            classes: bid.classes.into_iter().map(want).collect(),
            channels: bid.freq.map(|(low, high)| Channels { low, high }),
        }
    }
}

/// A number of nodes or slots: below 1 is nothing, and beyond what there is stays so.
fn count(number: i64) -> u32 {
    u32::try_from(number.max(0)).unwrap_or(u32::MAX)
}

/// The result of an input.
pub(super) fn solve(input: Value) -> Result<Value, CaseError> {
    match read(NAME, input)? {
        Market::Clear {
            slots,
            starts,
            nodes,
            k,
            busy,
            busy_f,
            bids,
        } => {
            let mut input = market(slots, starts, nodes, k, bids);
            (input.busy, input.busy_channels) = (busy, busy_f);
            Ok(spell(&clear(&input).map_err(refused)?))
        }
        Market::Rounds {
            rounds,
            slots,
            starts,
            nodes,
            k,
            bids,
        } => {
            let input = market(slots, starts, nodes, k, bids);
            let outcomes = rounds::run(&input, rounds).map_err(refused)?;
            Ok(json!({ "rounds": outcomes.iter().map(spell).collect::<Vec<Value>>() }))
        }
    }
}

/// A market where nothing is busy and any price will do.
fn market(slots: u32, starts: u32, nodes: Vec<u64>, k: u32, bids: Vec<Asked>) -> Input<u64, u64> {
    Input {
        policy: Policy {
            fronts: k,
            orders: Orders::Density,
        },
        reserve: 0,
        slots,
        starts,
        nodes,
        busy: Vec::new(),
        busy_channels: Vec::new(),
        bids: bids.into_iter().map(Bid::from).collect(),
    }
}

fn refused(error: Error<u64, u64>) -> CaseError {
    CaseError::Refused {
        mechanism: NAME,
        reason: error.to_string(),
    }
}

/// The outcome as results spell it.
fn spell(outcome: &Outcome<u64, u64>) -> Value {
    let award = |Award { placement, pay }: &Award<u64, u64>| {
        let (start, channel) = (placement.start, placement.channel);
        json!([
            placement.id,
            start,
            placement.nodes,
            channel,
            pay.to_string()
        ])
    };
    json!({
        "attempt": outcome.attempt,
        "total": outcome.total.to_string(),
        "won": outcome.awards.iter().map(award).collect::<Vec<Value>>(),
    })
}
