//! Plans from the ledger, joined with this node's orders.

use super::types::{PlanJob, PlanView};
use crate::api::Answer;
use crate::api::types::JobId;
use crate::backend::NodeBackend;
use crate::market::class_name;
use crate::order::handle::job_id;
use gridbay_core::Core;
use gridbay_ledger::JobInForce;
use gridbay_protocol::ids::{OfferId, OrderId};
use std::collections::BTreeMap;

/// Own jobs by the orders that they have on the ledger, with their names.
type Own = BTreeMap<OrderId, (JobId, String)>;

impl NodeBackend {
    /// The plans of all offers that take jobs by deadlines, ascending by offer.
    pub async fn plans(&self) -> Answer<Vec<PlanView>> {
        self.query(plans).await
    }
}

fn plans(core: &Core) -> Vec<PlanView> {
    let state = core.state();
    let own: Own = core
        .buyer()
        .orders()
        .filter_map(|(key, agent)| Some((agent.id?, (job_id(key), agent.order().name.clone()))))
        .collect();
    let plan = |(id, offer): (&OfferId, &gridbay_ledger::Offer)| {
        let plan = state.plan_in_force(id)?;
        Some(PlanView {
            offer: *id,
            label: offer.terms.label,
            account: offer.seller,
            name: state.member_name(&offer.seller).map(str::to_owned),
            own: core.account() == Some(offer.seller),
            class: class_name(state, &offer.terms.class),
            slot: plan.slot,
            slot_ms: state.policy().slot_ms(),
            units: plan.capacity,
            jobs: plan.jobs.iter().map(|job| shown(job, &own)).collect(),
        })
    };
    state.offers().filter_map(plan).collect()
}

fn shown(job: &JobInForce, own: &Own) -> PlanJob {
    let known = own.get(&job.order);
    PlanJob {
        order: job.order,
        job: known.map(|(id, _)| id.clone()),
        name: known.map(|(_, name)| name.clone()),
        left: job.left,
        units: job.units,
        first_slot: job.first,
        done_slot: job.done,
        soft_slot: job.soft,
        hard_slot: job.hard,
        pay: job.pay,
        bond: job.bond,
    }
}
