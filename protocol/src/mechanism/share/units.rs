//! From shares to whole units, and from budgets to payments, for one slot.
//!
//! Shares of a lone user are one, whatever the budget: the auction by itself sells an idle pool for
//! a micro-credit. So a pool posts, for each type, a **minimum** per unit and slot, and a **cap**,
//! the most of each type that one user may hold over all of the user's jobs. Each type is sold by
//! itself, in exact integers, jobs by ascending id:
//!
//! 1. *Entitled.* All units of the type are divided by the Q32 shares, by largest remainders: job
//!    `i` is entitled to `u_i` units. If all shares are zero nobody is entitled to any.
//! 2. *Capped.* A user's jobs together keep at most `floor(units * cap_ppm / 1,000,000)`. If they
//!    are entitled to more, that many units are divided among them in proportion to `u_i`, by
//!    largest remainders: `c_i <= u_i`.
//! 3. *Sold.* With `b_i` the part of the job's budget for this type and `p` the minimum, `n_i =
//!    min(c_i, floor(b_i / p))`: as far as the budget reaches. With `p = 0` it reaches everywhere.
//! 4. *Paid.* `max(n_i * p, floor(b_i * n_i / u_i))`: a unit costs what the budget bids for each
//!    unit that the job is entitled to, and never less than the minimum. A job without units pays
//!    nothing.
//! 5. The other units stay with the seller, which may sell them elsewhere; a job that is capped or
//!    priced out leaves none to rivals, so no rival gains by pushing it there.
//!
//! Hence no job pays more than its budget: `n_i * p <= b_i` by step 3 and `n_i <= u_i`. The seller
//! earns the payments, at least the minimum for each unit sold. With no cap and no minimum in the
//! way every job entitled to a unit pays the whole part.

use std::collections::BTreeMap;
use std::fmt::Debug;

use super::Outcome;
use crate::apportion::by_largest_remainder;

/// Millionths in one: a cap that caps nothing.
pub const WHOLE_PPM: u32 = 1_000_000;

/// A pool's stock of one resource type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stock {
    /// Units for sale in the slot.
    pub units: u64,
    /// Least price of a unit for a slot, micro-credits.
    pub minimum: u64,
}

/// The stock of a pool, and its policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pool {
    /// The resource types, in the order of the weights.
    pub stocks: Vec<Stock>,
    /// The most of each type that one user may hold, in millionths of its units, to [`WHOLE_PPM`].
    pub cap_ppm: u32,
}

/// The share of one job for a slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sale<K> {
    /// The job.
    pub id: K,
    /// Units of each type.
    pub units: Vec<u64>,
    /// Its payment for those of each type, micro-credits.
    pub pay: Vec<u64>,
}

/// A slot's sales.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sold<K> {
    /// Every job, also those without units, by id.
    pub sales: Vec<Sale<K>>,
    /// Units of each type that stay with the seller.
    pub kept: Vec<u64>,
    /// The seller's earnings with each type: the sum of the payments for it, micro-credits.
    pub earned: Vec<u128>,
}

/// Why a pool cannot be sold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnitsError<K: Debug> {
    /// The cap exceeds the whole.
    #[error("a cap of {0} millionths")]
    Cap(u32),
    /// A pool without a resource.
    #[error("a pool without a resource type")]
    None,
    /// An award is not over the pool's types.
    #[error("the award of job {0:?} has not one part and share of each of the pool's types")]
    Types(K),
}

/// One job's claim on one type.
struct Claim {
    part: u64,
    entitled: u64,
    capped: u64,
}

/// Sells a slot of the pool; `user` names the one whose cap a job counts for.
///
/// # Errors
/// The cap exceeds the whole, or the awards are of an auction over other types.
pub fn sell<K: Clone + Debug, U: Ord>(
    pool: &Pool,
    outcome: &Outcome<K>,
    user: impl Fn(&K) -> U,
) -> Result<Sold<K>, UnitsError<K>> {
    let most = |_: &K| u64::MAX;
    let mut kinds = pool.stocks.iter();
    let divide = |shares: &[u64]| {
        let stock = kinds.next().expect("each type is divided once");
        by_largest_remainder(stock.units, shares)
    };
    sell_as(pool, outcome, user, divide, &most)
}

/// As [`sell`], but `divide` gives, type by type, the units that each job is entitled to by the
/// shares, and `most` how many are of use to a job.
pub(super) fn sell_as<K: Clone + Debug, U: Ord>(
    pool: &Pool,
    outcome: &Outcome<K>,
    user: impl Fn(&K) -> U,
    mut divide: impl FnMut(&[u64]) -> Vec<u64>,
    most: &dyn Fn(&K) -> u64,
) -> Result<Sold<K>, UnitsError<K>> {
    if pool.cap_ppm > WHOLE_PPM {
        return Err(UnitsError::Cap(pool.cap_ppm));
    }
    let types = pool.stocks.len();
    let mut of_users: BTreeMap<U, Vec<usize>> = BTreeMap::new();
    for (index, award) in outcome.awards.iter().enumerate() {
        if award.parts.len() != types || award.shares.len() != types {
            return Err(UnitsError::Types(award.id.clone()));
        }
        of_users.entry(user(&award.id)).or_default().push(index);
    }
    let nothing = |id: &K| Sale {
        id: id.clone(),
        units: Vec::with_capacity(types),
        pay: Vec::with_capacity(types),
    };
    let mut sold = Sold {
        sales: outcome.awards.iter().map(|a| nothing(&a.id)).collect(),
        kept: Vec::with_capacity(types),
        earned: Vec::with_capacity(types),
    };
    for (kind, stock) in pool.stocks.iter().enumerate() {
        let shares: Vec<u64> = outcome.awards.iter().map(|a| a.shares[kind]).collect();
        let entitled = divide(&shares);
        let claim = |(award, entitled): (&super::Award<K>, u64)| Claim {
            part: award.parts[kind],
            entitled,
            capped: entitled.min(most(&award.id)),
        };
        let mut claims: Vec<Claim> = outcome.awards.iter().zip(entitled).map(claim).collect();
        for jobs in of_users.values() {
            cap(&mut claims, jobs, stock.units, pool.cap_ppm);
        }
        let (mut kept, mut earned) = (stock.units, 0);
        for (sale, claim) in sold.sales.iter_mut().zip(&claims) {
            let (units, pay) = claim.price(stock.minimum);
            kept -= units;
            earned += u128::from(pay);
            sale.units.push(units);
            sale.pay.push(pay);
        }
        sold.kept.push(kept);
        sold.earned.push(earned);
    }
    Ok(sold)
}

/// Step 2 for the jobs of one user.
fn cap(claims: &mut [Claim], jobs: &[usize], units: u64, cap_ppm: u32) {
    // At most the units, which fit.
    let most = (u128::from(units) * u128::from(cap_ppm) / u128::from(WHOLE_PPM)) as u64;
    let of_use: Vec<u64> = jobs.iter().map(|&job| claims[job].capped).collect();
    if of_use.iter().sum::<u64>() <= most {
        return;
    }
    for (&job, capped) in jobs.iter().zip(by_largest_remainder(most, &of_use)) {
        claims[job].capped = capped;
    }
}

impl Claim {
    /// Steps 3 and 4: units sold and what they cost.
    fn price(&self, minimum: u64) -> (u64, u64) {
        let reach = self.part.checked_div(minimum).unwrap_or(u64::MAX);
        let units = self.capped.min(reach);
        if units == 0 {
            return (0, 0);
        }
        // At most the part, for the units are at most the entitled ones; and so is `units *
        // minimum`.
        let bid = u128::from(self.part) * u128::from(units) / u128::from(self.entitled);
        (units, (bid as u64).max(units * minimum))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Award, ONE};
    use super::*;

    /// Jobs by id: part of the budget and share in percent, of one type.
    fn outcome(jobs: &[(u64, u128)]) -> Outcome<usize> {
        let award = |(id, &(part, percent)): (usize, &(u64, u128))| Award {
            id,
            parts: vec![part],
            shares: vec![(ONE * percent / 100) as u64],
        };
        Outcome {
            awards: jobs.iter().enumerate().map(award).collect(),
            rounds: 1,
            converged: true,
        }
    }

    fn pool(units: u64, minimum: u64, cap_ppm: u32) -> Pool {
        Pool {
            stocks: vec![Stock { units, minimum }],
            cap_ppm,
        }
    }

    fn sales(sold: &Sold<usize>) -> Vec<(u64, u64)> {
        sold.sales.iter().map(|s| (s.units[0], s.pay[0])).collect()
    }

    #[test]
    fn a_lone_user_gets_what_the_minimum_and_the_cap_allow() {
        let sell = |part, minimum, cap| {
            let sold = sell(&pool(100, minimum, cap), &outcome(&[(part, 100)]), |id| *id);
            sales(&sold.unwrap())[0]
        };
        // Without either, all of the pool for a micro-credit.
        assert_eq!(sell(1, 0, WHOLE_PPM), (100, 1));
        assert_eq!(sell(1, 10, WHOLE_PPM), (0, 0));
        assert_eq!(sell(505, 10, WHOLE_PPM), (50, 500));
        assert_eq!(sell(505, 10, 250_000), (25, 250));
        // 20 for each unit, 80 units.
        assert_eq!(sell(2_000, 10, 800_000), (80, 1_600));
        assert_eq!(sell(2_000, 10, 0), (0, 0));
    }

    #[test]
    fn who_is_priced_out_leaves_nothing_to_the_others() {
        let jobs = outcome(&[(900, 60), (100, 40)]);
        let sold = sell(&pool(10, 50, WHOLE_PPM), &jobs, |id| *id).unwrap();
        assert_eq!(sales(&sold), [(6, 900), (2, 100)]);
        assert_eq!((sold.kept, sold.earned), (vec![2], vec![1_000]));
    }

    #[test]
    fn jobs_of_one_user_share_one_cap() {
        let jobs = outcome(&[(300, 30), (300, 30), (400, 40)]);
        let sold = sell(&pool(10, 1, 500_000), &jobs, |id| *id / 2).unwrap();
        // Six units capped to five: the remainder goes to the smaller id.
        assert_eq!(sales(&sold), [(3, 300), (2, 200), (4, 400)]);
        assert_eq!(sold.kept, [1]);
    }

    #[test]
    fn other_types_and_caps_are_refused() {
        let jobs = outcome(&[(1, 100)]);
        let over = pool(1, 1, WHOLE_PPM + 1);
        assert_eq!(
            sell(&over, &jobs, |id| *id),
            Err(UnitsError::Cap(WHOLE_PPM + 1))
        );
        let none = Pool {
            stocks: vec![],
            cap_ppm: 0,
        };
        assert_eq!(sell(&none, &jobs, |id| *id), Err(UnitsError::Types(0)));
    }
}
