//! `auction verify` accepts every auction that sold something, up to a number that is told.

use super::Verdict;
use crate::demo::evidence::Evidence;

pub(crate) fn judge(evidence: &Evidence) -> Verdict {
    let found = &evidence.verified;
    if let Some(complaint) = &found.complaint {
        return Err(complaint.clone());
    }
    if found.verified == 0 {
        return Err("no auction was verified".to_owned());
    }
    Ok(match found.with_sales - found.verified {
        0 => format!("all {} auctions with sales", found.verified),
        more => format!(
            "the last {} auctions with sales; {more} earlier ones were not tried",
            found.verified
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::sample;

    #[test]
    fn a_complaint_and_silence_are_failures() {
        let mut bad = sample::good();
        bad.verified.complaint = Some("wrong price".into());
        assert_eq!(judge(&bad), Err("wrong price".into()));
        let mut bad = sample::good();
        bad.verified.verified = 0;
        assert!(judge(&bad).is_err());
    }

    #[test]
    fn a_cap_is_told() {
        let mut capped = sample::good();
        capped.verified.with_sales += 5;
        assert!(judge(&capped).unwrap().contains("5 earlier"));
    }
}
