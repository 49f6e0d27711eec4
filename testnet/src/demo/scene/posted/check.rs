//! Hires at a posted price: the hires served follow from the public record, none paid more than the
//! posted price, and the payments by its buyer's statement equal the cost of its lease, slot by
//! slot.

use super::HIRES;
use crate::demo::check::Verdict;
use crate::demo::evidence::Evidence;
use gridbay_protocol::effect::Effect;
use gridbay_protocol::ids::OrderId;
use gridbay_protocol::lease::LeaseEvent;
use gridbay_protocol::record::posted::Hired;
use gridbay_sim::check::judge;
use std::collections::BTreeMap;

pub(crate) fn judge(evidence: &Evidence) -> Verdict {
    let mut served: BTreeMap<OrderId, &Hired> = BTreeMap::new();
    for record in &evidence.records {
        if let Effect::Posted(record) = &record.effect {
            judge::hires(record).map_err(|wrong| format!("height {}: {wrong}", record.height))?;
            served.extend(record.served.iter().map(|hired| (hired.order, hired)));
        }
    }
    let mut told = Vec::new();
    for name in HIRES {
        let order = evidence.orders.iter().find(|o| o.wish.name == name);
        let order = order.ok_or(format!("no order {name}"))?;
        let id = order.record.order.ok_or(format!("{name} has no id"))?;
        let hired = served.get(&id).ok_or(format!("{name} was not served"))?;
        let due = due(evidence, id, hired).map_err(|wrong| format!("{name}: {wrong}"))?;
        let spent = evidence.spent(order, id);
        if order.record.paid.micros() != due || i64::try_from(due) != Ok(spent) {
            let said = order.record.paid;
            return Err(format!(
                "{name} paid {said}, or {spent} micro-credits, for {due}"
            ));
        }
        told.push(format!("{name} {}", order.record.paid));
    }
    Ok(format!("first come, first served: {}", told.join(", ")))
}

/// The cost of a hire's leases, micro-credits: the rest of the running slot, then whole ones.
fn due(evidence: &Evidence, id: OrderId, hired: &Hired) -> Result<u64, String> {
    let mut due = 0;
    for record in &evidence.records {
        let (terms, whole) = match &record.effect {
            Effect::Lease(LeaseEvent::Started(terms)) => (terms, false),
            Effect::Lease(LeaseEvent::Renewed(terms)) => (terms, true),
            _ => continue,
        };
        if terms.order != id {
            continue;
        }
        if terms.paid > hired.price || (whole && terms.paid != hired.price) {
            return Err(format!("a slot for {}, posted {}", terms.paid, hired.price));
        }
        due += terms.paid.micros();
    }
    match due {
        0 => Err("it had no lease".to_owned()),
        due => Ok(due),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::sample;
    use gridbay_protocol::record::posted::PostedRecord;
    use gridbay_protocol::units::Credits;

    fn bad(change: impl Fn(&mut Effect)) -> String {
        let mut bad = sample::good();
        bad.records.iter_mut().for_each(|r| change(&mut r.effect));
        judge(&bad).unwrap_err()
    }

    #[test]
    fn every_rule_is_checked() {
        assert!(judge(&sample::good()).is_ok());
        let posted = |change: fn(&mut PostedRecord)| {
            bad(|effect| {
                if let Effect::Posted(record) = effect {
                    change(record);
                }
            })
        };
        assert!(posted(|r| r.served.swap(0, 1)).contains("due"));
        assert!(posted(|r| r.bids[0].limit.0 = 1).starts_with("height"));
        let dear = bad(|effect| {
            if let Effect::Lease(LeaseEvent::Renewed(terms)) = effect {
                terms.paid = Credits::MAX;
            }
        });
        assert!(dear.contains("posted"), "{dear}");
        let mut bad = sample::good();
        sample::order(&mut bad, HIRES[0]).record.paid = Default::default();
        assert!(judge(&bad).unwrap_err().contains("paid 0"));
        bad.records
            .retain(|r| !matches!(r.effect, Effect::Posted(_)));
        assert!(judge(&bad).unwrap_err().contains("not served"));
    }
}
