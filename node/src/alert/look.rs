//! A look at the node for its alerts.

use super::facts::{Facts, LeaseFact, OrderFact};
use crate::api::Answer;
use crate::api::types::JobState;
use crate::backend::{NodeBackend, wall_ms};
use crate::job::state::situation;
use crate::metrics::lease_ends;
use crate::order::handle::job_id;
use crate::overlay::key_of_peer_id;
use gridbay_core::Core;
use gridbay_protocol::keys::PublicKey;
use std::collections::BTreeSet;

impl NodeBackend {
    /// The facts of now.
    pub(super) async fn alert_facts(&self) -> Answer<Facts> {
        let node = self.parts.node;
        let (facts, validators) = self.query(move |core| of(core, node)).await?;
        let peers = self.parts.overlay.peers();
        let near: BTreeSet<_> = peers
            .iter()
            .filter_map(|peer| key_of_peer_id(&peer.peer))
            .collect();
        let validators = validators.into_iter().map(|(node, name)| {
            let connected = near.contains(node.as_bytes()) || self.rests(&node);
            (node.to_hex(), name, connected)
        });
        let troubles = self.parts.body.troubles();
        let troubles = troubles.borrow().clone();
        let trouble = |t: crate::trouble::Trouble| (t.kind.name(), t.what, t.hint);
        Ok(Facts {
            peers: peers.len(),
            validators: validators.collect(),
            troubles: troubles.into_iter().map(trouble).collect(),
            ..facts
        })
    }
}

/// The core's part of the facts; and the nodes of the other validators, with their members' names.
fn of(core: &Core, node: PublicKey) -> (Facts, Vec<(PublicKey, String)>) {
    let (state, policy) = (core.state(), core.state().policy());
    let account = core.account().map(|account| {
        let free = state.balance(&account).free;
        (account.to_hex(), free)
    });
    let open = core.buyer().orders().filter(|(_, a)| a.finish().is_none());
    let order = |(key, agent): (&_, &gridbay_core::buyer::order::OrderAgent)| OrderFact {
        job: job_id(key).to_string(),
        name: agent.order().name.clone(),
        lost: agent.milestones().lost,
        waits: situation(state, agent).judge().0 == JobState::Requeued,
    };
    let name_of = |lease| {
        let mut all = core.buyer().orders();
        let found = all.find(|(_, agent)| agent.id == Some(lease));
        found.map_or_else(String::new, |(_, agent)| agent.order().name.clone())
    };
    let lease = |end: crate::metrics::LeaseEnd| LeaseFact {
        lease: end.lease.to_hex(),
        name: name_of(end.order),
        left_ms: end.left_ms,
    };
    let validators = state.validators().members().iter();
    let others = validators.filter(|validator| validator.node != node);
    let named = others.map(|validator| {
        let name = state.member_name(&validator.account);
        (validator.node, name.unwrap_or_default().to_owned())
    });
    let facts = Facts {
        now_ms: wall_ms(),
        account,
        block: (state.height(), state.time_ms()),
        pace: (policy.block_interval_ms, policy.heartbeat_ms),
        orders: open.map(order).collect(),
        leases: lease_ends(core).into_iter().map(lease).collect(),
        ..Facts::default()
    };
    (facts, named.collect())
}
