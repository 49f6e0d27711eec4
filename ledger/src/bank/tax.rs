//! The savings tax: use it or lose it, slowly.
//!
//! Taking ([`levy`]), for every account:
//!
//! 1. `excess` is its money, frozen or not, above its base. Frozen money counts, or bids meant to
//!    lose would hide it.
//! 2. `due = floor((excess - arrears) * ppm / 10^6) + arrears`, with arrears no more than the
//!    excess.
//! 3. `min(due, available)` goes to the treasury; the rest of `due` is owed.
//!
//! A levy with a rate of zero collects arrears only. A ledger that taxes at known heights calls it
//! when money thaws: else an account that freezes all it has before each of these heights never
//! pays. The published cases have no arrears.
//!
//! Giving, by [`Redistribution`]:
//!
//! - `All` (the dissertation, literally): the treasury by shares over all accounts
//!   ([`super::profits`]).
//! - `Deficit` ([`even_out`]): the treasury by shares over the accounts below their base, each up
//!   to its base; the part that some do not need is shared out again; money that nobody with shares
//!   needs stays in the treasury.
//!
//! Only `Deficit` keeps the dissertation's promise that an exhausted account has half its base
//! again within a few days and all in a week. At 5 % every four hours, 20 equal accounts: alone at
//! zero it has half after 14 levies (2.3 days) and 95 % after 59 (9.8 days); under `All` after 277
//! (46.2 days) and 1,197 (199.5 days), because it gets a twentieth of the tax and the savers the
//! rest of it back.
//!
//! Give these functions *all* accounts, also those without a base: money parked where nobody looks
//! is not taxed.

use super::books::{Bank, BankError};
use super::{Gifts, Holding, profits};
use gridbay_protocol::apportion::by_largest_remainder;
use gridbay_protocol::bank::Redistribution;

/// The rate of which all excess is taken, in millionths.
const WHOLE_PPM: u32 = 1_000_000;

/// The payment of one account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Levy {
    /// Micro-credits taken now; at most what is available, and at most the excess.
    pub taken: u64,
    /// Micro-credits due that could not be taken: the arrears from now on.
    pub owed: u64,
}

/// The movements of a savings tax, in the order of the holdings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tax {
    /// The payment of each account.
    pub levies: Vec<Levy>,
    /// Micro-credits that each account gets.
    pub given: Vec<u64>,
    /// Micro-credits left in the treasury.
    pub treasury: u64,
}

/// The tax of one account at `ppm` millionths of its excess. Rates above a million count as a
/// million.
#[must_use]
pub fn levy(holding: &Holding, ppm: u32) -> Levy {
    let excess = holding.excess();
    let arrears = holding.arrears.min(excess);
    let rate = u128::from(ppm.min(WHOLE_PPM));
    // At most the excess, so it fits.
    let fresh = (u128::from(excess - arrears) * rate / u128::from(WHOLE_PPM)) as u64;
    let due = arrears + fresh;
    let taken = due.min(u64::try_from(holding.available).unwrap_or(0));
    Levy {
        taken,
        owed: due - taken,
    }
}

/// The treasury to the accounts below their base, by shares, to none more than its gap.
///
/// Every pass either empties the treasury or fills an account. With `f` the fraction of the
/// remaining weight that a pass fills, the treasury shrinks at least by the factor `f` and the
/// weight by `1 - f`, together by 4 or more; so 2^63 micro-credits and 2^80 shares in all are done
/// within 72 passes, however many accounts there are.
#[must_use]
pub fn even_out(mut treasury: u64, holdings: &[Holding]) -> Gifts {
    let mut given = vec![0; holdings.len()];
    let mut gaps: Vec<u64> = holdings.iter().map(Holding::gap).collect();
    while treasury > 0 {
        let weight = |(holding, gap): (&Holding, &u64)| if *gap > 0 { holding.shares } else { 0 };
        let weights: Vec<u64> = holdings.iter().zip(&gaps).map(weight).collect();
        let cuts = by_largest_remainder(treasury, &weights);
        let before = treasury;
        for ((gap, given), cut) in gaps.iter_mut().zip(&mut given).zip(cuts) {
            let amount = cut.min(*gap);
            *gap -= amount;
            *given += amount;
            treasury -= amount;
        }
        if treasury == before {
            break;
        }
    }
    Gifts { given, treasury }
}

/// Takes `ppm` millionths of all savings into the treasury and shares the treasury out.
///
/// # Panics
/// The holdings and the treasury are together more than all money can be, a fault of the caller's
/// books.
#[must_use]
pub fn tax(treasury: u64, holdings: &[Holding], ppm: u32, mode: Redistribution) -> Tax {
    let levies: Vec<Levy> = holdings.iter().map(|holding| levy(holding, ppm)).collect();
    let filled = levies
        .iter()
        .try_fold(treasury, |sum, l| sum.checked_add(l.taken));
    let treasury = filled.expect("all money together is an amount");
    let gifts = match mode {
        Redistribution::All => profits(treasury, holdings),
        Redistribution::Deficit => {
            let after = |(holding, levy): (&Holding, &Levy)| Holding {
                // Only what is available is taken, so it fits.
                available: holding.available - levy.taken as i64,
                ..*holding
            };
            let after: Vec<Holding> = holdings.iter().zip(&levies).map(after).collect();
            even_out(treasury, &after)
        }
    };
    Tax {
        levies,
        given: gifts.given,
        treasury: gifts.treasury,
    }
}

impl Bank {
    /// The savings tax on all accounts, without arrears.
    ///
    /// # Errors
    /// [`BankError::Rate`] if `ppm` is more than a million.
    pub fn tax(&mut self, ppm: u32, mode: Redistribution) -> Result<(), BankError> {
        if ppm > WHOLE_PPM {
            return Err(BankError::Rate(ppm));
        }
        let tax = tax(self.treasury, &self.holdings(), ppm, mode);
        for (account, levy) in self.accounts.values_mut().zip(&tax.levies) {
            account.available -= levy.taken;
        }
        self.credit(&tax.given);
        self.treasury = tax.treasury;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holding(available: i64, frozen: u64, base: u64, arrears: u64) -> Holding {
        Holding {
            available,
            frozen,
            base,
            shares: 1,
            arrears,
        }
    }

    #[test]
    fn what_is_frozen_counts_and_is_owed() {
        let levied = |h: Holding, ppm| {
            let levy = levy(&h, ppm);
            (levy.taken, levy.owed)
        };
        let cases = [
            (holding(300, 0, 100, 0), 250_000, (50, 0)),
            // All of it frozen: nothing taken, all owed, and paid once it thaws.
            (holding(0, 300, 100, 0), 250_000, (0, 50)),
            (holding(300, 0, 100, 50), 0, (50, 0)),
            (holding(20, 280, 100, 0), 250_000, (20, 30)),
            // Arrears first, and only the rest is taxed again: 50 + (200 - 50) / 4.
            (holding(300, 0, 100, 50), 250_000, (87, 0)),
            // An account that has spent its savings owes nothing on them any longer.
            (holding(120, 0, 100, 50), 250_000, (20, 0)),
            (holding(-5, 300, 100, 0), 1_000_000, (0, 195)),
            (holding(-5, 0, 100, 50), 1_000_000, (0, 0)),
            (holding(i64::MAX, 0, 0, 0), u32::MAX, (i64::MAX as u64, 0)),
            // Under 20 micro-credits, 5 % is nothing.
            (holding(119, 0, 100, 0), 50_000, (0, 0)),
        ];
        for (holding, ppm, expect) in cases {
            assert_eq!(levied(holding, ppm), expect, "{holding:?}");
        }
    }

    #[test]
    fn gifts_end_at_the_base_and_the_rest_goes_round_again() {
        // Gaps 10, 50 and 100 by shares 1, 1, 2 of 100: 25, 25, 50, then the 15 left as 5, 10.
        let mut accounts = [90, 50, 0].map(|available| holding(available, 0, 100, 0));
        accounts[2].shares = 2;
        let gifts = even_out(100, &accounts);
        assert_eq!((&gifts.given[..], gifts.treasury), (&[10, 30, 60][..], 0));
        let gifts = even_out(1_000, &accounts);
        assert_eq!(
            (&gifts.given[..], gifts.treasury),
            (&[10, 50, 100][..], 840)
        );
        // Nobody in need has shares.
        accounts.iter_mut().for_each(|a| a.shares = 0);
        assert_eq!(even_out(7, &accounts).treasury, 7);
        // Debt is part of the gap.
        let debtor = holding(-30, 0, 100, 0);
        assert_eq!(even_out(1_000, &[debtor]).given, [130]);
    }
}
