//! A look at the node for its traces.

use super::facts::{Look, OrderFact, Step, steps};
use super::ids;
use super::story::Story;
use crate::api::Answer;
use crate::backend::{NodeBackend, wall_ms};
use gridbay_core::Core;
use gridbay_core::key::OrderKey;
use gridbay_protocol::ids::{AccountId, LeaseId, OrderId};
use gridbay_protocol::keys::PublicKey;
use std::collections::{BTreeMap, BTreeSet};

/// Lines of history read in the first look at the core, which mostly finds what is new.
const FIRST: usize = 16;
/// Lines read in each further one.
const LINES: usize = 256;
/// Such looks at the most: what lies behind them is not told.
const PAGES: usize = 16;

impl NodeBackend {
    /// The news since the last look of a story, and the orders that it follows.
    pub(super) async fn trace_look(&self, story: &Story) -> Answer<Look> {
        let (told, percent) = (story.told(), story.percent());
        // Before the leases, so that those of all runs are known.
        let runs = self.parts.meters.runs.take();
        let (node, followed) = (self.parts.node, story.followed());
        let now = move |core: &Core| {
            let orders = facts(core, percent, |key, _| followed.contains(key));
            (now(core, node, orders), core.account())
        };
        let (mut look, account) = self.query(now).await?;
        look.runs = runs;
        if let Some(account) = account {
            look.steps = self.trace_steps(account, told.place).await?;
            let known: BTreeSet<OrderId> = look.orders.iter().map(|fact| fact.id).collect();
            let named = look.steps.iter().map(|step| step.order);
            let missing: BTreeSet<OrderId> = named.filter(|id| !known.contains(id)).collect();
            if !missing.is_empty() {
                let more = move |core: &Core| facts(core, percent, |_, id| missing.contains(&id));
                look.orders.extend(self.query(more).await?);
            }
        }
        look.times = self.block_times(heights(&look)).await?;
        Ok(look)
    }

    /// What the ledger has done to orders of an account behind a place.
    async fn trace_steps(&self, account: AccountId, seen: (u64, u32)) -> Answer<Vec<Step>> {
        let (mut before, mut all) = ((u64::MAX, 0), Vec::new());
        for page in 0..PAGES {
            let lines = if page == 0 { FIRST } else { LINES };
            let read = move |core: &Core| {
                let host = core.host();
                let is_own = |order: &OrderId| host.order_account(order) == Some(account);
                let page = host.history_before(&account, before, lines);
                let oldest = page.last().map(|item| (item.height, item.position));
                let fresh = page
                    .iter()
                    .filter(|item| (item.height, item.position) > seen);
                let steps = fresh.flat_map(|item| steps(&account, item, is_own));
                (oldest, steps.collect::<Vec<Step>>())
            };
            let (oldest, found) = self.query(read).await?;
            all.extend(found);
            match oldest {
                Some(oldest) if oldest > seen => before = oldest,
                _ => break,
            }
        }
        all.sort_by_key(|step| step.place);
        Ok(all)
    }
}

/// What one look at the core finds.
fn now(core: &Core, node: PublicKey, orders: Vec<OrderFact>) -> Look {
    Look {
        height: core.state().height(),
        now_ms: wall_ms(),
        orders,
        served: served(core, node),
        ..Look::default()
    }
}

/// The sampled orders that are not over, and those among the others that are wanted.
fn facts(
    core: &Core,
    percent: u8,
    is_wanted: impl Fn(&OrderKey, OrderId) -> bool,
) -> Vec<OrderFact> {
    let told = core.buyer().orders().filter(|(key, agent)| {
        let sampled = agent.id.filter(|id| ids::is_sampled(id, percent));
        sampled.is_some_and(|id| agent.finish().is_none() || is_wanted(key, id))
    });
    let fact = told.filter_map(|(key, agent)| OrderFact::of(core.state(), key, agent));
    fact.collect()
}

/// The orders of the leases of which this node serves units.
fn served(core: &Core, node: PublicKey) -> BTreeMap<LeaseId, OrderId> {
    let state = core.state();
    let is_here = |offer| {
        state
            .offer(offer)
            .is_some_and(|offer| offer.terms.node == node)
    };
    let leases = state.leases();
    let here = leases.filter(|(_, lease)| lease.shares.iter().any(|share| is_here(&share.offer)));
    here.map(|(id, lease)| (*id, lease.order)).collect()
}

/// Heights of which the times are asked.
fn heights(look: &Look) -> impl Iterator<Item = u64> {
    let of = |fact: &OrderFact| [fact.committed, fact.opened, fact.won];
    let of_steps = look.steps.iter().map(|step| step.place.0);
    let all: BTreeSet<u64> = look.orders.iter().flat_map(of).chain(of_steps).collect();
    all.into_iter().filter(|height| *height > 0)
}
