//! Sharings: the public record of how a pool was shared for a slot.
//!
//! A record holds the whole input, so anybody can recompute it with [`Sharing::divide`]; the
//! block's effects root binds it.
//!
//! 1. The pool sells the [`lots`] of its units at its reserve, under its cap and exponent.
//! 2. [`share::clear`] splits every claim's rate over the resources, with `eps` a 1,024th of the
//!    mean rate and at most [`ROUNDS`] rounds; the last one counts.
//! 3. [`dispatch()`] draws who runs: `draw` is the first point, and gives each order its place in
//!    the row.
//! 4. A claim that got a processor is awarded. Its `processors` are those that its share is
//!    entitled to, in thousandths: how much its tasks weigh when processors are contended.

use crate::beacon;
use crate::class::{ClassKey, Resource};
use crate::hash::{Domain, hash};
use crate::ids::{AccountId, ClassId, ClearingId, Hash32, OfferId, OrderId};
use crate::limits;
use crate::mechanism::share::dispatch::{PARTS, Slot, dispatch, lots};
use crate::mechanism::share::units::{Pool, Sold};
use crate::mechanism::share::{self, Input, Job, Outcome, Terms, Utility};
use crate::offer::PoolTerms;
use crate::units::{Credits, Price};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Rounds of the auction of a slot at the most. With roots of budgets 5 are usual; a bound keeps a
/// block in time.
pub const ROUNDS: u32 = 32;

/// A claim as it entered a sharing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SharingClaim {
    /// The order.
    pub order: OrderId,
    /// The sponsor of its account: whose cap it counts for.
    pub sponsor: AccountId,
    /// Its budget for the slot.
    pub rate: Credits,
    /// How its utility depends on its shares.
    pub utility: Utility,
    /// Worth of each resource.
    pub weights: Vec<u32>,
    /// Its tasks.
    pub tasks: u32,
}

/// A claim's allowance in the slot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Portion {
    /// Tasks that may run at a time: the units of its lease.
    pub units: u32,
    /// Processors' worth of slices that its share is entitled to, in thousandths.
    pub processors: u64,
    /// Sixteenths of a slice of the other resources, beyond the one that goes with each unit.
    pub parts: Vec<u32>,
}

/// The grant to a claim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SharingAward {
    /// The order.
    pub order: OrderId,
    /// Its allowance.
    pub portion: Portion,
    /// Its payment.
    pub pay: Credits,
}

/// One sharing: input and outcome. Lists are sorted by order; claims without a unit are not among
/// the awards.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sharing {
    /// The pool.
    pub offer: OfferId,
    /// Its class.
    pub class: ClassId,
    /// Height of the block that holds it.
    pub height: u64,
    /// Slot that was shared.
    pub slot: u64,
    /// Units shared.
    pub units: u32,
    /// Least price of a unit.
    pub reserve: Price,
    /// How the pool is shared.
    pub terms: PoolTerms,
    /// The pool's rank under the beacon: the chance in it.
    pub draw: Hash32,
    /// Claims.
    pub claims: Vec<SharingClaim>,
    /// Who runs.
    pub awards: Vec<SharingAward>,
}

/// A claim's expectation of a slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outlook {
    /// Its share of each resource, Q32.
    pub shares: Vec<u64>,
    /// Mean number of units, in thousandths.
    pub units: u64,
    /// Mean payment.
    pub pay: Credits,
}

/// Draws that an outlook is the mean of, evenly spaced.
const DRAWS: u32 = 64;

impl Sharing {
    /// Its id.
    pub fn id(&self) -> ClearingId {
        let height = self.height.to_be_bytes();
        let parts: [&[u8]; 3] = [b"share", self.offer.as_bytes(), &height];
        ClearingId(hash(Domain::Clearing, &parts))
    }
    /// The expectation of one of the claims over all draws. `None` as in [`Sharing::divide`], or if
    /// it is none of them.
    pub fn outlook(&self, order: &OrderId) -> Option<Outlook> {
        let outcome = self.shares()?;
        let award = outcome.awards.iter().find(|a| a.id == *order)?;
        let (mut units, mut pay) = (0u128, 0u128);
        for draw in 0..DRAWS {
            let sold = self.sell(&outcome, draw * (u32::MAX / DRAWS))?;
            let sale = sold.sales.iter().find(|s| s.id == *order)?;
            units += u128::from(sale.units[0]);
            pay += sale.pay.iter().map(|p| u128::from(*p)).sum::<u128>();
        }
        Some(Outlook {
            shares: award.shares.clone(),
            units: (units * 1_000 / u128::from(DRAWS)) as u64,
            pay: Credits::from_wide(pay / u128::from(DRAWS))?,
        })
    }
    /// Computes the awards that belong to this input. Empty if the input is none the ledger makes.
    pub fn divide(&self) -> Vec<SharingAward> {
        let [a, b, c, d, ..] = self.draw.0;
        let draw = u32::from_be_bytes([a, b, c, d]);
        let outcome = self.shares();
        let sold = outcome.as_ref().and_then(|o| self.sell(o, draw));
        let (Some(outcome), Some(sold)) = (outcome, sold) else {
            return Vec::new();
        };
        let awarded = outcome.awards.iter().zip(sold.sales);
        let awarded = awarded.filter(|(_, sale)| sale.units[0] > 0);
        let award = |(award, sale): (&share::Award<OrderId>, share::units::Sale<OrderId>)| {
            let narrow = |n: &u64| u32::try_from(*n).unwrap_or(u32::MAX);
            let entitled = u128::from(self.units) * 1_000 * u128::from(award.shares[0]);
            SharingAward {
                order: sale.id,
                portion: Portion {
                    units: narrow(&sale.units[0]),
                    processors: (entitled >> 32) as u64,
                    parts: sale.units[1..].iter().map(narrow).collect(),
                },
                // At most the rate, see `dispatch`.
                pay: Credits::from_micros(sale.pay.iter().sum()).unwrap_or(Credits::MAX),
            }
        };
        awarded.map(award).collect()
    }

    /// The shares of all claims, without chance. `None` as in [`Sharing::divide`].
    pub fn shares(&self) -> Option<Outcome<OrderId>> {
        let types = self.claims.first()?.weights.len();
        let rates = self.claims.iter().map(|c| u128::from(c.rate.micros()));
        let mean = rates.sum::<u128>() / self.claims.len() as u128;
        let terms = Terms {
            sixteenths: self.terms.sixteenths,
            // One micro-credit of rounding never stops moving.
            eps: u64::try_from(mean >> 10).unwrap_or(u64::MAX).max(2),
            max_rounds: ROUNDS,
            ..Terms::usual(types)
        };
        let job = |claim: &SharingClaim| Job {
            id: claim.order,
            budget: claim.rate.micros(),
            utility: claim.utility,
            weights: claim.weights.clone(),
        };
        let jobs = self.claims.iter().map(job).collect();
        share::clear(&Input { terms, jobs }).ok()
    }

    fn sell(&self, outcome: &Outcome<OrderId>, draw: u32) -> Option<Sold<OrderId>> {
        let types = self.claims.first()?.weights.len();
        let pool = Pool {
            stocks: lots(self.units, self.reserve.0, types),
            cap_ppm: self.terms.cap_ppm,
        };
        let claims: BTreeMap<OrderId, &SharingClaim> =
            self.claims.iter().map(|c| (c.order, c)).collect();
        let slot = Slot {
            draw,
            rank: &|order: &OrderId| beacon::rank(&self.draw.0, order.as_bytes()),
            tasks: &|order: &OrderId| claims.get(order).map_or(0, |c| u64::from(c.tasks)),
        };
        let sponsor = |order: &OrderId| claims.get(order).map(|c| c.sponsor);
        dispatch(&pool, outcome, &slot, sponsor).ok()
    }
}

impl Portion {
    /// The allowance of one task of a resource of which a slice has `slice`: its part of the
    /// sixteenths, and the one that goes with its unit. Of processors each task has those of a
    /// slice.
    pub fn per_task(&self, class: &ClassKey, resource: Resource) -> u64 {
        let slice = class.amount(resource);
        let index = class.resources().position(|r| r == resource);
        let bought = match index {
            None => return 0,
            Some(0) => return slice,
            Some(index) => self.parts.get(index - 1).copied().unwrap_or(0),
        };
        let parts = u128::from(bought) + u128::from(self.units);
        let of_all = u128::from(slice) * parts / u128::from(PARTS) / u128::from(self.units.max(1));
        u64::try_from(of_all).unwrap_or(u64::MAX)
    }
    /// Thousandths of a slice that one of the tasks weighs when processors are contended. A claim
    /// that is drawn for less than a unit has a whole one for the slot: the chance of being drawn
    /// was its share.
    pub fn weight(&self) -> u64 {
        self.processors.max(1_000) / u64::from(self.units.max(1))
    }
}

const _: () = assert!(limits::CLAIMS_PER_POOL <= share::JOBS_MAX);
const _: () = assert!(limits::RESOURCES <= share::TYPES_MAX);
const _: () = assert!(ROUNDS <= share::ROUNDS_MAX);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class::Isolation;

    fn sharing(rates: &[u64], units: u32) -> Sharing {
        let claim = |(n, rate): (usize, &u64)| SharingClaim {
            order: OrderId([n as u8 + 1; 32]),
            sponsor: AccountId([n as u8; 32]),
            rate: Credits::from_micros(*rate).unwrap(),
            utility: Utility::Linear,
            weights: vec![1, 1],
            tasks: 99,
        };
        Sharing {
            offer: OfferId([1; 32]),
            class: ClassId([2; 32]),
            height: 8,
            slot: 1,
            units,
            reserve: Price(32),
            terms: PoolTerms {
                cap_ppm: 500_000,
                sixteenths: 16,
            },
            draw: Hash32([9; 32]),
            claims: rates.iter().enumerate().map(claim).collect(),
            awards: vec![],
        }
    }

    #[test]
    fn a_lone_claim_gets_what_the_cap_leaves_and_pays_for_that() {
        // Processors cost at least 16 + 1, sixteenths of memory 1 each. Half of the four processors
        // and of the 60 sixteenths, for half of the rate.
        let awards = sharing(&[1_000], 4).divide();
        assert_eq!(awards.len(), 1);
        assert_eq!(awards[0].portion.units, 2);
        assert_eq!(awards[0].portion.parts, [30]);
        assert_eq!(awards[0].portion.processors, 4_000);
        assert_eq!(awards[0].pay.micros(), 500);
        let outlook = sharing(&[1_000], 4).outlook(&awards[0].order).unwrap();
        assert_eq!((outlook.units, outlook.pay), (2_000, awards[0].pay));
        // Below the least price of a processor there is nothing.
        assert_eq!(sharing(&[32], 4).divide(), []);
        assert_eq!(sharing(&[34], 4).divide().len(), 1);
        assert_eq!(sharing(&[], 4).divide(), []);
    }

    #[test]
    fn memory_follows_the_portion() {
        let class = ClassKey {
            vcpu: 2,
            memory_mib: 1_024,
            disk_mib: 0,
            gpu: 0,
            isolation: Isolation::Process,
            circle: "members".into(),
        };
        let portion = |units, parts| Portion {
            units,
            processors: 2_500,
            parts: vec![parts],
        };
        let memory = |units, parts| portion(units, parts).per_task(&class, Resource::Memory);
        assert_eq!((memory(1, 15), memory(2, 30)), (1_024, 1_024));
        assert_eq!((memory(1, 0), memory(2, 15)), (64, 544));
        assert_eq!(memory(1, 60), 61 * 64, "more than a slice");
        assert_eq!(portion(2, 0).weight(), 1_250);
        assert_eq!(portion(2, 0).per_task(&class, Resource::Processors), 2);
        assert_eq!(portion(2, 0).per_task(&class, Resource::Disk), 0);
    }
}
