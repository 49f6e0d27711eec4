//! Every order that was not given up is done, and its outputs are those computed here.

use super::Verdict;
use crate::demo::evidence::Evidence;
use gridbay_node::api::types::JobState;
use gridbay_protocol::job::JobExit;

pub(crate) fn judge(evidence: &Evidence) -> Verdict {
    let (mut jobs, mut ranks) = (0, 0);
    for order in evidence.orders.iter().filter(|order| !order.given_up) {
        let (name, record) = (order.wish.name, &order.record);
        if record.state != JobState::Done {
            let reason = record.reason.map_or("no reason", |r| r.name());
            return Err(format!("{name} ended {} ({reason})", record.state.name()));
        }
        let nodes = order.wish.nodes as usize;
        let exits = record.exits.len();
        let all_ended_well = record.exits.iter().all(|e| e.exit == JobExit::Code(0));
        if exits != nodes || order.outputs.len() != nodes || !all_ended_well {
            return Err(format!("{name}: {exits} of {nodes} ranks ended with 0"));
        }
        let judged = order.wish.work.judge(&order.outputs);
        judged.map_err(|wrong| format!("{name}: {wrong}"))?;
        jobs += 1;
        ranks += nodes;
    }
    if jobs == 0 {
        return Err("no job ran".to_owned());
    }
    Ok(format!("{jobs} jobs on {ranks} nodes"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::sample;

    #[test]
    fn a_wrong_output_a_lost_rank_and_a_failed_job_are_found() {
        let mut bad = sample::good();
        bad.orders[0].outputs[0].stdout = "something else".into();
        assert!(judge(&bad).unwrap_err().contains("something else"));

        let mut bad = sample::good();
        bad.orders[0].record.exits.clear();
        assert!(judge(&bad).is_err());

        let mut bad = sample::good();
        bad.orders[0].record.exits[0].exit = JobExit::Code(1);
        assert!(judge(&bad).is_err());

        let mut bad = sample::good();
        bad.orders[0].record.state = JobState::Expired;
        assert!(judge(&bad).unwrap_err().contains("expired"));

        let mut bad = sample::good();
        bad.orders.clear();
        assert!(judge(&bad).is_err());
    }
}
