//! I21: a node carries only for those who pay for it or are given it, and a relay's pay is within
//! its bid.
//!
//! 1. When an honest node begins to carry, the carried lease lives in its ledger. What pays is a
//!    living lease of the same account with a unit of this node, whose job here is a relay's and
//!    runs, and is worth so many bytes of that lease's slot for each; or the account is given so
//!    many in a day, and is one of few.
//! 2. After each of its steps, both leases of everything that it carries still live.
//! 3. A relay's order pays no slot more than it was for, each within the limit that the user set.

use super::{Check, Sight};
use crate::found::terms;
use crate::world::{Machine, World};
use gridbay_core::agent::Phase;
use gridbay_core::buy::Relaying;
use gridbay_core::buyer::order::OrderAgent;
use gridbay_core::effect::Effect;
use gridbay_core::relay::{Grant, Purse};
use gridbay_ledger::State;
use gridbay_protocol::ids::{AccountId, LeaseId};
use std::collections::BTreeSet;

/// Accounts that a node gives something at a time.
const GIVEN: usize = 256;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Relays {
    open: BTreeSet<(usize, Purse, LeaseId)>,
}

/// The account whose order a lease serves, without the code of the node.
fn account(state: &State, lease: &LeaseId) -> Option<AccountId> {
    let lease = state.lease(lease)?;
    state.user(&lease.order).map(|user| user.account)
}

/// Running jobs of a lease that stand for a relay.
fn units(machine: &Machine, lease: &LeaseId) -> u64 {
    let jobs = machine
        .shelf
        .jobs
        .iter()
        .filter(|(id, _)| id.lease == *lease);
    let stands = jobs.filter(|(_, job)| {
        let words: Vec<&str> = job.spec.argv.iter().map(String::as_str).collect();
        matches!(job.phase, Phase::Running { .. }) && words == ["/run/gridbay-rank", "relay"]
    });
    stands.count() as u64
}

/// Point 1.
fn begins(state: &State, node: usize, machine: &Machine, grant: &Grant) -> Result<(), String> {
    let carried = account(state, &grant.carries);
    let terms = terms(node);
    let (most, pays, period) = match grant.purse {
        Purse::Free(account) => (terms.free_day, carried == Some(account), grant.period),
        Purse::Lease(lease) => {
            let same = carried.is_some() && account(state, &lease) == carried;
            let slot = state.lease(&lease).map_or(0, |l| l.slot);
            (terms.unit_slot * units(machine, &lease), same, slot)
        }
    };
    let sound = carried.is_some() && pays && period == grant.period;
    match sound && grant.bytes > 0 && grant.bytes <= most {
        true => Ok(()),
        false => Err(format!(
            "node {node} carries without pay: {grant:?}, at most {most}"
        )),
    }
}

/// Point 2.
fn lives(state: &State, purse: &Purse, carries: &LeaseId) -> bool {
    let paid = match purse {
        Purse::Lease(lease) => state.lease(lease).is_some(),
        Purse::Free(_) => true,
    };
    paid && state.lease(carries).is_some()
}

/// Point 3.
fn pays(agent: &OrderAgent, limit: u64) -> Result<(), String> {
    let most = limit.saturating_mul(u64::from(agent.order().slots) + 1);
    let paid = agent.paid().micros();
    match paid <= most {
        true => Ok(()),
        false => Err(format!(
            "a relay was paid {paid}, and {most} at the most was bid"
        )),
    }
}

impl Relays {
    fn effect(&mut self, world: &World, node: usize, effect: &Effect) -> Result<(), String> {
        match effect {
            Effect::Relay { grant, .. } => {
                let Some(core) = world.core(node) else {
                    return Ok(());
                };
                begins(core.state(), node, &world.machines[node], grant)?;
                self.open.insert((node, grant.purse, grant.carries));
                let given = |(of, purse, _): &&(usize, Purse, LeaseId)| {
                    *of == node && matches!(purse, Purse::Free(_))
                };
                match self.open.iter().filter(given).count() > GIVEN {
                    true => Err(format!("node {node} gives to too many")),
                    false => Ok(()),
                }
            }
            Effect::EndRelay { purse, carries } => {
                self.open.remove(&(node, *purse, *carries));
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

impl Check for Relays {
    fn id(&self) -> &'static str {
        "I21"
    }
    fn see(&mut self, world: &World, sight: &Sight<'_>) -> Result<(), String> {
        match sight {
            Sight::Step { node, effects, .. } if world.machines[*node].is_honest() => {
                for effect in *effects {
                    self.effect(world, *node, effect)?;
                }
                let Some(core) = world.core(*node) else {
                    return Ok(());
                };
                let own = self.open.iter().filter(|(of, _, _)| of == node);
                let gone = own.filter(|(_, purse, carries)| !lives(core.state(), purse, carries));
                match { gone }.next() {
                    Some(gone) => Err(format!("still carried: {gone:?}")),
                    None => Ok(()),
                }
            }
            Sight::Down { node } => {
                self.open.retain(|(of, _, _)| of != node);
                Ok(())
            }
            _ => Ok(()),
        }
    }
    fn end(&mut self, world: &World) -> Result<(), String> {
        for core in world.honest().filter_map(|n| world.core(n)) {
            for (_, agent) in core.buyer().orders() {
                let Relaying::For(of) = &agent.order().relay else {
                    continue;
                };
                let parent = core.buyer().order(of).map(|a| a.order().relay.clone());
                if let Some(Relaying::Paid(pay)) = parent {
                    pays(agent, pay.limit.micros())?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::found::genesis;
    use crate::plan::Plan;

    #[test]
    fn what_nobody_pays_is_reported() {
        let plan = Plan::draw(1);
        let state = State::genesis(&genesis(&plan)).expect("a genesis");
        let lease = LeaseId([1; 32]);
        let grant = |purse, bytes| Grant {
            purse,
            carries: lease,
            period: 0,
            bytes,
            pairs: vec![],
        };
        let machine = Machine::new(None);
        for purse in [Purse::Free(AccountId([2; 32])), Purse::Lease(lease)] {
            assert!(begins(&state, 0, &machine, &grant(purse, 1)).is_err());
            assert!(!lives(&state, &purse, &lease));
        }
    }
}
