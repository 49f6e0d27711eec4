//! `ledger verify` accepts every node's chain of headers from the genesis on.

use super::Verdict;
use crate::demo::evidence::Evidence;

pub(crate) fn judge(evidence: &Evidence) -> Verdict {
    for (node, complaint) in &evidence.ledgers {
        if let Some(complaint) = complaint {
            return Err(format!("{node}: {complaint}"));
        }
    }
    match evidence.ledgers.len() {
        0 => Err("no ledger was verified".to_owned()),
        n => Ok(format!("{n} nodes, from the genesis on")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::sample;

    #[test]
    fn a_complaint_and_silence_are_failures() {
        let mut bad = sample::good();
        bad.ledgers[0].1 = Some("forged".into());
        assert_eq!(judge(&bad), Err("v1: forged".into()));
        bad.ledgers.clear();
        assert!(judge(&bad).is_err());
    }
}
