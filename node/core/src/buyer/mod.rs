//! The buyer's agent: takes orders through the market and their jobs through the sellers' nodes.
//!
//! It reacts to three things: a block (where do the orders stand now?), an answer of a seller, and
//! the tick (which starts and questions are due?). [`order`] follows one order on the ledger,
//! [`tasks`] plans its tasks, `ask` talks to the sellers, [`record`] survives a restart.

mod amend;
mod amending;
pub mod appeal;
mod ask;
mod attempts;
pub(crate) mod carriers;
mod checkpoints;
mod cluster;
mod collecting;
pub mod complaint;
mod contents;
mod copies;
mod experience;
mod guests;
mod introductions;
mod jobs;
mod leaving;
mod led;
mod losses;
mod news;
pub mod order;
mod pace;
mod places;
mod polls;
mod projects;
pub mod record;
mod relay;
mod relays;
mod run;
mod seen;
mod setup;
mod source;
pub mod tasks;
mod visits;
mod worth;

pub use attempts::{Attempt, AttemptEnd, History, Kept, Resumed};
pub use contents::Share;
pub use introductions::{Introductions, Reached};
pub use projects::ProjectUse;
pub use record::{Finish, Milestones, Record, TaskRecord};
pub use relays::{Ends, Relays};
pub use setup::Setup;
pub use source::Source;
pub use visits::{Visited, Welcome};

use crate::agent::{AgentRequest, RunId};
use crate::buy::NewOrder;
use crate::effect::Effect;
use crate::input::{AskToken, Fetch, Now};
use crate::key::OrderKey;
use crate::project::ProjectMark;
use crate::signer::Signer;
use ask::{Asked, Question};
use gridbay_host::Host;
use gridbay_ledger::{Refusal, State};
use gridbay_protocol::codec;
use gridbay_protocol::effect::Effect as LedgerEffect;
use gridbay_protocol::entry::SignedEntry;
use gridbay_protocol::ids::{ClassId, EntryId, LeaseId, OrderId};
use gridbay_protocol::keys::PublicKey;
use gridbay_protocol::mechanism::share::Utility;
use gridbay_protocol::order::{Step, order_of as order_id};
use gridbay_protocol::payment::{Posting, Purse, Reason};
use gridbay_protocol::units::Credits;
use order::OrderAgent;
use polls::Polls;
use std::collections::BTreeMap;

/// Orders of no project that one node keeps at the most; the oldest settled ones go first.
pub const ORDERS: usize = 10_000;
/// Orders of projects that one node takes at the most. None is forgotten: budgets count them.
pub const PROJECT_ORDERS: usize = 100_000;

/// The agent.
#[derive(Debug)]
pub struct Buyer {
    node: PublicKey,
    orders: BTreeMap<OrderKey, OrderAgent>,
    /// This node's order behind each order on the ledger, for all attempts at it.
    keys: BTreeMap<OrderId, OrderKey>,
    asked: BTreeMap<AskToken, Asked>,
    next_token: AskToken,
    polls: Polls,
    /// Bytes of each stream of a task that this node keeps.
    output_bytes: u64,
    /// The networks of others' leases that this node is in, or wants to be.
    visits: BTreeMap<LeaseId, Visited>,
}

impl Buyer {
    /// The agent of the node with this transport key, with the orders read back from disk.
    pub fn new(node: PublicKey, records: Vec<Record>) -> Buyer {
        let agent = |r: Record| (r.order.key, OrderAgent::new(r));
        Buyer {
            node,
            orders: records.into_iter().map(agent).collect(),
            keys: BTreeMap::new(),
            asked: BTreeMap::new(),
            next_token: 1,
            polls: Polls::default(),
            output_bytes: u64::MAX,
            visits: BTreeMap::new(),
        }
    }
    /// This node keeps so many bytes of each stream of a task; without this, all.
    pub(crate) fn keep_output(&mut self, bytes: u64) {
        self.output_bytes = bytes;
    }
    /// All orders.
    pub fn orders(&self) -> impl Iterator<Item = (&OrderKey, &OrderAgent)> {
        self.orders.iter()
    }
    /// One order.
    pub fn order(&self, key: &OrderKey) -> Option<&OrderAgent> {
        self.orders.get(key)
    }

    /// Weights of the resources that past slots of orders of this class and program suggest to the
    /// next.
    pub fn learnt(
        &self,
        class: &ClassId,
        program: &str,
        utility: Utility,
        types: usize,
    ) -> Option<Vec<u32>> {
        let orders = self.orders.values();
        let seen = orders.map(|agent| (agent.order(), agent.experience()));
        experience::learnt(seen, class, program, utility, types)
    }

    /// Takes a new order, of a project or of none. The record is saved before anything is sent.
    pub fn add(
        &mut self,
        order: NewOrder,
        project: Option<ProjectMark>,
        state: &State,
        signer: &Signer<'_>,
    ) -> AddedOrder {
        let key = order.key;
        let mut agent = OrderAgent::new(Record {
            project,
            ..Record::new(order)
        });
        let submits = agent.after_block(state, signer);
        self.keys.extend(agent.id.map(|id| (id, key)));
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

    /// Changes an order's bid. False if there is no such bid, or it is over.
    pub fn amend(&mut self, key: &OrderKey, steps: Vec<Step>, budget: Credits) -> bool {
        let agent = self.orders.get_mut(key);
        agent.is_some_and(|agent| agent.amend(steps, budget))
    }

    /// Looks at the state after a block whose effects were noted. Questions to sellers wait for the
    /// tick that follows.
    pub fn after_block(
        &mut self,
        host: &Host,
        signer: &Signer<'_>,
        now: Now,
        effects: &mut Vec<Effect>,
    ) -> Vec<SignedEntry> {
        let state = host.state();
        self.identify(state, signer);
        let mut submits = Vec::new();
        for (key, agent) in self.orders.iter_mut().filter(|(_, a)| !a.is_settled()) {
            if let Some(entry) = agent.overdue(state.height())
                && let Some(height) = host.entry_height(entry)
            {
                agent.note_inclusion(height);
            }
            agent.keep_receipts(|opening| host.receipts(opening));
            submits.extend(agent.after_block(state, signer));
            submits.extend(agent.complain(state, signer));
            self.keys.extend(agent.id.map(|id| (id, *key)));
        }
        let keys: Vec<OrderKey> = self.unsettled();
        for key in keys {
            self.plan(key, state, now, effects);
        }
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

    /// Gives their ids to the orders that have none: those read back from disk.
    fn identify(&mut self, state: &State, signer: &Signer<'_>) {
        for (key, agent) in self.orders.iter_mut().filter(|(_, a)| a.id.is_none()) {
            let id = agent.current_id(state, signer);
            self.keys.extend(id.map(|id| (id, *key)));
        }
    }

    /// Notes the effects of the block of `height`. The state may be that of a later block.
    pub fn note(
        &mut self,
        state: &State,
        height: u64,
        posted: &[LedgerEffect],
        signer: &Signer<'_>,
    ) {
        let calendar = state.calendar();
        self.identify(state, signer);
        for effect in posted {
            match effect {
                LedgerEffect::Posting(posting) => self.note_posting(posting, height),
                LedgerEffect::Sharing(sharing) => {
                    for claim in &sharing.claims {
                        if let Some(agent) = self.by_id(&claim.order) {
                            agent.note_inclusion(height);
                            agent.note_sharing(sharing);
                        }
                    }
                }
                _ => {
                    let agent = effect.order().and_then(|order| self.by_id(&order));
                    if let Some(agent) = agent {
                        agent.note_inclusion(height);
                        agent.note(effect, &calendar, height);
                    }
                }
            }
        }
    }

    fn note_posting(&mut self, posting: &Posting, height: u64) {
        let Some(order) = posting.order else { return };
        let charge = match posting.reason {
            Reason::Charge | Reason::Cancellation => true,
            // A job by a deadline is paid when it is done, a contract when it is settled.
            Reason::Earning | Reason::Revenue => true,
            Reason::Refund | Reason::Damages => false,
            Reason::Compensation => matches!(posting.from, Purse::Escrow(o) if o == order),
            _ => return,
        };
        if let Some(agent) = self.by_id(&order) {
            agent.note_inclusion(height);
            agent.count_payment(posting.amount, !charge);
        }
    }

    /// The ledger does not take an entry. If the entry was for an own order, the order notes the
    /// reason.
    pub fn refused(&mut self, entry: &EntryId, refusal: &Refusal) {
        if let Some(agent) = self.by_id(&order_id(entry)) {
            agent.note_refusal(refusal);
        }
    }

    fn by_id(&mut self, id: &OrderId) -> Option<&mut OrderAgent> {
        let agent = self.orders.get_mut(self.keys.get(id)?)?;
        // An earlier attempt concerns nobody any more.
        (agent.id == Some(*id)).then_some(agent)
    }

    /// Takes runs off lost units and puts waiting tasks on free ones.
    fn plan(&mut self, key: OrderKey, state: &State, now: Now, effects: &mut Vec<Effect>) {
        let Some(agent) = self.orders.get_mut(&key) else {
            return;
        };
        // A ledger that is read anew does not know of its leases yet: that takes no unit away.
        if state.height() < agent.milestones().won {
            return;
        }
        let places = agent.places(state);
        let gone = agent.take_off(&places, state, now);
        let started = agent.tasks.place(&places, now.mono_ms);
        let spec = &agent.order().spec;
        let pulled = spec.checkpoint.is_some() || !spec.inputs.is_empty();
        if pulled && !started.is_empty() {
            // After a restart it is asked for this attempt again, and its seller pulls on.
            agent.touch();
        }
        for run in started.iter().filter(|r| r.job.attempt > 0) {
            effects.push(Effect::ResetOutput {
                order: key,
                task: run.job.task,
                attempt: run.job.attempt,
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

    /// The output files of a run are here, or must be asked for again, or are not to be had.
    pub fn fetched(
        &mut self,
        key: OrderKey,
        job: &RunId,
        fetch: Fetch,
        now: Now,
        effects: &mut Vec<Effect>,
    ) {
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
        if fetch == Fetch::Whole {
            effects.push(Effect::KeepFiles {
                order: key,
                job: *job,
            });
            self.task_complete(key, job, now);
        } else if let Some(agent) = self.orders.get_mut(&key)
            && agent.tasks.not_fetched(job, fetch, now.mono_ms)
        {
            tracing::warn!(order = %key, %job, "its output files are not to be had");
            self.lose(key, job.task, AttemptEnd::NoOutput, now);
        }
        self.save_changed(effects);
    }

    fn task_complete(&mut self, key: OrderKey, job: &RunId, now: Now) {
        let Some(agent) = self.orders.get_mut(&key) else {
            return;
        };
        agent.tasks.complete(job, self.output_bytes, now);
        agent.touch();
        if agent.tasks.all_done() {
            agent.note_last_task();
            agent.set_finish(Finish::Done);
        }
    }

    /// Saves the records that changed.
    pub fn save_changed(&mut self, effects: &mut Vec<Effect>) {
        for (key, agent) in &mut self.orders {
            if agent.take_dirty() {
                let over = agent.drop_progress();
                effects.push(Effect::SaveOrder {
                    order: *key,
                    record: codec::encode(&agent.record()),
                });
                let drop = |task| Effect::KeepCheckpoint {
                    order: *key,
                    task,
                    keep: None,
                };
                effects.extend(over.into_iter().map(drop));
            }
        }
    }

    fn make_room(&mut self) {
        let free = self.orders.values().filter(|a| a.project().is_none());
        let mut over = free.count().saturating_sub(ORDERS);
        while over > 0 {
            over -= 1;
            let oldest = self
                .orders
                .iter()
                .filter(|(_, a)| a.is_settled() && a.project().is_none())
                .min_by_key(|(_, a)| a.order().accepted_ms)
                .map(|(k, _)| *k);
            match oldest {
                Some(key) => {
                    self.orders.remove(&key);
                    self.keys.retain(|_, of| *of != key);
                }
                None => return,
            }
        }
    }
}

/// The results of taking a new order, in this order.
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
