//! One order of a buyer: drives it through the ledger's rounds until it is over.
//!
//! After every block the order's place in the ledger's state decides the next step:
//!
//! | the ledger says | the agent |
//! |---|---|
//! | nothing, entry still valid | sends the commitment (or buy) again from time to time |
//! | nothing, entry too late | makes a new attempt with new salts |
//! | sealed in round r | keeps the bid secret until r has closed, then opens it and collects receipts |
//! | unopened | appeals with the receipts, if they suffice |
//! | standing, booked | waits |
//! | running | starts tasks on its units |
//! | standing, booked or running, but over for us, or ended (`collecting`) | cancels |
//! | gone, but output is still to come | waits for it |
//! | gone | finishes |
//! | a contract | see `jobs` |

use super::appeal::Opening;
use super::complaint::Unserved;
use super::experience::Experience;
use super::introductions::Introductions;
use super::pace::{LastAsked, RESEND_HEIGHTS};
use super::record::{Finish, Milestones, Record};
use super::relays::Relays;
pub use super::seen::Seen;
use super::setup::Setup;
use super::tasks::Tasks;
use crate::buy::{Asked, End, NewOrder, SEND_HEIGHTS, commit};
use crate::project::ProjectMark;
use crate::signer::Signer;
use gridbay_host::Sought;
use gridbay_ledger::State;
use gridbay_protocol::entry::{EntryBody, SignedEntry};
use gridbay_protocol::ids::{ClassId, EntryId, Hash32, LeaseId, OfferId, OrderId};
use gridbay_protocol::order::{Open, Wish, entry_of, order_of};
use gridbay_protocol::receipt::SignedReceipt;
use gridbay_protocol::units::Credits;
use std::collections::BTreeMap;

/// Commitments that may fail to be included or opened before the order is given up.
pub(super) const ATTEMPTS: u32 = 5;

/// The agent of one order.
#[derive(Clone, Debug)]
pub struct OrderAgent {
    /// The record kept on disk. Task records live in `tasks` and are put in on saving.
    pub(super) record: Record,
    /// The tasks.
    pub tasks: Tasks,
    /// Id of this attempt's order, once there is one.
    pub id: Option<OrderId>,
    /// Where the ledger had it after the last block.
    pub seen: Seen,
    /// Whether the ledger was looked at since the record was read.
    looked: bool,
    /// Why the ledger ended it or its last lease.
    pub last_end: Option<End>,
    /// Why the ledger did not take its entry when it was last sent, in a word, and whether it may
    /// do so later.
    pub(super) refusal: Option<(&'static str, bool)>,
    sent_at: u64,
    cancelled_at: u64,
    appealed_at: u64,
    pub(super) asked: LastAsked,
    pub(super) dirty: bool,
    /// Works of the jobs of a contract, once they are needed.
    pub(super) works: BTreeMap<Hash32, u32>,
    /// Whether the progress of its tasks was forgotten, because it is over.
    pub(super) dropped: bool,
    /// Units that were not served lately.
    pub(super) unserved: BTreeMap<(LeaseId, OfferId), Unserved>,
    /// What the nodes of its leases were told of one another.
    pub(super) introductions: Introductions,
    /// The relays of its networks.
    pub(super) relays: Relays,
    /// Height at which all its tasks were first seen to have ended.
    pub(super) ended_at: Option<u64>,
    /// When it ends although some tasks are not done: its first one is, which leads them.
    pub(super) led_until_ms: Option<u64>,
}

impl OrderAgent {
    /// The agent of a new order or of one read back from disk.
    pub fn new(mut record: Record) -> OrderAgent {
        let tasks = std::mem::take(&mut record.tasks);
        let open = record.finish.is_none();
        let keeps = record.order.spec.checkpoint.is_some() && open;
        OrderAgent {
            record,
            tasks: Tasks::recall(tasks, keeps, open),
            id: None,
            seen: Seen::Absent,
            looked: false,
            last_end: None,
            refusal: None,
            sent_at: 0,
            cancelled_at: 0,
            appealed_at: 0,
            asked: LastAsked::default(),
            dirty: false,
            works: BTreeMap::new(),
            dropped: false,
            unserved: BTreeMap::new(),
            introductions: Introductions::default(),
            relays: Relays::default(),
            ended_at: None,
            led_until_ms: None,
        }
    }
    /// The record with the tasks as they are.
    pub fn record(&self) -> Record {
        Record {
            tasks: self.tasks.records.clone(),
            ..self.record.clone()
        }
    }
    /// The user's order.
    pub fn order(&self) -> &NewOrder {
        &self.record.order
    }
    /// The project that it is of, if it is of one.
    pub fn project(&self) -> Option<&ProjectMark> {
        self.record.project.as_ref()
    }
    /// Set once the buyer's side is over.
    pub fn finish(&self) -> Option<&Finish> {
        self.record.finish.as_ref()
    }
    /// The opening of this attempt's bid, once it was sent.
    pub fn sent_opening(&self) -> Option<&Opening> {
        self.record.opening.as_ref()
    }
    /// What the members of its networks have told.
    pub fn introductions(&self) -> &Introductions {
        &self.introductions
    }
    /// The relays of its networks.
    pub fn relays(&self) -> &Relays {
        &self.relays
    }
    /// How its networks came to stand.
    pub fn setups(&self) -> &[Setup] {
        &self.record.setups
    }
    /// Its milestones.
    pub fn milestones(&self) -> &Milestones {
        &self.record.milestones
    }
    /// Its experience with its pool.
    pub fn experience(&self) -> &Experience {
        &self.record.experience
    }
    /// Charged less refunded.
    pub fn paid(&self) -> Credits {
        self.record.paid
    }
    /// Whether nothing of it can happen any more on either side. A node that was killed when its
    /// job had just ended may still pay for a lease: its order is not settled before the ledger was
    /// asked.
    pub fn is_settled(&self) -> bool {
        let quiet = self.seen == Seen::Absent && self.record.amending.is_none();
        let quiet = quiet && !self.may_complain();
        self.record.finish.is_some() && self.looked && quiet
    }
    /// Whether the record changed since it was last taken for saving.
    pub fn take_dirty(&mut self) -> bool {
        std::mem::take(&mut self.dirty)
    }
    /// Marks the record as changed.
    pub fn touch(&mut self) {
        self.dirty = true;
    }
    /// The user cancels.
    pub fn cancel(&mut self) {
        self.record.cancelling = true;
        self.dirty = true;
    }
    /// Whether the user has cancelled it.
    pub fn is_cancelling(&self) -> bool {
        self.record.cancelling
    }
    /// Ends the buyer's side.
    pub fn set_finish(&mut self, finish: Finish) {
        if self.record.finish.is_none() {
            self.record.finish = Some(finish);
            self.dirty = true;
        }
    }

    /// Looks at the state after a block; returns what to send to the ledger.
    pub fn after_block(&mut self, state: &State, signer: &Signer<'_>) -> Vec<SignedEntry> {
        let mut entries = self.order_after_block(state, signer);
        self.follow_worth(state);
        entries.extend(self.amend_after_block(state, signer));
        entries
    }

    fn order_after_block(&mut self, state: &State, signer: &Signer<'_>) -> Vec<SignedEntry> {
        let height = state.height();
        if let Some(id) = self.current_id(state, signer) {
            self.seen = Seen::of(state, &id);
        }
        self.looked = true;
        if self.seen != Seen::Absent {
            self.note_inclusion(height);
        }
        match self.seen {
            Seen::Absent if self.record.finish.is_some() => Vec::new(),
            Seen::Absent if self.record.included && self.collects() => Vec::new(),
            Seen::Absent if self.record.included => self.gone(state, signer),
            Seen::Absent => self.send(state, signer),
            Seen::Sealed(round) => self.open(state, signer, round),
            Seen::Unopened => self.appeal(state, signer),
            Seen::Standing | Seen::Booked(_) | Seen::Running(_) => {
                if self.record.milestones.opened == 0 {
                    self.record.milestones.opened = height;
                    self.dirty = true;
                }
                self.cancel_if_over(state, signer)
            }
            Seen::Proposed | Seen::Contract => self.under_contract(state, signer),
        }
    }

    /// Whether nothing of it is to run any more.
    pub(crate) fn is_over(&self) -> bool {
        self.record.finish.is_some() || self.record.cancelling
    }

    /// Why the ledger did not take its entry when it was last sent, in a word.
    pub fn refusal(&self) -> Option<&'static str> {
        self.refusal.map(|(word, _)| word)
    }

    /// The class of which a buy of several found too few units, when it ended for that.
    pub fn short(&self) -> Option<ClassId> {
        self.record.short
    }

    pub(super) fn current_id(&mut self, state: &State, signer: &Signer<'_>) -> Option<OrderId> {
        if self.id.is_none() && self.record.attempt > 0 {
            self.id = Some(order_of(&self.entry(state, signer).id()));
        }
        self.id
    }

    /// The entry of this attempt, if it was not seen in the book and can come into it no more.
    pub(super) fn overdue(&self, height: u64) -> Option<Sought> {
        let valid_until = self.record.valid_until;
        let unseen = self.seen == Seen::Absent && !self.record.included;
        let id = entry_of(self.id.as_ref()?);
        (unseen && height >= valid_until).then_some(Sought { valid_until, id })
    }

    fn gone(&mut self, state: &State, signer: &Signer<'_>) -> Vec<SignedEntry> {
        let not_opened = matches!(
            self.last_end,
            Some(End::NotOpened | End::Waived | End::Excused)
        );
        if self.record.cancelling {
            self.set_finish(Finish::Cancelled);
        } else if not_opened && self.record.attempt < ATTEMPTS {
            self.new_attempt(state, signer);
            return self.send(state, signer);
        } else {
            let end = match self.last_end.clone() {
                // Its units were given up, and then some of the output was not to be had.
                Some(End::Cancelled | End::Exit) if self.ended_at.is_some() => End::Lost,
                end => end.unwrap_or(End::Ended),
            };
            self.set_finish(Finish::Ended(end));
        }
        Vec::new()
    }

    /// Sends the entry of this attempt; makes a new attempt if that one can come no more.
    fn send(&mut self, state: &State, signer: &Signer<'_>) -> Vec<SignedEntry> {
        let height = state.height();
        if self.record.cancelling && (self.record.attempt == 0 || height > self.record.valid_until)
        {
            self.set_finish(Finish::Cancelled);
            return Vec::new();
        }
        let never = matches!(self.refusal, Some((_, false)));
        if height >= self.record.valid_until || never {
            if let Some(word) = self.hopeless(state) {
                self.set_finish(Finish::Refused(word.to_string()));
                return Vec::new();
            }
            self.new_attempt(state, signer);
        } else if height < self.sent_at + RESEND_HEIGHTS {
            return Vec::new();
        }
        self.sent_at = height;
        vec![self.entry(state, signer)]
    }

    /// Why another attempt would be in vain, in a word.
    fn hopeless(&self, state: &State) -> Option<&'static str> {
        if let Some((word, false)) = self.refusal {
            return Some(word);
        }
        let never = self.record.order.hopeless(state);
        let spent = self.record.attempt >= ATTEMPTS;
        let spent = spent.then(|| self.refusal().unwrap_or("not_included"));
        never.or(spent)
    }

    fn new_attempt(&mut self, state: &State, signer: &Signer<'_>) {
        let height = state.height();
        self.record.attempt += 1;
        self.record.included = false;
        self.record.opening = None;
        let last = self.record.order.last_commitment(&state.calendar());
        self.record.valid_until = last.min(height + SEND_HEIGHTS);
        let (order, until) = (&self.record.order, self.record.valid_until);
        let asked = order.asked(&order.attempt(&state.calendar(), height, until));
        (self.record.wish, self.record.proposal) = match asked {
            Asked::Sealed(wish) => (Some(wish), None),
            Asked::Proposed(terms) => (None, Some(terms)),
            Asked::Open(_) => (None, None),
        };
        self.last_end = None;
        self.refusal = None;
        self.sent_at = 0;
        self.id = Some(order_of(&self.entry(state, signer).id()));
        self.dirty = true;
    }

    /// The entry of this attempt: the same bytes whenever it is asked for.
    fn entry(&self, state: &State, signer: &Signer<'_>) -> SignedEntry {
        let salt = self.record.seal_salt();
        let seal = |wish: &Wish| commit(wish, state, &signer.account, &salt);
        let body = self.record.asked(&state.calendar()).body(seal);
        signer.sign(state, body, self.record.valid_until)
    }

    fn open(&mut self, state: &State, signer: &Signer<'_>, round: u64) -> Vec<SignedEntry> {
        let (height, calendar) = (state.height(), state.policy().calendar);
        let closed = height >= calendar.last_of_round(round);
        let deadline = calendar.last_of_round(round + 1) - 1;
        let (Some(id), Some(wish)) = (self.id, self.record.wish.clone()) else {
            return Vec::new();
        };
        let asked = self.sent_at > calendar.last_of_round(round).saturating_sub(1)
            && height < self.sent_at + RESEND_HEIGHTS;
        if !closed || height >= deadline || asked {
            return Vec::new();
        }
        self.sent_at = height;
        let signed = signer.sign(state, EntryBody::Open(self.opening(&id, wish)), deadline);
        let opening = Opening {
            entry: signed.id(),
            key: signed.entry.key,
            valid_until: deadline,
            receipts: Vec::new(),
        };
        if self.record.opening.as_ref().map(|o| o.entry) != Some(opening.entry) {
            self.record.opening = Some(opening);
            self.dirty = true;
        }
        vec![signed]
    }

    fn opening(&self, id: &OrderId, wish: Wish) -> Open {
        Open {
            commit: entry_of(id),
            wish,
            salt: self.record.seal_salt(),
        }
    }

    /// Keeps what validators have acknowledged of an opening that is not in the book yet.
    pub fn keep_receipts(&mut self, receipts: impl Fn(&EntryId) -> Vec<SignedReceipt>) {
        let sealed = matches!(self.seen, Seen::Sealed(_));
        let own = self.record.opening.as_mut().filter(|_| sealed);
        let amending = self.record.amending.as_mut();
        let sent = amending.and_then(|a| a.sent.as_mut()?.opening.as_mut());
        for opening in own.into_iter().chain(sent) {
            let found = receipts(&opening.entry);
            if found.len() > opening.receipts.len() {
                opening.receipts = found;
                self.dirty = true;
            }
        }
    }

    fn appeal(&mut self, state: &State, signer: &Signer<'_>) -> Vec<SignedEntry> {
        let height = state.height();
        let asked = self.appealed_at > 0 && height < self.appealed_at + RESEND_HEIGHTS;
        let (Some(id), Some(wish), Some(sent)) = (self.id, &self.record.wish, &self.record.opening)
        else {
            return Vec::new();
        };
        let open = self.opening(&id, wish.clone());
        let until = state.unopened(&id).map_or(0, |order| order.until);
        let Some(appeal) = sent.appeal(state, &id, open).filter(|_| !asked) else {
            return Vec::new();
        };
        self.appealed_at = height;
        let body = EntryBody::Appeal(Box::new(appeal));
        vec![signer.sign(state, body, until)]
    }

    fn cancel_if_over(&mut self, state: &State, signer: &Signer<'_>) -> Vec<SignedEntry> {
        let height = state.height();
        let over = self.is_over() || self.needs_no_unit(height);
        let asked = self.cancelled_at > 0 && height < self.cancelled_at + RESEND_HEIGHTS;
        let exiting = self
            .id
            .and_then(|id| state.order(&id))
            .is_some_and(|o| o.exiting);
        let wanted = self.id.filter(|_| over && !asked && !exiting);
        // An order that is final for now is cancelled as soon as it is not.
        let Some(order) = wanted.filter(|id| !state.is_final(id)) else {
            return Vec::new();
        };
        self.cancelled_at = height;
        let valid_until = height + RESEND_HEIGHTS;
        vec![signer.sign(state, EntryBody::Cancel { order }, valid_until)]
    }
}
