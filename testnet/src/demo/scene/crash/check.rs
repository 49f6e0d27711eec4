//! The chain went on without the killed validator, it caught up after its second start, and the job
//! that it ran when it was killed came to a good end.

use crate::demo::check::Verdict;
use crate::demo::evidence::Evidence;
use gridbay_node::api::types::JobState;
use std::time::Duration;

/// Until the chain goes on.
const GOES_ON: Duration = Duration::from_secs(3);

pub(crate) fn judge(evidence: &Evidence) -> Verdict {
    let crash = &evidence.crash;
    let node = &crash.node;
    let took = crash.next_blocks.as_secs_f64();
    if crash.next_blocks > GOES_ON {
        return Err(format!("two more blocks took {took:.1} s without {node}"));
    }
    if crash.own < crash.head || crash.head <= crash.height {
        let (own, head) = (crash.own, crash.head);
        return Err(format!("{node} is at height {own} of {head}"));
    }
    if crash.hosted.is_empty() {
        return Err(format!("{node} ran nothing when it was killed"));
    }
    for name in &crash.hosted {
        let done = |o: &&crate::demo::order::Order| o.record.state == JobState::Done;
        let mut named = evidence.orders.iter().filter(|o| o.wish.name == name);
        if named.find(done).is_none() {
            return Err(format!("{name}, which ran on {node}, was not finished"));
        }
    }
    if let Some(lost) = crash.hosted.iter().find(|h| !crash.survived.contains(h)) {
        return Err(format!("{lost} lost its lease or its job with {node}"));
    }
    let back = crash.back.as_secs_f64();
    Ok(format!(
        "{node}: two more blocks after {took:.1} s, back at {} of {} in {back:.1} s, finished {}",
        crash.own,
        crash.head,
        crash.hosted.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::sample;

    #[test]
    fn a_standstill_a_laggard_and_a_lost_job_are_found() {
        let mut bad = sample::good();
        bad.crash.next_blocks = GOES_ON + Duration::from_millis(1);
        assert!(judge(&bad).unwrap_err().contains("two more blocks"));
        let mut bad = sample::good();
        bad.crash.own = bad.crash.head - 1;
        assert!(judge(&bad).unwrap_err().contains("height"));
        let mut bad = sample::good();
        bad.crash.hosted = vec!["vain".into()];
        assert!(judge(&bad).unwrap_err().contains("not finished"));
        let mut bad = sample::good();
        bad.crash.survived.clear();
        assert!(judge(&bad).unwrap_err().contains("lost its lease"));
        bad.crash.hosted.clear();
        assert!(judge(&bad).is_err());
    }
}
