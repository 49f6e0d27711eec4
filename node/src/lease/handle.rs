//! Leases from the ledger, joined with this node's orders.

use super::net;
use super::types::{LeaseNet, LeaseNode, LeasePart, LeaseView, NetSetup};
use crate::api::Answer;
use crate::backend::NodeBackend;
use crate::backend::failure::{not_found, usage};
use crate::market::class_name;
use crate::order::handle::job_id;
use gridbay_core::Core;
use gridbay_core::buyer::order::OrderAgent;
use gridbay_core::cluster::is_held;
use gridbay_core::input::Command;
use gridbay_core::key::OrderKey;
use gridbay_ledger::Lease;
use gridbay_protocol::ids::LeaseId;
use gridbay_protocol::keys::PublicKey;
use gridbay_vnet::engine::LeaseStatus;
use std::collections::BTreeMap;

/// Digits by which a lease can be named at the least.
const SHORTEST: usize = 4;

impl NodeBackend {
    /// The leases that this node has a part in, ascending.
    pub async fn leases(&self) -> Answer<Vec<LeaseView>> {
        let node = self.parts.node;
        self.query(move |core| {
            let all = core.state().leases();
            let own = all.filter_map(|(id, lease)| view(core, node, id, lease));
            own.collect()
        })
        .await
    }

    /// One of them, by the beginning of its id or of its job's, or by the job's name.
    pub async fn lease(&self, id: String) -> Answer<LeaseView> {
        let node = self.parts.node;
        self.query(move |core| one(core, node, &id)).await?
    }

    /// Its network.
    pub async fn lease_net(&self, id: String) -> Answer<LeaseNet> {
        let node = self.parts.node;
        let told = self.query(move |core| {
            let view = one(core, node, &id)?;
            let agent = order_of(core, &view.lease).map(|(_, agent)| agent);
            let mut net = net::told(agent, &view);
            net.relays = net::relays(core, &view.lease);
            Ok::<_, crate::api::ApiError>((net, view))
        });
        let (mut net, view) = told.await??;
        let clusters = self.parts.clusters.clone();
        let status = tokio::task::spawn_blocking(move || clusters.status(&view.lease));
        let status = status.await.ok().flatten();
        if net.members.is_empty() && status.is_none() {
            return Err(not_found(
                format!("lease {} has no network that this node knows", net.lease),
                "jobs get one by run --network, --mpi, --dask or --hosts",
            ));
        }
        if let Some(status) = &status {
            net::add_own(&mut net, self.parts.node, status);
        }
        Ok(net)
    }

    /// The networks that this node is in, as it sees them.
    pub(crate) async fn networks(&self) -> Vec<(LeaseId, LeaseStatus)> {
        let clusters = self.parts.clusters.clone();
        let all = tokio::task::spawn_blocking(move || clusters.all());
        all.await.unwrap_or_default()
    }

    /// Makes this node a member of the network of a lease that it has bought, or no member.
    pub async fn attend(&self, id: String, attends: bool) -> Answer<LeaseView> {
        let node = self.parts.node;
        let found = self.query(move |core| {
            let view = one(core, node, &id)?;
            let order = order_of(core, &view.lease);
            if !attends && order.is_some_and(|(_, agent)| is_held(&agent.order().spec)) {
                return Err(usage(
                    format!("lease {} is of a cluster that this node holds", view.lease),
                    "its commands need the network; gridbay cluster end gives it up",
                ));
            }
            Ok::<_, crate::api::ApiError>((order.map(|(key, _)| key), view))
        });
        let (key, view) = found.await??;
        let Some(key) = key.filter(|_| view.network) else {
            return Err(usage(
                format!("lease {} has no network of this node's order", view.lease),
                "only the buyer's node can join, and only jobs of run --network have one",
            ));
        };
        self.command(Command::Attend(key, attends)).await?;
        Ok(view)
    }
}

/// The only lease that a text means.
pub(super) fn one(core: &Core, node: PublicKey, id: &str) -> Answer<LeaseView> {
    let all = core.state().leases();
    let is_meant = |lease: &LeaseId| {
        let begins = |text: String| id.len() >= SHORTEST && text.starts_with(id);
        let of_job = order_of(core, lease)
            .is_some_and(|(key, agent)| begins(key.to_string()) || agent.order().name == id);
        begins(lease.to_hex()) || of_job
    };
    let mut meant = all
        .filter(|(lease, _)| is_meant(lease))
        .filter_map(|(lease, entry)| view(core, node, lease, entry));
    match (meant.next(), meant.next()) {
        (Some(lease), None) => Ok(lease),
        (None, _) => Err(not_found(
            format!("no lease of this node begins with {id}, and none is of a job called so"),
            "see gridbay lease list; a lease that is over is gone",
        )),
        (Some(_), Some(_)) => Err(usage(
            format!("more than one lease begins with {id}, or is of a job called so"),
            "give more digits of its id: gridbay lease list",
        )),
    }
}

/// This node's order that holds a lease.
pub(super) fn order_of<'c>(core: &'c Core, lease: &LeaseId) -> Option<(OrderKey, &'c OrderAgent)> {
    let order = core.state().lease(lease)?.order;
    let mut all = core.buyer().orders();
    // An order under contract uses leases of its provider: its tasks know them.
    let holds = |agent: &OrderAgent| {
        let mut runs = agent.tasks.runs.values();
        agent.id == Some(order) || runs.any(|run| run.job.lease == *lease)
    };
    all.find(|(_, agent)| holds(agent)).map(|(k, a)| (*k, a))
}

/// A lease, if this node has a part in it.
fn view(core: &Core, node: PublicKey, id: &LeaseId, lease: &Lease) -> Option<LeaseView> {
    let state = core.state();
    let order = order_of(core, id);
    let mut nodes: BTreeMap<PublicKey, LeaseNode> = BTreeMap::new();
    for share in &lease.shares {
        let Some(offer) = state.offer(&share.offer) else {
            continue;
        };
        let entry = nodes.entry(offer.terms.node).or_insert_with(|| LeaseNode {
            node: offer.terms.node,
            name: state.member_name(&offer.seller).map(str::to_owned),
            units: 0,
        });
        entry.units += share.units;
    }
    let part = match (order.is_some(), nodes.contains_key(&node)) {
        (true, true) => LeasePart::Both,
        (true, false) => LeasePart::Buyer,
        (false, true) => LeasePart::Seller,
        (false, false) => return None,
    };
    let setups = order.map_or(&[][..], |(_, agent)| agent.setups());
    let setup = setups.iter().rfind(|setup| setup.lease == *id);
    let serves = core.seller().is_connected(id);
    Some(LeaseView {
        lease: *id,
        part,
        job: order.map(|(key, _)| job_id(&key)),
        name: order.map(|(_, agent)| agent.order().name.clone()),
        class: class_name(state, &lease.class),
        units: lease.shares.iter().map(|share| share.units).sum(),
        slot: lease.slot,
        paid: lease.paid,
        nodes: nodes.into_values().collect(),
        network: serves || order.is_some_and(|(_, agent)| agent.order().spec.network),
        setup: setup.map(NetSetup::from),
    })
}
