//! The buyer's agent: takes orders through the market and their jobs through the sellers' nodes.
//!
//! It reacts to three things: a block (where do the orders stand now?), an answer of a seller, and the
//! tick (what is to be started, what is to be asked again?). [`order`] follows one order on the ledger,
//! [`tasks`] plans its tasks, [`record`] is what survives a restart.

pub mod order;
pub mod record;
pub mod tasks;

pub use record::{Finish, Milestones, NewOrder, Record, TaskRecord, Terms};

use crate::agent::{AgentReply, AgentRequest, JobId, POLL_JOBS, PollJob, SignedStart, Start};
use crate::agent::{JobReport, StartRefusal};
use crate::effect::Effect;
use crate::input::AskToken;
use gridbay_ledger::State;
use gridbay_protocol::codec;
use gridbay_protocol::effect::Effect as Posted;
use gridbay_protocol::entry::SignedEntry;
use gridbay_protocol::ids::OrderId;
use gridbay_protocol::keys::PublicKey;
use gridbay_protocol::lease::LeaseEvent;
use gridbay_protocol::payment::{Posting, Purse, Reason};
use order::{OrderAgent, Signer};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use tasks::{Progress, Run};

/// Milliseconds between polls of a seller that runs tasks of an order.
const POLL_MS: u64 = 100;
/// Milliseconds to wait for an answer before asking again.
const ANSWER_MS: u64 = 3_000;
/// Milliseconds after which a refused start is tried again.
const RETRY_MS: u64 = 100;
/// Orders that one node keeps at the most; the oldest settled ones go first.
pub const ORDERS: usize = 10_000;

/// Local name of an order, known before the ledger has one: 8 bytes, 16 hex digits in text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct OrderKey(pub u64);

impl fmt::Display for OrderKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// Text that is no local name of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not the id of an order: want 16 hex digits")]
pub struct NotAnOrderKey;

impl FromStr for OrderKey {
    type Err = NotAnOrderKey;
    fn from_str(text: &str) -> Result<OrderKey, NotAnOrderKey> {
        let hex = text.len() == 16 && text.bytes().all(|b| b.is_ascii_hexdigit());
        let value = u64::from_str_radix(text, 16).ok().filter(|_| hex);
        value.map(OrderKey).ok_or(NotAnOrderKey)
    }
}

#[derive(Clone, Debug)]
enum Question {
    Start(JobId),
    Poll(Vec<PollJob>),
    Stop,
}

/// The agent.
#[derive(Debug)]
pub struct Buyer {
    orders: BTreeMap<OrderKey, OrderAgent>,
    asked: BTreeMap<AskToken, (OrderKey, Question)>,
    next_token: AskToken,
    /// Nodes with a poll under way or not due yet, by order: until when.
    quiet: BTreeMap<(OrderKey, PublicKey), u64>,
}

impl Buyer {
    /// The agent with the orders read back from disk.
    pub fn new(records: Vec<Record>) -> Buyer {
        let agent = |r: Record| (r.order.key, OrderAgent::new(r));
        Buyer {
            orders: records.into_iter().map(agent).collect(),
            asked: BTreeMap::new(),
            next_token: 1,
            quiet: BTreeMap::new(),
        }
    }
    /// All orders.
    pub fn orders(&self) -> impl Iterator<Item = (&OrderKey, &OrderAgent)> {
        self.orders.iter()
    }
    /// One order.
    pub fn order(&self, key: &OrderKey) -> Option<&OrderAgent> {
        self.orders.get(key)
    }

    /// Takes a new order. The record is saved before anything is sent.
    pub fn add(&mut self, order: NewOrder, state: &State, signer: &Signer<'_>) -> AddedOrder {
        let key = order.key;
        let mut agent = OrderAgent::new(Record::new(order));
        let submits = agent.after_block(state, signer);
        let save = save(key, &mut agent);
        self.orders.insert(key, agent);
        self.make_room();
        AddedOrder { save, submits }
    }

    /// Marks an order as cancelled.
    pub fn cancel(&mut self, key: &OrderKey) -> bool {
        let Some(agent) = self.orders.get_mut(key).filter(|a| a.finish().is_none()) else {
            return false;
        };
        agent.cancel();
        true
    }

    /// Takes in what a block did and looks at the state after it.
    pub fn after_block(
        &mut self,
        state: &State,
        posted: &[Posted],
        signer: &Signer<'_>,
        now_ms: u64,
        effects: &mut Vec<Effect>,
    ) -> Vec<SignedEntry> {
        self.note(state, posted);
        let mut submits = Vec::new();
        for agent in self.orders.values_mut().filter(|a| !a.is_settled()) {
            submits.extend(agent.after_block(state, signer));
        }
        let keys: Vec<OrderKey> = self.unsettled();
        for key in keys {
            self.plan(key, state, effects);
        }
        self.tick(state, signer, now_ms, effects);
        self.save_changed(effects);
        submits
    }

    fn unsettled(&self) -> Vec<OrderKey> {
        self.orders
            .iter()
            .filter(|(_, a)| !a.is_settled())
            .map(|(k, _)| *k)
            .collect()
    }

    fn note(&mut self, state: &State, posted: &[Posted]) {
        let (calendar, height) = (state.calendar(), state.height());
        for effect in posted {
            if let Posted::Lease(event) = effect
                && let Some(agent) = self.by_id(order_of(event))
            {
                agent.note_lease(event, &calendar, height);
            }
            match effect {
                Posted::Posting(posting) => self.note_posting(posting),
                Posted::Order { order, end } => {
                    if let Some(agent) = self.by_id(order) {
                        agent.note_end(Some(*end), None);
                    }
                }
                Posted::Lease(LeaseEvent::Ended { order, end, .. }) => {
                    if let Some(agent) = self.by_id(order) {
                        agent.note_end(None, Some(*end));
                    }
                }
                Posted::Lease(_) | Posted::Clearing(_) | Posted::Buy(_) => {}
            }
        }
    }

    fn note_posting(&mut self, posting: &Posting) {
        let Some(order) = posting.order else { return };
        let charge = match posting.reason {
            Reason::Charge => true,
            Reason::Refund => false,
            Reason::Compensation => matches!(posting.from, Purse::Escrow(o) if o == order),
            _ => return,
        };
        if let Some(agent) = self.by_id(&order) {
            agent.count_payment(posting.amount, !charge);
        }
    }

    fn by_id(&mut self, id: &OrderId) -> Option<&mut OrderAgent> {
        self.orders.values_mut().find(|a| a.id == Some(*id))
    }

    /// Takes runs off lost units and puts waiting tasks on free ones.
    fn plan(&mut self, key: OrderKey, state: &State, effects: &mut Vec<Effect>) {
        let Some(agent) = self.orders.get_mut(&key) else {
            return;
        };
        let (lease, places) = agent.places(state);
        let gone = agent.tasks.unplace(lease, &places);
        let started = match lease {
            Some(lease) => agent.tasks.place(lease, &places),
            None => Vec::new(),
        };
        for run in started.iter().filter(|r| r.job.attempt > 0) {
            effects.push(Effect::ResetOutput {
                order: key,
                task: run.job.task,
            });
        }
        for run in gone {
            self.ask(
                key,
                run.node,
                AgentRequest::Stop(run.job),
                Question::Stop,
                effects,
            );
        }
    }

    fn ask(
        &mut self,
        key: OrderKey,
        to: PublicKey,
        request: AgentRequest,
        question: Question,
        effects: &mut Vec<Effect>,
    ) {
        let token = self.next_token;
        self.next_token += 1;
        self.asked.insert(token, (key, question));
        effects.push(Effect::Ask { token, to, request });
    }

    /// Asks what is due. Returns when to be called again, if anything runs.
    pub fn tick(
        &mut self,
        state: &State,
        signer: &Signer<'_>,
        now_ms: u64,
        effects: &mut Vec<Effect>,
    ) -> Option<u64> {
        self.quiet.retain(|_, until| *until > now_ms);
        let mut busy = false;
        for key in self.unsettled() {
            let Some(agent) = self.orders.get(&key) else {
                continue;
            };
            busy |= !agent.tasks.runs.is_empty();
            let due = |r: &&Run| !r.accepted && r.asked_until_ms <= now_ms;
            let starts: Vec<Run> = agent.tasks.runs.values().filter(due).copied().collect();
            for run in starts {
                self.ask_start(key, run, state, signer, now_ms, effects);
            }
            self.ask_polls(key, now_ms, effects);
        }
        busy.then_some(now_ms + POLL_MS / 2)
    }

    fn ask_start(
        &mut self,
        key: OrderKey,
        run: Run,
        state: &State,
        signer: &Signer<'_>,
        now_ms: u64,
        effects: &mut Vec<Effect>,
    ) {
        let Some(agent) = self.orders.get_mut(&key) else {
            return;
        };
        if let Some(run) = agent.tasks.runs.get_mut(&run.job.task) {
            run.asked_until_ms = now_ms + ANSWER_MS;
        }
        let start = Start {
            job: run.job,
            offer: run.offer,
            tasks: agent.order().tasks,
            spec: agent.order().spec.clone(),
            salt: agent.work_salt(),
            key: signer.key.public(),
        };
        let signed = SignedStart::new(&state.network(), start, signer.key);
        let request = AgentRequest::Start(Box::new(signed));
        self.ask(key, run.node, request, Question::Start(run.job), effects);
    }

    fn ask_polls(&mut self, key: OrderKey, now_ms: u64, effects: &mut Vec<Effect>) {
        let Some(agent) = self.orders.get(&key) else {
            return;
        };
        let polls = agent.tasks.polls(POLL_JOBS);
        let due: Vec<_> = polls
            .into_iter()
            .filter(|(node, _)| !self.quiet.contains_key(&(key, *node)))
            .collect();
        for (node, jobs) in due {
            self.quiet.insert((key, node), now_ms + ANSWER_MS);
            let request = AgentRequest::Poll(jobs.clone());
            self.ask(key, node, request, Question::Poll(jobs), effects);
        }
    }

    /// A seller answered, or did not.
    pub fn answered(
        &mut self,
        token: AskToken,
        from: Option<AgentReply>,
        state: &State,
        now_ms: u64,
        effects: &mut Vec<Effect>,
    ) {
        let Some((key, question)) = self.asked.remove(&token) else {
            return;
        };
        match (question, from) {
            (Question::Stop, _) => {}
            (Question::Start(job), reply) => self.start_answered(key, &job, reply, now_ms),
            (Question::Poll(polls), reply) => {
                self.poll_answered(key, &polls, reply, now_ms, effects);
                self.plan(key, state, effects);
            }
        }
        self.save_changed(effects);
    }

    fn start_answered(&mut self, key: OrderKey, job: &JobId, reply: Option<AgentReply>, now: u64) {
        let Some(agent) = self.orders.get_mut(&key) else {
            return;
        };
        let Some(run) = agent
            .tasks
            .runs
            .get_mut(&job.task)
            .filter(|r| r.job == *job)
        else {
            return;
        };
        match reply {
            Some(AgentReply::Ok) => {
                run.accepted = true;
                let node = run.node;
                self.quiet.remove(&(key, node));
            }
            Some(AgentReply::Refused(
                why @ (StartRefusal::OtherWork | StartRefusal::NotBuyer | StartRefusal::Invalid),
            )) => {
                tracing::warn!(order = %key, %job, %why, "a seller refuses the job");
                run.asked_until_ms = now + 10 * RETRY_MS;
            }
            _ => run.asked_until_ms = now + RETRY_MS,
        }
    }

    fn poll_answered(
        &mut self,
        key: OrderKey,
        polls: &[PollJob],
        reply: Option<AgentReply>,
        now_ms: u64,
        effects: &mut Vec<Effect>,
    ) {
        let node = polls.first().and_then(|p| self.node_of(key, &p.job));
        let reports = match reply {
            Some(AgentReply::Reports(reports)) => reports,
            _ => Vec::new(),
        };
        let mut more = false;
        for (poll, report) in polls.iter().zip(&reports).filter(|(p, r)| p.job == r.job) {
            more |= !report.stdout.is_empty() || !report.stderr.is_empty();
            self.take_report(key, poll, report, effects);
        }
        if let Some(node) = node {
            // Output flows: ask on at once. Else wait a little.
            let until = if more { now_ms } else { now_ms + POLL_MS };
            self.quiet.insert((key, node), until);
        }
    }

    fn node_of(&self, key: OrderKey, job: &JobId) -> Option<PublicKey> {
        self.orders
            .get(&key)?
            .tasks
            .runs
            .get(&job.task)
            .map(|r| r.node)
    }

    fn take_report(
        &mut self,
        key: OrderKey,
        poll: &PollJob,
        report: &JobReport,
        effects: &mut Vec<Effect>,
    ) {
        let Some(agent) = self.orders.get_mut(&key) else {
            return;
        };
        let node = agent.tasks.runs.get(&report.job.task).map(|r| r.node);
        let Some(progress) = agent.tasks.report(poll, report) else {
            return;
        };
        for (stderr, from, bytes) in [
            (false, poll.stdout_from, &report.stdout),
            (true, poll.stderr_from, &report.stderr),
        ] {
            if !bytes.is_empty() {
                let (task, bytes) = (report.job.task, bytes.clone());
                effects.push(Effect::AppendOutput {
                    order: key,
                    task,
                    stderr,
                    from,
                    bytes,
                });
            }
        }
        match (progress, node) {
            (Progress::OutputComplete, Some(node)) => {
                let paths = agent.order().spec.outputs.clone();
                if paths.is_empty() {
                    self.task_complete(key, &report.job);
                } else {
                    if let Some(run) = agent.tasks.runs.get_mut(&report.job.task) {
                        run.fetching = true;
                    }
                    let job = report.job;
                    effects.push(Effect::FetchOutputs {
                        order: key,
                        job,
                        from: node,
                        paths,
                    });
                }
            }
            (Progress::Lost, _) => {
                agent.touch();
                if agent.tasks.is_hopeless() {
                    agent.set_finish(Finish::Ended("lost".to_string()));
                }
            }
            _ => {}
        }
    }

    /// The output files of a run are here (or must be asked for again).
    pub fn fetched(&mut self, key: OrderKey, job: &JobId, ok: bool, effects: &mut Vec<Effect>) {
        let runs = |agent: &OrderAgent| {
            agent
                .tasks
                .runs
                .get(&job.task)
                .is_some_and(|r| r.job == *job)
        };
        if !self.orders.get(&key).is_some_and(runs) {
            return;
        }
        if ok {
            effects.push(Effect::KeepFiles {
                order: key,
                job: *job,
            });
            self.task_complete(key, job);
        } else if let Some(agent) = self.orders.get_mut(&key)
            && let Some(run) = agent.tasks.runs.get_mut(&job.task)
        {
            run.fetching = false;
        }
        self.save_changed(effects);
    }

    fn task_complete(&mut self, key: OrderKey, job: &JobId) {
        let Some(agent) = self.orders.get_mut(&key) else {
            return;
        };
        agent.tasks.complete(job);
        agent.touch();
        if agent.tasks.all_done() {
            agent.set_finish(Finish::Done);
        }
    }

    /// Saves the records that changed.
    pub fn save_changed(&mut self, effects: &mut Vec<Effect>) {
        for (key, agent) in &mut self.orders {
            if agent.take_dirty() {
                effects.push(Effect::SaveOrder {
                    order: *key,
                    record: codec::encode(&agent.record()),
                });
            }
        }
    }

    fn make_room(&mut self) {
        while self.orders.len() > ORDERS {
            let oldest = self
                .orders
                .iter()
                .filter(|(_, a)| a.is_settled())
                .min_by_key(|(_, a)| a.order().accepted_ms)
                .map(|(k, _)| *k);
            match oldest {
                Some(key) => self.orders.remove(&key),
                None => return,
            };
        }
    }
}

fn order_of(event: &LeaseEvent) -> &OrderId {
    match event {
        LeaseEvent::Started(terms) | LeaseEvent::Renewed(terms) => &terms.order,
        LeaseEvent::Ended { order, .. } => order,
    }
}

/// What taking a new order leads to, in this order.
#[derive(Debug)]
pub struct AddedOrder {
    /// Keep the record.
    pub save: Effect,
    /// Then send these to the ledger.
    pub submits: Vec<SignedEntry>,
}

fn save(key: OrderKey, agent: &mut OrderAgent) -> Effect {
    agent.take_dirty();
    Effect::SaveOrder {
        order: key,
        record: codec::encode(&agent.record()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_keys_have_one_text_form() {
        let key = OrderKey(0xab);
        assert_eq!(key.to_string(), "00000000000000ab");
        assert_eq!(key.to_string().parse(), Ok(key));
        for bad in ["", "ab", "+0000000000000ab", "000000000000000g"] {
            assert_eq!(bad.parse::<OrderKey>(), Err(NotAnOrderKey), "{bad:?}");
        }
    }
}
