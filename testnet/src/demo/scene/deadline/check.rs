//! Jobs by deadlines were done at a price of their own curves, and their seller has exactly that,
//! and its stake back.

use crate::demo::check::Verdict;
use crate::demo::evidence::Evidence;
use gridbay_node::api::types::{How, JobState};
use gridbay_protocol::payment::Reason;
use gridbay_protocol::units::Credits;

pub(crate) fn judge(evidence: &Evidence) -> Verdict {
    let mut told = Vec::new();
    for order in &evidence.orders {
        let (name, record) = (order.wish.name, &order.record);
        let How::Deadline(how) = &order.wish.how else {
            continue;
        };
        let (pay, late_pay) = (how.pay, how.late_pay);
        if record.state != JobState::Done {
            return Err(format!("{name} is {}", record.state.name()));
        }
        if !(late_pay..=pay).contains(&record.paid) || record.paid == Credits::ZERO {
            return Err(format!(
                "{name} paid {}, not {late_pay} to {pay}",
                record.paid
            ));
        }
        let movements = evidence.accounts.iter().flat_map(|a| &a.movements);
        let of = |reasons: &[Reason], sign: i64| -> i64 {
            let own = movements.clone().filter(|m| m.order == record.order);
            let amounts = own
                .filter(|m| reasons.contains(&m.reason))
                .map(|m| m.amount.0);
            amounts.filter(|amount| amount.signum() == sign).sum()
        };
        let paid = i64::try_from(record.paid.micros()).unwrap_or(i64::MAX);
        let earned = of(&[Reason::Earning], 1);
        if earned != paid {
            return Err(format!("{name} paid {paid} and its seller earned {earned}"));
        }
        // The stake and the price's lock go out; the unpaid rest of them comes back.
        let (out, back) = (
            of(&[Reason::Bond, Reason::Lock], -1),
            of(&[Reason::Release], 1),
        );
        if of(&[Reason::Bond], -1) == 0 || out + back != -paid {
            return Err(format!("{name}: {out} were locked, {back} came back"));
        }
        told.push(format!("{name} paid {} of {pay}", record.paid));
    }
    if told.is_empty() {
        return Err("no job had a deadline".to_owned());
    }
    Ok(told.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::sample;

    #[test]
    fn a_wrong_price_and_a_stake_that_is_kept_are_found() {
        let mut dear = sample::good();
        sample::order(&mut dear, "patient").record.paid = Credits::MAX;
        let mut late = sample::good();
        sample::order(&mut late, "patient").record.state = JobState::Expired;
        let mut none = sample::good();
        none.orders.retain(|order| order.wish.name != "patient");
        let mut kept = sample::good();
        let stays = |m: &gridbay_node::api::types::Movement| m.reason != Reason::Release;
        kept.accounts[0].movements.retain(stays);
        let mut short = sample::good();
        for movement in &mut short.accounts[0].movements {
            movement.amount.0 -= i64::from(movement.reason == Reason::Earning);
        }
        for bad in [dear, late, none, kept, short] {
            assert!(judge(&bad).is_err());
        }
    }
}
