//! This node's own jobs by the orders that they have on the ledger: with them, the owner finds the
//! own ones in a list of everybody's orders.

use super::handle::job_id;
use crate::job::types::JobId;
use gridbay_core::Core;
use gridbay_protocol::ids::OrderId;
use std::collections::BTreeMap;

/// The jobs, with their names.
pub(crate) struct Own(BTreeMap<OrderId, (JobId, String)>);

impl Own {
    /// As things stand.
    pub(crate) fn of(core: &Core) -> Own {
        let orders = core.buyer().orders();
        let named = orders.filter_map(|(key, agent)| {
            Some((agent.id?, (job_id(key), agent.order().name.clone())))
        });
        Own(named.collect())
    }
    /// Id and name of the job of an order; neither of another node's.
    pub(crate) fn job(&self, order: &OrderId) -> (Option<JobId>, Option<String>) {
        self.0.get(order).cloned().unzip()
    }
}
