//! Networks of leases: the core says who belongs to one, the data plane carries its packets.

use super::Body;
use crate::executor::{Interface, Network};
use crate::overlay;
use gridbay_core::agent::{AgentReply, RunId};
use gridbay_core::cluster::{Cluster, GUESTS, RANKS};
use gridbay_core::input::AnswerToken;
use gridbay_core::relay::{Grant, Purse, Signed};
use gridbay_protocol::ids::LeaseId;
use gridbay_protocol::job::JobSpec;
use gridbay_protocol::keys::PublicKey;
use gridbay_vnet::address::{Plan, RESOLVER, short_name};
use serde::Serialize;
use std::net::IpAddr;

/// The resolver's rank is neither a task's nor a user's.
const _: () = assert!(RANKS <= RESOLVER && RESOLVER < GUESTS.start);

impl Body {
    /// Opens a network or changes its members. It takes some milliseconds at the first one.
    pub(super) fn connect(&mut self, token: Option<AnswerToken>, cluster: &Cluster) {
        let connected = self.tools.clusters.connect(cluster, &self.hosts());
        let reply = match connected {
            Ok(presence) => AgentReply::Present(Box::new(presence)),
            Err(error) => {
                tracing::warn!(lease = %cluster.lease, %error, "a lease without its network");
                if token.is_none() {
                    // A member that was to be cut off is cut off, with all others.
                    self.tools.clusters.disconnect(&cluster.lease);
                }
                AgentReply::NotFound
            }
        };
        if let Some(token) = token {
            self.answer(token, &reply);
        }
    }

    pub(super) fn disconnect(&mut self, lease: &LeaseId) {
        self.tools.clusters.disconnect(lease);
    }

    /// Says how this node reaches the others of a lease.
    pub(super) fn show_links(
        &mut self,
        token: AnswerToken,
        lease: &LeaseId,
        others: &[(PublicKey, [u8; 32])],
    ) {
        let links = self.tools.clusters.links(lease, others);
        let signed = self.sign(links);
        self.answer(token, &AgentReply::Links(Box::new(signed)));
    }

    /// Carries packets for others.
    pub(super) fn relay(&mut self, token: Option<AnswerToken>, grant: &Grant) {
        let reply = match self.tools.clusters.relay(grant, &self.hosts()) {
            Ok(carried) => AgentReply::Carried(Box::new(self.sign(carried))),
            Err(error) => {
                tracing::warn!(lease = %grant.carries, %error, "no relay");
                AgentReply::NotFound
            }
        };
        if let Some(token) = token {
            self.answer(token, &reply);
        }
    }

    pub(super) fn end_relay(&mut self, purse: &Purse, carries: &LeaseId) {
        self.tools.clusters.end_relay(purse, carries);
    }

    /// This node's word.
    fn sign<T: Serialize>(&self, said: T) -> Signed<T> {
        let network = self.core().state().network();
        Signed::new(&network, said, &self.tools.transport)
    }

    /// The addresses at which this machine is reached: its own, then those that others see.
    fn hosts(&self) -> Vec<IpAddr> {
        let overlay = &self.tools.overlay;
        let (own, seen) = (overlay.addresses(), overlay.whereabouts().external);
        let all = own.iter().chain(&seen);
        let direct = all.filter(|address| !overlay::is_circuit(address));
        direct.filter_map(overlay::ip).collect()
    }

    /// The network of a job, and the job with the variables that tell of it.
    pub(super) fn placed(&self, job: &RunId, mut spec: JobSpec) -> (JobSpec, Network) {
        let core = self.core();
        let state = core.state();
        let user = state.lease(&job.lease).and_then(|l| state.user(&l.order));
        let tasks = user.map_or(job.task + 1, |user| user.tasks);
        let plan = Plan::new(&state.network(), &job.lease);
        let Some(address) = plan.rank(job.task).filter(|_| spec.network) else {
            return (spec, Network::None);
        };
        let own = [
            ("GRIDBAY_ADDRESS", address.v4.to_string()),
            ("GRIDBAY_ADDRESS6", address.v6.to_string()),
        ];
        spec.env
            .retain(|(name, _)| own.iter().all(|(n, _)| n != name));
        spec.env
            .extend(own.map(|(name, value)| (name.to_owned(), value)));
        let network = Network::Lease(Interface {
            host: short_name(job.task),
            v4: address.v4,
            v6: address.v6,
            hosts: plan.hosts_file(tasks),
            resolver: plan.resolver_file(),
            machines: plan.machine_file(tasks, 1),
        });
        (spec, network)
    }
}
