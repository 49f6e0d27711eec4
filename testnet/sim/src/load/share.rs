//! Pools and claims on them: sellers share units, buyers claim shares through their nodes, others
//! send claims that nobody may have.

use super::buyer::micros;
use super::desk::Desk;
use crate::found::{credits, node_key};
use crate::world::World;
use gridbay_core::buy::{ShareTerms, Terms};
use gridbay_core::input::Command;
use gridbay_ledger::State;
use gridbay_protocol::entry::{EntryBody, SignedEntry};
use gridbay_protocol::ids::{ClassId, Hash32, OfferId};
use gridbay_protocol::mechanism::share::Utility;
use gridbay_protocol::offer::{OfferTerms, PoolTerms, Primary, Reclaim};
use gridbay_protocol::order::Claim;
use gridbay_protocol::units::Price;

/// Label of a node's pool; those of its other offers lie below.
const POOL: u32 = 2;
/// Tasks of a claim at the most.
const MOST_TASKS: u64 = 6;

/// Pools that sell, with their classes.
fn pools(state: &State) -> Vec<(OfferId, ClassId)> {
    let pools = state.offers().filter(|(_, o)| o.pool().is_some());
    pools.map(|(id, o)| (*id, o.terms.class)).collect()
}

impl World {
    /// Some units of a node as a pool: of fewer units than there are claims, so that chance
    /// decides.
    pub(crate) fn set_pool(&mut self, node: usize) {
        let class = self.classes()[0];
        let rng = &mut self.load.rng;
        let units = rng.range(1, 3) as u32;
        let least = 1_000_000u32.div_ceil(units);
        let terms = OfferTerms {
            label: POOL,
            class,
            units,
            reserve: Price(rng.range(0, 60)),
            buy_price: None,
            reclaim: Reclaim::None,
            mechanism: Primary::Share(PoolTerms {
                cap_ppm: rng.range(u64::from(least), 1_000_000) as u32,
                sixteenths: rng.range(0, 16) as u32,
            }),
            node: node_key(node),
        };
        self.command(node, "pool", Command::SetOffer(terms));
    }
    /// A claim with much money or little, for what may be more than there is.
    pub(crate) fn claim(&mut self, node: usize) {
        let pools = self.core(node).map(|core| pools(core.state()));
        let pools = pools.unwrap_or_default();
        let Some((offer, class)) = self.load.rng.pick(&pools).copied() else {
            return;
        };
        let types = self.core(node).and_then(|core| {
            let class = core.state().class(&class)?;
            Some(class.key.resources().count())
        });
        let rng = &mut self.load.rng;
        let rate = micros(rng.range(1, 600));
        let budget = match rng.below(4) {
            0 => micros(rate.micros() * rng.range(1, 3)),
            _ => credits(1),
        };
        let weights = (0..types.unwrap_or(0)).map(|n| u32::from(n == 0) + rng.below(4) as u32);
        let weights = weights.collect();
        let terms = Terms::Share(ShareTerms {
            offer,
            rate,
            utility: [Utility::Linear, Utility::Log][usize::from(rng.chance(400_000))],
            weights,
            budget,
            patience: rng.range(5, 60),
        });
        let tasks = rng.range(1, MOST_TASKS) as u32;
        let slots = rng.range(1, 8) as u32;
        self.order(node, "claim", class, tasks, slots, terms);
    }
}

/// A claim of somebody's on a pool, or on what is none.
fn by_hand(desk: &mut Desk<'_>, offer: OfferId, types: usize) -> Option<SignedEntry> {
    let work = Hash32(desk.load.rng.bytes32());
    let stands_until = desk.state.height() + 40;
    desk.by_owner(EntryBody::Share(Claim {
        offer,
        rate: micros(1),
        utility: Utility::Linear,
        weights: vec![1; types],
        tasks: 1,
        slots: 1,
        budget: credits(1),
        stands_until,
        work,
    }))
}

/// Claims a share of what is no pool.
pub(super) fn no_pool(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let others = desk.state.offers().filter(|(_, o)| o.pool().is_none());
    let others: Vec<OfferId> = others.map(|(id, _)| *id).collect();
    let offer = desk.load.rng.pick(&others).copied()?;
    by_hand(desk, offer, 2)
}

/// Weighs one resource too few.
pub(super) fn wrong_weights(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let pools = pools(desk.state);
    let (offer, class) = desk.load.rng.pick(&pools).copied()?;
    let types = desk.state.class(&class)?.key.resources().count();
    by_hand(desk, offer, types - 1)
}

/// Claims beside a claim of its own.
pub(super) fn claimed_twice(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let claims = desk.state.orders();
    let claims = claims.filter_map(|(_, o)| Some((o.account, o.share()?.claim.clone())));
    let claims: Vec<_> = claims.collect();
    let (account, mut claim) = desk.load.rng.pick(&claims).cloned()?;
    let key = desk.key_of(&account)?;
    claim.work = Hash32(desk.load.rng.bytes32());
    Some(desk.sign(account, &key, EntryBody::Share(claim)))
}
