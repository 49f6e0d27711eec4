//! What the core knows, in figures.

use super::text::{Text, seconds};
use crate::api::types::JobState;
use crate::job::state::situation;
use crate::market::{Market, markets};
use gridbay_core::Core;
use gridbay_ledger::State;
use gridbay_ledger::read::Totals;
use gridbay_ledger::{Lease, Order};
use gridbay_protocol::ids::{LeaseId, OrderId};
use gridbay_protocol::keys::PublicKey;
use gridbay_protocol::units::{Credits, MICROS_PER_CREDIT};
use std::collections::BTreeMap;

/// The core's facts.
pub(super) struct Facts {
    height: u64,
    block_ms: u64,
    /// The least and the most time between blocks, in milliseconds.
    pace: (u64, u64),
    round: u64,
    slot: u64,
    mempool: usize,
    totals: Totals,
    hosted: usize,
    copies_kept: usize,
    copies_refused: u64,
    orders_open: usize,
    orders: BTreeMap<JobState, u64>,
    /// Milliseconds until the first of the own leases ends.
    next_end: Option<u64>,
    free: i64,
    held: Credits,
    own_units: (u32, u32),
    adverts: usize,
    /// Nodes of the validators.
    pub(super) validators: Vec<PublicKey>,
    /// Classes, and orders that wait for each.
    pub(super) classes: Vec<(Market, u32)>,
}

impl Facts {
    /// Those of a core whose node has this key.
    pub(super) fn of(core: &Core, node: PublicKey) -> Facts {
        let state = core.state();
        let balance = core
            .account()
            .map(|account| state.balance(&account))
            .unwrap_or_default();
        let next = state.height().saturating_add(1);
        let classes = markets(state).into_iter();
        let classes = classes.map(|(_, market, waiting)| (market, waiting));
        let mut orders = BTreeMap::new();
        for (_, agent) in core.buyer().orders() {
            let (now, _) = situation(state, agent).judge();
            *orders.entry(now).or_default() += 1;
        }
        let policy = state.policy();
        let validators = state.validators().members().iter();
        Facts {
            height: state.height(),
            block_ms: state.time_ms(),
            pace: (policy.block_interval_ms, policy.heartbeat_ms),
            round: state.calendar().round(next),
            slot: state.calendar().slot(next),
            mempool: core.host().mempool_len(),
            totals: state.totals(),
            hosted: core.seller().running(),
            copies_kept: core.keeper().kept(),
            copies_refused: core.keeper().refused(),
            orders_open: core
                .buyer()
                .orders()
                .filter(|(_, a)| a.finish().is_none())
                .count(),
            orders,
            next_end: next_end(core),
            free: balance.free,
            held: balance.locked(),
            own_units: crate::node::handle::units(core, node),
            adverts: core.adverts().live(state).count(),
            validators: validators.map(|validator| validator.node).collect(),
            classes: classes.collect(),
        }
    }

    /// All of them but what the node knows beside them.
    pub(super) fn metrics(&self, text: &mut Text) {
        self.ledger(text);
        self.market(text);
        self.own(text);
        let mut by_class = |name, of: fn(&Market, u32) -> u32| {
            let classes = self.classes.iter();
            let values = classes.map(|(market, waiting)| (&market.name, of(market, *waiting)));
            text.by((name, "class"), values);
        };
        by_class("gridbay_market_units_offered", |market, _| market.supply());
        by_class("gridbay_market_units_free", |market, _| market.free());
        by_class("gridbay_market_orders_waiting", |_, waiting| waiting);
    }

    fn ledger(&self, text: &mut Text) {
        text.value("gridbay_adverts_known", self.adverts);
        text.value("gridbay_ledger_height", self.height);
        let times = [
            ("gridbay_ledger_block_timestamp_seconds", self.block_ms),
            ("gridbay_ledger_block_interval_least_seconds", self.pace.0),
            ("gridbay_ledger_block_interval_most_seconds", self.pace.1),
        ];
        for (name, ms) in times {
            text.value(name, in_seconds(ms));
        }
        text.value("gridbay_ledger_pool_entries", self.mempool);
        text.value("gridbay_ledger_accounts", self.totals.accounts);
        let (minted, escrow) = (self.totals.minted, self.totals.escrow);
        text.value("gridbay_ledger_minted_credits", in_credits(minted));
        text.value("gridbay_ledger_escrow_credits", in_credits(escrow));
        text.value("gridbay_ledger_validators", self.validators.len());
    }

    fn market(&self, text: &mut Text) {
        text.value("gridbay_market_round", self.round);
        text.value("gridbay_market_slot", self.slot);
        text.value("gridbay_market_orders", self.totals.orders);
        text.value("gridbay_market_leases", self.totals.leases);
        text.value("gridbay_market_orders_open", self.orders_open);
        text.value("gridbay_node_units_offered", self.own_units.0);
        text.value("gridbay_node_units_leased", self.own_units.1);
    }

    fn own(&self, text: &mut Text) {
        text.value("gridbay_account_balance_credits", signed(self.free));
        text.value("gridbay_account_held_credits", in_credits(self.held));
        text.value("gridbay_jobs_hosted", self.hosted);
        text.value("gridbay_copies_kept", self.copies_kept);
        text.value("gridbay_copies_refused_total", self.copies_refused);
        let of = |state: JobState| (state.name(), self.orders.get(&state).copied().unwrap_or(0));
        text.by(
            ("gridbay_orders_by_state", "state"),
            JobState::ALL.into_iter().map(of),
        );
        if let Some(ms) = self.next_end {
            text.value("gridbay_orders_next_end_seconds", in_seconds(ms));
        }
    }
}

/// Milliseconds until the first of the own leases ends, at the pace of the policy.
fn next_end(core: &Core) -> Option<u64> {
    lease_ends(core).into_iter().map(|end| end.left_ms).min()
}

/// The end of an own lease.
pub(crate) struct LeaseEnd {
    /// The lease.
    pub(crate) lease: LeaseId,
    /// The order that it is of.
    pub(crate) order: OrderId,
    /// Milliseconds until then, at the pace of the policy.
    pub(crate) left_ms: u64,
}

/// The own leases that end by their own terms.
pub(crate) fn lease_ends(core: &Core) -> Vec<LeaseEnd> {
    let (state, Some(account)) = (core.state(), core.account()) else {
        return Vec::new();
    };
    let end = |(id, lease): (&LeaseId, &Lease)| {
        let last = last_slot(lease, state.order(&lease.order)?)?;
        Some(LeaseEnd {
            lease: *id,
            order: lease.order,
            left_ms: time_to_end(state, last),
        })
    };
    state.leases_of(&account).filter_map(end).collect()
}

fn time_to_end(state: &State, slot: u64) -> u64 {
    let heights = state.calendar().last_of_slot(slot);
    let left = heights.saturating_sub(state.height());
    left.saturating_mul(state.policy().block_interval_ms)
}

/// The last slot of a lease by its own terms, whatever others bid; `None` where a plan decides.
fn last_slot(lease: &Lease, order: &Order) -> Option<u64> {
    let bid = order.bid().map(|bid| (bid.bid.slots, bid.slots_used));
    let claim = order
        .share()
        .map(|share| (share.claim.slots, share.slots_used));
    let by_count = bid.or(claim).map(|(slots, used)| {
        let left = u64::from(slots.saturating_sub(used));
        let after = left.saturating_sub(u64::from(lease.whole_slot));
        lease.slot.saturating_add(after)
    });
    by_count.into_iter().chain(lease.firm_through).min()
}

/// Exact credits: Prometheus reads decimals.
pub(super) fn in_credits(amount: Credits) -> String {
    amount.to_string()
}

fn in_seconds(ms: u64) -> String {
    seconds(ms.saturating_mul(1_000))
}

fn signed(micros: i64) -> String {
    let unit = i128::from(MICROS_PER_CREDIT);
    let (sign, size) = (if micros < 0 { "-" } else { "" }, i128::from(micros).abs());
    format!("{sign}{}.{:06}", size / unit, size % unit)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::market::tests::market;

    pub(in crate::metrics) fn facts() -> Facts {
        Facts {
            height: 17,
            block_ms: 5,
            pace: (250, 10_000),
            round: 4,
            slot: 2,
            mempool: 0,
            totals: Totals::default(),
            hosted: 3,
            copies_kept: 2,
            copies_refused: 5,
            orders_open: 2,
            orders: [(JobState::Running, 2)].into(),
            next_end: Some(90_500),
            free: -1_500_000,
            held: Credits::ZERO,
            own_units: (8, 4),
            adverts: 3,
            validators: Vec::new(),
            classes: vec![(market(&[(8, 3, 5, None)]), 1)],
        }
    }
}
