//! Money is conserved: at rest, all accounts and the bank together have the money that the genesis
//! minted. At rest nothing lies in escrow and nothing waits to be earned, so a micro-credit
//! anywhere else is one too few here.
//!
//! The bank gets what a lease that broke off leaves over: leases of one clearing pay different
//! prices for equal units, and what a dead node's units would have earned is given back up to what
//! they cost.

use super::Verdict;
use crate::demo::evidence::Evidence;

pub(crate) fn judge(evidence: &Evidence) -> Verdict {
    let accounts = evidence.accounts.iter();
    let in_accounts: i128 = accounts
        .map(|a| i128::from(a.end.0) + i128::from(a.held.0))
        .sum();
    let bank = i128::from(evidence.bank.0);
    let minted = i128::from(evidence.minted);
    let elsewhere = minted - in_accounts - bank;
    if elsewhere != 0 {
        return Err(format!(
            "the accounts have {in_accounts} and the bank {bank} of {minted} micro-credits minted, {elsewhere} are \
             elsewhere"
        ));
    }
    Ok(format!(
        "{minted} micro-credits minted and there, {bank} of them with the bank"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::sample;

    #[test]
    fn money_made_or_lost_is_found() {
        for change in [-1, 1] {
            let mut bad = sample::good();
            bad.accounts[0].end.0 += change;
            assert!(judge(&bad).is_err());
            let mut bad = sample::good();
            bad.bank.0 += change;
            assert!(judge(&bad).is_err());
        }
    }

    #[test]
    fn what_the_bank_has_is_not_lost() {
        let mut good = sample::good();
        good.accounts[0].end.0 -= 463;
        good.bank.0 += 463;
        assert!(judge(&good).is_ok());
    }
}
