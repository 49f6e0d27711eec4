//! What the owner commands: entries in his own name, orders to the agents.

use crate::buyer::order::Signer;
use crate::buyer::{OrderKey, Terms};
use crate::command;
use crate::core::Core;
use crate::effect::Effect;
use crate::input::{Command, CommandToken, Now};
use crate::join::Joining;
use crate::reply::Reply;
use gridbay_host::{Fault, HostInput};
use gridbay_protocol::entry::{EntryBody, SignedEntry};

impl Core {
    /// Answers a command of the owner.
    pub(crate) fn command(
        &mut self,
        now: Now,
        token: CommandToken,
        command: Command,
        effects: &mut Vec<Effect>,
    ) -> Result<(), Fault> {
        let reply = match self.trouble() {
            // What a wrong clock would judge is not acknowledged.
            Some(trouble) => Reply::Refused(command::in_trouble(&trouble)),
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
        if matches!(command, Command::SetOffer(_)) && self.withheld.is_short() {
            return Ok(Reply::Refused(command::no_room()));
        }
        if let Command::WithdrawOffer(label) = command
            && self.withdraw_withheld(label, effects)
        {
            return Ok(Reply::Done);
        }
        match command::body_of(self, &command) {
            Err(refused) => Ok(Reply::Refused(refused)),
            Ok(Some(body)) => self.submit_own(now, body, effects),
            Ok(None) => self.command_of_agents(now, command, effects),
        }
    }

    /// Forgets an offer that is held back. False if it has to be withdrawn from the ledger as well.
    fn withdraw_withheld(&mut self, label: u32, effects: &mut Vec<Effect>) -> bool {
        let state = self.host.state();
        let absent = self.account.is_some_and(|own| {
            let mut absent = self.withheld.absent(state, &own);
            absent.any(|terms| terms.label == label)
        });
        self.withheld.forget(label, effects);
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
            return Ok(Reply::Refused(command::no_account()));
        };
        let state = self.host.state();
        let signer = Signer {
            account,
            key: &self.key,
        };
        let Some(entry) = self.sent.sign(state, &signer, &body) else {
            return Ok(Reply::Refused(command::too_many()));
        };
        let valid_until = entry.entry.valid_until;
        let reply = self.send_own(now, entry, effects)?;
        if matches!(reply, Reply::Submitted(_)) {
            self.sent.note(&body, valid_until);
        }
        Ok(reply)
    }

    /// Submits a signed entry of the owner, if the ledger would take it now (or soon).
    fn send_own(
        &mut self,
        now: Now,
        entry: SignedEntry,
        effects: &mut Vec<Effect>,
    ) -> Result<Reply, Fault> {
        match command::would_pass(self.host.state(), entry) {
            Err(refused) => Ok(Reply::Refused(refused)),
            Ok(entry) => {
                let id = entry.id();
                self.feed(now, HostInput::Submit(entry), effects)?;
                Ok(Reply::Submitted(id))
            }
        }
    }

    fn command_of_agents(
        &mut self,
        now: Now,
        command: Command,
        effects: &mut Vec<Effect>,
    ) -> Result<Reply, Fault> {
        match command {
            Command::Order(order) => {
                let Some(account) = self.account else {
                    return Ok(Reply::Refused(command::no_account()));
                };
                let key: OrderKey = order.key;
                let signer = Signer {
                    account,
                    key: &self.key,
                };
                let added = self.buyer.add(*order, self.host.state(), &signer);
                effects.push(added.save);
                self.submit(now, added.submits, effects)?;
                Ok(Reply::Ordered(key))
            }
            Command::Cancel(key) => {
                if !self.buyer.cancel(&key) {
                    return Ok(Reply::Refused(command::no_order(&key)));
                }
                self.after_block(now, &[], effects)?;
                Ok(Reply::Done)
            }
            Command::Amend {
                order,
                steps,
                budget,
            } => {
                let kept = self.buyer.order(&order).map(|o| o.order().terms.clone());
                let budget = match (budget, kept) {
                    (Some(budget), _) | (None, Some(Terms::Sealed { budget, .. })) => budget,
                    _ => return Ok(Reply::Refused(command::no_order(&order))),
                };
                if !self.buyer.amend(&order, steps, budget) {
                    return Ok(Reply::Refused(command::no_order(&order)));
                }
                self.after_block(now, &[], effects)?;
                Ok(Reply::Done)
            }
            Command::Send(entry) => self.send_own(now, *entry, effects),
            Command::Join { invitation, keys } => {
                self.joining = Some(Joining::new(*invitation, keys));
                self.after_block(now, &[], effects)?;
                Ok(Reply::Done)
            }
            Command::Drain => {
                self.seller.drain();
                Ok(Reply::Done)
            }
            Command::SetOffer(_)
            | Command::WithdrawOffer(_)
            | Command::Transfer { .. }
            | Command::CloseAccount(_)
            | Command::Contract(_) => Ok(Reply::Done),
        }
    }
}
