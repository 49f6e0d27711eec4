//! The contract was settled as its terms say, by the simulator's judge: each job's pay from the
//! time it took, all together by the aggregate function, penalties in full. The provider has the
//! client's payment less the cost of the nodes, and that cost is lower.

use super::CONTRACT;
use crate::demo::check::Verdict;
use crate::demo::evidence::{Account, Evidence};
use gridbay_node::api::types::{ContractHow, How, Movement};
use gridbay_protocol::effect::Effect;
use gridbay_protocol::ids::{AccountId, ClassId};
use gridbay_protocol::order::{ContractTerms, JobTerms};
use gridbay_protocol::record::contract::ContractEvent;
use gridbay_sim::check::judge;

pub(crate) fn judge(evidence: &Evidence) -> Verdict {
    let mut named = evidence.orders.iter().filter(|o| o.wish.name == CONTRACT);
    let order = named.next().ok_or("nothing was done under contract")?;
    let How::Contract(how) = &order.wish.how else {
        return Err(format!("{CONTRACT} is not under contract"));
    };
    let id = order.record.order.ok_or("the contract has no id")?;
    let (mut jobs, mut settled, mut bond) = (Vec::new(), None, None);
    for record in &evidence.records {
        match &record.effect {
            Effect::Contract(ContractEvent::Decided(job)) if job.contract == id => jobs.push(*job),
            Effect::Contract(ContractEvent::Settled(end)) if end.contract == id => {
                settled = Some(*end);
            }
            Effect::Contract(ContractEvent::Signed {
                contract, bond: b, ..
            }) if *contract == id => bond = Some(*b),
            _ => {}
        }
    }
    let settled = settled.ok_or("the contract was never settled")?;
    let bond = bond.ok_or("the contract was never signed")?;
    if bond.micros() != how.penalty.micros() * u64::from(order.wish.nodes) {
        return Err(format!("{bond} were staked"));
    }
    let slot_seconds = u32::try_from(evidence.policy.slot_ms() / 1_000);
    let slot_seconds = slot_seconds.unwrap_or(u32::MAX).max(1);
    let terms = terms(how, order.wish.nodes, slot_seconds, settled.provider);
    judge::contract(&terms, &jobs, &settled)?;
    let of = |account: &&Account| account.id == settled.provider;
    let provider = evidence.accounts.iter().find(of).ok_or("no provider")?;
    let client = evidence.accounts.iter().find(|a| a.id == settled.client);
    let client = client.ok_or("no client")?;
    let due = micros(settled.pays.micros()) - micros(settled.owed.micros());
    let own = |m: &Movement| m.order == Some(id);
    let (spent, got) = (sum(client, own), sum(provider, own));
    if spent != -due || got != due {
        return Err(format!(
            "the client has {spent}, the provider {got} of {due}"
        ));
    }
    let rent = -sum(provider, |m| m.order.is_some() && !own(m));
    let margin = due - rent;
    let all = i64::from(settled.requested);
    let part = |n: i64| format!("{}.{:06}", n / 1_000_000, n % 1_000_000);
    if rent <= 0 || margin <= 0 {
        return Err(format!("the provider paid {rent} of {due} for nodes"));
    }
    Ok(format!(
        "{} of {all} jobs done, {} paid, {} of it for nodes, {} kept",
        settled.completed,
        settled.pays,
        part(rent),
        part(margin)
    ))
}

/// The terms that the order proposes, as far as money depends on them.
fn terms(how: &ContractHow, jobs: u32, slot_seconds: u32, provider: AccountId) -> ContractTerms {
    ContractTerms {
        provider,
        class: ClassId::default(),
        first: 0,
        last: 0,
        jobs,
        job: JobTerms {
            units: 1,
            slots: 1,
            value: how.value,
            hold: how.hold_seconds / slot_seconds,
            decay: how.decay_seconds.div_ceil(slot_seconds),
            penalty: how.penalty,
        },
        alpha_ppm: how.alpha_ppm,
        beta16: how.beta16,
        stands_until: 0,
    }
}

fn sum(account: &Account, which: impl Fn(&Movement) -> bool) -> i64 {
    let movements = account.movements.iter().filter(|m| which(m));
    movements.map(|m| m.amount.0).sum()
}

fn micros(amount: u64) -> i64 {
    i64::try_from(amount).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::sample;
    use gridbay_protocol::record::contract::{JobRecord, Settlement};
    use gridbay_protocol::units::Credits;

    fn bad(change: impl Fn(&mut ContractEvent)) -> Verdict {
        let mut bad = sample::good();
        for record in &mut bad.records {
            if let Effect::Contract(event) = &mut record.effect {
                change(event);
            }
        }
        judge(&bad)
    }

    fn more(amount: &mut Credits) {
        *amount = Credits::from_micros(amount.micros() + 1).unwrap();
    }

    #[test]
    fn every_figure_of_the_settlement_is_checked() {
        assert!(bad(|_| ()).is_ok(), "{:?}", bad(|_| ()));
        let jobs: [fn(&mut JobRecord); 4] = [
            |job| more(&mut job.pays),
            |job| more(&mut job.owes),
            |job| job.done = !job.done,
            |job| job.after += 20,
        ];
        for change in jobs {
            let verdict = bad(|event| {
                if let ContractEvent::Decided(job) = event {
                    change(job);
                }
            });
            assert!(verdict.is_err());
        }
        let ends: [fn(&mut Settlement); 5] = [
            |end| more(&mut end.earned),
            |end| more(&mut end.pays),
            |end| more(&mut end.owed),
            |end| end.completed -= 1,
            |end| end.requested += 1,
        ];
        for change in ends {
            let verdict = bad(|event| {
                if let ContractEvent::Settled(end) = event {
                    change(end);
                }
            });
            assert!(verdict.is_err());
        }
    }

    #[test]
    fn money_that_went_elsewhere_is_found() {
        let good = sample::good();
        let about = |m: &Movement| m.other == "contract";
        let mut spoilt = 0;
        for (a, account) in good.accounts.iter().enumerate() {
            for (m, _) in account
                .movements
                .iter()
                .enumerate()
                .filter(|(_, m)| about(m))
            {
                let mut bad = sample::good();
                bad.accounts[a].movements[m].amount.0 += 1;
                assert!(judge(&bad).is_err(), "{a} {m}");
                spoilt += 1;
            }
        }
        assert!(spoilt >= 3, "{spoilt}");
    }
}
