//! The node itself: its status on one screen, and its end.

use crate::api::Answer;
use crate::api::ErrorCode;
use crate::api::types::count;
use crate::api::types::{NodeState, NodeStatus, Signed, Stale};
use crate::backend::{NodeBackend, wall_ms};
use gridbay_core::Core;
use gridbay_core::input::Command;
use gridbay_protocol::keys::PublicKey;
use gridbay_protocol::units::Credits;

/// A node whose last block is older than so many heartbeats has lost the network.
const HEARTBEATS: u64 = 3;

/// The core's facts about the node.
struct Facts {
    state: NodeState,
    account: Option<gridbay_protocol::ids::AccountId>,
    joining: Option<String>,
    validator: Option<gridbay_protocol::ids::ValidatorId>,
    network: gridbay_protocol::ids::NetworkId,
    height: u64,
    block_ms: u64,
    round: u64,
    slot: u64,
    balance: i64,
    held: Credits,
    units_offered: u32,
    units_leased: u32,
    jobs_hosted: usize,
    jobs_open: usize,
}

impl NodeBackend {
    /// Begins to drain. Repeating it changes nothing.
    pub async fn drain(&self) -> Answer<NodeStatus> {
        self.command(Command::Drain).await?;
        self.node().await
    }

    /// Takes leases again. Repeating it changes nothing.
    pub async fn resume(&self) -> Answer<NodeStatus> {
        self.command(Command::Resume).await?;
        self.node().await
    }

    /// Begins to stop; answers before the node ends.
    pub fn stop(&self) {
        self.parts.stop.send_replace(true);
    }

    /// Status; answers in every state.
    pub async fn node(&self) -> Answer<NodeStatus> {
        let (node, now) = (self.parts.node, wall_ms());
        let body = &self.parts.body;
        let facts = match self.query(move |core| facts(core, node, now)).await {
            Ok(facts) => facts,
            Err(error) if error.code == ErrorCode::Halted => self.without_core(),
            Err(error) => return Err(error),
        };
        let troubles = body.troubles().borrow().clone();
        let stall = self.stall().await;
        let halted = troubles.iter().any(|trouble| trouble.kind.halts());
        let addresses = self.parts.overlay.addresses();
        Ok(NodeStatus {
            state: if halted {
                NodeState::Halted
            } else {
                facts.state
            },
            name: self.parts.name.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            pid: std::process::id(),
            started_ms: self.started_ms,
            network: facts.network,
            network_name: Some(self.parts.network_name.clone()),
            node,
            account: facts.account,
            joining: facts.joining,
            validator: facts.validator,
            listen: addresses.iter().map(ToString::to_string).collect(),
            peers: count(self.parts.overlay.peers().len()),
            height: facts.height,
            block_ms: facts.block_ms,
            round: facts.round,
            slot: facts.slot,
            balance: Signed(facts.balance),
            held: facts.held,
            units_offered: facts.units_offered,
            units_leased: facts.units_leased,
            jobs_hosted: count(facts.jobs_hosted),
            jobs_open: count(facts.jobs_open),
            troubles,
            stall,
        })
    }

    /// The facts known while there is no core to look at.
    fn without_core(&self) -> Facts {
        Facts {
            state: NodeState::Halted,
            account: None,
            joining: None,
            validator: None,
            network: self.parts.network,
            height: *self.parts.body.height().borrow(),
            block_ms: 0,
            round: 0,
            slot: 0,
            balance: 0,
            held: Credits::ZERO,
            units_offered: 0,
            units_leased: 0,
            jobs_hosted: 0,
            jobs_open: 0,
        }
    }
}

fn facts(core: &Core, node: PublicKey, now_ms: u64) -> Facts {
    let state = core.state();
    let policy = state.policy();
    let account = core.account();
    let balance = account
        .map(|account| state.balance(&account))
        .unwrap_or_default();
    let at_head = stale(core, now_ms).is_none();
    let (units_offered, units_leased) = units(core, node);
    let next = state.height().saturating_add(1);
    Facts {
        state: node_state(
            core.seller().is_draining(),
            core.is_closed(),
            account.is_some() && at_head,
        ),
        account,
        joining: join_refusal(core).filter(|_| at_head),
        validator: core.host().validator(),
        network: state.network(),
        height: state.height(),
        block_ms: state.time_ms(),
        round: policy.calendar.round(next),
        slot: policy.calendar.slot(next),
        balance: balance.free,
        held: balance.locked(),
        units_offered,
        units_leased,
        jobs_hosted: core.seller().running(),
        jobs_open: core
            .buyer()
            .orders()
            .filter(|(_, agent)| agent.finish().is_none())
            .count(),
    }
}

/// Why the ledger does not take this node's invitation, and what to do.
pub(crate) fn join_refusal(core: &Core) -> Option<String> {
    let refusal = core.join_refusal()?;
    Some(format!("{refusal}; {}", refusal.hint()))
}

/// Units that this node offers, and those of them that are leased.
pub(crate) fn units(core: &Core, node: PublicKey) -> (u32, u32) {
    let (state, account) = (core.state(), core.account());
    let here = |seller, at: PublicKey| Some(seller) == account && at == node;
    let offers = state.offers().filter(|(_, o)| here(o.seller, o.terms.node));
    let offered = offers.map(|(_, o)| o.supply()).sum();
    let shares = state.leases_at(&node).flat_map(|(_, lease)| &lease.shares);
    let own = |offer| {
        state
            .offer(offer)
            .is_some_and(|o| here(o.seller, o.terms.node))
    };
    let leased = shares
        .filter(|share| own(&share.offer))
        .map(|share| share.units)
        .sum();
    (offered, leased)
}

/// How old its knowledge of the ledger is, if it is not at the network's head.
pub(crate) fn stale(core: &Core, now_ms: u64) -> Option<Stale> {
    let (state, behind) = (core.state(), core.host().is_behind());
    let at_head = is_at_head(now_ms, state.time_ms(), state.policy().heartbeat_ms);
    (behind || !at_head).then(|| Stale {
        height: state.height(),
        age_ms: now_ms.saturating_sub(state.time_ms()),
        behind,
    })
}

/// Whether the last block is recent enough to be the network's head.
fn is_at_head(now_ms: u64, block_ms: u64, heartbeat_ms: u64) -> bool {
    now_ms.saturating_sub(block_ms) <= heartbeat_ms.saturating_mul(HEARTBEATS)
}

fn node_state(draining: bool, closed: bool, ready: bool) -> NodeState {
    match (draining, closed, ready) {
        (true, ..) => NodeState::Draining,
        (false, true, _) => NodeState::Closed,
        (false, false, true) => NodeState::Ready,
        (false, false, false) => NodeState::Joining,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_without_recent_blocks_is_joining() {
        assert!(is_at_head(31_000, 1_000, 10_000));
        assert!(!is_at_head(31_001, 1_000, 10_000));
        assert!(
            is_at_head(0, 5_000, 10_000),
            "a block may be ahead of the clock"
        );
        assert_eq!(node_state(false, false, false), NodeState::Joining);
        assert_eq!(node_state(false, false, true), NodeState::Ready);
        assert_eq!(node_state(true, false, false), NodeState::Draining);
        assert_eq!(node_state(false, true, false), NodeState::Closed);
    }
}
