//! Plans from the ledger, joined with this node's orders.

use super::types::{PlanJob, PlanView};
use crate::api::Answer;
use crate::backend::NodeBackend;
use crate::market::class_name;
use crate::order::own::Own;
use gridbay_core::Core;
use gridbay_ledger::JobInForce;
use gridbay_protocol::ids::OfferId;

impl NodeBackend {
    /// The plans of all offers that take jobs by deadlines, ascending by offer.
    pub async fn plans(&self) -> Answer<Vec<PlanView>> {
        self.query(plans).await
    }
}

fn plans(core: &Core) -> Vec<PlanView> {
    let state = core.state();
    let own = Own::of(core);
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
    let (own_job, name) = own.job(&job.order);
    PlanJob {
        order: job.order,
        job: own_job,
        name,
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
