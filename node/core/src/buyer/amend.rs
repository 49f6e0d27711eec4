//! Amending a bid that stands or runs: another sealed commitment beside the order's, of the same
//! agent.
//!
//! | the ledger says of the amendment | the agent |
//! |---|---|
//! | nothing, none sent | commits it as soon as the order's bid is open; the old bid stands meanwhile |
//! | nothing, commitment still valid | sends it again from time to time |
//! | nothing, too late | makes a new attempt with a new salt |
//! | sealed in round r | opens it in round r+1, also if the order is over: that returns the deposit |
//! | unopened | appeals with the receipts, if they suffice |
//! | gone, and the order has its bid | is done: from now on these are the order's terms |
//! | gone, and the order has not | tries again while the order lives |

use super::amending::{Amending, SentAmendment};
use super::appeal::Opening;
use super::order::{ATTEMPTS, OrderAgent};
use super::pace::LastAsked;
use super::seen::Seen;
use crate::buy::{SEND_HEIGHTS, commit};
use crate::signer::Signer;
use gridbay_ledger::{Order, State};
use gridbay_protocol::entry::{EntryBody, SignedEntry};
use gridbay_protocol::ids::EntryId;
use gridbay_protocol::order::{Amendment, Bid, Open, Step, Wish, order_of};
use gridbay_protocol::units::Credits;

impl OrderAgent {
    /// From the next clearing on that can be reached, the order's bid is to say this. False if it
    /// is no bid, or over.
    pub fn amend(&mut self, steps: Vec<Step>, budget: Credits) -> bool {
        let is_bid = self.record.order.terms.bid().is_some();
        if !is_bid || self.is_over() {
            return false;
        }
        let sent = self.record.amending.take().and_then(|a| a.sent);
        self.record.amending = Some(Amending {
            steps,
            budget,
            failed: 0,
            sent,
        });
        self.touch();
        true
    }
    /// The amendment that is under way.
    pub fn amending(&self) -> Option<&Amending> {
        self.record.amending.as_ref()
    }

    /// Looks after the amendment, behind a block.
    pub(super) fn amend_after_block(
        &mut self,
        state: &State,
        signer: &Signer<'_>,
    ) -> Vec<SignedEntry> {
        let Some(amending) = &self.record.amending else {
            return Vec::new();
        };
        let Some(sent) = &amending.sent else {
            return self.commit_amendment(state, signer);
        };
        let seen = Seen::of(state, &order_of(&sent.commit));
        if seen != Seen::Absent && !sent.included {
            self.change_sent(|sent| sent.included = true);
        }
        let included = self.sent().is_some_and(|sent| sent.included);
        match seen {
            Seen::Sealed(round) => self.open_amendment(state, signer, round),
            Seen::Unopened => self.appeal_for_amendment(state, signer),
            Seen::Absent if !included => self.resend_amendment(state, signer),
            _ => self.amendment_gone(state),
        }
    }

    fn sent(&self) -> Option<&SentAmendment> {
        self.record.amending.as_ref()?.sent.as_ref()
    }
    fn change_sent(&mut self, change: impl FnOnce(&mut SentAmendment)) {
        let amending = self.record.amending.as_mut();
        if let Some(sent) = amending.and_then(|a| a.sent.as_mut()) {
            change(sent);
            self.dirty = true;
        }
    }
    /// The order's bid, if it can be amended now.
    fn amendable<'s>(&self, state: &'s State) -> Option<&'s Order> {
        let order = state.order(&self.id?)?;
        (order.bid().is_some() && !order.exiting && !self.is_over()).then_some(order)
    }

    fn commit_amendment(&mut self, state: &State, signer: &Signer<'_>) -> Vec<SignedEntry> {
        let over = self.is_over();
        let Some(amending) = self.record.amending.as_ref().filter(|_| !over) else {
            return self.drop_amendment();
        };
        let (steps, budget) = (amending.steps.clone(), amending.budget);
        if amending.failed >= ATTEMPTS {
            return self.drop_amendment();
        }
        let (Some(id), Some(live)) = (self.id, self.amendable(state)) else {
            return Vec::new();
        };
        let Some(old) = live.bid() else {
            return Vec::new();
        };
        let Some(patience) = self.record.order.terms.bid().map(|terms| terms.patience) else {
            return self.drop_amendment();
        };
        let height = state.height();
        let bid = Bid {
            steps,
            budget,
            stands_until: height.saturating_add(patience),
            ..old.bid.clone()
        };
        // A slot at the old bid may be charged before the opening.
        let slot = bid.slot();
        let needed = [old.paid, old.slot_at_bid(), slot];
        if Credits::sum(needed).is_none_or(|needed| needed > budget) {
            return self.drop_amendment();
        }
        self.record.amendments += 1;
        let number = self.record.amendments;
        let mut sent = SentAmendment {
            number,
            amendment: Amendment { order: id, bid },
            commit: EntryId::default(),
            valid_until: height + SEND_HEIGHTS,
            included: false,
            opening: None,
        };
        let entry = self.commitment(&sent, state, signer);
        sent.commit = entry.id();
        if let Some(amending) = &mut self.record.amending {
            amending.sent = Some(sent);
        }
        self.asked = LastAsked {
            sent: height,
            ..LastAsked::default()
        };
        self.dirty = true;
        vec![entry]
    }

    /// The entry that commits it: the same bytes whenever it is asked for.
    fn commitment(&self, sent: &SentAmendment, state: &State, signer: &Signer<'_>) -> SignedEntry {
        let wish = Wish::from(sent.amendment.clone());
        let salt = self.record.amend_salt(sent.number);
        let body = commit(&wish, state, &signer.account, &salt);
        signer.sign(state, body, sent.valid_until)
    }

    fn resend_amendment(&mut self, state: &State, signer: &Signer<'_>) -> Vec<SignedEntry> {
        let height = state.height();
        let Some(sent) = self.sent() else {
            return Vec::new();
        };
        if height >= sent.valid_until {
            return self.amendment_gone(state);
        }
        let entry = self.commitment(sent, state, signer);
        match LastAsked::again(&mut self.asked.sent, height) {
            true => vec![entry],
            false => Vec::new(),
        }
    }

    fn amendment_opening(&self, sent: &SentAmendment) -> Open {
        Open {
            commit: sent.commit,
            wish: Wish::from(sent.amendment.clone()),
            salt: self.record.amend_salt(sent.number),
        }
    }

    fn open_amendment(
        &mut self,
        state: &State,
        signer: &Signer<'_>,
        round: u64,
    ) -> Vec<SignedEntry> {
        let (height, calendar) = (state.height(), state.calendar());
        let deadline = calendar.last_of_round(round + 1) - 1;
        let in_time = (calendar.last_of_round(round)..deadline).contains(&height);
        let Some(sent) = self.sent().filter(|_| in_time).cloned() else {
            return Vec::new();
        };
        if !LastAsked::again(&mut self.asked.opened, height) {
            return Vec::new();
        }
        let open = EntryBody::Open(self.amendment_opening(&sent));
        let signed = signer.sign(state, open, deadline);
        if sent.opening.as_ref().map(|o| o.entry) != Some(signed.id()) {
            let opening = Opening {
                entry: signed.id(),
                key: signed.entry.key,
                valid_until: deadline,
                receipts: Vec::new(),
            };
            self.change_sent(|sent| sent.opening = Some(opening));
        }
        vec![signed]
    }

    fn appeal_for_amendment(&mut self, state: &State, signer: &Signer<'_>) -> Vec<SignedEntry> {
        let Some(sent) = self.sent().cloned() else {
            return Vec::new();
        };
        let id = order_of(&sent.commit);
        let open = self.amendment_opening(&sent);
        let appeal = sent.opening.and_then(|o| o.appeal(state, &id, open));
        let Some(appeal) = appeal else {
            return Vec::new();
        };
        if !LastAsked::again(&mut self.asked.appealed, state.height()) {
            return Vec::new();
        }
        let until = state.unopened(&id).map_or(0, |order| order.until);
        vec![signer.sign(state, EntryBody::Appeal(Box::new(appeal)), until)]
    }

    /// It took effect, or came to nothing: the state of the order tells.
    fn amendment_gone(&mut self, state: &State) -> Vec<SignedEntry> {
        let live = self.id.and_then(|id| state.order(&id)).and_then(Order::bid);
        let Some(mut amending) = self.record.amending.take() else {
            return Vec::new();
        };
        let Some(sent) = amending.sent.take() else {
            return Vec::new();
        };
        let bid = sent.amendment.bid;
        let took = live.is_some_and(|live| {
            live.bid == bid || live.next.as_ref().is_some_and(|next| next.bid == bid)
        });
        if let (true, Some(terms)) = (took, self.record.order.terms.bid_mut()) {
            (terms.steps, terms.budget) = (bid.steps.clone(), bid.budget);
        }
        let wanted = (&amending.steps, amending.budget) == (&bid.steps, bid.budget);
        amending.failed += u32::from(!took);
        if live.is_some() && !(took && wanted) {
            self.record.amending = Some(amending);
        }
        self.dirty = true;
        Vec::new()
    }

    fn drop_amendment(&mut self) -> Vec<SignedEntry> {
        self.record.amending = None;
        self.dirty = true;
        Vec::new()
    }
}
