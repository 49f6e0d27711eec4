//! Every account's statement adds up: start and movements make the end, and nothing is held back
//! once all orders are over.

use super::Verdict;
use crate::demo::evidence::Evidence;

pub(crate) fn judge(evidence: &Evidence) -> Verdict {
    let mut lines = 0;
    for account in &evidence.accounts {
        let (name, start, end) = (&account.name, account.start.0, account.end.0);
        let moved: i128 = account
            .movements
            .iter()
            .map(|m| i128::from(m.amount.0))
            .sum();
        if i128::from(start) + moved != i128::from(end) {
            return Err(format!(
                "{name}: {start} and movements of {moved} make {}, not {end} micro-credits",
                i128::from(start) + moved
            ));
        }
        if account.held.0 != 0 {
            return Err(format!("{name}: {} credits are still locked", account.held));
        }
        lines += account.movements.len();
    }
    if lines == 0 {
        return Err("no money moved".to_owned());
    }
    let accounts = evidence.accounts.len();
    Ok(format!("{accounts} accounts, {lines} movements"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::sample;

    #[test]
    fn one_micro_credit_too_many_is_found() {
        let mut bad = sample::good();
        bad.accounts[1].end.0 += 1;
        assert!(judge(&bad).is_err());
    }

    #[test]
    fn a_lost_movement_and_a_forgotten_lock_are_found() {
        let mut bad = sample::good();
        bad.accounts[0].movements.pop();
        assert!(judge(&bad).is_err());
        let mut bad = sample::good();
        bad.accounts[0].held.0 = 1;
        assert!(judge(&bad).unwrap_err().contains("locked"));
        let mut bad = sample::good();
        bad.accounts.clear();
        assert!(judge(&bad).is_err());
    }
}
