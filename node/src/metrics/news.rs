//! The news of each block for the meters: own orders, own money.

use super::orders::Look;
use crate::api::Answer;
use crate::backend::NodeBackend;
use crate::job::state::situation;
use gridbay_core::Core;
use gridbay_core::key::OrderKey;
use gridbay_protocol::payment::Posting;
use std::collections::BTreeMap;

/// Lines of history read in one look at the core.
const LINES: usize = 256;
/// Looks for one block at the most: what lies behind them is not counted.
const LOOKS: usize = 16;

impl NodeBackend {
    /// Tells the meters what the last blocks brought.
    pub(crate) async fn measure(&self) -> Answer<()> {
        let known = self.parts.meters.orders.seen();
        let orders = self.query(move |core| looks(core, &known)).await?;
        self.parts.meters.orders.look(orders);
        self.count_payments().await
    }

    async fn count_payments(&self) -> Answer<()> {
        let now = |core: &Core| (core.account(), core.state().height());
        let (Some(account), height) = self.query(now).await? else {
            return Ok(());
        };
        let payments = &self.parts.meters.payments;
        let seen = payments.since(account, height);
        let (mut before, mut found) = ((u64::MAX, 0), BTreeMap::new());
        for _ in 0..LOOKS {
            let read = move |core: &Core| core.host().postings_before(&account, before, LINES);
            let page = self.query(read).await?;
            let Some(oldest) = page.last().map(|(place, _)| *place) else {
                break;
            };
            found.extend(page.into_iter().filter(|(place, _)| *place > seen));
            before = oldest;
            if oldest <= seen {
                break;
            }
        }
        if let Some((last, _)) = found.last_key_value() {
            let (last, postings) = (*last, found.values().flatten().copied());
            let postings: Vec<Posting> = postings.collect();
            payments.add(account, last, &postings);
        }
        Ok(())
    }
}

/// The orders of now. Those that were over before are as they were.
fn looks(core: &Core, known: &BTreeMap<OrderKey, Look>) -> BTreeMap<OrderKey, Look> {
    let state = core.state();
    let orders = core.buyer().orders();
    let look = |(key, agent): (&OrderKey, &gridbay_core::buyer::order::OrderAgent)| {
        if let Some(over) = known.get(key).filter(|look| look.ended.is_some()) {
            return (*key, *over);
        }
        let records = &agent.tasks.records;
        let started = records.iter().map(|t| t.started_ms).filter(|at| *at > 0);
        let over = agent.finish().is_some();
        let ended = over.then(|| situation(state, agent).judge().0.name());
        let look = Look {
            accepted_ms: agent.order().accepted_ms,
            started_ms: started.min().unwrap_or(0),
            lost: agent.milestones().lost,
            ended,
        };
        (*key, look)
    };
    orders.map(look).collect()
}
