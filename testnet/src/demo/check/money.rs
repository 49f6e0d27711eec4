//! Money is conserved: at rest, what all accounts have is what the genesis minted. At rest nothing
//! lies in escrow, nothing waits to be earned, and no deposit was forfeited to the bank; so a
//! micro-credit anywhere else is one too few here.

use super::Verdict;
use crate::demo::evidence::Evidence;

pub(super) fn judge(evidence: &Evidence) -> Verdict {
    let accounts = evidence.accounts.iter();
    let there: i128 = accounts
        .map(|a| i128::from(a.end.0) + i128::from(a.held.0))
        .sum();
    let minted = i128::from(evidence.minted);
    if there != minted {
        return Err(format!(
            "the accounts have {there} of {minted} micro-credits minted, {} are elsewhere",
            minted - there
        ));
    }
    Ok(format!("{minted} micro-credits minted and there"))
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn money_made_or_lost_is_found() {
        for change in [-1, 1] {
            let mut bad = sample::good();
            bad.accounts[0].end.0 += change;
            assert!(judge(&bad).is_err());
        }
    }
}
