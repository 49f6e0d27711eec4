//! The comparison of everything acknowledged and shown with the ledger at the end.
//!
//! - *Lost*: an acknowledged transfer without its posting in the block named; an acknowledged order
//!   that is not over.
//! - *Doubled*: a transfer with two postings; a posting of a transfer that had no effect; two jobs
//!   of one order.
//! - *Wrong*: chains that differ, heads that are not on the chain, evidence of a double signature,
//!   statements that do not add up, postings that nobody asked for, complaints in logs.

use super::history::{Outcome, Party, Transfer, Written};
use gridbay_node::api::types::JobState;
use gridbay_protocol::block::Header;
use gridbay_protocol::codec;
use gridbay_protocol::payment::Reason;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Bytes of a header at the most.
const HEADER_BYTES: usize = 1 << 16;

/// A node's headers from height 1 on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Chain {
    /// The node.
    pub(super) node: String,
    /// Canonical headers.
    pub(super) headers: Vec<Vec<u8>>,
}

/// An account's balance at a height.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Statement {
    /// Micro-credits.
    pub(super) balance: i64,
    /// Height.
    pub(super) height: u64,
}

/// The findings of the comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Findings {
    /// Transfers acknowledged.
    pub(crate) transfers: usize,
    /// Of those, acknowledged to be without effect.
    pub(crate) without_effect: usize,
    /// Orders acknowledged.
    pub(crate) orders: usize,
    /// Of those, whose jobs ended well.
    pub(crate) orders_done: usize,
    /// How the jobs of the others ended, by state and reason.
    pub(crate) other_ends: BTreeMap<String, usize>,
    /// Heads shown while nodes were killed.
    pub(crate) heads: usize,
    /// Height that all nodes were compared up to.
    pub(crate) height: u64,
    /// Acknowledged and not there.
    pub(crate) lost: Vec<String>,
    /// Done twice.
    pub(crate) doubled: Vec<String>,
    /// All else that must not be.
    pub(crate) wrong: Vec<String>,
}

impl Findings {
    /// Whether nothing was found.
    pub(crate) fn is_clean(&self) -> bool {
        self.lost.is_empty() && self.doubled.is_empty() && self.wrong.is_empty()
    }
    /// Transfers and orders acknowledged.
    pub(crate) fn acknowledged(&self) -> usize {
        self.transfers + self.orders
    }
}

/// Compares.
pub(super) fn compare(
    parties: &[Party],
    written: &Written,
    chains: &[Chain],
    statements: &[Statement],
    problems: Vec<String>,
) -> Findings {
    let mut found = Findings {
        heads: written.heads.len(),
        wrong: problems,
        ..Findings::default()
    };
    found.wrong.extend(written.contradictions.iter().cloned());
    compare_chains(written, chains, &mut found);
    compare_transfers(parties, written, &mut found);
    compare_orders(written, &mut found);
    add_up(parties, written, statements, &mut found);
    found
}

fn compare_chains(written: &Written, chains: &[Chain], found: &mut Findings) {
    let Some(first) = chains.first() else {
        return found.wrong.push("no node showed its chain".to_owned());
    };
    found.height = first.headers.len() as u64;
    for other in &chains[1..] {
        let mut pairs = first.headers.iter().zip(&other.headers);
        let differs = pairs.position(|(a, b)| a != b);
        if differs.is_some() || other.headers.len() != first.headers.len() {
            let at = differs.unwrap_or(first.headers.len().min(other.headers.len())) + 1;
            let pair = format!("{} and {}", first.node, other.node);
            found.wrong.push(format!("{pair} differ at height {at}"));
        }
    }
    let mut no_evidence = None;
    for (height, bytes) in (1..).zip(&first.headers) {
        let Ok(header) = codec::decode::<Header>(bytes, HEADER_BYTES) else {
            found.wrong.push(format!("no header at height {height}"));
            continue;
        };
        if header.evidence_root != *no_evidence.get_or_insert(header.evidence_root) {
            let what = format!("block {height} carries evidence of a double signature");
            found.wrong.push(what);
        }
        let shown = written.heads.get(&height);
        if shown.is_some_and(|h| h.block != header.id() || h.state_root != header.state_root) {
            found
                .lost
                .push(format!("the head shown at height {height}"));
        }
    }
    let last = written
        .heads
        .last_key_value()
        .map_or(0, |(height, _)| *height);
    if last > found.height {
        let (height, end) = (found.height, last);
        found
            .lost
            .push(format!("heads from {height} to {end} that were shown"));
    }
}

/// Heights of the postings of each transfer, on one side: the payer's (-1) or the receiver's (1).
fn postings(written: &Written, party: usize, side: i64) -> BTreeMap<i64, Vec<u64>> {
    let mut heights: BTreeMap<i64, Vec<u64>> = BTreeMap::new();
    for line in &written.movements[party].1 {
        let amount = line.amount.0.saturating_mul(side);
        if line.reason == Reason::Transfer && amount > 0 {
            heights.entry(amount).or_default().push(line.height);
        }
    }
    heights
}

fn compare_transfers(parties: &[Party], written: &Written, found: &mut Findings) {
    for (party, known) in parties.iter().enumerate() {
        for (side, word) in [(-1, "paid"), (1, "received")] {
            let mut there = postings(written, party, side);
            let own = |t: &&Transfer| [t.to, t.from][usize::from(side < 0)] == party;
            for transfer in written.transfers.iter().filter(own) {
                let heights = there.remove(&transfer.amount).unwrap_or_default();
                compare_one(transfer, word, &heights, found);
            }
            let name = &known.name;
            let unasked = there
                .keys()
                .map(|a| format!("{name} {word} {a}, which nobody asked for"));
            found.wrong.extend(unasked);
        }
    }
    let counts = |met: fn(&Outcome) -> bool| {
        let all = written.transfers.iter();
        all.filter(|t| met(&t.outcome)).count()
    };
    found.transfers = counts(|o| *o != Outcome::Asked);
    found.without_effect = counts(|o| *o == Outcome::NoEffect);
}

fn compare_one(transfer: &Transfer, word: &str, heights: &[u64], found: &mut Findings) {
    let amount = transfer.amount;
    let what = format!("transfer of {amount} ({word} at {heights:?})");
    match transfer.outcome {
        _ if heights.len() > 1 => found.doubled.push(what),
        Outcome::Final(_, height) if heights != [height] => {
            found.lost.push(format!("{what}, acknowledged at {height}"));
        }
        Outcome::NoEffect if !heights.is_empty() => {
            found
                .doubled
                .push(format!("{what}, said to have no effect"));
        }
        Outcome::Asked => found.wrong.push(format!("{what}, never answered")),
        Outcome::Final(..) | Outcome::NoEffect => {}
    }
}

fn compare_orders(written: &Written, found: &mut Findings) {
    let mut ids = BTreeSet::new();
    for order in &written.orders {
        let Some(id) = &order.id else {
            found
                .wrong
                .push(format!("order {} was never answered", order.name));
            continue;
        };
        found.orders += 1;
        if !ids.insert((order.buyer, id)) {
            found.doubled.push(format!("job {id} of {}", order.name));
        }
        match &order.end {
            Some(end) if end.state.is_final() && end.name == order.name => {
                if end.state == JobState::Done {
                    found.orders_done += 1;
                } else {
                    let reason = end.reason.map_or("", |reason| reason.name());
                    let word = format!("{} {reason}", end.state.name());
                    *found.other_ends.entry(word).or_default() += 1;
                }
            }
            end => found.lost.push(format!("order {}: {end:?}", order.name)),
        }
    }
}

fn add_up(parties: &[Party], written: &Written, statements: &[Statement], found: &mut Findings) {
    let known = written.movements.iter();
    for ((party, statement), (upto, lines)) in parties.iter().zip(statements).zip(known) {
        let (name, height) = (&party.name, statement.height);
        if *upto < height {
            found.wrong.push(format!(
                "the statement of {name} ends at {upto} of {height}"
            ));
        }
        let counted = lines.iter().filter(|line| line.height <= height);
        let moved: i128 = counted.map(|line| i128::from(line.amount.0)).sum();
        let sum = i128::from(party.start) + moved;
        if sum != i128::from(statement.balance) {
            let balance = statement.balance;
            found.wrong.push(format!(
                "{name}: movements make {sum}, the balance is {balance}"
            ));
        }
    }
    if statements.len() != parties.len() {
        found.wrong.push("an account without a balance".to_owned());
    }
}

#[cfg(test)]
#[path = "judge_tests.rs"]
mod tests;
