//! The owner's commands: entries of the node's account, orders to the agents, offers held back.

use crate::buy::{Desk, NewOrder};
use crate::buyer::{PROJECT_ORDERS, ProjectUse};
use crate::core::Core;
use crate::effect::Effect;
use crate::input::{Command, CommandToken, Now};
use crate::join::Joining;
use crate::key::OrderKey;
use crate::needs;
use crate::project::{ProjectBounds, ProjectMark};
use crate::reply::{Refused, Reply};
use crate::signer::Signer;
use crate::wallet;
use crate::withheld::Withheld;
use gridbay_host::{Fault, HostInput, Sought};
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::ids::EntryId;
use gridbay_protocol::offer::OfferTerms;
use gridbay_protocol::order::Step;
use gridbay_protocol::stage::Authentic;
use gridbay_protocol::units::Credits;
use std::collections::BTreeMap;
use std::sync::Arc;

impl Core {
    /// Begins with the offers that an earlier run held back, on a disk that is short of room or
    /// not.
    pub fn withhold(&mut self, offers: Vec<OfferTerms>, short: bool) {
        self.withheld = Withheld::new(offers);
        self.seller.set_short(short);
    }
    /// From now on fails new leases and holds the node's offers back.
    pub fn drain(&mut self) {
        self.seller.drain();
    }
    /// The offers held back.
    pub fn withheld(&self) -> &Withheld {
        &self.withheld
    }

    /// Answers a command of the owner.
    pub(crate) fn command(
        &mut self,
        now: Now,
        token: CommandToken,
        command: Command,
        effects: &mut Vec<Effect>,
    ) -> Result<(), Fault> {
        let reply = match self.trouble() {
            // A command that a wrong clock would judge is not acknowledged.
            Some(trouble) => Reply::Refused(Refused::in_trouble(&trouble)),
            None => self.obey(now, command, effects)?,
        };
        effects.push(Effect::Reply { token, reply });
        Ok(())
    }

    fn obey(
        &mut self,
        now: Now,
        command: Command,
        effects: &mut Vec<Effect>,
    ) -> Result<Reply, Fault> {
        if matches!(command, Command::SetOffer(_)) {
            if self.seller.is_short() {
                return Ok(Reply::Refused(Refused::no_room()));
            }
            if self.seller.is_draining() {
                return Ok(Reply::Refused(Refused::draining()));
            }
        }
        let label = match &command {
            Command::SetOffer(terms) => Some(terms.label),
            Command::WithdrawOffer(label) => Some(*label),
            _ => None,
        };
        if let Some(label) = label
            && self.is_changing(label)
        {
            return Ok(Reply::Refused(Refused::changing(label)));
        }
        if let Command::WithdrawOffer(label) = command
            && self.withdraw_withheld(label, effects)
        {
            return Ok(Reply::Done);
        }
        match body_of(self, &command) {
            Err(refused) => Ok(Reply::Refused(refused)),
            Ok(Some(body)) => {
                let reply = self.submit_own(now, body, effects)?;
                if matches!(reply, Reply::Submitted(_))
                    && let Some(label) = label
                {
                    self.withheld.forget(label, effects);
                }
                Ok(reply)
            }
            Ok(None) => self.command_of_agents(now, command, effects),
        }
    }

    /// Whether an entry of the node itself about an offer is on its way.
    fn is_changing(&self, label: u32) -> bool {
        let (state, hold) = (self.host.state(), !self.seller.takes_leases());
        let changing = |own| self.withheld.is_changing(state, own, label, hold);
        self.account.as_ref().is_some_and(changing)
    }

    /// Forgets an offer that is held back. False if it has to be withdrawn from the ledger as well.
    fn withdraw_withheld(&mut self, label: u32, effects: &mut Vec<Effect>) -> bool {
        let state = self.host.state();
        let absent = self.account.is_some_and(|own| {
            let mut absent = self.withheld.absent(state, &own);
            absent.any(|terms| terms.label == label)
        });
        if absent {
            self.withheld.forget(label, effects);
        }
        absent
    }

    /// Signs and submits an entry of the owner, if the ledger would take it now (or soon).
    fn submit_own(
        &mut self,
        now: Now,
        body: EntryBody,
        effects: &mut Vec<Effect>,
    ) -> Result<Reply, Fault> {
        let Some(account) = self.account else {
            return Ok(Reply::Refused(Refused::no_account()));
        };
        let state = self.host.state();
        let signer = Signer {
            account,
            key: &self.key,
        };
        let Some(entry) = self.sent.sign(state, &signer, &body) else {
            return Ok(Reply::Refused(Refused::too_many()));
        };
        let entry = match wallet::authentic(state, entry) {
            Ok(entry) => Arc::new(entry),
            Err(refused) => return Ok(Reply::Refused(refused)),
        };
        let sought = Sought::from(&*entry);
        if let Some(Some(refused)) = self.send(now, vec![entry], effects)?.pop() {
            return Ok(Reply::Refused(refused));
        }
        self.sent.note(&body, sought.valid_until);
        Ok(Reply::Submitted(sought))
    }

    /// Submits entries of the owner together, each if the ledger would take it now (or soon); says
    /// for each in order why it was not submitted.
    fn send(
        &mut self,
        now: Now,
        entries: Vec<Arc<Authentic>>,
        effects: &mut Vec<Effect>,
    ) -> Result<Vec<Option<Refused>>, Fault> {
        let (mut passed, mut replies) = (Vec::new(), Vec::new());
        for entry in entries {
            let refused = wallet::would_pass(self.host.state(), &entry).err();
            if refused.is_none() {
                passed.push(entry.clone());
            }
            replies.push((entry.id(), refused));
        }
        self.feed(now, HostInput::Submit(passed), effects)?;
        let turned_away: BTreeMap<_, _> = self.turned_away.drain(..).collect();
        let told = |(id, refused): (EntryId, Option<Refused>)| {
            refused.or_else(|| turned_away.get(&id).cloned())
        };
        Ok(replies.into_iter().map(told).collect())
    }

    /// Goes on after a command of an agent, unless that refused it.
    fn heeded(
        &mut self,
        now: Now,
        refused: Option<Refused>,
        effects: &mut Vec<Effect>,
    ) -> Result<Reply, Fault> {
        if let Some(why) = refused {
            return Ok(Reply::Refused(why));
        }
        self.after_block(now, effects)?;
        Ok(Reply::Done)
    }

    /// Takes an order that was checked in this step.
    fn order(
        &mut self,
        now: Now,
        order: NewOrder,
        project: Option<ProjectMark>,
        effects: &mut Vec<Effect>,
    ) -> Result<Reply, Fault> {
        let Some(account) = self.account else {
            return Ok(Reply::Refused(Refused::no_account()));
        };
        let key: OrderKey = order.key;
        // The first one under a key stays, or its money would be sought by nobody.
        if self.buyer.order(&key).is_some() {
            return Ok(Reply::Ordered(key));
        }
        let signer = Signer {
            account,
            key: &self.key,
        };
        let state = self.host.state();
        let added = self.buyer.add(order, project, state, &signer);
        effects.push(added.save);
        self.submit(now, added.submits, effects)?;
        Ok(Reply::Ordered(key))
    }

    fn command_of_agents(
        &mut self,
        now: Now,
        command: Command,
        effects: &mut Vec<Effect>,
    ) -> Result<Reply, Fault> {
        match command {
            Command::Order(order) => self.order(now, *order, None, effects),
            Command::ProjectOrder(order, mark, _) => self.order(now, *order, Some(mark), effects),
            Command::Cancel(key) => {
                let known = self.buyer.cancel(&key);
                self.heeded(now, (!known).then(|| Refused::no_order(&key)), effects)
            }
            Command::Attend(key, attends) => {
                let known = self.buyer.attend(&key, attends);
                self.heeded(now, (!known).then(|| Refused::no_order(&key)), effects)
            }
            Command::Admit(key, keys) => {
                let known = self.buyer.admit(&key, keys);
                self.heeded(now, (!known).then(|| Refused::no_order(&key)), effects)
            }
            Command::Visit(lease, owner) => {
                let may = self.buyer.visit(lease, owner);
                self.heeded(now, (!may).then(Refused::no_visit), effects)
            }
            Command::Amend {
                order,
                steps,
                budget,
            } => {
                let kept = self.buyer.order(&order).and_then(|o| o.order().terms.bid());
                let budget = budget.or(kept.map(|terms| terms.budget));
                if !budget.is_some_and(|budget| self.buyer.amend(&order, steps, budget)) {
                    return Ok(Reply::Refused(Refused::no_order(&order)));
                }
                self.after_block(now, effects)?;
                Ok(Reply::Done)
            }
            Command::Send(entries) => Ok(Reply::Sent(self.send(now, entries, effects)?)),
            Command::Join { invitation, keys } => {
                self.joining = Some(Joining::new(*invitation, keys));
                self.after_block(now, effects)?;
                Ok(Reply::Done)
            }
            Command::Drain => self.take_leases(false, now, effects),
            Command::Resume => self.take_leases(true, now, effects),
            Command::SetOffer(_)
            | Command::WithdrawOffer(_)
            | Command::Transfer { .. }
            | Command::CloseAccount(_)
            | Command::Contract(_) => Ok(Reply::Done),
        }
    }

    /// Whether new leases are taken from now on.
    fn take_leases(
        &mut self,
        take: bool,
        now: Now,
        effects: &mut Vec<Effect>,
    ) -> Result<Reply, Fault> {
        match take {
            true => self.seller.resume(),
            false => self.drain(),
        }
        self.after_block(now, effects)?;
        Ok(Reply::Done)
    }
}

/// The entry a command becomes; `None` for commands to the agents. Orders are checked here.
fn body_of(core: &Core, command: &Command) -> Result<Option<EntryBody>, Refused> {
    Ok(match command {
        Command::SetOffer(terms) => Some(EntryBody::SetOffer(terms.clone())),
        Command::WithdrawOffer(label) => Some(EntryBody::WithdrawOffer { label: *label }),
        Command::Transfer { to, amount, memo } => Some(EntryBody::Transfer {
            to: *to,
            amount: *amount,
            memo: *memo,
        }),
        Command::CloseAccount(to) if core.account() == Some(*to) => {
            return Err(Refused::invalid(
                "range",
                "an account cannot be closed in favour of itself",
                "name another account: what this one has goes there",
            ));
        }
        Command::CloseAccount(to) => Some(EntryBody::CloseAccount { to: *to }),
        Command::Contract(entry) => Some(EntryBody::Contract(entry.clone())),
        Command::Order(order) => {
            check_order(core, order)?;
            None
        }
        Command::ProjectOrder(order, mark, bounds) => {
            check_order(core, order)?;
            check_project(core, order, mark, bounds)?;
            None
        }
        Command::Amend {
            order,
            steps,
            budget,
        } => {
            check_amendment(core, order, steps, *budget)?;
            None
        }
        Command::Send(_)
        | Command::Cancel(_)
        | Command::Attend(..)
        | Command::Admit(..)
        | Command::Visit(..)
        | Command::Join { .. }
        | Command::Drain
        | Command::Resume => None,
    })
}

/// An order must make sense, and be funded for its first slot, before anything is kept or sent.
fn check_order(core: &Core, order: &NewOrder) -> Result<(), Refused> {
    let state = core.state();
    let account = core.account().ok_or_else(Refused::no_account)?;
    if !state.classes().iter().any(|c| c.key.id() == order.class) {
        return Err(Refused::no_class(order.class));
    }
    if !order.spec.is_valid() {
        return Err(Refused::invalid(
            "job",
            "the job is out of range",
            "shorten arguments or inputs",
        ));
    }
    let spec = &order.spec;
    let unmet = needs::unmet(state, core.adverts(), &order.class, spec, order.tasks);
    if let Some((need, units)) = unmet {
        return Err(Refused::unmet(need, units, order.tasks));
    }
    let signer = &Signer {
        account,
        key: &core.key,
    };
    let needed = order.check(&Desk { state, signer })?;
    wallet::check_funds(state, &account, needed)
}

/// An order of a project must fit beside the others. It is kept in the same step, so that no two
/// are measured against the same rest of a budget.
fn check_project(
    core: &Core,
    order: &NewOrder,
    mark: &ProjectMark,
    bounds: &ProjectBounds,
) -> Result<(), Refused> {
    if core.buyer.order(&order.key).is_some() {
        return Ok(());
    }
    let agents = || core.buyer.orders().map(|(_, agent)| agent);
    if agents().filter(|agent| agent.project().is_some()).count() >= PROJECT_ORDERS {
        let why = format!("this node keeps {PROJECT_ORDERS} orders of projects already");
        return Err(Refused::invalid("project", &why, "order without a project"));
    }
    let used = ProjectUse::of(agents(), &mark.project, &bounds.time_ms);
    used.fits(mark, order.tasks, bounds)
}

/// The order must be an own bid that is not over; see [`NewOrder::check_amendment`].
fn check_amendment(
    core: &Core,
    key: &OrderKey,
    steps: &[Step],
    budget: Option<Credits>,
) -> Result<(), Refused> {
    let state = core.state();
    let account = core.account().ok_or_else(Refused::no_account)?;
    let agent = core.buyer().order(key);
    let agent = agent.filter(|agent| !agent.is_over());
    let agent = agent.ok_or_else(|| Refused::no_order(key))?;
    let id = agent.id.unwrap_or_default();
    if let (Some(mark), Some(budget)) = (agent.project(), budget)
        && budget > mark.most
    {
        let (project, most) = (&mark.project, mark.most);
        let why = format!("project {project} counts on {most} for this order at the most");
        let hint = "keep the budget, or cancel the order and send another";
        return Err(Refused::invalid("project", &why, hint));
    }
    let needed = agent.order().check_amendment(&id, steps, budget, state)?;
    wallet::check_funds(state, &account, needed)
}
