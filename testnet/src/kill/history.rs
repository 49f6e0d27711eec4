//! The history of requests, acknowledgements and things shown. Load and reader write it, and it is
//! judged at the end. A contradiction between two things shown is noted at once.

use super::judge::{self, Chain, Findings, Statement};
use anyhow::bail;
use gridbay_node::api::types::{BlockInfo, JobId, JobRecord, Movement};
use gridbay_protocol::ids::{AccountId, BlockId, EntryId, Hash32};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Contradictions noted at the most: one is enough to fail.
const NOTED: usize = 20;

/// A node and its account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Party {
    /// Name of the node.
    pub(super) name: String,
    /// Its account.
    pub(super) account: AccountId,
    /// Micro-credits minted to it at the start.
    pub(super) start: i64,
}

/// The result of a transfer's request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// No answer yet.
    Asked,
    /// Acknowledged: the entry is in this block.
    Final(EntryId, u64),
    /// Acknowledged: it had no effect and will have none.
    NoEffect,
}

/// A transfer. Its amount is its own in the whole run, so each posting tells whose it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Transfer {
    /// Who pays, by position.
    pub(super) from: usize,
    /// The recipient, by position.
    pub(super) to: usize,
    /// Micro-credits.
    pub(super) amount: i64,
    /// Its result.
    pub(super) outcome: Outcome,
}

/// An order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Order {
    /// Who ordered, by position.
    pub(super) buyer: usize,
    /// Name of the job, its own in the whole run.
    pub(super) name: String,
    /// Id, once acknowledged.
    pub(super) id: Option<JobId>,
    /// Its record when it was over.
    pub(super) end: Option<JobRecord>,
}

/// A head that a node showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    /// The block.
    pub(super) block: BlockId,
    /// State after it.
    pub(super) state_root: Hash32,
}

/// All of it.
#[derive(Debug, Default)]
pub(super) struct Written {
    pub(super) transfers: Vec<Transfer>,
    pub(super) orders: Vec<Order>,
    pub(super) heads: BTreeMap<u64, Head>,
    /// Highest head that each node showed.
    pub(super) highest: BTreeMap<String, u64>,
    /// Movements of each account, ascending by height, and up to which height they are whole.
    pub(super) movements: Vec<(u64, Vec<Movement>)>,
    pub(super) contradictions: Vec<String>,
}

/// The history of a run.
#[derive(Debug)]
pub(super) struct History {
    /// Nodes and accounts, in the network's order.
    pub(super) parties: Vec<Party>,
    written: Mutex<Written>,
}

impl History {
    pub(super) fn new(parties: Vec<Party>) -> History {
        let movements = vec![(0, Vec::new()); parties.len()];
        History {
            parties,
            written: Mutex::new(Written {
                movements,
                ..Written::default()
            }),
        }
    }
    fn lock(&self) -> MutexGuard<'_, Written> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// A new transfer; returns its number. `amount` makes the amount of the number.
    pub(super) fn ask_transfer(
        &self,
        from: usize,
        to: usize,
        amount: impl Fn(usize) -> i64,
    ) -> usize {
        let mut written = self.lock();
        let number = written.transfers.len();
        written.transfers.push(Transfer {
            from,
            to,
            amount: amount(number),
            outcome: Outcome::Asked,
        });
        number
    }
    pub(super) fn answer_transfer(&self, number: usize, outcome: Outcome) {
        if let Some(transfer) = self.lock().transfers.get_mut(number) {
            transfer.outcome = outcome;
        }
    }
    /// A new order; returns its number and the name of its job.
    pub(super) fn ask_order(&self, buyer: usize) -> (usize, String) {
        let mut written = self.lock();
        let number = written.orders.len();
        let name = format!("kill-{number}");
        written.orders.push(Order {
            buyer,
            name: name.clone(),
            id: None,
            end: None,
        });
        (number, name)
    }
    /// An order was acknowledged. The id belongs to its key: two ids for one key are two orders.
    pub(super) fn answer_order(&self, number: usize, id: JobId) {
        let mut written = self.lock();
        let Some(order) = written.orders.get_mut(number) else {
            return;
        };
        let before = order.id.replace(id.clone());
        if before.as_ref().is_some_and(|before| *before != id) {
            let what = format!("order {number} was acknowledged as {before:?} and as {id}");
            written.note(what);
        }
    }
    pub(super) fn end_order(&self, number: usize, record: JobRecord) {
        if let Some(order) = self.lock().orders.get_mut(number) {
            order.end = Some(record);
        }
    }
    /// A node showed its head.
    pub(super) fn show_head(&self, node: &str, info: &BlockInfo) {
        let mut written = self.lock();
        let (height, block) = (info.height, info.block);
        let head = Head {
            block,
            state_root: info.state_root,
        };
        let known = *written.heads.entry(height).or_insert(head);
        if known != head {
            written.note(format!(
                "{node} shows {head:?} at {height}, others {known:?}"
            ));
        }
        let highest = written.highest.entry(node.to_owned()).or_default();
        let before = *highest;
        *highest = before.max(height);
        if height < before {
            written.note(format!("{node} showed height {before}, then {height}"));
        }
    }
    /// Adds what an account's statement shows above the height known so far, of a node at `height`.
    /// Newest first, and whole unless it is `full`.
    pub(super) fn add_movements(
        &self,
        party: usize,
        height: u64,
        lines: Vec<Movement>,
        full: bool,
    ) {
        let mut written = self.lock();
        let known = written.movements[party].0;
        if height <= known {
            return;
        }
        let gap = full && lines.last().is_some_and(|oldest| oldest.height > known + 1);
        if gap {
            let name = &self.parties[party].name;
            written.note(format!("the statement of {name} was read too late"));
        }
        let mut fresh: Vec<Movement> = lines
            .into_iter()
            .filter(|line| line.height > known && line.height <= height)
            .collect();
        fresh.reverse();
        let (upto, all) = &mut written.movements[party];
        *upto = height;
        all.extend(fresh);
    }
    /// Acknowledged transfers and orders.
    pub(super) fn acknowledged(&self) -> usize {
        let written = self.lock();
        let answered = |t: &&Transfer| t.outcome != Outcome::Asked;
        written.transfers.iter().filter(answered).count()
            + written
                .orders
                .iter()
                .filter(|order| order.id.is_some())
                .count()
    }
    /// Highest head shown.
    pub(super) fn height(&self) -> u64 {
        let written = self.lock();
        written
            .heads
            .last_key_value()
            .map_or(0, |(height, _)| *height)
    }
    /// Fails if something shown contradicts something else.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        match self.lock().contradictions.first() {
            Some(what) => bail!("contradiction: {what}"),
            None => Ok(()),
        }
    }
    /// Compares all of it with what the nodes hold at the end.
    pub(super) fn judged(
        &self,
        chains: &[Chain],
        statements: &[Statement],
        problems: Vec<String>,
    ) -> Findings {
        judge::compare(&self.parties, &self.lock(), chains, statements, problems)
    }
}

impl Written {
    fn note(&mut self, what: String) {
        if self.contradictions.len() < NOTED {
            self.contradictions.push(what);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_node::api::types::{Hex, Signed};
    use gridbay_protocol::ids::ValidatorId;
    use gridbay_protocol::payment::Reason;

    fn history() -> History {
        let party = |name: &str, n| Party {
            name: name.to_owned(),
            account: AccountId([n; 32]),
            start: 0,
        };
        History::new(vec![party("v1", 1), party("v2", 2)])
    }
    fn info(height: u64, block: u8) -> BlockInfo {
        BlockInfo {
            height,
            block: BlockId([block; 32]),
            time_ms: 0,
            proposer: ValidatorId([0; 32]),
            entries: 0,
            state_root: Hash32([0; 32]),
            log_root: Hash32([0; 32]),
            header: Hex(vec![]),
            certificate: Hex(vec![]),
        }
    }
    fn line(height: u64) -> Movement {
        Movement {
            height,
            time_ms: 0,
            amount: Signed(1),
            reason: Reason::Transfer,
            other: String::new(),
            order: None,
        }
    }

    #[test]
    fn another_block_at_a_height_and_a_forgotten_head_are_contradictions() {
        let history = history();
        history.show_head("v1", &info(5, 5));
        history.show_head("v2", &info(4, 4));
        history.show_head("v2", &info(5, 5));
        assert!(history.check().is_ok());
        history.show_head("v2", &info(4, 4));
        assert!(history.check().unwrap_err().to_string().contains("v2"));
        let history = self::history();
        history.show_head("v1", &info(5, 5));
        history.show_head("v2", &info(5, 6));
        assert!(history.check().is_err());
    }

    #[test]
    fn statements_are_put_together_without_gap_or_overlap() {
        let history = history();
        history.add_movements(0, 3, vec![line(3), line(2), line(1)], false);
        history.add_movements(0, 3, vec![line(3), line(2), line(1)], false);
        history.add_movements(0, 5, vec![line(5), line(5), line(4)], true);
        assert!(history.check().is_ok());
        let heights = |h: &History| -> Vec<u64> {
            h.lock().movements[0]
                .1
                .iter()
                .map(|line| line.height)
                .collect()
        };
        assert_eq!(heights(&history), [1, 2, 3, 4, 5, 5]);
        history.add_movements(0, 9, vec![line(9), line(8)], true);
        assert!(history.check().is_err(), "height 6 and 7 were never seen");
    }

    #[test]
    fn a_key_with_two_orders_is_a_contradiction() {
        let history = history();
        let (number, _) = history.ask_order(0);
        history.answer_order(number, JobId::from_bytes([1; 8]));
        history.answer_order(number, JobId::from_bytes([1; 8]));
        assert!(history.check().is_ok());
        history.answer_order(number, JobId::from_bytes([2; 8]));
        assert!(history.check().is_err());
        assert_eq!(history.acknowledged(), 1);
    }
}
