//! From a user's wish by a deadline to an order for one seller, and its place in that seller's
//! plan.
//!
//! 1. Each task takes one unit for a slot; one that may run longer is refused, for units change
//!    hands between slots.
//! 2. The soft deadline is rounded up to whole slots, the hard one down.
//! 3. If no offer is named it is that with the most room until the hard deadline, of the seller
//!    named if one is; ties go to the lower reserve.
//! 4. The ledger says whether it would take the entry, and gives its plan at the next boundary.

use super::why::{remedy, why_not};
use super::{DeadlineHow, DeadlineQuote};
use crate::api::ApiError;
use crate::backend::failure::{not_found, usage};
use crate::market::Market;
use crate::market::desk::{Answer, Desk};
use crate::market::price::limit_hourly;
use crate::order::plan::{Ask, Plan, Said, Shelf};
use gridbay_core::buy::{DeadlineWish, Terms};
use gridbay_ledger::{Offer, Refusal, State};
use gridbay_protocol::ids::{AccountId, Hash32, OfferId};
use gridbay_protocol::limits;
use gridbay_protocol::offer::Primary;
use gridbay_protocol::order::Deadline;
use gridbay_protocol::units::{Credits, Price};
use std::cmp::Reverse;

impl DeadlineHow {
    /// Plans the order of the node's account, and says what its seller's plan makes of it.
    pub(super) fn planned(&self, at: &Desk<'_>, ask: &Ask) -> Answer<Plan> {
        let (state, market, account) = (at.state(), &at.market, at.account()?);
        let slot_ms = market.policy.slot_ms().max(1);
        let order = self.order(state, ask, market, slot_ms)?;
        order
            .check()
            .map_err(|why| usage(why.to_string(), "check tasks, deadlines and prices"))?;
        let said = match state.check_deadline(&account, &order) {
            Ok(()) | Err(Refusal::Funds { .. }) => state
                .quote_deadline(&order)
                .map_err(|end| format!("{}; {}", why_not(end), remedy(end))),
            Err(refusal) => Err(format!("{refusal}; {}", refusal.hint())),
        };
        let seconds = |slots: u64| slots.saturating_mul(slot_ms).div_ceil(1_000);
        let taken = said.as_ref().ok();
        let quote = DeadlineQuote {
            offer: order.offer,
            seller: state
                .offer(&order.offer)
                .map_or(account, |offer| offer.seller),
            node_slots: order.unit_slots,
            soft_seconds: seconds(order.soft.into()),
            hard_seconds: seconds(order.hard.into()),
            pay: order.pmax,
            late_pay: order.pmin,
            bond: taken.map_or(Credits::ZERO, |quote| quote.bond),
            done_seconds: taken.map(|quote| seconds(quote.age)),
            price: taken.map(|quote| quote.pay),
            refused: said.as_ref().err().cloned(),
        };
        let each = Price(order.pmax.micros() / order.unit_slots.max(1));
        Ok(Plan {
            terms: Terms::Deadline(DeadlineWish {
                offer: order.offer,
                unit_slots: order.unit_slots,
                soft: order.soft,
                hard: order.hard,
                pmax: order.pmax,
                pmin: order.pmin,
                shape: order.shape,
            }),
            slots: order.hard,
            max_price: limit_hourly(each, slot_ms),
            most: order.pmax,
            likely: quote.price,
            needed_now: order.pmax,
            worth: None,
            shelf: Shelf::of(market),
            said: Said::Deadline(quote),
        })
    }

    /// Steps 1 to 3.
    fn order(&self, state: &State, ask: &Ask, market: &Market, slot_ms: u64) -> Answer<Deadline> {
        if u64::from(ask.seconds) * 1_000 > slot_ms {
            let why = format!("a task of {} seconds does not fit a slot", ask.seconds);
            let hint = format!(
                "split the work into tasks of up to {} seconds: --time",
                slot_ms / 1_000
            );
            return Err(usage(why, hint));
        }
        let hard =
            (u64::from(self.hard_seconds) * 1_000 / slot_ms).min(limits::ORDER_SLOTS.into()) as u32;
        if hard == 0 {
            let hint = format!(
                "a slot is {} seconds: name a later one",
                slot_ms.div_ceil(1_000)
            );
            return Err(usage("the hard deadline is less than a slot away", hint));
        }
        let soft = (u64::from(self.soft_seconds) * 1_000).div_ceil(slot_ms);
        let soft = u32::try_from(soft).unwrap_or(u32::MAX).max(1);
        if self.soft_seconds > self.hard_seconds {
            let hint = "name a soft deadline that is not later";
            return Err(usage("the soft deadline is later than the hard one", hint));
        }
        let offer = choose(
            state,
            market,
            hard,
            self.offer.as_deref(),
            self.seller.as_deref(),
        )?;
        Ok(Deadline {
            class: market.id,
            offer,
            tasks: ask.nodes,
            unit_slots: ask.nodes.into(),
            soft: soft.min(hard),
            hard,
            pmax: self.pay,
            pmin: self.late_pay,
            shape: self.shape,
            work: Hash32::default(),
        })
    }
}

/// Step 3.
fn choose(
    state: &State,
    market: &Market,
    hard: u32,
    named: Option<&str>,
    seller: Option<&str>,
) -> Answer<OfferId> {
    let takes = |(id, offer): &(&OfferId, &Offer)| {
        let planned = matches!(offer.terms.mechanism, Primary::Deadline(_));
        let meant = named.is_none_or(|named| id.to_hex().starts_with(named));
        let of_seller = seller.is_none_or(|seller| is_called(state, &offer.seller, seller));
        planned && offer.active && offer.terms.class == market.id && meant && of_seller
    };
    let found: Vec<(&OfferId, &Offer)> = state.offers().filter(takes).collect();
    if named.is_some() && found.len() > 1 {
        let hint = "name more digits of it";
        return Err(usage("several offers begin like that", hint));
    }
    let best = found.into_iter().max_by_key(|(id, offer)| {
        (
            room(state, id, offer, hard),
            Reverse(offer.terms.reserve),
            Reverse(**id),
        )
    });
    best.map(|(id, _)| *id).ok_or_else(|| nobody(market))
}

fn is_called(state: &State, account: &AccountId, name: &str) -> bool {
    state.member_name(account) == Some(name) || account.to_hex() == name
}

/// Units times slots until the hard deadline that no job there has asked for.
fn room(state: &State, id: &OfferId, offer: &Offer, hard: u32) -> u64 {
    let jobs = state.orders().filter_map(|(_, order)| order.deadline());
    let left = jobs.filter(|job| job.deadline.offer == *id).map(|job| {
        let done = job.taken.map_or(0, |taken| taken.done);
        job.deadline.unit_slots.saturating_sub(done)
    });
    (u64::from(offer.terms.units) * u64::from(hard)).saturating_sub(left.sum())
}

fn nobody(market: &Market) -> ApiError {
    not_found(
        format!(
            "no such offer of class {} takes jobs by deadlines",
            market.name
        ),
        "see the offers and their mechanisms: gridbay offer list",
    )
}
