//! The machine: the ledger's host and the two agents behind one door.
//!
//! [`Core::step`] takes one [`Input`] and returns [`Effect`]s. It never waits, reads no clock and
//! draws no randomness, so a simulator can run it as well as a real node can.
//!
//! After every decided block, in this order:
//!
//! 1. the node looks for its account, if it has none yet;
//! 2. the seller's agent acknowledges leases, gives a sign of life once a slot, and stops jobs that
//!    lost their unit; while the disk is short of room, offers are held back;
//! 3. the buyer's agent moves its orders and their tasks; changed records are saved;
//! 4. the provider's agent, if there is one, signs contracts and rents units for their jobs;
//! 5. a changed advert is gossiped;
//! 6. a validator with a solver asks for better allocations of the reservations to come;
//! 7. a validator whose beacon chain runs out gets the next one;
//! 8. the entries of all of these go to the host, after those records are safe.

use crate::adverts::Adverts;
use crate::agent::AgentReply;
use crate::buyer::carriers::Carriers;
use crate::buyer::{Buyer, Record};
use crate::effect::Effect;
use crate::hints::Seeker;
use crate::input::{AskToken, Input, Now};
use crate::join::Joining;
use crate::keeper::{Held, Keeper};
use crate::provider::{Provider, ProviderTerms};
use crate::relay::RelayTerms;
use crate::renewal::Renewal;
use crate::reply::Refused;
use crate::seller::{JobMemo, Seller};
use crate::sent::Sent;
use crate::shelf::Shelf;
use crate::signer::{ENTRY_HEIGHTS, Signer};
use crate::wallet;
use crate::withheld::Withheld;
use gridbay_host::message::HostMessage;
use gridbay_host::{Fault, Host, HostEffect, HostInput, MempoolRefusal, Received, Stage};
use gridbay_ledger::State;
use gridbay_protocol::advert::Advert;
use gridbay_protocol::entry::{EntryBody, SignedEntry};
use gridbay_protocol::ids::{AccountId, EntryId};
use gridbay_protocol::keys::{PublicKey, SecretKey};
use std::sync::Arc;

/// The parts of a core.
pub struct Parts {
    /// The opened host.
    pub host: Host,
    /// Signs entries of the node's account.
    pub account_key: SecretKey,
    /// Transport key of this node.
    pub node: PublicKey,
    /// Orders read back from disk.
    pub orders: Vec<Record>,
    /// Jobs found on this machine.
    pub jobs: Vec<(JobMemo, crate::agent::Phase)>,
    /// On what terms the node provides under contracts, if it does.
    pub provider: Option<ProviderTerms>,
}

/// The machine.
pub struct Core {
    pub(crate) host: Host,
    pub(crate) key: SecretKey,
    pub(crate) account: Option<AccountId>,
    /// Whether the account was closed in this run of the node.
    pub(crate) closed: bool,
    pub(crate) buyer: Buyer,
    pub(crate) seller: Seller,
    pub(crate) keeper: Keeper,
    provider: Option<Provider>,
    pub(crate) joining: Option<Joining>,
    renewal: Renewal,
    pub(crate) sent: Sent,
    /// Entries that found no place in the pool in this step, or lost it.
    pub(crate) turned_away: Vec<(EntryId, Refused)>,
    pub(crate) withheld: Withheld,
    pub(crate) adverts: Adverts,
    pub(crate) node: PublicKey,
    wake_host: Option<u64>,
    wake_agents: Option<u64>,
    /// Whether better allocations of reservations are looked for.
    seeker: Option<Seeker>,
}

impl Core {
    /// Puts the parts together. Nothing happens before [`Input::Start`].
    pub fn new(parts: Parts) -> Core {
        Core {
            host: parts.host,
            key: parts.account_key,
            account: None,
            closed: false,
            buyer: Buyer::new(parts.node, parts.orders),
            seller: Seller::new(parts.node, parts.jobs),
            keeper: Keeper::default(),
            provider: parts.provider.map(Provider::new),
            joining: None,
            renewal: Renewal::default(),
            sent: Sent::default(),
            turned_away: Vec::new(),
            withheld: Withheld::default(),
            adverts: Adverts::default(),
            node: parts.node,
            wake_host: None,
            wake_agents: None,
            seeker: None,
        }
    }
    /// From now on asks for better allocations of reservations than the rule finds, if this node
    /// validates.
    pub fn seek_hints(&mut self) {
        self.seeker.get_or_insert_default();
    }
    /// From now on refuses jobs that need this ([`crate::needs`]): the machine lacks it.
    pub fn lacks(&mut self, need: &'static str) {
        self.seller.lacks(need);
    }
    /// From now on carries packets for others, so much of them.
    pub fn relays(&mut self, terms: RelayTerms) {
        self.seller.relays(terms);
    }
    /// This node keeps so many bytes of each stream of a task; without this, all.
    pub fn keep_output(&mut self, bytes: u64) {
        self.buyer.keep_output(bytes);
    }
    /// The copies of others' checkpoints that an earlier run kept.
    pub fn keep_copies(&mut self, held: Vec<Held>) {
        self.keeper = Keeper::new(held);
    }
    /// The copies of others' checkpoints.
    pub fn keeper(&self) -> &Keeper {
        &self.keeper
    }
    /// The ledger's state.
    pub fn state(&self) -> &State {
        self.host.state()
    }
    /// The ledger's host.
    pub fn host(&self) -> &Host {
        &self.host
    }
    /// Why the node takes no entries for the time being, for people to read; `None` if it does.
    pub fn trouble(&self) -> Option<gridbay_host::Trouble> {
        self.host.trouble()
    }
    /// The account this node trades for, once the ledger has it.
    pub fn account(&self) -> Option<AccountId> {
        // A core that has not started yet can be looked at as well.
        self.account
            .or_else(|| self.host.state().account_of(&self.key.public()))
    }
    /// The provider's agent, if its owner provides.
    pub fn provider(&self) -> Option<&Provider> {
        self.provider.as_ref()
    }
    /// The adverts of sellers.
    pub fn adverts(&self) -> &Adverts {
        &self.adverts
    }
    /// The knowledge about sellers' nodes, for queries.
    pub fn shelf(&self) -> Shelf {
        Shelf::new(&self.adverts, self.host.state(), self.node)
    }
    /// The knowledge about one node.
    pub fn shelf_of(&self, node: &PublicKey) -> Shelf {
        let theirs = |advert: &Advert| advert.node == *node;
        Shelf::with(&self.adverts, self.host.state(), self.node, theirs)
    }
    /// The buyer's agent.
    pub fn buyer(&self) -> &Buyer {
        &self.buyer
    }
    /// The seller's agent.
    pub fn seller(&self) -> &Seller {
        &self.seller
    }

    /// Takes one input.
    ///
    /// # Errors
    /// A [`Fault`] is this node's own failure (its disk, a broken invariant): it must stop. Nothing
    /// that a peer or a user sends leads to one.
    pub fn step(&mut self, now: Now, input: Input) -> Result<Vec<Effect>, Fault> {
        let mut effects = Vec::new();
        self.turned_away.clear();
        match input {
            Input::Start => self.start(now, &mut effects)?,
            Input::Tick => self.tick(now, &mut effects)?,
            Input::PeerUp(peer) => {
                self.feed(now, HostInput::PeerUp(*peer.as_bytes()), &mut effects)?;
            }
            Input::PeerDown(peer) => {
                self.feed(now, HostInput::PeerDown(*peer.as_bytes()), &mut effects)?;
            }
            Input::Host { from, bytes } => {
                let (from, message) = (*from.as_bytes(), Received::Bytes(bytes));
                self.feed(now, HostInput::Message { from, message }, &mut effects)?;
            }
            Input::Advert {
                token,
                heard,
                bytes,
            } => {
                let state = self.host.state();
                let verdict = self.adverts.hear(state, heard, now.mono_ms, &bytes);
                effects.push(Effect::Judge { token, verdict });
            }
            Input::About(about) => self.adverts.set_about(about),
            Input::Asked {
                token,
                from,
                request,
            } => self.asked(now, token, from, request, &mut effects),
            Input::Answered { token, reply } => self.answered(now, token, reply, &mut effects),
            Input::Command { token, command } => self.command(now, token, command, &mut effects)?,
            Input::Staged { job, ok } => self.seller.staged(&job, ok, &mut effects),
            Input::JobPhase { job, phase } => self.seller.phase(&job, phase, &mut effects),
            Input::Fetched { order, job, fetch } => {
                self.buyer.fetched(order, &job, fetch, now, &mut effects);
            }
            Input::Checkpointed {
                order,
                job,
                kept,
                copy,
            } => {
                self.buyer
                    .checkpointed(order, &job, (kept, copy), now, &mut effects);
                self.tick_buyer(now, &mut effects);
            }
            Input::Pulled { slot, whole } => self.keeper.pulled(slot, whole, &mut effects),
            Input::Short(short) => {
                self.seller.set_short(short);
                if short {
                    self.keeper.make_room(&mut effects);
                }
                self.after_block(now, &mut effects)?;
            }
            Input::Hinted(hint) => self.host.suggest(hint),
        }
        self.push_wake(&mut effects);
        Ok(effects)
    }

    fn start(&mut self, now: Now, effects: &mut Vec<Effect>) -> Result<(), Fault> {
        self.feed(now, HostInput::Start, effects)?;
        self.after_block(now, effects)
    }

    fn tick(&mut self, now: Now, effects: &mut Vec<Effect>) -> Result<(), Fault> {
        if self.wake_host.is_some_and(|at| at <= now.mono_ms) {
            self.wake_host = None;
            self.feed(now, HostInput::Tick, effects)?;
        }
        if self.wake_agents.is_some_and(|at| at <= now.mono_ms) {
            self.tick_buyer(now, effects);
        }
        Ok(())
    }

    fn tick_buyer(&mut self, now: Now, effects: &mut Vec<Effect>) {
        self.wake_agents = None;
        if let Some(account) = self.account {
            let signer = Signer {
                account,
                key: &self.key,
            };
            let relays = Carriers {
                adverts: &self.adverts,
                state: self.host.state(),
                own: self.node,
            };
            self.wake_agents = self.buyer.tick(&relays, &signer, now, effects);
        }
    }

    fn push_wake(&self, effects: &mut Vec<Effect>) {
        let wake = match (self.wake_host, self.wake_agents) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        effects.extend(wake.map(Effect::WakeAt));
    }

    fn encoded(&self, message: &HostMessage) -> Vec<u8> {
        let encode = || message.encode();
        self.host.stages().time(Stage::Encode, encode)
    }

    /// Feeds the host and carries out what it asks for.
    pub(crate) fn feed(
        &mut self,
        now: Now,
        input: HostInput,
        effects: &mut Vec<Effect>,
    ) -> Result<(), Fault> {
        let clocks = gridbay_host::Now {
            mono_ms: now.mono_ms,
            wall_ms: now.wall_ms,
        };
        let done = self.host.step(clocks, input)?;
        self.note(&done);
        for effect in done {
            match effect {
                HostEffect::Broadcast(message) => effects.push(Effect::Broadcast {
                    bytes: self.encoded(&message),
                }),
                HostEffect::Send { to, message } => {
                    effects.push(Effect::Send {
                        to,
                        bytes: self.encoded(&message),
                    });
                }
                HostEffect::WakeAt(at) => self.wake_host = Some(at),
                HostEffect::Penalise { peer, offence } => {
                    effects.push(Effect::Penalise {
                        peer,
                        reason: offence.to_string(),
                    });
                }
                HostEffect::Decided { block, .. } => {
                    let height = block.header().height;
                    effects.push(Effect::Decided {
                        height,
                        block: block.id(),
                    });
                    self.after_block(now, effects)?;
                }
                HostEffect::EntryAdmitted { .. }
                | HostEffect::Acknowledged { .. }
                | HostEffect::Receipted { .. } => {}
                HostEffect::EntryRefused { entry, refusal } => {
                    if let MempoolRefusal::Ledger(refusal) = &refusal {
                        self.buyer.refused(&entry, refusal);
                    }
                    tracing::debug!(%entry, %refusal, "an entry does not wait any more");
                    if let Some(why) = Refused::by_pool(&refusal) {
                        self.turned_away.push((entry, why));
                    }
                }
                HostEffect::Equivocation(deed) => {
                    tracing::warn!(?deed, "a validator contradicted itself");
                }
                // The host has written it down; views of the node's health ask for it.
                HostEffect::Trouble(_) => {}
            }
        }
        Ok(())
    }

    /// Tells the orders what decided blocks did to them, before anything looks at the state. After
    /// an absence the blocks come together, and the state is that of the last one from the first
    /// on: an order that came and went in between would seem never to have been included.
    fn note(&mut self, done: &[HostEffect]) {
        let Some(account) = self.account() else {
            return;
        };
        let key = &self.key;
        let (state, signer) = (self.host.state(), Signer { account, key });
        for effect in done {
            if let HostEffect::Decided { block, effects, .. } = effect {
                self.buyer
                    .note(state, block.header().height, effects, &signer);
            }
        }
    }

    pub(crate) fn after_block(&mut self, now: Now, effects: &mut Vec<Effect>) -> Result<(), Fault> {
        let seeker = self.seeker.as_mut();
        let question = seeker.and_then(|s| s.after_block(self.host.state(), &self.node));
        effects.extend(question.map(Effect::SeekHints));
        let mut submits = self.find_account();
        let Some(account) = self.account else {
            return self.submit(now, submits, effects);
        };
        let renewal = self.renewal.due(&mut self.host, &account);
        let state = self.host.state();
        let signer = Signer {
            account,
            key: &self.key,
        };
        let valid_until = state.height() + ENTRY_HEIGHTS;
        let mut entries = self
            .seller
            .after_block(state, &self.buyer.attended(), effects);
        self.seller.copy_unasked(state, now.mono_ms, effects);
        self.keeper.after_block(state, effects);
        let (node, hold) = (&self.node, !self.seller.takes_leases());
        let held = self
            .withheld
            .after_block(state, &account, node, hold, effects);
        entries.extend(held);
        entries.extend(renewal);
        let calendar = state.calendar();
        submits.extend(entries.into_iter().map(|body| {
            let until = match body {
                // A sign of life is for its own slot.
                EntryBody::Heartbeat { .. } => {
                    calendar.last_of_slot(calendar.slot(state.height() + 1))
                }
                _ => valid_until,
            };
            signer.sign(state, body, until)
        }));
        submits.extend(self.buyer.after_block(&self.host, &signer, now, effects));
        if let Some(provider) = &mut self.provider {
            submits.extend(provider.after_block(state, &signer));
        }
        effects.extend(
            self.adverts
                .say(state, account, self.node, &self.key, now.mono_ms)
                .map(Effect::Gossip),
        );
        self.tick_buyer(now, effects);
        self.submit(now, submits, effects)
    }

    pub(crate) fn submit(
        &mut self,
        now: Now,
        entries: Vec<SignedEntry>,
        effects: &mut Vec<Effect>,
    ) -> Result<(), Fault> {
        let mut passed = Vec::new();
        for entry in entries {
            match wallet::authentic(self.host.state(), entry) {
                Ok(entry) => passed.push(Arc::new(entry)),
                Err(refused) => tracing::warn!(reason = refused.reason, "an own entry is refused"),
            }
        }
        match passed.is_empty() {
            true => Ok(()),
            false => self.feed(now, HostInput::Submit(passed), effects),
        }
    }

    fn answered(
        &mut self,
        now: Now,
        token: AskToken,
        reply: Option<AgentReply>,
        effects: &mut Vec<Effect>,
    ) {
        self.buyer
            .answered(token, reply, self.host.state(), now, effects);
        self.tick_buyer(now, effects);
    }
}
