//! I8: a unit of capacity belongs to at most one lease at a time.
//!
//! 1. Leases are followed by their events: one that starts is new, one that goes on or ends runs;
//!    an order has one lease at a time.
//! 2. After every block the units of an offer in leases are at most those for sale before it. Where
//!    leases outlive a change of the offer they may be more, but never more than before, and at a
//!    boundary only firm ones outlive it.
//! 3. The units of an offer in force are some that its seller set in an entry.
//! 4. From time to time the leases of a node at that height are compared.
//! 5. On the machines: of one lease no more jobs are alive at a seller's node than it has units
//!    there.

use super::{Check, Fact, Sight};
use crate::found::node_key;
use crate::world::World;
use gridbay_core::agent::{Phase, RunId};
use gridbay_core::effect::Effect;
use gridbay_ledger::State;
use gridbay_protocol::effect::Effect as LedgerEffect;
use gridbay_protocol::entry::{EntryBody, SignedEntry};
use gridbay_protocol::ids::{LeaseId, OfferId, OrderId};
use gridbay_protocol::lease::{LeaseEvent, LeaseTerms, Share};
use gridbay_protocol::offer::offer_id;
use std::collections::{BTreeMap, BTreeSet};

/// Blocks between two comparisons with a node.
const COMPARE_BLOCKS: u64 = 20;

#[derive(Clone, Debug)]
struct Lease {
    order: OrderId,
    shares: Vec<Share>,
    firm: bool,
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Exclusive {
    leases: BTreeMap<LeaseId, Lease>,
    /// All leases that ever were.
    known: BTreeSet<LeaseId>,
    running: BTreeMap<OrderId, LeaseId>,
    /// Units that sellers ever set.
    set: BTreeMap<OfferId, BTreeSet<u32>>,
    /// Units for sale after the block before, and its height.
    supply: Option<(u64, BTreeMap<OfferId, u32>)>,
}

impl Exclusive {
    /// Step 1.
    fn event(&mut self, event: &LeaseEvent) -> Result<(), String> {
        match event {
            LeaseEvent::Started(terms) => {
                if !self.known.insert(terms.lease) {
                    return Err(format!("lease {} starts again", terms.lease));
                }
                if let Some(other) = self.running.insert(terms.order, terms.lease) {
                    return Err(format!("order {} has lease {other} already", terms.order));
                }
                self.hold(terms)
            }
            LeaseEvent::Renewed(terms) => {
                if self.running.get(&terms.order) != Some(&terms.lease) {
                    return Err(format!("lease {} does not run", terms.lease));
                }
                self.hold(terms)
            }
            LeaseEvent::Ended { lease, order, .. } => {
                let ran = self.leases.remove(lease).map(|l| l.order);
                let ran = ran.filter(|_| self.running.remove(order) == Some(*lease));
                (ran == Some(*order))
                    .then_some(())
                    .ok_or(format!("lease {lease} ends and does not run"))
            }
            // Its consequences are told as well.
            LeaseEvent::Disputed { .. } => Ok(()),
        }
    }
    fn hold(&mut self, terms: &LeaseTerms) -> Result<(), String> {
        let ascending = terms.shares.windows(2).all(|w| w[0].offer < w[1].offer);
        if !ascending || terms.shares.is_empty() || terms.shares.iter().any(|s| s.units == 0) {
            return Err(format!(
                "lease {} has shares {:?}",
                terms.lease, terms.shares
            ));
        }
        let lease = Lease {
            order: terms.order,
            shares: terms.shares.clone(),
            firm: terms.firm_through.is_some(),
        };
        self.leases.insert(terms.lease, lease);
        Ok(())
    }
    /// Units held by offer: of all leases, and of the firm ones.
    fn held(&self) -> BTreeMap<OfferId, (u32, u32)> {
        let mut held: BTreeMap<OfferId, (u32, u32)> = BTreeMap::new();
        for lease in self.leases.values() {
            for share in &lease.shares {
                let (all, firm) = held.entry(share.offer).or_default();
                *all += share.units;
                *firm += if lease.firm { share.units } else { 0 };
            }
        }
        held
    }
    fn entries(&mut self, entries: &[SignedEntry]) {
        for signed in entries {
            if let EntryBody::SetOffer(terms) = &signed.entry.body {
                let id = offer_id(&signed.entry.account, terms.label);
                self.set.entry(id).or_default().insert(terms.units);
            }
        }
    }
    /// Steps 1 and 2.
    fn block(&mut self, fact: &Fact, boundary: bool) -> Result<(), String> {
        self.entries(&fact.decided.block.entries);
        let before = self.held();
        for effect in &fact.effects {
            if let LedgerEffect::Lease(event) = effect {
                self.event(event)?;
            }
        }
        let supply = self.supply.take();
        let Some((_, supply)) = supply.filter(|(height, _)| height + 1 == fact.height) else {
            return Ok(());
        };
        for (offer, (all, firm)) in self.held() {
            let outlive = match boundary {
                true => firm,
                false => before.get(&offer).map_or(0, |(all, _)| *all),
            };
            let most = outlive.max(supply.get(&offer).copied().unwrap_or(0));
            if all > most {
                return Err(format!(
                    "{all} units of offer {offer} are in leases after block {}, {most} can be",
                    fact.height
                ));
            }
        }
        Ok(())
    }
    /// Step 3.
    fn look(&mut self, state: &State) -> Result<(), String> {
        let mut supply = BTreeMap::new();
        for (id, offer) in state.offers() {
            let set = self.set.get(id);
            if !set.is_some_and(|s| s.contains(&offer.terms.units)) {
                return Err(format!("offer {id} has units that its seller never set"));
            }
            if offer.active {
                supply.insert(*id, offer.terms.units);
            }
        }
        self.supply = Some((state.height(), supply));
        Ok(())
    }
    /// Step 4.
    fn compare(&self, state: &State) -> Result<(), String> {
        let theirs = state.leases().map(|(id, lease)| (*id, &lease.shares));
        let ours = self.leases.iter().map(|(id, lease)| (*id, &lease.shares));
        if theirs.eq(ours) {
            return Ok(());
        }
        Err("the leases of the state are not those of the effects".to_owned())
    }
}

/// Step 5, when a node starts a job.
fn starts(world: &World, node: usize, job: &RunId) -> Result<(), String> {
    let Some(state) = world.core(node).map(gridbay_core::Core::state) else {
        return Ok(());
    };
    let shares = state.lease(&job.lease).map_or(&[][..], |l| &l.shares[..]);
    let here = shares.iter().filter(|share| {
        let offer = state.offer(&share.offer);
        offer.is_some_and(|o| o.terms.node == node_key(node))
    });
    let units: u32 = here.map(|share| share.units).sum();
    let jobs = world.machines[node].shelf.jobs.iter();
    let alive = jobs.filter(|(id, played)| {
        id.lease == job.lease && *id != job && matches!(played.phase, Phase::Running { .. })
    });
    fits(units, alive.count())
        .then_some(())
        .ok_or(format!("node {node} starts {job} on {units} units in use"))
}

/// Whether one job more fits on a lease's units.
fn fits(units: u32, alive: usize) -> bool {
    alive < units as usize
}

impl Check for Exclusive {
    fn id(&self) -> &'static str {
        "I8"
    }
    fn see(&mut self, world: &World, sight: &Sight<'_>) -> Result<(), String> {
        match sight {
            Sight::Block(fact) => {
                let calendar = world.genesis.policy.calendar;
                let slot = u64::from(calendar.round_heights) * u64::from(calendar.slot_rounds);
                self.block(fact, fact.height.is_multiple_of(slot))?;
                let state = world.core(fact.node).map(gridbay_core::Core::state);
                let Some(state) = state.filter(|s| s.height() == fact.height) else {
                    return Ok(());
                };
                self.look(state)?;
                if fact.height.is_multiple_of(COMPARE_BLOCKS) {
                    self.compare(state)?;
                }
                Ok(())
            }
            Sight::Step { node, effects, .. } if world.machines[*node].is_honest() => {
                let jobs = effects.iter().filter_map(|effect| match effect {
                    Effect::StartJob { job, .. } => Some(job),
                    _ => None,
                });
                jobs.into_iter()
                    .try_for_each(|job| starts(world, *node, job))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::ids::{AccountId, ClassId};
    use gridbay_protocol::lease::LeaseEnd;
    use gridbay_protocol::units::Credits;

    const OFFER: OfferId = OfferId([1; 32]);

    fn terms(n: u8, units: u32) -> LeaseTerms {
        LeaseTerms {
            lease: LeaseId([n; 32]),
            order: OrderId([n; 32]),
            account: AccountId([n; 32]),
            class: ClassId([7; 32]),
            slot: 1,
            shares: vec![Share {
                offer: OFFER,
                units,
            }],
            paid: Credits::ZERO,
            firm_through: None,
        }
    }
    fn fact(events: Vec<LeaseEvent>) -> Fact {
        Fact {
            node: 0,
            height: 9,
            decided: super::super::fact::tests::decided(9),
            effects: events.into_iter().map(LedgerEffect::Lease).collect(),
        }
    }
    fn check() -> Exclusive {
        Exclusive {
            supply: Some((8, [(OFFER, 3)].into())),
            ..Exclusive::default()
        }
    }

    #[test]
    fn a_lease_beyond_supply_is_reported() {
        let start = |n, units| LeaseEvent::Started(terms(n, units));
        assert_eq!(
            check().block(&fact(vec![start(1, 2), start(2, 1)]), false),
            Ok(())
        );
        let over = fact(vec![start(1, 2), start(2, 2)]);
        assert!(check().block(&over, false).is_err());
        let mut shrunk = check();
        shrunk.event(&start(1, 4)).unwrap();
        assert_eq!(shrunk.block(&fact(vec![]), false), Ok(()), "outlives");
        shrunk.supply = check().supply;
        assert!(shrunk.block(&fact(vec![]), true).is_err(), "the boundary");
        assert!(fits(2, 1) && !fits(2, 2));
    }

    #[test]
    fn events_that_do_not_follow_are_reported() {
        let ended = LeaseEvent::Ended {
            lease: LeaseId([1; 32]),
            order: OrderId([1; 32]),
            end: LeaseEnd::Exit,
        };
        let mut check = check();
        assert!(check.event(&LeaseEvent::Renewed(terms(1, 1))).is_err());
        assert!(check.event(&ended).is_err());
        check.event(&LeaseEvent::Started(terms(1, 1))).unwrap();
        assert!(check.event(&LeaseEvent::Started(terms(1, 1))).is_err());
        let mut twice = terms(2, 1);
        twice.order = OrderId([1; 32]);
        assert!(check.event(&LeaseEvent::Started(twice)).is_err());
    }

    #[test]
    fn units_that_nobody_set_and_leases_that_differ_are_reported() {
        let plan = crate::plan::Plan::calm(1, 4);
        let state = State::genesis(&crate::found::genesis(&plan)).unwrap();
        let mut check = check();
        assert_eq!(check.look(&state), Ok(()));
        assert_eq!(check.compare(&state), Ok(()));
        check.event(&LeaseEvent::Started(terms(1, 1))).unwrap();
        assert!(check.compare(&state).is_err());
    }
}
