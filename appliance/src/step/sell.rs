//! A ready node's offers: step 9.

use super::offers::{self, Plan};
use super::turn::{SHOWN, Turn, told};
use crate::action::{Action, Kind};
use crate::config::Config;
use crate::orders::{Orders, OrdersError};
use crate::state::{Fault, State};
use crate::text::clean;

impl Turn<'_> {
    /// Step 9.
    pub(super) fn sell(&mut self, config: &Config) -> State {
        let seen = self.seen;
        let (Some(classes), Some(offers)) = (&seen.classes, &seen.offers) else {
            return ready("asks for the market's classes");
        };
        let orders = self.orders(config);
        let sell = orders.over(&config.sell, seen.clock);
        let last = self.memory.offered.as_ref();
        let machine = self.memory.machine(seen.machine);
        match offers::plan(&sell, machine, classes, offers, last) {
            Plan::Stands(selling) => {
                self.memory.tries.settled(Kind::Offer);
                self.memory.tries.settled(Kind::Withdraw);
                ready(&match orders.closed(seen.clock) {
                    Some(hours) => format!("sells nothing outside of {hours} UTC"),
                    None => selling,
                })
            }
            Plan::Cannot(fault) => {
                self.notes.push(fault);
                let leased = seen.node.as_ref().map_or(0, |node| node.units_leased);
                ready(&match leased {
                    0 => "sells nothing".to_owned(),
                    units => format!("sells nothing more; leased units go on: {units}"),
                })
            }
            Plan::Withdraw(label) => {
                let subject = label.to_string();
                self.ask(Kind::Withdraw, &subject, [Action::Withdraw(label)]);
                self.failed(
                    Kind::Withdraw,
                    &subject,
                    "an earlier offer was not withdrawn",
                );
                ready("withdraws an earlier offer")
            }
            Plan::Set(offer) => {
                let subject = format!("{offer:?}");
                let name = clean(&offer.class, SHOWN);
                let selling = format!("offers {} {name} at {}", offer.units, offer.price);
                if self.memory.tries.due(Kind::Offer, &subject, self.now) {
                    self.memory.offered = Some(offer.clone());
                    self.actions.push(Action::SetOffer(offer));
                }
                self.failed(Kind::Offer, &subject, "the offer was refused");
                ready(&selling)
            }
        }
    }

    /// What the owner told from afar; nothing, with a note, if it cannot be used.
    fn orders(&mut self, config: &Config) -> Orders {
        match self.told(config) {
            Ok(orders) => orders.unwrap_or_default(),
            Err(error) => {
                let why = format!("what was told from afar is not used: {error}");
                let next = "tell it again: gridbay appliance set";
                self.notes.push(Fault::new(why, next));
                Orders::default()
            }
        }
    }

    /// The same, as long as it is of this owner.
    pub(super) fn told(&self, config: &Config) -> Result<Option<Orders>, OrdersError> {
        let file = self.seen.folder.orders.as_deref();
        let orders = file.map(Orders::parse).transpose()?;
        let own = |orders: &Orders| config.owner.as_ref() == Some(&orders.owner);
        Ok(orders.filter(own))
    }

    /// Notes why the last try failed, if it did.
    fn failed(&mut self, kind: Kind, subject: &str, what: &str) {
        if let Some(failure) = self.memory.tries.failure(kind, subject) {
            self.notes.push(told(what, failure));
        }
    }
}

fn ready(selling: &str) -> State {
    State::Ready {
        selling: selling.to_owned(),
        notes: Vec::new(),
    }
}
